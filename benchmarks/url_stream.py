"""Links of an endless power-law web as text, one page a line: where it stands, then where it links to.

`python -m benchmarks.url_stream --pages 1000 [--start 0] [--seed 1]`

Nothing is kept of the URLs: the words of the n-th and its host follow from n alone, so any page can be
written at any time, in the memory of one array with a row for each host that has pages. The parameters below
were committed before what is measured with them.
"""

import argparse
import sys
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

HOSTS = 1_000_000
"""Hosts that URLs lie on; the r-th has a share proportional to 1 / r."""
HOSTS_WITH_PAGES = 100_000
"""The first of them, which are being crawled; the r-th has a share of the pages proportional to 1 / r."""
LINKS = 100
"""Links of a page."""
NEW = 15
"""Of them, those to URLs never seen before: 85% were."""
NEW_AT_HOME = 11
"""Of the new ones, those to the page's own host."""
RECENT = 42.5
"""Links of a mean page to one of the last thousand of its host: half of those seen before."""
PAGES_REMEMBERED = 10
"""Pages whose links are the last thousand of a host."""
POPULARITY = 0.9
"""The i-th URL of all has a share of the other links proportional to i^-0.9: a distribution of in-degrees
with exponent 2.1 (A. Broder et al., Graph structure in the web, 2000). So the oldest are the most popular."""
PAGES_AT_ONCE = 500
SEED = 1

_Numbers = NDArray[np.uint64]
_LOW = 0xFFFF_FFFF_FFFF_FFFF
_PAGE_HOST, _URL_HOST, _RECENT, _POPULAR, _WORDS = range(1, 6)


def mixed(numbers: _Numbers, salt: int) -> _Numbers:
    """64 bits for each number that look random (splitmix64)."""
    with np.errstate(over="ignore"):
        x = numbers + np.uint64(salt * 0x9E37_79B9_7F4A_7C15 & _LOW)
        x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58_476D_1CE4_E5B9)
        x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D0_49BB_1331_11EB)
        return np.asarray(x ^ (x >> np.uint64(31)))


def _fractions(numbers: _Numbers, salt: int) -> NDArray[np.float64]:
    return (mixed(numbers, salt) >> np.uint64(11)).astype(np.float64) * 2.0**-53


def _words() -> list[str]:
    onsets = ("b", "c", "d", "f", "g", "h", "k", "l", "m", "n", "p", "r", "s", "st", "t", "v")
    ends = ("a", "e", "i", "o", "ar", "en", "is", "on", "ul", "ing", "er", "y", "ei", "as", "or", "et")
    syllables = [onset + end for onset in onsets for end in ends]
    numbers = mixed(np.arange(4096, dtype=np.uint64), _WORDS).tolist()
    return [
        "".join(syllables[number >> 8 * place & 255] for place in range(2 + (number >> 62 & 1)))
        for number in numbers
    ]


_WORD = _words()
_TLDS = ("com",) * 3 + tuple("org net de fr co.uk info io nl com.br ru jp it eu".split())  # noqa: SIM905


def _host_name(host: int) -> str:
    x = host * 0x9E37_79B9_7F4A_7C15 & _LOW
    www = "www." if x >> 62 else ""
    return f"{www}{_WORD[x >> 20 & 4095]}{_WORD[x >> 32 & 4095]}{host:x}.{_TLDS[x >> 44 & 15]}"


def _text(number: int, host: int, x: int) -> str:
    """The number-th URL, of some 60 characters; each host has sixteen directories."""
    directory = _WORD[host * 31 + (x & 15) & 4095]
    word, other, third = _WORD[x >> 4 & 4095], _WORD[x >> 16 & 4095], _WORD[x >> 28 & 4095]
    shape = x >> 40 & 7
    name = _host_name(host)
    if shape < 3:
        return f"https://{name}/{directory}/{word}-{other}-{third}-{number:x}"
    if shape < 5:
        return f"https://{name}/{directory}/{2000 + (x >> 44 & 31)}/{word}-{other}-{number}.html"
    if shape == 5:
        return f"https://{name}/{directory}/{word}.php?id={number}&{other}={x >> 44 & 63}"
    if shape == 6:
        return f"http://{name}/{directory}/{word}/{other}-{third}/{number:x}/"
    return f"https://{name}/{directory}/{word}_{number}"


