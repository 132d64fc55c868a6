"""The worked examples of the book: breadth first (K3) and best first (K5, table 1.4)."""

import heapq
from typing import Any

import pytest

from gossamer.model.candidate import Candidate
from gossamer.model.link import LinkKind
from gossamer.model.url import Url
from gossamer.policy.ordering.best import BestConfig, BestFirst
from gossamer.policy.ordering.features import Feature
from gossamer.policy.ordering.ordering import BreadthFirst
from gossamer.ports import LinkOrdering, OrderingPolicy

FIGURE = {"A": "BCDEF", "E": "H", "F": "G", "H": "I"}
"""Figure 1.3."""

BELOW_G = {"A": "BCDEF", "E": "H", "F": "G", "G": "I"}
"""The same with I below G: breadth first comes out the same, best first finds I before H."""

IMPORTANCE = "DBCAEFIGH"


def url(page: str) -> Url:
    parsed = Url.parse(f"http://book.example/{page.lower()}")
    assert parsed is not None
    return parsed


def crawl(graph: dict[str, str], order: OrderingPolicy | LinkOrdering[Any, Any]) -> str:
    """Fetch everything from A on: a heap of levels, ties by arrival, gifts given at once."""
    links: Any = order if hasattr(order, "worth") else None
    found: dict[str, Candidate] = {}
    worths: dict[str, Any] = {}
    heap: list[tuple[int, int, str]] = []

    def place(page: str) -> None:
        at = links.waiting_level(found[page], worths[page]) if links else order.level(found[page])
        heapq.heappush(heap, (at, list(found).index(page), page))

    def admit(page: str, candidate: Candidate, gift: Any) -> None:
        found[page] = candidate
        if links:
            worths[page] = links.admitted(candidate, gift)
        place(page)

    admit("A", Candidate(url("A"), LinkKind.SEED), None)
    fetched = ""
    while heap:
        page = heapq.heappop(heap)[2]
        if page in fetched:
            continue
        fetched += page
        gift = None
        targets = graph.get(page, "")
        if links and targets:
            worths[page], gift = links.spread(found[page], worths[page], len(targets), len(targets))
        for target in targets:
            if target in found:
                worths[target] = links.give(worths[target], gift) if links else None
                place(target)
            else:
                via = found[page]
                admit(
                    target, Candidate(url(target), LinkKind.NAVIGATION, via.depth + 1, via=via.url.text), gift
                )
    return fetched


def best() -> BestFirst:
    features = [
        Feature(where="path", words=[page.lower()], value=float(len(IMPORTANCE) - place))
        for place, page in enumerate(IMPORTANCE)
    ]
    return BestFirst(BestConfig(features=features))


@pytest.mark.parametrize("graph", [FIGURE, BELOW_G])
def test_breadth_first(graph: dict[str, str]) -> None:
    assert crawl(graph, BreadthFirst()) == "ABCDEFHGI"


def test_best_first_goes_through_the_todo_lists_of_table_1_4() -> None:
    # I is more important than G and H, but H alone leads to it.
    assert crawl(FIGURE, best()) == "ADBCEFGHI"


def test_best_first_takes_the_more_important_of_what_is_known() -> None:
    assert crawl(BELOW_G, best()) == "ADBCEFGIH"
