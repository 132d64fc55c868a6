"""What settings by place cost: a URL among ten thousand places, and a page of a crawl that has none.

`python -m benchmarks.places [--places 10000] [--urls 20000] [--pages 200] [--json]`

Figures are CPU time of this process, of each few hundred URLs the best of nine rounds: other programs on the machine
make them larger, never smaller. The places, and the URLs of which some lie in them, follow from the seed.
"""

import argparse
import asyncio
import gc
import json
import random
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Sequence
from types import FrameType
from typing import Any

import msgspec

import gossamer
from gossamer.model.url import Url
from gossamer.policy.places.index import PlaceIndex
from gossamer.policy.places.place import Asked, PlaceRule, read_place
from gossamer.simweb import SimulatedWeb, WorldSpec

HOSTS = 2_000
WORDS = 20
ROUNDS = 9
PART = 250
_LETTERS = "abcdefghijklmnopqrstuvwxyz"


class Kinds:
    """Makes places of each kind, and URLs of the hosts that some of them name."""

    def __init__(self, seed: int) -> None:
        self._chance = random.Random(seed)
        self._words = [self._word() for _ in range(WORDS)]
        self._hosts = [
            f"www.{self._word()}.{self._chance.choice(('org', 'com', 'net'))}" for _ in range(HOSTS)
        ]

    def makers(self) -> dict[str, Callable[[], str]]:
        """By kind, what makes the text of one more place."""
        pick = self._chance.randrange
        return {
            "host": lambda: f"{self._common()}.{self._host()}",
            "domain": lambda: f".{self._common()}.{self._host()}",
            "below": lambda: f"*.{self._word()}.example",
            "folder": lambda: f"{self._host()}/{self._common()}/",
            "origin": lambda: f"https://{self._host()}/{self._common()}/{self._common()}/",
            "pattern": lambda: rf"pattern:/{self._word()}/\d*",
            "pattern_at_host": lambda: rf"{self._host()} pattern:\.{self._word(4)}$",
            "address": lambda: f"address:{pick(1, 223)}.{pick(255)}.{pick(255)}.0/{pick(12, 28)}",
            "type_at_host": lambda: f"{self._host()} type:image/{self._word(4)}",
            "hour_at_host": lambda: f"{self._host()}/{self._word(3)} time:{pick(24):02}:00-{pick(24):02}:30",
        }

    def places(self, kinds: Sequence[str], number: int) -> list[PlaceRule]:
        """So many different ones, of some kinds in turn."""
        makers = [self.makers()[kind] for kind in kinds]
        found: dict[object, PlaceRule] = {}
        while len(found) < number:
            place = read_place(makers[len(found) % len(makers)]())
            found.setdefault(place.means, place)
        return list(found.values())

    def asked(self, number: int) -> list[Asked]:
        """URLs of documents, with an address and a media type."""
        return [self._asked() for _ in range(number)]

    def _asked(self) -> Asked:
        pick = self._chance.randrange
        host = self._host() if pick(2) else f"{self._common()}.{self._host()}"
        path = f"{self._common()}/{self._common()}/{self._word(12)}.html?{self._word(3)}={pick(99)}"
        url = Url.parse(f"https://{host}/{path}")
        assert url is not None
        return Asked(host, url, f"192.0.{pick(64)}.{pick(255)}", "text/html", 15 * 60)

    def _host(self) -> str:
        return self._chance.choice(self._hosts)

    def _common(self) -> str:
        """A word that places and URLs have in common, so that some URLs lie in places."""
        return self._chance.choice(self._words)

    def _word(self, letters: int = 7) -> str:
        return "".join(self._chance.choices(_LETTERS, k=letters))


def timed(index: PlaceIndex, asked: Sequence[Asked]) -> float:
    """Microseconds a URL."""
    began = time.process_time()
    for one in asked:
        index.matching(one)
    return (time.process_time() - began) / len(asked) * 1e6


def least(index: PlaceIndex, asked: Sequence[Asked]) -> float:
    """Microseconds a URL, where others on the machine disturb least: of each few hundred the best round."""
    parts = [asked[start : start + PART] for start in range(0, len(asked), PART)]
    best = [min(timed(index, part) for _ in range(ROUNDS)) * len(part) for part in parts]
    return sum(best) / len(asked)


def costs(kinds: Kinds, names: Sequence[str], places: int, asked: Sequence[Asked]) -> dict[str, float]:
    """Of an index of places of some kinds: how long it takes to make, and a URL, met first and later."""
    made = kinds.places(names, places)
    began = time.process_time()
    index = PlaceIndex(made)
    built = time.process_time() - began
    gc.collect()
    first = timed(index, asked)
    return {
        "build_s": round(built, 3),
        "first_us": round(first, 2),
        "us": round(least(index, asked), 2),
        "matches": round(sum(len(index.matching(one)) for one in asked) / len(asked), 3),
    }


class CallCount:
    """Counts calls of the crawler's own functions in this thread, and those that belong to places."""

    def __init__(self) -> None:
        self.all = self.places = 0

    def __call__(self, frame: FrameType, event: str, _argument: Any) -> None:
        if event == "call" and "/gossamer/" in frame.f_code.co_filename:
            self.all += 1
            self.places += "/places/" in frame.f_code.co_filename


def calls_a_page(pages: int, place: dict[str, Any]) -> dict[str, float]:
    """Calls of our functions a page of a whole crawl of a simulated web, with some places or none."""
    count, seen = CallCount(), 0

    async def crawl(web: SimulatedWeb, folder: str) -> None:
        nonlocal seen
        settings = {
            "politeness": {"min_delay": 0},
            "fetch": {"allow_private": True},
            "dns": {"nameservers": [web.nameserver], "hosts_file": False, "prefetch": False},
            "engine": {"workers": 1},
            "place": place,
        }
        settings = {name: section for name, section in settings.items() if section}
        async for _ in gossamer.crawl(*web.seeds, config=settings, folder=folder, max_pages=pages):
            if not seen:
                sys.setprofile(count)
            seen += 1
        sys.setprofile(None)

    spec = WorldSpec.plain(hosts=4, pages=4 * pages, seed=1)
    with SimulatedWeb(spec) as web, tempfile.TemporaryDirectory() as folder:
        asyncio.run(crawl(web, f"{folder}/crawl"))
    return {"pages": seen, "calls": round(count.all / seen, 1), "of_places": round(count.places / seen, 2)}


def figures(places: int, urls: int, pages: int, seed: int) -> dict[str, Any]:
    """All that is measured."""
    kinds = Kinds(seed)
    asked = kinds.asked(urls)
    names = list(kinds.makers())
    told: dict[str, Any] = {"places": places, "urls": urls, "mixed": costs(kinds, names, places, asked)}
    told["alone"] = {name: costs(kinds, [name], places, asked) for name in names}
    if pages:
        elsewhere = {"elsewhere.example": {"politeness": {"min_delay": 1}, "scope": {"max_depth": 1}}}
        told["crawl"] = {
            "without": calls_a_page(pages, {}),
            "with_one_elsewhere": calls_a_page(pages, elsewhere),
        }
    return told


def main(arguments: Iterable[str] | None = None) -> None:
    """Measure, and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--places", type=int, default=10_000)
    parser.add_argument("--urls", type=int, default=20_000)
    parser.add_argument("--pages", type=int, default=200, help="of the crawls; 0: none")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args(None if arguments is None else list(arguments))
    told = figures(options.places, options.urls, options.pages, options.seed)
    if options.json:
        print(json.dumps(told))
        return
    print(msgspec.json.format(msgspec.json.encode(told), indent=2).decode())


if __name__ == "__main__":
    main()
