"""Classes in which the oldest is always worth most."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.policy.revisit.classes import classify, due, interval, rate, told, weight, worth_after
from gossamer.policy.revisit.history import History
from gossamer.policy.revisit.rates import DAY, Belief
from gossamer.policy.revisit.threshold import worth_of_step

BELIEFS = st.builds(Belief, mean=st.floats(math.log(1e-9), math.log(1e-3)), variance=st.floats(0.0, 5.0))
WEIGHTS = st.sampled_from([1 / 16, 0.25, 1.0, 1.5, 8.0])
PARTS = st.sampled_from([1.0, 0.7, 0.25, 0.0])
PLACES = st.builds(classify, BELIEFS, WEIGHTS, PARTS)


@given(BELIEFS, WEIGHTS, PARTS)
def test_a_class_is_a_number_of_16_bits(belief: Belief, weight: float, unannounced: float):
    assert 0 <= classify(belief, weight, unannounced) < 1 << 16


@given(st.floats(-1000, 1000), st.floats(0, 1000), st.floats(1e-9, 1e9), st.floats(0, 1))
def test_whatever_is_believed(mean: float, variance: float, weight: float, unannounced: float):
    assert 0 <= classify(Belief(mean, variance), weight, unannounced) < 1 << 16


@given(PLACES, st.floats(1, 1e8), st.floats(1, 100))
def test_the_oldest_of_a_class_is_worth_most(place: int, age: float, factor: float):
    assert worth_after(place, age * factor) >= worth_after(place, age) * (1 - 1e-4)


@given(PLACES, st.integers(-200, 700))
def test_a_page_is_due_when_it_is_worth_the_threshold(place: int, step: int):
    age = interval(place, step)
    if 1e-3 < age < 1e12:
        assert worth_after(place, age) == pytest.approx(worth_of_step(step), rel=0.1)
    assert interval(place, step + 24) >= age


@given(PLACES, st.integers(-200, 700), st.integers(0, 2**32 - 1), st.floats(1, 1e9))
def test_no_page_waits_longer_than_the_longest(place: int, step: int, since: int, longest: float):
    assert since <= due(place, since, step, longest) <= since + longest


@given(st.floats(math.log(1e-9), math.log(1e-4)))
def test_rates_are_told_apart_to_a_factor_of_one_and_a_half(mean: float):
    place = classify(Belief(mean, 0.04))
    assert 1 / 1.25 < math.exp(mean) / rate(place, 0) < 1.25


def test_rounding_loses_little():
    # What is put off by rounding is worth nearly what it was.
    for tenth in range(40):
        belief = Belief(math.log(1 / (20 * DAY)) + tenth / 10, 0.04)
        place = classify(belief)
        exact = math.exp(belief.mean)
        step = round(24 * math.log2(0.2 / exact))
        expected = exact * interval(place, step)
        assert 1 - math.exp(-expected) * (1 + expected) == pytest.approx(0.2, abs=0.07)


@given(BELIEFS, PARTS, st.floats(3600, 1e8))
def test_weight_is_a_factor_of_worth(belief: Belief, unannounced: float, age: float):
    light, heavy = classify(belief, 1.0, unannounced), classify(belief, 4.0, unannounced)
    assert worth_after(heavy, age) == pytest.approx(4 * worth_after(light, age))


def test_without_evidence_all_are_one_class_and_the_oldest_is_first():
    assert len({classify(Belief(-15.4, 3.9)) for _ in range(9)}) == 1


@given(PLACES, st.floats(0, 1), st.floats(1, 1e7), st.floats(1e4, 1e9))
def test_signals_put_back_by_at_most_half_of_the_longest_wait(place, precision, wait, longest):
    history = History(1_600_000_000, 1_600_000_000, place=place)
    after = told(history, history.last + wait, 1, precision, longest)
    again = told(after, history.last + wait + 1, 1, precision, longest)
    for each in (after, again):
        assert history.last - longest / 2 - 1 <= each.since <= history.last
        assert each.heard > 0


def test_a_precise_signal_makes_a_slow_page_due_at_once():
    place = classify(Belief(math.log(1 / (100 * DAY)), 0.2))
    history = History(1_600_000_000, 1_600_000_000, place=place)
    step = round(24 * math.log2(10 * DAY))
    now = history.last + DAY
    assert due(place, history.since, step, 1000 * DAY) > now + 20 * DAY
    assert due(place, told(history, now, 1, 0.9, 1000 * DAY).since, step, 1000 * DAY) <= now


def test_a_signal_of_what_changes_without_rest_does_not():
    place = classify(Belief(math.log(1 / (0.1 * DAY)), 0.05))
    history = History(1_600_000_000, 1_600_000_000, place=place)
    step = round(24 * math.log2(10 * DAY))
    now = history.last + DAY
    assert due(place, told(history, now, 1, 0.99, 1000 * DAY).since, step, 1000 * DAY) > now + 400 * DAY


@pytest.mark.parametrize(
    ("shape", "mean_log", "variance"),
    [
        (0.25, -4.2274535, 17.1973292),
        (0.5, -1.9635100, math.pi**2 / 2),
        (1.0, -0.5772157, math.pi**2 / 6),
        (2.0, 0.4227843, math.pi**2 / 6 - 1),
        (4.0, 1.2561177, math.pi**2 / 6 - 1 - 1 / 4 - 1 / 9),
    ],
)
def test_the_class_of_a_gamma_distribution_has_its_shape_and_its_mean(
    shape: float, mean_log: float, variance: float
):
    """By the values that the digamma and the trigamma function are known to have (Abramowitz and Stegun 6.3, 6.4)."""
    scale = 1e-12 * 1.5**24
    place = classify(Belief(math.log(scale) + mean_log, variance))
    assert rate(place, 0) == pytest.approx(shape * scale)
    assert rate(place, 1e30) * 1e30 == pytest.approx(shape)


@pytest.mark.parametrize(("mean", "steps"), [(-100.0, 0), (100.0, 63)])
def test_rates_beyond_the_slowest_and_the_fastest_are_cut_off(mean: float, steps: int):
    place = classify(Belief(mean, 0.001))
    assert rate(place, 0) == pytest.approx(32.0 * 1e-12 * 1.5**steps)


def test_weights_beyond_the_least_and_the_greatest_are_cut_off():
    weights = [weight(classify(Belief(-15.4, 3.9), 2.0**power)) for power in (-20, -8, -7, 0, 1, 7, 20)]
    assert weights == [2.0**-8, 2.0**-8, 2.0**-7, 1.0, 2.0, 2.0**7, 2.0**7]


@pytest.mark.parametrize(
    ("unannounced", "halvings"),
    [(2.0, 0), (1.0, 0), (0.5, 1), (0.25, 2), (0.125, 3), (1 / 16, 4), (1 / 32, 5), (1 / 64, 5), (0.0, 5)],
)
def test_how_much_nobody_tells_of_is_known_to_a_factor_of_two_and_down_to_a_32nd(unannounced, halvings):
    belief = Belief(mean=math.log(1e-6), variance=1.0)
    place, silent = classify(belief), classify(belief, 1.0, unannounced)
    assert rate(silent, 0.0) == rate(place, 0.0)
    assert weight(silent) == weight(place)
    long = 1e15  # by then the rate is the shape over what nobody told of
    ratio = rate(silent, long) / rate(place, long)
    assert ratio == pytest.approx(2.0**halvings, rel=1e-3)
