"""The formulas of revisits against what they stand for: known values, and sums reckoned the long way."""

import math

import pytest

from gossamer.policy.revisit import classes, rates
from gossamer.policy.revisit.classes import _digamma, _trigamma, fixed, fixed_interval
from gossamer.policy.revisit.freshness import BINS, Freshness
from gossamer.policy.revisit.history import History, Voice
from gossamer.policy.revisit.rates import CELLS, SLOWEST, Spread, _alone, _likelihoods, _web
from gossamer.policy.revisit.trust import DatesVerdict, Reading
from gossamer.policy.revisit.value import age_at, worth

EULER = 0.5772156649015329
HOUR, DAY = 3_600.0, 86_400.0


@pytest.mark.parametrize(
    ("at", "first", "second"),
    [
        (1.0, -EULER, math.pi**2 / 6),
        (0.5, -EULER - 2 * math.log(2), math.pi**2 / 2),
        (2.0, 1 - EULER, math.pi**2 / 6 - 1),
        (0.25, -EULER - math.pi / 2 - 3 * math.log(2), math.pi**2 + 8 * 0.915965594177219),
        (8.0, sum(1 / n for n in range(1, 8)) - EULER, math.pi**2 / 6 - sum(1 / n**2 for n in range(1, 8))),
        (
            16.0,
            sum(1 / n for n in range(1, 16)) - EULER,
            math.pi**2 / 6 - sum(1 / n**2 for n in range(1, 16)),
        ),
    ],
)
def test_derivatives_of_the_logarithm_of_the_gamma_function(at: float, first: float, second: float) -> None:
    assert _digamma(at) == pytest.approx(first, rel=0, abs=3e-10)
    assert _trigamma(at) == pytest.approx(second, rel=0, abs=3e-9)


def test_likelihoods_of_intervals_at_each_rate() -> None:
    """At place p the slowest rate times the interval is 2^(p/8 - 30); each rate is twice the one before."""
    quiet, changed = _likelihoods(1.0, changed=False), _likelihoods(0.7, changed=True)
    assert len(quiet) == len(changed)
    for place in (0, 1, 100, 200, 240, len(quiet) - 1):
        expected = [2.0 ** (place / 8 - 30 + cell) for cell in range(CELLS)]
        likely = [math.exp(-each) for each in expected if each < 40]
        assert quiet[place] == pytest.approx(likely, rel=1e-12)
        assert changed[place] == pytest.approx([1 - 0.7 * math.exp(-each) for each in expected], rel=1e-12)
    assert len(quiet[-1]) < CELLS == len(changed[-1]), "the fastest cannot have been so quiet"
    # The longest interval is one change at the slowest rate, times two.
    assert len(quiet) == (1 + 30) * 8 + 1


def test_rates_on_the_web_lie_around_one_in_two_months() -> None:
    web = _web()
    assert (len(web), sum(web)) == (CELLS, pytest.approx(1.0))
    logs = [math.log(SLOWEST) + cell * math.log(2) for cell in range(CELLS)]
    mean = sum(part * log for part, log in zip(web, logs, strict=True))
    deviation = math.sqrt(sum(part * (log - mean) ** 2 for part, log in zip(web, logs, strict=True)))
    assert math.exp(-mean) / DAY == pytest.approx(60, rel=0.05)
    assert deviation == pytest.approx(2.0, rel=0.05)


@pytest.mark.parametrize(
    ("quiet", "stirred", "changed"), [(0.0, 24.0, 3), (100.0, 24.0, 1), (50_000.0, 1.0, 0), (24.0, 0.0, 2)]
)
def test_a_page_that_contradicts_all_rates_speaks_for_itself(
    quiet: float, stirred: float, changed: int
) -> None:
    belief = _alone(History(0, 0, quiet=quiet, stirred=stirred, changed=changed))
    busy, still = max(stirred, 1e-5), max(quiet, 1e-5)
    expected = max(changed, 1) / (busy * HOUR) * math.log((busy + still) / still)
    assert math.exp(belief.mean) == pytest.approx(expected)
    assert belief.variance == 1 / max(changed, 1)


def test_an_interval_has_its_place_in_the_table() -> None:
    hours = 1 / SLOWEST / 3_600
    place = rates._place(hours)
    assert (place, rates._place(hours / 2), rates._place(hours * 2)) == (240, 232, 248)
    assert rates._place(0.0) >= 0
    assert rates._place(1e9) == 248


@pytest.mark.parametrize("unannounced", [1.0, 0.25])
@pytest.mark.parametrize("shape", [0.25, 1.0, 2.0, 32.0])
def test_worth_and_the_age_at_which_it_is_reached_are_inverse(shape: float, unannounced: float) -> None:
    for age in (1e-7, 1e-4, 0.5 / max(1.0, shape), 3.0 / max(1.0, shape)):
        found = age_at(worth(shape, age, unannounced), shape, unannounced)
        assert found == pytest.approx(age, rel=0.05)
    assert age_at(0.0, shape, unannounced) == 0.0
    assert age_at(-1.0, shape, unannounced) == 0.0
    # At first it grows with the square of the age: half of the time that was stale on the mean.
    assert worth(shape, 1e-5, unannounced) == pytest.approx(shape * unannounced * 1e-10 / 2, rel=0.01)


