"""The plain name cache: against a naive model, and its bounds."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.dns.cache import PlainCache
from gossamer.model.name import Answer
from gossamer.model.outcome import Fault

STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("put"), st.sampled_from("abcdefg"), st.integers(0, 20)),
        st.tuples(st.just("get"), st.sampled_from("abcdefg"), st.integers(0, 0)),
        st.tuples(st.just("wait"), st.just(""), st.integers(-5, 15)),
    ),
    max_size=60,
)


@given(st.integers(0, 4), STEPS)
def test_like_a_list_of_last_uses(entries, steps):
    cache = PlainCache(entries)
    model: list[tuple[str, Answer, int]] = []  # the least recently used first
    now = 1000
    for step, name, number in steps:
        if step == "wait":
            now += number
        elif step == "put":
            answer = Answer(name, ("192.0.2.1",), number)
            cache.put(answer, now)
            model = [kept for kept in model if kept[0] != name]
            if number > 0 and entries:
                model = [*model, (name, answer, now)][-entries:]
        else:
            found = [kept for kept in model if kept[0] == name]
            model = [kept for kept in model if kept[0] != name]
            if found and found[0][2] <= now < found[0][2] + found[0][1].ttl:
                model += found
                assert cache.get(name, now) is found[0][1]
            else:
                assert cache.get(name, now) is None
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


def test_repr_tells_the_fill():
    assert repr(PlainCache(7)) == "<PlainCache 0 of 7>"