class UrlStream:
    """The pages of one web in order.

    Attributes:
        page: number of the next one.
    """

    def __init__(self, seed: int = SEED) -> None:
        self._salt = seed << 8
        self.page = 0
        self._last = np.zeros((HOSTS_WITH_PAGES, PAGES_REMEMBERED), dtype=np.uint32)
        self._met = np.zeros(HOSTS_WITH_PAGES, dtype=np.uint32)
        self._owed = 0.0

    def skip(self, pages: int) -> None:
        """Pass over so many pages."""
        for _ in self._numbers(pages):
            pass

    def lines(self, pages: int) -> Iterator[str]:
        """The next pages, each a line: its own URL and those of its links, by spaces between."""
        while pages > 0:
            some = min(pages, PAGES_AT_ONCE)
            pages -= some
            rows = list(self._numbers(some))
            flat = np.fromiter((number for row in rows for number in row), dtype=np.uint64)
            texts = iter(self._texts(flat))
            for row in rows:
                yield " ".join(next(texts) for _ in row)

    def _numbers(self, pages: int) -> Iterator[list[int]]:
        """For each page the number of its own URL, then those of its links."""
        for start in range(self.page, self.page + pages, PAGES_AT_ONCE):
            numbers = np.arange(start, min(start + PAGES_AT_ONCE, self.page + pages), dtype=np.uint64)
            hosts = self._page_hosts(numbers).tolist()
            dice = mixed(numbers, self._salt + _RECENT).tolist()
            popular = self._popular(numbers)
            for page, host, die, known in zip(numbers.tolist(), hosts, dice, popular, strict=True):
                recent = self._recent(host, die)
                new = range(page * NEW, page * NEW + NEW)
                own = recent[0] if recent else page * NEW
                yield [own, *recent, *known[: LINKS - NEW - len(recent)], *new]
                met = int(self._met[host])
                self._last[host, met % PAGES_REMEMBERED] = page
                self._met[host] = met + 1
        self.page += pages

    def _recent(self, host: int, die: int) -> list[int]:
        """Numbers of some of the URLs that were new on the host's last pages, none twice."""
        self._owed += RECENT
        there = min(int(self._met[host]), PAGES_REMEMBERED)
        pages = self._last[host, :there].tolist()
        found = min(int(self._owed), there * NEW, LINKS - NEW)
        self._owed -= found
        count = there * NEW
        # A step that has no divisor in common with count = 2^a 3^b 5^c 7^d meets each place once.
        step, place = (11, 13, 17, 19, 23, 29, 31, 37)[die & 7], die >> 3
        places = [(place + step * turn) % count for turn in range(found)]
        return [pages[place // NEW] * NEW + place % NEW for place in places]

    def _popular(self, pages: _Numbers) -> list[list[int]]:
        """For each page, URLs of the pages before it by popularity; none on the first."""
        drawn: _Numbers = np.add.outer(pages * np.uint64(LINKS), np.arange(LINKS, dtype=np.uint64))
        known = (pages * np.uint64(NEW)).astype(np.float64)[:, None]
        power = 1.0 - POPULARITY
        ranks = (_fractions(drawn, self._salt + _POPULAR) * (known**power - 1.0) + 1.0) ** (1.0 / power)
        chosen: list[list[int]] = np.minimum(ranks, known).astype(np.int64).tolist()
        return [[rank - 1 for rank in row if rank] for row in chosen]

    def _page_hosts(self, pages: _Numbers) -> _Numbers:
        return _ranks(_fractions(pages, self._salt + _PAGE_HOST), HOSTS_WITH_PAGES)

    def _texts(self, numbers: _Numbers) -> list[str]:
        home = self._page_hosts(numbers // np.uint64(NEW))
        away = _ranks(_fractions(numbers, self._salt + _URL_HOST), HOSTS)
        hosts = np.where(numbers % np.uint64(NEW) < NEW_AT_HOME, home, away)
        bits = mixed(numbers, self._salt + _WORDS)
        return list(map(_text, numbers.tolist(), hosts.tolist(), bits.tolist()))


def _ranks(fractions: NDArray[np.float64], most: int) -> _Numbers:
    """Ranks from 0 to `most`, the r-th proportional to 1 / r."""
    return (np.asarray(float(most)) ** fractions).astype(np.uint64) - np.uint64(1)


def main(arguments: Sequence[str] | None = None) -> int:
    """Write pages to standard output until they are at an end or nobody reads on."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--pages", type=int, required=True)
    parser.add_argument("--start", type=int, default=0)
    parser.add_argument("--seed", type=int, default=SEED)
    options = parser.parse_args(arguments)
    stream = UrlStream(options.seed)
    stream.skip(options.start)
    try:
        for line in stream.lines(options.pages):
            sys.stdout.write(line + "\n")
    except BrokenPipeError:
        sys.stderr.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
