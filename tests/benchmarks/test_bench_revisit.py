"""The policy of revisiting, driven over worlds that change, against rules whose results are known."""

import json
import math
from pathlib import Path

import numpy as np
import pytest
from benchmarks.revisit import LIES, MUTE, NOISY, QUIET, TOLD, by_policy, by_rule
from benchmarks.revisit_road import Road
from benchmarks.revisit_rules import NUTCH, STORM, Index, Interval, OldestFirst, Proportional
from benchmarks.revisit_worlds import DAY, Noise, Signals, World, gain, histories, optimum, poisson

SMALL = poisson(3, 400, sites=8)
"""Pages of very different rates, 1,200 days."""


def slow(size: int = 300) -> World:
    """Documents: half never change, the others once in a hundred days or so."""
    generator = np.random.default_rng(5)
    rates = np.where(generator.random(size) < 0.5, 0.0, generator.exponential(0.01, size))
    pages = np.repeat(np.arange(size), generator.poisson(rates * 1_000))
    times = generator.random(len(pages)) * 1_000
    return World("slow", np.arange(size) // 60, 1_000.0, pages, times)


def test_the_optimum_is_what_can_be_computed_by_hand():
    # All alike: each as often as the others.
    rates = np.full(50, 0.1)
    assert optimum(rates, 5.0) == pytest.approx((1 - math.exp(-1)) / 1, rel=1e-3)
    assert gain(np.array([0.0, 1.0])) == pytest.approx([0.0, 1 - 2 / math.e])
    # Whoever changes too fast is not visited at all.
    assert optimum(np.array([0.1, 1e6]), 0.1) == pytest.approx((1 - math.exp(-1)) / 2, rel=1e-2)


def test_oldest_first_leaves_as_much_stale_as_it_must():
    found = by_rule(SMALL, OldestFirst(SMALL), 20)
    assert SMALL.rates is not None
    expected = 20 * SMALL.rates
    fresh = float((-np.expm1(-expected) / expected).mean())
    assert found.stale / 100 == pytest.approx(1 - fresh, abs=0.01)
    assert found.spent == pytest.approx(1, abs=0.01)


@pytest.mark.slow
@pytest.mark.parametrize("budget", [10, 30, 100])
def test_it_is_never_worse_than_oldest_first(budget: int):
    oldest = by_rule(SMALL, OldestFirst(SMALL), budget)
    for noise in (QUIET, NOISY):
        found = by_policy(SMALL, budget, noise)
        assert found.stale < oldest.stale
        assert 0.95 < found.spent <= 1.001


@pytest.mark.slow
def test_with_forty_visits_it_is_near_the_optimum():
    assert SMALL.rates is not None
    found = by_policy(SMALL, 30)
    assert (100 - found.stale) / 100 > 0.96 * optimum(SMALL.rates, SMALL.size / 30)
    known = by_rule(SMALL, Index(SMALL, SMALL.rates, np.ones(SMALL.size)), 30)
    assert found.stale < known.stale * 1.06


@pytest.mark.slow
def test_signals_halve_what_is_stale():
    world = slow()
    oldest = by_rule(world, OldestFirst(world), 30)
    told = by_policy(world, 30, QUIET, TOLD)
    assert told.stale < oldest.stale / 2
    assert told.delay < oldest.delay
    assert told.stale < by_policy(world, 30).stale


@pytest.mark.slow
def test_lies_cost_no_more_than_silence():
    world = slow()
    mute = by_policy(world, 30, QUIET, MUTE)
    liars = Signals(covered=0.6, lying=1.0)
    assert set(liars.lies(world)) == {"moving", "equal", "future", "chatter"}
    assert by_policy(world, 30, QUIET, liars).stale < mute.stale * 1.1
    assert by_policy(world, 30, NOISY, LIES).stale < by_rule(world, OldestFirst(world), 30).stale


def test_clocks_on_all_pages_leave_the_oldest_first():
    world = slow()
    clocks = Noise(clocks=1.0)
    oldest = by_rule(world, OldestFirst(world), 30)
    assert by_policy(world, 30, clocks).stale == pytest.approx(oldest.stale, rel=0.1)


def test_a_few_clocks_neither_starve_nor_take_all():
    world = slow()
    road = Road(world.sites.tolist(), [1.0] * world.size, [False] * world.size, world.size / 10 / DAY, 0)
    visits = np.zeros(world.size)
    for day in range(1, 600):
        road.earn(DAY)
        for page in road.lend(day * DAY):
            visits[page] += 1
            road.settle(page, day * DAY, changed=page % 10 == 0)
        road.correct(day * DAY)
    with_clock = visits[::10].mean() / visits.mean()
    assert 1 / 16 < with_clock < 5


@pytest.mark.slow
def test_weights_move_visits_to_what_weighs_more():
    plain, weighted = by_policy(SMALL, 30), by_policy(SMALL, 30, weighted=True)
    assert weighted.weighted < plain.weighted * 0.95
    assert weighted.stale > plain.stale


def test_another_budget_is_spent_soon():
    road = Road(SMALL.sites.tolist(), [1.0] * SMALL.size, [False] * SMALL.size, SMALL.size / 40 / DAY, 0)
    counts = []
    for day in range(1, 400):
        if day == 200:
            road.rate *= 4
            road.fair /= 4
        road.earn(DAY)
        pages = road.lend(day * DAY)
        counts.append(len(pages))
        for page in pages:
            road.settle(page, day * DAY, changed=page % 7 == 0)
        road.correct(day * DAY)
    assert sum(counts[150:200]) == pytest.approx(50 * SMALL.size / 40, rel=0.1)
    assert sum(counts[220:260]) == pytest.approx(40 * SMALL.size / 10, rel=0.1)


def test_the_rules_of_others_are_as_they_say():
    world = slow(4)
    pages, no = np.array([0]), np.array([False])
    nutch, storm = Interval(world, NUTCH), Interval(world, STORM)
    nutch.saw(pages, 30.0, no)
    # 1.4 x 30 days, but 0.3 of the 30 since the last change earlier.
    assert -nutch.order(0)[0] == pytest.approx(30 - 9 + 42, abs=1e-3)
    nutch.saw(pages, 70.0, ~no)
    assert -nutch.order(0)[0] == pytest.approx(70 + 42 * 0.8, abs=1e-3)
    storm.saw(pages, 1.0, ~no)
    assert -storm.order(0)[0] == pytest.approx(1.5, abs=1e-3)
    # Who changes more often comes more often.
    both = np.array([0, 1])
    proportional = Proportional(world, np.ones(4))
    for now in (10.0, 20.0, 30.0, 40.0):
        proportional.saw(both, now, np.array([True, False]))
    order = proportional.order(50.0)
    assert order[0] > 2 * order[1]


def test_histories_are_read_as_pages_of_sites(tmp_path: Path):
    start = 1_500_000_000
    changes = {
        "docs/a.md": [start, start + 900 * 86_400, start + 950 * 86_400],
        "docs/b.md": [start],
        "man/c.md": [start, start + 940 * 86_400],
        "man/late.md": [start + 990 * 86_400, start + 1_000 * 86_400],
    }
    path = tmp_path / "x.json"
    path.write_text(json.dumps(changes))
    world = next(iter(histories(path, 100)))
    assert (world.name, world.size, world.sites.tolist()) == ("x-0", 3, [0, 0, 1])
    assert world.days == 500
    assert world.first_change(np.arange(3), 0.0) == pytest.approx([400.0, np.inf, 440.0])
    assert world.first_change(np.array([0]), 400.0) == pytest.approx([450.0])
    assert [each.name for each in histories(path, 100)] == ["x-0", "x-1"]
