"""`why` tells what a page weighs, and for which reasons."""

import pytest

from gossamer.inspect.why.told import about_told, about_weight
from gossamer.model.disposition import PageState
from gossamer.policy.revisit import classes
from gossamer.policy.revisit.gone import Presence
from gossamer.policy.revisit.history import History, Voice
from gossamer.policy.revisit.rates import Spread
from gossamer.policy.revisit.trust import Trust, with_trust
from gossamer.state.records import HostRecord, PageRecord

BELIEF = Spread().believe(History(0, 0))


def of(weight: float, **fields) -> History:
    return History(0, 0, place=classes.classify(BELIEF, weight), **fields)


@pytest.mark.parametrize(
    ("history", "wanted", "said"),
    [
        (of(1.0), 1.0, []),
        (of(8.0, brings=8), 1.0, ["again.hub", "again.weight"]),
        (of(4.0), 4.0, ["again.wanted", "again.weight"]),
        (of(4.0), 3.0, ["again.wanted", "again.weight"]),  # classes are powers of two
        (of(2.0), 1.0, ["again.linked", "again.weight"]),
        (of(1.0), 4.0, ["again.wanted", "again.linked"]),
        (of(0.25, brings=8, presence=Presence.GONE), 2.0, []),
        (History(0, 0, place=classes.fixed(3_600), brings=8), 2.0, []),
    ],
)
def test_each_factor_that_is_not_one_is_told(history: History, wanted: float, said: list[str]):
    assert [each.key for each in about_weight(history, wanted)] == said


def test_each_source_of_a_page_is_told_of():
    history = of(1.0, voices=(Voice(1, 2.0), Voice(8), Voice(5, 7.0), Voice(6)))
    trusts = with_trust(b"", 1, Trust(right=3, quiet=9, days=40))
    trusts = with_trust(trusts, 8, Trust(wrong=3, lies=2))
    page, host = PageRecord("http://e.example/", PageState.DONE), HostRecord("e.example", trusts=trusts)
    told = list(about_told(history, page, host))
    assert [each.key for each in told] == ["again.heard", "again.heard", "again.trust", "again.lies"]
    assert [dict(each.values)["source"] for each in told] == [1, 5, 1, 8]
    assert [each.key for each in about_told(history, page, None)] == ["again.heard", "again.heard"]