@pytest.mark.parametrize(
    ("seconds", "kept"),
    [
        (0.2, 1.0), (1.0, 1.0), (255.0, 255.0), (256.0, 256.0), (511.0, 511.0), (512.0, 512.0), (513.0, 512.0),
        (3_600.0, 3_600.0), (1e11, None), (1e12, (511 << 30) * 1.0),
    ],
)  # fmt: skip
def test_a_fixed_interval_is_kept_to_one_part_in_512(seconds: float, kept: float | None) -> None:
    place = fixed(seconds)
    found = fixed_interval(place)
    assert found is not None
    assert 0 <= place < 1 << 16
    assert found == kept if kept is not None else abs(found / seconds - 1) < 1 / 512
    assert classes.weight(place) == 1.0


# What was predicted, and seen …


def seen(history: History, hours: float, *, changed: bool) -> Freshness:
    freshness = Freshness()
    freshness.note(history, hours * HOUR, changed=changed)
    return freshness


def test_before_there_was_a_visit_nothing_is_known() -> None:
    freshness = Freshness()
    assert (freshness.found, freshness.mean_delay, freshness.brier_score) == (0, None, None)
    assert [(each.visits, each.predicted, each.seen) for each in freshness.bins] == [(0.0, 0.0, 0.0)] * BINS


def test_an_announced_change_is_as_old_as_the_announcement() -> None:
    voiced = History(0, 0, voices=(Voice(1, 3.0),))
    assert seen(voiced, 10, changed=True).mean_delay == 7 * HOUR
    assert seen(voiced, 2, changed=True).mean_delay == 0.0
    assert seen(voiced, 10, changed=False).mean_delay is None


def test_another_change_is_half_as_old_as_it_may_be_if_changes_are_few() -> None:
    place = classes.classify(Spread().believe(History(0, 0)))
    slow = History(0, 0, place=place)
    assert seen(slow, 0.001, changed=True).mean_delay == pytest.approx(0.0005 * HOUR, rel=1e-3)
    hazard = classes.hazard(place, 1_000 * HOUR)
    waited = 1_000 * HOUR * (1 - 1 / hazard + 1 / math.expm1(hazard))
    assert seen(slow, 1_000, changed=True).mean_delay == pytest.approx(waited)
    fast = fixed(1.0)
    assert 0 < seen(History(0, 0, place=fast), 1_000, changed=True).mean_delay < 1_000 * HOUR


@pytest.mark.parametrize("changed", [True, False])
def test_a_prediction_counts_in_the_tenth_that_it_stands_in(changed: bool) -> None:
    place = classes.classify(Spread().believe(History(0, 0)))
    for hours in (1.0, 1_000.0, 1e7):
        history = History(0, 0, place=place)
        probability = Freshness().stale(history, hours * HOUR)
        freshness = seen(history, hours, changed=changed)
        counted = [number for number, each in enumerate(freshness.bins) if each.visits]
        assert counted == [min(int(probability * BINS), BINS - 1)]
        one = freshness.bins[counted[0]]
        assert (one.visits, one.predicted, one.seen) == (1, pytest.approx(probability), changed)
        assert freshness.brier_score == pytest.approx((probability - changed) ** 2)
        both = freshness.plus(freshness)
        assert (both.found, both.bins[counted[0]].visits) == (2 * changed, 2)
        assert both.brier_score == pytest.approx(freshness.brier_score)


# Lists of dates …


@pytest.mark.parametrize(
    ("dates", "verdict"),
    [
        ([5.0] * 7, DatesVerdict.PLAUSIBLE),  # too few to tell
        ([5.0] * 8, DatesVerdict.EQUAL),
        ([5.0] * 18 + [1.0, 2.0], DatesVerdict.EQUAL),  # nine tenths
        ([1.0, 2.0] + [5.0] * 18, DatesVerdict.EQUAL),
        ([5.0] * 17 + [1.0, 2.0, 3.0], DatesVerdict.PLAUSIBLE),
        ([1.0, 2.0, 3.0] + [5.0] * 17, DatesVerdict.PLAUSIBLE),
        ([1.0, 5.0] * 8, DatesVerdict.PLAUSIBLE),
        ([*map(float, range(20))], DatesVerdict.PLAUSIBLE),
        ([*map(float, range(19)), 1e9], DatesVerdict.PLAUSIBLE),
        ([*map(float, range(17)), 1e9, 1e9, 1e9], DatesVerdict.FUTURE),
        ([100 + DAY] * 3 + [*map(float, range(17))], DatesVerdict.PLAUSIBLE),  # a clock of another zone
    ],
)
def test_dates_that_cannot_be_true(dates: list[float], verdict: DatesVerdict) -> None:
    reading = Reading(100.0)
    for date in dates:
        assert not reading.add(date, None)
    assert reading.verdict is verdict


@pytest.mark.parametrize(
    ("later", "of", "verdict"),
    [(7, 7, "PLAUSIBLE"), (8, 8, "MOVING"), (18, 20, "MOVING"), (17, 20, "PLAUSIBLE")],
)
def test_dates_that_move_with_each_reading(later: int, of: int, verdict: str) -> None:
    reading = Reading(100.0)
    for number in range(of):
        assert reading.add(20.0 + number, 19.0 + number if number < later else 20.0 + number) == (
            number < later
        )
    for number in range(20):  # of others nobody knows what they said before
        reading.add(50.0 + number, None)
    assert reading.verdict is DatesVerdict[verdict]
    assert not Reading(100.0).add(100 + DAY + 1, 1.0), "it is to come"
