"""Share of all PageRank that a crawl has fetched after a tenth, a quarter, a half of the pages, by its order.

Run as `python -m benchmarks.quality [--quick] [--json]`. The graphs and their PageRank come from
`benchmarks.link_graphs`, written before the orders that are judged here. The orders are the package's own;
they are driven as the frontier drives them: levels, gifts to waiting URLs gathered and given late, moves to
better levels only. Politeness is left out: each step takes the best URL that waits. `omniscient` always takes
the URL of highest true PageRank of those that have been found; `ceiling` is the best set of pages there is,
found or not, and needs no links.
"""

import argparse
import heapq
import json
import sys
import time
from collections.abc import Sequence
from itertools import accumulate
from typing import Any

import numpy as np

from benchmarks import link_graphs, real_graphs
from benchmarks.docs_site import chosen
from benchmarks.link_graphs import LinkGraph
from benchmarks.packages import MissingPackageError
from gossamer.frontier.standings import DRAIN_SHARE
from gossamer.model.candidate import Candidate
from gossamer.model.link import LinkKind
from gossamer.model.url import Url
from gossamer.policy.ordering.best import BestConfig, BestFirst
from gossamer.policy.ordering.opic import Opic, OpicConfig
from gossamer.policy.ordering.ordering import BreadthFirst, DepthFirst
from gossamer.ports import LinkOrdering, OrderingPolicy

POINTS = (0.1, 0.25, 0.5)
"""Shares of the pages at which the crawl is looked at."""

MOST_A_SECOND = 500
"""Pages an agent fetches in a second, which is how long the frontier gathers gifts at most; a fiftieth more
pages may come first. Politeness allows each host one, so a crawl of one host gives them after each page."""

TREES = ("apache", "python", "postgresql")
QUICK_TREES = ("postgresql",)

ORDERS = ("bfs", "dfs", "best", "opic", "omniscient", "ceiling")

Curve = dict[str, float]
"""Share of pages, as text -> share of PageRank."""


class Queue:
    """What waits, by level and arrival; an entry moves by being entered again."""

    def __init__(self) -> None:
        self._heap: list[tuple[float, int, int]] = []
        self._level: dict[int, float] = {}
        self._arrival: dict[int, int] = {}

    def put(self, page: int, level: float) -> None:
        """Enter a page that has just been found."""
        self._arrival[page] = len(self._arrival)
        self._level[page] = level
        heapq.heappush(self._heap, (level, self._arrival[page], page))

    def improve(self, page: int, level: float) -> None:
        """Move a page that waits, if the level is better."""
        if level < self._level.get(page, -1):
            self._level[page] = level
            heapq.heappush(self._heap, (level, self._arrival[page], page))

    def take(self) -> int:
        """The best page; -1 if nothing waits."""
        while self._heap:
            level, _, page = heapq.heappop(self._heap)
            if self._level.get(page) == level:
                del self._level[page]
                return page
        return -1


