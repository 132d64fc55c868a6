"""What a visit is worth as time goes by."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.policy.revisit.value import age_at, age_when_told, fresh_time, kept, worth

SHAPES = st.sampled_from([0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 32.0])
AGES = st.floats(1e-5, 1e5)
PARTS = st.sampled_from([1.0, 0.5, 0.25, 1 / 32])


def of_rate(rate: float, age: float, unannounced: float) -> float:
    """V for a rate that is known, as it is written in the literature, or with announcements."""
    if unannounced == 1:
        return (1 - math.exp(-rate * age) * (1 + rate * age)) / rate
    told = (1 - unannounced) * rate
    lost = math.exp(-unannounced * rate * age)
    return (1 - math.exp(-rate * age)) / rate - lost * (1 - math.exp(-told * age)) / told


def mean_over_gamma(shape: float, age: float, unannounced: float) -> float:
    total = weights = 0.0
    for step in range(-400, 100):
        rate = math.exp(step / 10)
        weight = math.exp(shape * math.log(rate) - rate)
        total += weight * of_rate(rate, age, unannounced)
        weights += weight
    return total / weights


@pytest.mark.parametrize("shape", [0.5, 1.0, 2.0, 8.0])
@pytest.mark.parametrize("unannounced", [1.0, 0.25])
@pytest.mark.parametrize("age", [0.05, 0.5, 3.0, 40.0])
def test_it_is_the_mean_over_the_rates_that_are_believed_in(shape, age, unannounced):
    expected = mean_over_gamma(shape, age, unannounced)
    assert worth(shape, age, unannounced) == pytest.approx(expected, rel=0.02)


@given(SHAPES, AGES, st.floats(1.0, 100.0), PARTS)
def test_it_grows_with_time(shape: float, age: float, factor: float, unannounced: float):
    sooner, later = worth(shape, age, unannounced), worth(shape, age * factor, unannounced)
    assert later >= sooner * (1 - 1e-4) and sooner >= 0


@given(SHAPES, AGES)
def test_silence_of_who_would_tell_makes_a_visit_worth_less(shape: float, age: float):
    all_ = worth(shape, age, 1.0)
    assert worth(shape, age, 0.999) == pytest.approx(all_, rel=0.02)
    assert worth(shape, age, 0.25) <= all_ * 1.001
    assert worth(shape, age, 1 / 32) <= worth(shape, age, 0.25) * 1.001


@given(SHAPES, st.floats(1e-4, 1e4), PARTS)
def test_the_age_is_found_again(shape: float, age: float, unannounced: float):
    value = worth(shape, age, unannounced)
    if worth(shape, age * 1.1, unannounced) > value * 1.01:
        assert age_at(value, shape, unannounced) == pytest.approx(age, rel=0.05)


@given(SHAPES, PARTS, st.floats(-20, 20))
def test_who_is_worth_more_is_due_later(shape: float, unannounced: float, level: float):
    assert age_at(2.0**level, shape, unannounced) <= age_at(2.0 ** (level + 0.5), shape, unannounced)


def test_what_surely_changes_fast_is_never_worth_much():
    # Rates of about 32: no visit keeps it fresh for more than 1/31.
    assert age_at(1 / 30, 32.0) == math.inf
    assert age_at(1 / 40, 32.0) < 1


@given(SHAPES, AGES, PARTS)
def test_what_is_kept_and_how_long_it_was_fresh(shape: float, age: float, unannounced: float):
    assert 0 <= kept(shape, age) <= 1
    assert age * kept(shape, age) <= fresh_time(shape, age) * 1.001 <= age * 1.002


@given(SHAPES, st.floats(1e-4, 1e3), PARTS, st.floats(0, 1))
def test_a_signal_never_makes_a_page_younger(shape, age, unannounced, precision):
    told = age_when_told(shape, age, unannounced, precision)
    assert told >= age
    assert told <= age_when_told(shape, age, unannounced, 1.0) * 1.001
    assert age_when_told(shape, age, unannounced, 0.0) <= age * 1.05


def test_news_of_a_slow_page_is_worth_more_than_news_of_a_fast_one():
    # In seconds: scales of a day and of a hundred days.
    day, slow, fast = 86_400.0, 100.0, 1.0
    worths = [scale * worth(4.0, age_when_told(4.0, day / (scale * day), 1.0, 0.9)) for scale in (fast, slow)]
    assert worths[1] > 10 * worths[0]


@pytest.mark.parametrize("precision", [0.0, 0.1, 0.5, 0.9, 1.0])
@pytest.mark.parametrize("age", [0.05, 0.5, 3.0])
@pytest.mark.parametrize(("shape", "unannounced"), [(0.25, 1.0), (0.5, 1.0), (0.5, 0.25), (1.0, 1.0)])
def test_a_signal_is_worth_what_the_rates_that_are_believed_in_make_it(shape, unannounced, age, precision):
    """By summing over rates: if it is right one change was seen after a silence, else nothing is other."""
    total = weights = 0.0
    for step in range(-400, 100):
        rate = math.exp(step / 10)
        weight = rate * math.exp(shape * math.log(rate) - rate - unannounced * rate * age)
        total += weight / rate
        weights += weight
    expected = precision * total / weights + (1 - precision) * mean_over_gamma(shape, age, unannounced)
    told = age_when_told(shape, age, unannounced, precision)
    assert worth(shape, told, unannounced) == pytest.approx(expected, rel=0.03)
