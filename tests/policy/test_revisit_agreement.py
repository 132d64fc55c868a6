"""Agents that come to one threshold, and to the visits that go with it."""

import math
import random

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.policy.revisit.agreement import (
    MOST_OF_A_SHARD,
    MOST_PAGES,
    Demand,
    Told,
    as_counted,
    level_of,
    part_of,
)
from gossamer.policy.revisit.classes import LONGEST

FAIR = 7 * 86_400.0
TOLD = st.builds(
    Told,
    level=st.floats(-20, 36),
    fair=st.just(FAIR),
    pages=st.integers(1, 10**7),
    eager=st.floats(0, 1e6),
    shards=st.integers(1, 1_000),
)


def same(fair: float) -> float:
    return math.log2(fair)


@given(st.lists(TOLD, min_size=1, max_size=9))
def test_who_have_heard_the_same_spend_together_what_may_be_spent(told: list[Told]):
    parts = [part_of(each, told[:at] + told[at + 1 :]) for at, each in enumerate(told)]
    assert {pages for pages, _ in parts} == {sum(each.pages for each in told)}
    assert sum(share for _, share in parts) == pytest.approx(1)
    levels = {level_of(each, told[:at] + told[at + 1 :], same) for at, each in enumerate(told)}
    assert len(levels) == 1 and min(each.level for each in told) <= levels.pop() <= max(
        each.level for each in told
    )


@given(TOLD)
def test_alone_everything_is_as_it_was(own: Told):
    assert part_of(own, []) == (own.pages, pytest.approx(1))
    assert level_of(own, [], same) == own.level


@given(st.lists(TOLD, min_size=3, max_size=9), TOLD)
def test_one_that_tells_anything_moves_nobody_beyond_the_others(told: list[Told], wild: Told):
    """As long as it has not half of the shards: neither by its level nor by pages that no shard can have."""
    shards = min(sum(each.shards for each in told) - 1, wild.shards)
    wild = msgspec.structs.replace(wild, pages=MOST_PAGES, shards=shards)
    own, *others = counted = as_counted([*told, wild])
    assert min(each.level for each in told) <= level_of(own, others, same) <= max(each.level for each in told)
    densest = max(each.pages / each.shards for each in told)
    assert counted[-1].pages <= max(1, MOST_OF_A_SHARD * densest * shards + 1)
    _, share = part_of(own, others)
    assert share >= own.asked / (sum(each.asked for each in counted[:-1]) + LONGEST * counted[-1].pages) * (
        1 - 1e-9
    )


@given(st.lists(st.integers(1, 1_000), min_size=1, max_size=9), st.integers(1, 1_000))
def test_who_has_as_much_in_a_shard_as_the_others_counts_for_all_it_has(shards: list[int], pages: int):
    told = [Told(1.0, FAIR, each * pages, shards=each) for each in shards]
    assert as_counted(told) == told


@pytest.mark.parametrize(("pages", "shards", "counted"), [(40, 1, 40), (41, 1, 40), (400, 2, 80), (3, 1, 3)])
def test_nobody_counts_for_more_than_four_times_the_median_shard(pages: int, shards: int, counted: int):
    usual = [Told(1.0, FAIR, 10, shards=1)] * 5
    *others, own = as_counted([*usual, Told(1.0, FAIR, pages, shards=shards)])
    assert (others, own.pages) == (usual, counted)


@pytest.mark.parametrize(
    ("visits", "part"), [(0.0, 0.0), (0.5, 1 - 1 / math.e), (1.0, 1 - math.e**-2), (50.0, 1.0)]
)
def test_half_a_visit_to_each_page_replaces_what_was_seen_before_by_a_factor_of_e(visits: float, part: float):
    demand = Demand(interval=1.0, late=2.0)
    demand.saw(visits, 3.0, 6.0)
    assert (demand.interval, demand.late) == (pytest.approx(1 + 2 * part), pytest.approx(2 + 4 * part))


@pytest.mark.parametrize(("eager", "asked"), [(16.0, 160), (17.0, 160), (1 / 16, 10 / 16), (0.0, 10 / 16)])
def test_a_page_has_sixteen_times_its_share_at_most_and_a_sixteenth_at_least(eager: float, asked: float):
    assert Told(1.0, FAIR, 10, eager).asked == asked


