"""How fresh what was seen still is: estimates against worlds whose truth is known."""

import functools
import math
import random
import statistics

import msgspec
import numpy as np
import pytest
from benchmarks.freshness import EPOCH, Told, run
from benchmarks.revisit import MUTE, TOLD
from benchmarks.revisit_worlds import Noise, Signals, World, poisson

from gossamer.policy.revisit import classes
from gossamer.policy.revisit.freshness import BINS, Freshness, Share
from gossamer.policy.revisit.gone import Presence
from gossamer.policy.revisit.history import History, Voice
from gossamer.policy.revisit.rates import Spread

PAGES = 250
HALF = PAGES // 2
"""As many where a page is visited three times as often."""


@functools.cache
def seen(budget: float, signals: Signals) -> Told:
    """The pages of one world, visited with a budget: a second or two, which several tests judge."""
    return run(poisson(1, HALF if budget == 10 else PAGES), budget, signals=signals)


@pytest.mark.parametrize(("budget", "signals"), [(10, MUTE), (30, MUTE), (30, TOLD), (100, MUTE)])
def test_the_estimate_is_within_two_points_of_the_truth(budget: float, signals: Signals):
    """Also where the policy's own belief is twelve points off, since it counts a visit half."""
    told = seen(budget, signals)
    errors = [one - other for one, other in zip(told.estimated, told.true, strict=True)]
    assert abs(statistics.fmean(errors)) < 0.02
    assert statistics.fmean(map(abs, errors)) < 0.03


def test_sites_differ_as_they_do():
    world = poisson(2, PAGES, sites=2)
    quick = world.rates > np.median(world.rates)
    told = run(World("apart", quick.astype(np.int64), world.days, world.pages, world.times), 30)
    for true, estimated in told.by_site.values():
        assert abs(statistics.fmean(true) - statistics.fmean(estimated)) < 0.03
    assert abs(statistics.fmean(told.by_site[0][0]) - statistics.fmean(told.by_site[1][0])) > 0.1


@pytest.mark.parametrize("signals", [MUTE, TOLD])
def test_what_is_predicted_is_seen(signals: Signals):
    figures = seen(30, signals).figures
    full = [each for each in figures.bins if each.visits > 300]
    assert len(full) >= 4
    for each in full:
        assert abs(each.predicted - each.seen) / each.visits < 0.06
    base = figures.found / sum(each.visits for each in figures.bins)
    assert figures.brier_score is not None
    assert figures.brier_score < base * (1 - base)


def test_the_delay_is_that_of_the_changes():
    for signals in (MUTE, TOLD):
        told = seen(30, signals)
        assert told.figures.mean_delay == pytest.approx(told.real_delay, rel=0.1)


def test_a_clock_counts_as_what_a_visit_would_find():
    """What is no change to the crawl was left out before; the rest is one."""
    told = run(poisson(5, HALF), 10, Noise(clocks=0.1))
    more = statistics.fmean(told.estimated) - statistics.fmean(told.true)
    assert 0.03 < more < 0.12


def of(random_: random.Random, **fields: object) -> History:
    """Some history with a class of its own."""
    last = EPOCH - random_.randrange(1, 100 * 86_400)
    same, changed = random_.randrange(4), random_.randrange(4)
    history = History(last, last, 24.0 * same, 24.0 * changed, same=same, changed=changed)
    place = classes.classify(Spread().believe(history), 2.0 ** random_.randrange(-4, 5))
    return msgspec.structs.replace(history, place=place, **fields)


def test_it_is_a_probability_that_grows_with_time():
    random_ = random.Random(11)
    figures = Freshness()
    for _ in range(2_000):
        history, now = of(random_), EPOCH + random_.randrange(1, 400) * 86_400.0
        first, second = figures.stale(history, now), figures.stale(history, now + 86_400)
        assert 0 <= first <= second <= 1
        # Whatever is found, figures stay figures.
        figures.note(history, now, changed=random_.random() < random_.choice((0.0, 0.1, 1.0)))
        assert all(map(math.isfinite, (*figures.factors, *figures.evidence, figures.delay, figures.brier)))


@pytest.mark.parametrize("changed", [False, True])
def test_what_never_and_what_always_changes_is_learned(changed: bool):
    figures, history = Freshness(), of(random.Random(1), same=3, changed=3)
    before = figures.stale(history, EPOCH)
    for _ in range(200):
        figures.note(history, EPOCH, changed=changed)
    after = figures.stale(history, EPOCH)
    assert after > max(before, 0.9) if changed else after < min(before, 0.1)


def test_a_fixed_interval_is_no_belief():
    """What the user wants every hour changes as often as it does."""
    figures, random_ = Freshness(), random.Random(9)
    for fields in ({"same": 9, "changed": 0, "quiet": 2_000.0}, {"same": 1, "changed": 9, "stirred": 90.0}):
        history = of(random_, **fields)
        hourly = msgspec.structs.replace(history, place=classes.fixed(3_600))
        learned = msgspec.structs.replace(history, place=classes.classify(Spread().believe(history)))
        assert figures.stale(hourly, EPOCH) == figures.stale(learned, EPOCH)
        share = Share()
        share.add(hourly, 1.0)
        assert (share.weight, share.pages) == (1.0, 1.0)


@pytest.mark.parametrize(("changed", "factor"), [(True, 5.0), (False, -5.0)])
def test_what_was_believed_is_never_wrong_by_more_than_e_to_the_fifth(changed: bool, factor: float):
    figures, history = Freshness(), of(random.Random(1), same=3, changed=3)
    now = history.last + (1.0 if changed else 1e9)
    for _ in range(2_000):
        figures.note(history, now, changed=changed)
    assert max(figures.factors, key=abs) == factor


