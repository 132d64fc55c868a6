"""Shares the URLs of a site out among the addresses that show it (K13, decision 0044).

A URL below any of the addresses is a *document*, named by what stands behind the address. At which address it is asked
for, and at which next if it is not to be had there, follows from its name alone: the same in every session and on every
agent of a cluster.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Annotated, NamedTuple

import msgspec
import xxhash
from msgspec import Meta

from gossamer.model.posted import METHOD
from gossamer.model.reasons.codes import ProblemCode
from gossamer.model.reasons.reason import Reason, WrongValueError, because, of
from gossamer.model.url import WITH_HOSTS, Url

_WEB = frozenset({"http", "https"})
_NAMED = "https://site.invalid/"
"""Where a document is when its name is hashed: the order in which the addresses are listed does not matter."""
DOWN_AFTER = 3
"""Failures of a mirror in a row after which it is taken to be down: not at the first, for it may only have been
restarted, and what waits there would all go to the others."""
LONGEST_WAIT = 10.0
"""Seconds of rest that are waited for; with a longer one a mirror is down at once, if another is well."""


class MirrorsConfig(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One site at several addresses."""

    addresses: Annotated[
        tuple[str, ...],
        Meta(
            description="where the same site is shown, the one by which the scope knows it first: URLs of folders, or"
            " hosts, of which https is asked"
        ),
    ]

    def __post_init__(self) -> None:
        read = [(text, mirror_address(text)) for text in self.addresses]
        problems = [
            because(ProblemCode.MIRROR_ADDRESS, text.rpartition("@")[2]) for text, url in read if url is None
        ]
        if len(read) < 2:
            problems.append(Reason(ProblemCode.MIRRORS_FEW))
        problems += _overlaps(url for _, url in read if url is not None)
        if problems:
            raise WrongValueError(*(of("addresses", problem) for problem in problems))


def mirror_address(text: str) -> Url | None:
    """The folder below which a mirror shows its site; `None` if the text is no such address."""
    whole = text.strip() if "://" in text else f"https://{text.strip()}"
    url, login = Url.parse(whole), "@" in whole.partition("://")[2].partition("/")[0]
    if url is None or url.scheme not in WITH_HOSTS or login or "?" in whole:
        return None
    return url if url.target.endswith("/") else Url.from_serialised(f"{url.text}/")


def mirror_problems(groups: Sequence[MirrorsConfig]) -> Iterator[Reason]:
    """What is wrong with groups beside each other: addresses of which one lies within another's."""
    for problem in _overlaps(url for group in groups for url in _addresses(group)):
        yield of("mirrors", problem)


class _Placed(NamedTuple):
    """A URL below an address."""

    addresses: tuple[Url, ...]
    number: int
    name: str


