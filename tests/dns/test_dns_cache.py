"""The plain name cache: against a naive model, and its bounds."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.dns.cache import PlainCache
from gossamer.model.name import Answer
from gossamer.model.outcome import Fault

STEPS = st.lists(
    st.one_of(
        st.tuples(st.sampled_from(("put", "fail")), st.sampled_from("abcdefg"), st.integers(0, 20)),
        st.tuples(st.sampled_from(("get", "stale")), st.sampled_from("abcdefg"), st.just(0)),
        st.tuples(st.just("wait"), st.just(""), st.integers(-5, 15)),
    ),
    max_size=60,
)


def answer_of(step: str, name: str, ttl: float) -> Answer:
    return Answer(name, ("192.0.2.1",), ttl) if step == "put" else Answer(name, (), ttl, Fault.NAME_FAILED)


@given(st.integers(0, 4), STEPS)
def test_like_a_list_of_last_uses(entries, steps):
    cache = PlainCache(entries)
    model: list[tuple[str, Answer, int]] = []  # the least recently used first
    now = 1000
    for step, name, number in steps:
        found = next((kept for kept in model if kept[0] == name), None)
        if step == "wait":
            now += number
        elif step in ("put", "fail"):
            answer = answer_of(step, name, number)
            cache.put(answer, now)
            model = [kept for kept in model if kept is not found]
            if number > 0 and entries:
                model = [*model, (name, answer, now)][-entries:]
        elif step == "stale":
            old = found and found[1].addresses and found[2] + found[1].ttl <= now
            assert cache.stale(name, now) is (found[1] if old else None)
        elif found and found[2] <= now < found[2] + found[1].ttl:
            model = [*(kept for kept in model if kept is not found), found]
            assert cache.get(name, now) is found[1]
        else:
            assert cache.get(name, now) is None
            if found and (now < found[2] or not found[1].addresses):
                model.remove(found)
        assert len(cache) == len(model) <= entries


def test_failures_are_kept_too():
    cache = PlainCache(3)
    cache.put(Answer("a.test", (), 60, Fault.NAME_NOT_FOUND, "NXDOMAIN"), 100.0)
    assert cache.get("a.test", 159.9).fault is Fault.NAME_NOT_FOUND
    assert cache.get("a.test", 160.0) is None


@pytest.mark.parametrize("jump", [-1.0, -3600.0])
def test_a_clock_that_goes_back_makes_answers_expire(jump):
    cache = PlainCache(3)
    cache.put(Answer("a.test", ("192.0.2.1",), 60), 10_000.0)
    assert cache.get("a.test", 10_000.0 + jump) is None
    assert len(cache) == 0


def test_an_answer_from_the_cache_took_no_time():
    cache = PlainCache(3)
    cache.put(Answer("a.test", ("192.0.2.1",), 60, seconds=0.3), 100.0)
    assert cache.get("a.test", 100.0) == Answer("a.test", ("192.0.2.1",), 60)


def test_kept_longer_or_shorter_than_its_time_to_live():
    cache = PlainCache(3)
    cache.keep(Answer("a.test", ("192.0.2.1",), 60), 100.0, 5.0)
    assert cache.get("a.test", 104.0).ttl == 60
    assert cache.get("a.test", 105.0) is None
    cache.keep(Answer("a.test", ("192.0.2.1",), 0), 100.0, 5.0)
    assert cache.get("a.test", 104.0) is not None


def test_the_census_counts_and_weighs():
    cache = PlainCache(100)
    empty = cache.census()
    assert (empty.entries, empty.negative) == (0, 0)
    for n in range(50):
        cache.put(Answer(f"n{n}.test", ("192.0.2.1",), 60), 100.0)
    cache.put(Answer("none.test", (), 60, Fault.NAME_NOT_FOUND), 100.0)
    full = cache.census()
    assert (full.entries, full.negative) == (51, 1)
    assert full.bytes > empty.bytes + 51 * 200
    cache.close()
    assert cache.census().entries == 0


def test_repr_tells_the_fill():
    assert repr(PlainCache(7)) == "<PlainCache 0 of 7>"
