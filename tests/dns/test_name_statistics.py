"""Statistics of names: what counts as what, bounds under hostile names, and the way through the state."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.dns.statistics import KINDS, LATENCY_BOUNDS, NAMES, OTHER, WATCHED, NameStatistics
from gossamer.model.name import Answer
from gossamer.model.outcome import Fault
from gossamer.state.records import decode, encode


def found(name: str = "a.com", seconds: float = 0.0) -> Answer:
    return Answer(name, ("192.0.2.1",), 60.0, seconds=seconds)


def failed(name: str = "a.com", detail: str = "SERVFAIL", fault: Fault = Fault.NAME_FAILED) -> Answer:
    return Answer(name, (), 60.0, fault, detail)


@pytest.mark.parametrize(
    ("answer", "counter"),
    [
        (None, "misses"),
        (found(), "hits"),
        (failed(), "negative"),
        (failed(fault=Fault.NAME_NOT_FOUND), "negative"),
        (failed(fault=Fault.NAME_DEFERRED), "deferred"),
    ],
)
def test_what_the_cache_says_counts_once(answer, counter):
    statistics = NameStatistics()
    statistics.asked(answer)
    counts = {name: getattr(statistics, name) for name in ("hits", "negative", "deferred", "misses")}
    assert counts == {"hits": 0, "negative": 0, "deferred": 0, "misses": 0} | {counter: 1}
    assert statistics.questions == 1
    assert statistics.share(counts[counter]) == 1.0


def test_nothing_asked_is_no_share():
    assert NameStatistics().share(0) == 0.0
    assert NameStatistics().latency(0.5) == 0.0
    assert NameStatistics().slowest_names() == NameStatistics().failing_names() == []


def test_queries_and_stale_answers():
    statistics = NameStatistics()
    statistics.sent()
    statistics.sent(2)
    statistics.served_stale()
    assert (statistics.queries, statistics.stale) == (3, 1)


def test_flights_by_kind_of_failure():
    statistics = NameStatistics()
    for answer in (found(), failed(), failed(), failed(detail="NXDOMAIN"), failed(detail="")):
        statistics.resolved(answer)
    assert statistics.resolutions == 5
    assert statistics.failures == {"SERVFAIL": 2, "NXDOMAIN": 1, "name_failed": 1}


def test_kinds_are_bounded():
    statistics = NameStatistics()
    for number in range(10 * KINDS):
        statistics.resolved(failed(detail=f"kind {number}"))
    assert len(statistics.failures) == KINDS + 1
    assert statistics.failures[OTHER] == 9 * KINDS


@given(st.lists(st.floats(0, 120), min_size=1, max_size=50), st.floats(0, 1))
def test_latencies(durations, share):
    statistics = NameStatistics()
    for seconds in durations:
        statistics.resolved(found(seconds=seconds))
    assert sum(statistics.latencies) == len(durations)
    for bound, count in zip(LATENCY_BOUNDS, statistics.latencies, strict=False):
        lower = max((other for other in LATENCY_BOUNDS if other < bound), default=-1.0)
        assert count == sum(lower < seconds <= bound for seconds in durations)
    within = statistics.latency(share)
    assert within <= max(durations)
    assert sum(seconds <= within for seconds in durations) >= share * len(durations)


@given(st.lists(st.tuples(st.integers(0, 60), st.floats(0, 100)), max_size=200))
def test_the_slowest_names(flights):
    statistics = NameStatistics()
    longest: dict[str, float] = {}
    for number, seconds in flights:
        name = f"{number}.com"
        statistics.resolved(found(name, seconds))
        longest[name] = max(longest.get(name, 0.0), seconds)
    shown = statistics.slowest_names()
    assert [seconds for _, seconds in shown] == sorted(longest.values(), reverse=True)[:NAMES]
    assert all(longest[name] == seconds for name, seconds in shown)


@given(st.lists(st.one_of(st.integers(0, 3), st.integers(0, 10_000)), max_size=600))
def test_the_most_often_failing_names(numbers):
    statistics = NameStatistics()
    for number in numbers:
        statistics.resolved(failed(f"{number}.com"))
    true = Counter(f"{number}.com" for number in numbers)
    assert len(statistics.failing) <= WATCHED
    for name, (count, excess) in statistics.failing.items():
        assert count - excess <= true[name] <= count
    for name, count in true.items():
        assert name in statistics.failing or count * WATCHED <= len(numbers)
    shown = statistics.failing_names()
    assert len(shown) <= NAMES
    assert shown == sorted(shown, key=lambda each: -each[1])


def test_a_flood_of_names_does_not_hide_the_one_that_fails_again_and_again():
    statistics = NameStatistics()
    for number in range(20_000):
        statistics.resolved(failed(f"{number}.flood.com"))
        if number % 50 == 0:
            statistics.resolved(failed("often.com"))
    assert statistics.failing_names()[0][0] == "often.com"
    assert len(encode(statistics)) < 20_000


def test_through_the_state_and_on():
    statistics = NameStatistics()
    statistics.asked(None)
    statistics.resolved(found("a.com", 0.3))
    statistics.resolved(failed("b.com"))
    loaded = decode(encode(statistics), NameStatistics)
    assert loaded == statistics
    for each in (loaded, statistics):
        each.resolved(failed("b.com"))
    assert loaded == statistics
    assert loaded.failing_names() == [("b.com", 2)]
    assert NameStatistics().failures == {}