class Mirrors:
    """The sites that are shown at several addresses.

    http and https are the same here: a mirror that sends from one to the other shows the same document.
    """

    def __init__(self, groups: Iterable[MirrorsConfig], canonical: Callable[[Url], str]) -> None:
        """
        Args:
            groups: without any problem (`mirror_problems`).
            canonical: gives the form by which spellings of one URL are known; kept under its name.
        """
        self.canonical = canonical
        self.groups = tuple(_addresses(group) for group in groups)
        self._below: dict[str, list[tuple[str, str, tuple[Url, ...], int]]] = {}
        for addresses in self.groups:
            for number, url in enumerate(addresses):
                scheme, folder = _place(url)
                entry = (scheme, folder, addresses, number)
                self._below.setdefault(folder.partition("/")[0], []).append(entry)

    def address(self, url: Url) -> Url:
        """Where a URL is asked for first; the URL itself if it is of no such site."""
        placed = self._placed(url)
        if placed is None:
            return url
        first = _at(placed, self._order(placed)[0])
        return url if first.text == url.text else first

    def after(self, url: Url, untried: Callable[[Url], bool] | None = None) -> Url | None:
        """Where a URL that is not to be had at its address is asked for next; `None` if there is no other.

        `untried`: whether a URL was never asked for. With it those that a redirect passed over have their turn, too,
        and none has it twice.
        """
        placed = self._placed(url)
        if placed is None:
            return None
        order = self._order(placed)
        rank = order.index(placed.number)
        if untried is None:
            return _at(placed, order[rank + 1]) if rank + 1 < len(order) else None
        others = (_at(placed, number) for number in (*order[rank + 1 :], *order[:rank]))
        return next(filter(untried, others), None)

    def all_of(self, url: Url) -> tuple[Url, ...]:
        """The URLs of a document, in the order in which they are asked for; empty if it is of no such site."""
        placed = self._placed(url)
        return () if placed is None else tuple(_at(placed, number) for number in self._order(placed))

    def first_named(self, url: Url) -> Url:
        """The URL of a document at the address that is named first, by which a scope knows it and a graph counts it;
        the URL itself if it is of no such site."""
        placed = self._placed(url)
        if placed is None:
            return url
        known = _at(placed, 0)
        return url if known.text == url.text else known

    def has(self, url: Url) -> bool:
        """Whether a URL is of such a site."""
        return self._placed(url) is not None

    def stand_on(self, url: Url) -> bool:
        """Whether an address of such a site lies at the host and port of a URL."""
        return _place(url)[1].partition("/")[0] in self._below

    def beside(self, url: Url) -> Iterator[Url]:
        """The other addresses of the sites of which one stands at the host and port of a URL."""
        for _, _, addresses, number in self._below.get(_place(url)[1].partition("/")[0], ()):
            yield from (other for at, other in enumerate(addresses) if at != number)

    def same(self, one: Url, other: Url) -> bool:
        """Whether both are one document of such a site."""
        return self.has(one) and self.canonical(self.first_named(one)) == self.canonical(
            self.first_named(other)
        )

    def _placed(self, url: Url) -> _Placed | None:
        scheme, place = _place(url)
        for its_scheme, folder, addresses, number in self._below.get(place.partition("/")[0], ()):
            # What stands for a request with a body is asked for where the operator has said.
            if place.startswith(folder) and scheme == its_scheme and METHOD not in url.target:
                return _Placed(addresses, number, place[len(folder) :])
        return None

    def _order(self, placed: _Placed) -> list[int]:
        """The numbers of the addresses as they are asked: if one is down, each of the others takes its part."""
        named = Url.from_serialised(_NAMED + placed.name)
        assert named is not None, placed
        document = self.canonical(named).encode()
        hashes = [
            xxhash.xxh64_intdigest(document, xxhash.xxh32_intdigest(url.text.encode()))
            for url in placed.addresses
        ]
        return sorted(range(len(hashes)), key=lambda number: (hashes[number], number))


def _addresses(group: MirrorsConfig) -> tuple[Url, ...]:
    urls = [mirror_address(text) for text in group.addresses]
    return tuple(url for url in urls if url is not None)


def _place(url: Url) -> tuple[str, str]:
    """(scheme, `host:port/path`); one scheme for the web."""
    scheme, _, place = url.text.partition("://")
    return ("" if scheme in _WEB else scheme), place


def _at(placed: _Placed, number: int) -> Url:
    url = Url.from_serialised(placed.addresses[number].text + placed.name)
    assert url is not None, placed
    return url


def _overlaps(urls: Iterable[Url]) -> list[Reason]:
    """Each address that lies within one before it, or the other way round."""
    known: list[tuple[str, str, Url]] = []
    found = []
    for url in urls:
        scheme, place = _place(url)
        for its_scheme, its_place, other in known:
            if scheme == its_scheme and (place.startswith(its_place) or its_place.startswith(place)):
                found.append(because(ProblemCode.MIRRORS_OVERLAP, other.text, url.text))
                break
        known.append((scheme, place, url))
    return found
