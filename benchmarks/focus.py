"""How many wanted pages a focused crawl fetches early: `python -m benchmarks.focus [--quick] [--json]`.

The order alone is judged, with the crawl's own reader over generated pages (`topical_web`) and a queue in
memory in place of network and frontier. The harvest rate is the share of fetched pages that are on the
subject by the generator's word, not by the policy's.
"""

import argparse
import heapq
import json
from itertools import count

from benchmarks.topical_web import TopicalWeb
from gossamer.extract.config import ExtractConfig
from gossamer.extract.focus import FocusExtractor
from gossamer.extract.reader import Reader
from gossamer.extract.registry import builtin_extractors
from gossamer.model.candidate import Candidate
from gossamer.model.exchange import Exchange, Headers
from gossamer.model.link import LinkKind
from gossamer.model.page import Page
from gossamer.model.url import Url
from gossamer.policy.ordering.focus import Focused, Promise
from gossamer.policy.ordering.focus_config import FocusConfig
from gossamer.policy.ordering.ordering import BreadthFirst
from gossamer.policy.ordering.words import Query

SHARES = (0.1, 0.25, 0.5)
PAGES, QUICK_PAGES = 20_000, 1_500


class _NoBody:
    """Stands where the reader touches nothing."""


class Driver:
    """Fetches the pages of a web in an order, one at a time."""

    def __init__(self, web: TopicalWeb, policy: BreadthFirst | Focused) -> None:
        self._web = web
        self._policy = policy
        focused = isinstance(policy, Focused)
        config = ExtractConfig(anchor_text=focused)
        extractors = builtin_extractors(config)
        if focused:
            extractors.append(FocusExtractor(Query(web.query)))
        self._reader = Reader(config, "gossamer", extractors)
        self._arrival = count()
        self._queue: list[tuple[int, int, Candidate]] = []
        self._worths: dict[str, Promise] = {}
        self._levels: dict[str, int] = {}

    def run(self, pages: int) -> list[int]:
        """Numbers of the first `pages` pages in the order fetched."""
        for number in self._web.seeds():
            self._mention(Candidate(_parsed(self._web.url(number))), None)
        fetched: list[int] = []
        done: set[str] = set()
        while self._queue and len(fetched) < pages:
            _, _, candidate = heapq.heappop(self._queue)
            if candidate.url.text in done:
                continue
            done.add(candidate.url.text)
            number = self._web.number(candidate.url.text)
            fetched.append(number)
            self._follow(candidate, self._read(candidate.url, self._web.page(number)))
        return fetched

    def _read(self, url: Url, content: bytes) -> Page:
        headers = Headers([("Content-Type", "text/html; charset=utf-8")])
        return self._reader.read(Exchange(url, 0.0, b"", 200, b"", headers, _NoBody()), content)  # type: ignore[arg-type]

    def _follow(self, finder: Candidate, page: Page) -> None:
        appraise = None
        if isinstance(self._policy, Focused):
            appraise = self._policy.appraise(finder, self._worths[finder.url.text], page)
        for link in page.links:
            candidate = Candidate(
                link.url, LinkKind.NAVIGATION, finder.depth + 1, finder.hops + "L", finder.url.text
            )
            self._mention(candidate, appraise(link) if appraise else None)

    def _mention(self, candidate: Candidate, gift: Promise | None) -> None:
        key, known = candidate.url.text, self._levels.get(candidate.url.text)
        policy = self._policy
        if isinstance(policy, Focused):
            worth = self._worths.get(key)
            if worth is None:
                worth = policy.admitted(candidate, gift)
            elif gift is not None:
                worth = policy.give(worth, gift)
            self._worths[key] = worth
            level = policy.waiting_level(candidate, worth)
        else:
            level = policy.level(candidate)
        if known is None or (level < known and isinstance(policy, Focused)):
            self._levels[key] = level
            heapq.heappush(self._queue, (level, next(self._arrival), candidate))


def _parsed(text: str) -> Url:
    url = Url.parse(text)
    assert url is not None
    return url


def measure(pages: int, seed: int = 1) -> dict[str, object]:
    """Harvest rate and share of all wanted pages, by order and share of the web fetched."""
    web = TopicalWeb(pages, seed)
    wanted = sum(web.wanted(number) for number in range(pages))
    focused = Focused(FocusConfig(query=web.query))
    harvest: dict[str, dict[str, float]] = {}
    found: dict[str, dict[str, float]] = {}
    for policy in (BreadthFirst(), focused):
        order = Driver(web, policy).run(int(pages * SHARES[-1]))
        for share in SHARES:
            got = sum(map(web.wanted, order[: int(pages * share)]))
            harvest.setdefault(policy.name, {})[str(share)] = round(got / int(pages * share), 4)
            found.setdefault(policy.name, {})[str(share)] = round(got / wanted, 4)
    best = {str(share): round(min(1.0, wanted / int(pages * share)), 4) for share in SHARES}
    return {
        "pages": pages,
        "wanted": wanted,
        "harvest_rate": {**harvest, "best_possible": best},
        "wanted_found": found,
        "own_figures": focused.figures(),
    }


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="a small web")
    parser.add_argument("--json", action="store_true", help="machine-readable output")
    given = parser.parse_args()
    result = measure(QUICK_PAGES if given.quick else PAGES)
    if given.json:
        print(json.dumps(result))
        return
    print(f"{result['pages']:,} pages, {result['wanted']:,} wanted".replace("'", ""))
    print("harvest rate       " + "".join(f"{share:>8.0%}" for share in SHARES))
    for name, rates in result["harvest_rate"].items():  # type: ignore[attr-defined]
        print(f"{name:<19}" + "".join(f"{rates[str(share)]:>8.1%}" for share in SHARES))


if __name__ == "__main__":
    main()