class Crawl:
    """A crawl of a link graph by one of the package's orders, without a network."""

    def __init__(self, graph: LinkGraph, order: OrderingPolicy | LinkOrdering[Any, Any]) -> None:
        self.graph = graph
        self.queue = Queue()
        self.fetched: list[int] = []
        hosts = len({url.split("/", 3)[2] for url in graph.urls})
        self._most = min(hosts, MOST_A_SECOND)
        self._given = 0
        self._static = order
        self._links: LinkOrdering[Any, Any] | None = order if hasattr(order, "worth") else None  # type: ignore[assignment]
        self._found: dict[int, Candidate] = {}
        self._worths: dict[int, Any] = {}
        self._gifts: dict[int, Any] = {}

    def run(self, limit: int) -> list[int]:
        """Fetch so many pages, or all that can be found; returns them in order."""
        for seed in self.graph.seeds:
            self._admit(seed, LinkKind.SEED, None, None)
        while len(self.fetched) < limit and (page := self.queue.take()) >= 0:
            self.fetched.append(page)
            self._settle(page)
            done = len(self.fetched)
            if done - self._given >= min(self._most, 1 + self._given // DRAIN_SHARE):
                self._give()
                self._given = done
        return self.fetched

    def _settle(self, page: int) -> None:
        links = self.graph.links(page)
        gift = None
        if self._links is not None:
            worth = self._worths[page]
            if (late := self._gifts.pop(page, None)) is not None:
                worth = self._links.give(worth, late)
            if links:
                worth, gift = self._links.spread(self._found[page], worth, len(links), len(links))
            self._worths[page] = self._links.closed(worth)
        for target in links:
            if target not in self._found:
                self._admit(target, LinkKind.NAVIGATION, page, gift)
            elif self._links is not None:
                before = self._gifts.get(target)
                self._gifts[target] = gift if before is None else self._links.merge(before, gift)

    def _admit(self, page: int, kind: LinkKind, finder: int | None, gift: Any) -> None:
        url = Url.from_serialised(self.graph.urls[page])
        assert url is not None
        if finder is None:
            candidate = Candidate(url, kind)
        else:
            via = self._found[finder]
            candidate = Candidate(url, kind, via.depth + 1, via=via.url.text)
        self._found[page] = candidate
        if self._links is None:
            self.queue.put(page, self._static.level(candidate))
        else:
            worth = self._links.admitted(candidate, gift)
            self._worths[page] = worth
            self.queue.put(page, self._links.waiting_level(candidate, worth))

    def _give(self) -> None:
        if self._links is None:
            return
        for page, gift in self._gifts.items():
            self._worths[page] = self._links.give(self._worths[page], gift)
            self.queue.improve(page, self._links.waiting_level(self._found[page], self._worths[page]))
        self._gifts.clear()


def omniscient(graph: LinkGraph, ranks: Sequence[float], limit: int) -> list[int]:
    """The order of who knows the PageRank of what has been found."""
    queue = Queue()
    found = set(graph.seeds)
    for seed in graph.seeds:
        queue.put(seed, -ranks[seed])
    fetched: list[int] = []
    while len(fetched) < limit and (page := queue.take()) >= 0:
        fetched.append(page)
        for target in graph.links(page):
            if target not in found:
                found.add(target)
                queue.put(target, -ranks[target])
    return fetched


def judge(graph: LinkGraph) -> dict[str, Curve]:
    """The curve of each order."""
    ranks = graph.pagerank().tolist()
    limit = round(len(ranks) * max(POINTS))
    orders: list[OrderingPolicy] = [BreadthFirst(), DepthFirst(), BestFirst(BestConfig()), Opic(OpicConfig())]
    curves = {order.name: _curve(Crawl(graph, order).run(limit), ranks) for order in orders}
    curves["omniscient"] = _curve(omniscient(graph, ranks, limit), ranks)
    curves["ceiling"] = _curve(sorted(range(len(ranks)), key=lambda page: -ranks[page]), ranks)
    return curves


def _curve(fetched: Sequence[int], ranks: Sequence[float]) -> Curve:
    sums = list(accumulate(ranks[page] for page in fetched))
    return {str(point): round(sums[round(len(ranks) * point) - 1], 4) for point in POINTS}


def graphs(options: argparse.Namespace) -> list[LinkGraph]:
    """The graphs that were asked for; documentation that is not there is named on standard error."""
    if options.real:
        return real_graphs.graphs()
    pages = link_graphs.QUICK_PAGES if options.quick else link_graphs.FULL_PAGES
    found = [link_graphs.copying(pages, options.dice), link_graphs.sites(pages, options.dice + 1)]
    names = options.tree or (QUICK_TREES if options.quick else TREES)
    trees = chosen(names)
    for name in names:
        if name not in {tree.name for tree in trees}:
            print(f"the documentation of {name} is not installed: left out", file=sys.stderr)
    found += [link_graphs.documentation(tree) for tree in trees]
    if not options.quick:
        try:
            found += real_graphs.graphs()
        except MissingPackageError as error:
            print(f"real graphs are left out: {error}", file=sys.stderr)
    return found


def report(tables: dict[str, dict[str, Curve]]) -> dict[str, Any]:
    """The tables with their mean over the graphs."""
    mean = {
        order: {
            str(point): round(float(np.mean([table[order][str(point)] for table in tables.values()])), 4)
            for point in POINTS
        }
        for order in ORDERS
    }
    relative = {name: round(t["opic"]["0.25"] / t["omniscient"]["0.25"], 4) for name, t in tables.items()}
    ahead = {name: round(min(t["best"][p] - t["bfs"][p] for p in t["bfs"]), 4) for name, t in tables.items()}
    return {
        "pagerank_share": mean,
        "graphs": tables,
        "opic_of_omniscient": relative,
        "best_ahead_of_bfs": ahead,
    }


def main(arguments: list[str] | None = None) -> int:
    """Measure, print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="small webs, one tree of documentation")
    parser.add_argument("--json", action="store_true", help="one JSON object on standard output")
    parser.add_argument("--real", action="store_true", help="only the graphs that are fetched")
    parser.add_argument("--tree", action="append", metavar="NAME", help="this documentation (repeatable)")
    parser.add_argument("--dice", type=int, default=1, help="other webs from the same generators")
    options = parser.parse_args(arguments)
    tables: dict[str, dict[str, Curve]] = {}
    for graph in graphs(options):
        started = time.monotonic()
        tables[graph.name] = judge(graph)
        if not options.json:
            seconds = time.monotonic() - started
            print(f"{graph.name}: {len(graph.urls)} pages, {len(graph.targets)} links; {seconds:.0f} s")
            _print(tables[graph.name])
    result = report(tables)
    if options.json:
        json.dump(result, sys.stdout)
        print()
        return 0
    print("mean of the graphs")
    _print(result["pagerank_share"])
    return 0


def _print(table: dict[str, Curve]) -> None:
    for order, curve in table.items():
        part = curve["0.25"] / table["omniscient"]["0.25"]
        print(f"  {order:11}", *(f"{curve[str(point)]:7.3f}" for point in POINTS), f"  {part:6.1%} at 25%")


if __name__ == "__main__":
    sys.exit(main())
