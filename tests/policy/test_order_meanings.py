"""What a level says to people, and why a URL stands where it stands, order by order."""

import pytest

from gossamer.model.candidate import Candidate
from gossamer.model.link import LinkKind
from gossamer.model.reasons.codes import WorthCode
from gossamer.model.url import Url
from gossamer.policy.ordering.focus import WHOLE, Focused, Promise
from gossamer.policy.ordering.focus_config import FocusConfig
from gossamer.policy.ordering.opic import Opic, OpicConfig
from gossamer.policy.ordering.ordering import DEEPEST, BreadthFirst, DepthFirst


def candidate(url: str = "http://a.example/x", **fields: object) -> Candidate:
    parsed = Url.parse(url)
    assert parsed is not None
    return Candidate(parsed, **fields)  # type: ignore[arg-type]


@pytest.mark.parametrize("order", [BreadthFirst(), DepthFirst()])
def test_a_level_tells_its_depth(order: BreadthFirst | DepthFirst) -> None:
    for depth in (0, 1, 7, 60_000):
        meaning = order.meaning(order.level(candidate(depth=depth)))
        assert tuple(meaning) == ("depth", depth, depth)
    levels = [order.level(candidate(depth=depth)) for depth in range(5)]
    assert levels == sorted(levels, reverse=order.name == "dfs")
    assert order.level(candidate(kind=LinkKind.ROBOTS)) < min(levels)
    assert order.level(candidate(origin="http://a.example")) < order.level(candidate(depth=10**9))
    assert order.level(candidate(depth=10**9)) <= DEEPEST


@pytest.mark.parametrize(
    ("url", "via", "front", "foreign"),
    [
        ("http://a.example/x", "http://a.example/", WorthCode.NO, WorthCode.NO),
        ("http://a.example/", "http://b.example/", WorthCode.EIGHTFOLD, WorthCode.TWICE),
        ("http://a.example/x", "http://b.example/", WorthCode.NO, WorthCode.TWICE),
        ("http://www.a.example/x", "http://a.example/", WorthCode.NO, WorthCode.NO),
        ("http://a.example/x", "https://www.a.example/", WorthCode.NO, WorthCode.NO),
        ("http://a.example/", "", WorthCode.EIGHTFOLD, WorthCode.NO),
        ("http://a.example/x", "no url", WorthCode.NO, WorthCode.NO),
    ],
)
def test_what_decides_beside_credit(url: str, via: str, front: WorthCode, foreign: WorthCode) -> None:
    order = Opic(OpicConfig())
    found = candidate(url, via=via)
    told = order.explain(found, order.admitted(found, None))
    assert (told["front page"].code, told["found from another host"].code) == (front, foreign)  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("worth", "score"),
    [
        (Promise(WHOLE, page=WHOLE), WHOLE),  # a seed
        (Promise(1, 500, 200, 100), (2 * 500 + 4 * 200 + 3 * 100) // 9),
        (Promise(1, 0, 0, 900), 300),
        (Promise(1, 0, 100, WHOLE), (400 + 3_000) // 9),
        (Promise(1, 100, 0, WHOLE), (200 + 3_000) // 9),
        (Promise(), 0),
    ],
)
def test_a_promise_under_other_weights(worth: Promise, score: int) -> None:
    order = Focused(FocusConfig(query="words"))
    order.retune(FocusConfig(query="words", anchor_weight=2, url_weight=4, page_weight=3))
    again = order.reweighed(candidate(), worth)
    assert abs(again.score - score) <= 1
    assert (again.anchor, again.url, again.page) == (worth.anchor, worth.url, worth.page)
    told = order.explain(candidate(), worth)
    assert told["link text"] == f"{worth.anchor / 1_000:.3f}"
    assert told["address"] == f"{worth.url / 1_000:.3f}"
    assert told["page"] == f"{worth.page / 1_000:.3f}"