LEVELS = {0: 0, 1: 1, 2: 2, 3: 2, 4: 3, 7: 3, 8: 4, 15: 4, 16: 4, 255: 4}


def test_there_are_as_many_kinds_of_evidence_as_powers_of_two_up_to_eight():
    random_ = random.Random(2)
    for count, level in LEVELS.items():
        for fields, kind in (
            ({"changed": count, "same": 0}, 5 * level),
            ({"changed": 0, "same": count}, level),
            ({"changed": 1, "same": count, "voices": (Voice(1),)}, 25 + 5 + level),
            ({"changed": 2, "same": count, "voices": (Voice(1, 1.0),)}, 50 + 10 + level),
        ):
            figures = Freshness()
            figures.note(of(random_, **fields), EPOCH, changed=True)
            learned = [
                at for at, evidence in enumerate(figures.evidence) if evidence != Freshness().evidence[at]
            ]
            assert learned == [kind], (count, fields)


def test_other_evidence_is_not_touched():
    figures, random_ = Freshness(), random.Random(2)
    rare, often = of(random_, same=8, changed=0), of(random_, same=0, changed=8)
    before = figures.stale(rare, EPOCH)
    for _ in range(50):
        figures.note(often, EPOCH, changed=True)
    assert figures.stale(rare, EPOCH) == before


def test_very_many_visits_are_one_kind_of_evidence():
    figures, random_ = Freshness(), random.Random(2)
    many, most, few = (
        of(random_, same=same, changed=changed) for same, changed in ((8, 0), (200, 0), (2, 1))
    )
    often = of(random_, same=255, changed=255, voices=(Voice(1, 1.0),))
    before = [figures.stale(each, EPOCH) for each in (many, few)]
    for _ in range(9):
        figures.note(most, EPOCH, changed=True)
        figures.note(often, EPOCH, changed=False)
    assert figures.stale(many, EPOCH) > before[0]
    assert figures.stale(few, EPOCH) == before[1]


def test_one_change_in_a_long_time_came_in_the_middle_of_it():
    figures, random_ = Freshness(), random.Random(2)
    rare = of(random_, same=200, changed=0, quiet=60_000.0)
    figures.note(rare, rare.last + 1_000.0, changed=True)
    assert figures.mean_delay == pytest.approx(500, rel=0.01)


def test_an_announcement_is_believed_by_what_became_of_others():
    figures = Freshness()
    told = of(random.Random(3), voices=(Voice(1, 1.0),))
    assert 0.7 < figures.stale(told, EPOCH) < 0.9
    for _ in range(100):
        figures.note(told, EPOCH, changed=False)
    assert figures.stale(told, EPOCH) < 0.1


def test_what_is_gone_is_neither_fresh_nor_stale():
    figures, share = Freshness(), Share()
    gone = of(random.Random(4), presence=Presence.GONE)
    assert figures.stale(gone, EPOCH) == 0
    share.add(gone, 0.5)
    assert share.plain is share.by_weight is None
    figures.note(gone, EPOCH, changed=True)
    assert figures == Freshness()


def test_pages_count_by_their_weight_and_by_what_they_stand_for():
    light, heavy = (
        History(EPOCH, EPOCH, place=classes.classify(Spread().believe(History(EPOCH, EPOCH)), weight))
        for weight in (1.0, 4.0)
    )
    share = Share()
    share.add(light, 0.0)
    share.add(heavy, 1.0, 2.0)
    assert share.plain == pytest.approx(2 / 3)
    assert share.by_weight == pytest.approx(8 / 9)


def test_it_stays_small_and_is_read_as_it_was_written():
    figures, random_ = Freshness(), random.Random(5)
    for _ in range(3_000):
        figures.note(of(random_), EPOCH + 86_400.0, changed=random_.random() < 0.3)
    stored = msgspec.msgpack.encode(figures)
    assert len(stored) < 2_000
    assert msgspec.msgpack.decode(stored, type=Freshness) == figures
    assert msgspec.msgpack.decode(msgspec.msgpack.encode([7, 3.0]), type=Freshness).bins == Freshness().bins
    assert len(figures.bins) == BINS == 10
    assert sum(each.visits for each in figures.bins) == 3_000


def test_old_predictions_are_forgotten_by_halves(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("gossamer.policy.revisit.freshness._KEPT", 100)
    figures, history = Freshness(), of(random.Random(6), same=3, changed=3)
    for at in range(500):
        figures.note(history, EPOCH, changed=at % 4 == 0)
    judged = sum(each.visits for each in figures.bins)
    assert judged < 300
    assert figures.brier_score == pytest.approx(0.19, abs=0.03)
    assert figures.found == 125


def test_before_there_was_a_visit_there_is_nothing_to_say():
    assert Freshness().mean_delay is Freshness().brier_score is None


def test_two_crawls_add_up():
    one, two, random_ = Freshness(), Freshness(), random.Random(8)
    for figures in (one, two, two):
        figures.note(of(random_, same=1, changed=1), EPOCH, changed=True)
    both = one.plus(two)
    assert both.found == 3
    assert both.delay == one.delay + two.delay
    assert both.brier == one.brier + two.brier
    assert sum(each.visits for each in both.bins) == 3
    assert sum(each.visits for each in one.bins) == 1