@pytest.mark.parametrize("wrong", [
    {"level": math.nan}, {"level": math.inf}, {"eager": math.nan}, {"eager": math.inf}, {"fair": 0.0},
    {"fair": math.inf}, {"pages": 0}, {"pages": 1 << 50},
])  # fmt: skip
def test_what_cannot_be_is_not_heard(wrong):
    usual = {"level": 3.0, "fair": FAIR, "pages": 10, "eager": 1.0}
    assert Told(**usual).is_sane
    assert not Told(**(usual | wrong)).is_sane


def test_a_setting_that_not_all_have_heard_of_moves_what_the_others_tell():
    # Ours holds for four times as many visits already; what the others tell is for as many as before.
    own, late = Told(3.0, FAIR / 4, 10), Told(5.0, FAIR, 100, shards=3)
    assert level_of(own, [late], same) == 3.0


def test_the_median_lies_between_two_halves():
    assert level_of(Told(2.0, FAIR, 50, shards=8), [Told(4.0, FAIR, 50, shards=8)], same) == 3.0
    assert level_of(Told(2.0, FAIR, 50, shards=9), [Told(4.0, FAIR, 50, shards=8)], same) == 2.0


@given(st.integers(2, 12), st.integers(0, 2**32))
def test_thresholds_meet_whatever_they_begin_with_and_however_many_messages_are_lost(agents: int, seed: int):
    dice = random.Random(seed)
    levels = [dice.uniform(-10, 30) for _ in range(agents)]
    pages = [dice.randrange(1, 100_000) for _ in range(agents)]
    heard = [{at: (0, Told(levels[at], FAIR, pages[at]))} for at in range(agents)]
    for number in range(1, 40 * agents):
        at = dice.randrange(agents)
        own = Told(levels[at], FAIR, pages[at])
        others = [told for other, (_, told) in heard[at].items() if other != at]
        levels[at] = level_of(own, others, same)
        heard[at][at] = number, Told(levels[at], FAIR, pages[at])
        for _ in range(3):
            one, other = dice.randrange(agents), dice.randrange(agents)
            for each in heard[one].keys() | heard[other].keys():
                newest = max(some[each] for some in (heard[one], heard[other]) if each in some)
                heard[one][each] = heard[other][each] = newest
    assert max(levels) - min(levels) < 0.01


@pytest.mark.parametrize("share", [1.0, 0.3])
def test_what_pages_ask_for_is_seen_however_few_visits_they_get(share: float):
    """Pages that ask for a visit every T; where only a part is made, each of them waits longer."""
    intervals = [0.1] * 10 + [1.0] * 50 + [4.0] * 20
    asked = sum(1 / each for each in intervals)
    demand, dice = Demand(), random.Random(1)
    chosen = dice.choices(intervals, [1 / each for each in intervals], k=int(20_000 * share))
    for at in range(0, len(chosen), 20):
        some = chosen[at : at + 20]
        demand.saw(len(some) / len(intervals), sum(some) / len(some), 0.01)
    assert demand.eager == pytest.approx(asked / len(intervals), rel=0.3)


def test_who_is_late_asks_for_more_and_who_is_in_time_for_less():
    usual, late, early = Demand(), Demand(), Demand()
    late.saw(10, 1.0, 0.1)
    early.saw(10, 1.0, 0.0)
    assert early.eager < usual.eager == 1 < late.eager


@pytest.mark.parametrize(("eager", "asked"), [(0.0, 10.0), (1 / 2, 80.0), (3.0, 480.0), (1e9, 2_560.0)])
def test_what_is_asked_for_has_a_least_and_a_most(eager: float, asked: float):
    assert Told(0.0, FAIR, 160, eager).asked == asked


def test_what_cannot_be_true_is_not_heard():
    sane = Told(1.0, FAIR, 2**40)
    assert sane.is_sane
    wrong = (
        {"pages": 2**40 + 1},
        {"pages": 0},
        {"fair": 0.0},
        {"shards": 0},
        {"level": math.nan},
        {"eager": math.inf},
    )
    for fields in wrong:
        assert not msgspec.structs.replace(sane, **fields).is_sane, fields
