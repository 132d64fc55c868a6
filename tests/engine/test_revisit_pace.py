"""How many visits again may be made, and when all pages are looked at anew: decisions of the pace, as tables."""

import math

import msgspec
import pytest
from engine_world import START

from gossamer.engine.revisits import RevisitPace
from gossamer.model.disposition import Again
from gossamer.model.errors import ConfigError
from gossamer.policy.revisit import classes
from gossamer.policy.revisit.agreement import Demand, Told
from gossamer.policy.revisit.config import RevisitConfig
from gossamer.policy.revisit.history import History
from gossamer.state.environment import Environment, Family, StateConfig
from gossamer.state.records import REVISIT, RevisitRecord, encode

SPEED = 60.0
"""Seconds of the wall clock in one of the crawl's."""
DAY = 86_400.0
ON = RevisitConfig(enabled=True, visits=100)
HOURLY = RevisitConfig(enabled=True, visits=100, every={"/news/*": 3_600.0})


@pytest.fixture
def pace_of(world_of):
    """Makes the pace of a crawl that is on, its first walk done; and its world."""

    def make(config=ON, pages=10, **told):
        world = world_of(revisit=config, wall_speed=SPEED, **told)
        enrol(world, pages)
        world.pace.record.cursor = None
        world.pace.changed()
        with world.frontier.changes() as batch:
            world.pace.enter(batch)
        return world

    return make


def enrol(world, pages):
    key, name = world.frontier.host_key(world.seeds[0])
    with world.frontier.changes() as batch:
        record = world.frontier.hosts.change(key, name)
        for number in range(pages):
            again = Again(History(int(START), int(START)).pack(), key + number.to_bytes(8))
            world.frontier.again.put(key, record, again, batch)


def kept(world):
    return world.meta(REVISIT, RevisitRecord)


def test_a_crawl_that_visits_again_begins_with_a_walk_over_what_is_there(world_of):
    world = world_of(revisit=msgspec.structs.replace(HOURLY, share=0.2), wall_speed=SPEED)
    pace = world.frontier.again.pace
    assert world.pace.on
    assert (pace.on, pace.share, pace.earned) == (True, 0.2, world.frontier.again.wall.now())
    record = kept(world)
    assert (record.on, record.cursor) == (True, b"")
    assert record.every not in (b"", b"-")
    assert world.pace.waits, "for the walk"
    world.pace.record.cursor = None
    assert not world.pace.waits, "nothing comes again"
    enrol(world, 1)
    assert world.pace.waits


def test_what_is_off_waits_for_nothing_and_writes_nothing(world):
    enrol(world, 1)
    assert (world.pace.on, world.pace.waits, world.frontier.again.pace.on) == (False, False, False)
    assert kept(world) is None
    version = world.frontier.again.pace.version
    world.pace.correct()
    assert (world.frontier.again.pace.version, world.frontier.again.pace.rate) == (version, 0.0)


@pytest.mark.parametrize(
    ("before", "after", "walks"),
    [
        (ON, ON, False),
        (ON, msgspec.structs.replace(ON, share=0.9), False),
        (ON, HOURLY, True),
        (HOURLY, ON, True),
        (HOURLY, HOURLY, False),
        (ON, msgspec.structs.replace(ON, weight={"/news/*": 4.0}), True),
        (HOURLY, msgspec.structs.replace(ON, weight={"/news/*": 3_600.0}), True),
        (
            msgspec.structs.replace(ON, every={"/a": 60.0, "/b": 90.0}),
            msgspec.structs.replace(ON, every={"/b": 90.0, "/a": 60.0}),
            True,  # the first that matches counts
        ),
        (ON, msgspec.structs.replace(ON, visits=100 / 0.76), False),
        (
            ON,
            msgspec.structs.replace(ON, visits=100 / 0.74),
            True,
        ),  # hosts on disk may be due sooner than they wake
        (ON, msgspec.structs.replace(ON, visits=10), False),
    ],
)
def test_other_settings_need_a_walk_if_they_move_pages_or_wake_them_sooner(pace_of, before, after, walks):
    world = pace_of(before)
    world.pace.correct()
    world.pace.go_by(after)
    assert world.pace.config == after
    assert world.frontier.again.pace.share == after.share
    assert kept(world).cursor == (b"" if walks else None)
    # Another session finds the same, and walks no more than this one.
    again = RevisitPace(world.environment, world.frontier, after)
    assert again.record.cursor == (b"" if walks else None)


def test_switched_off_and_on_again_all_pages_are_looked_at(pace_of):
    world = pace_of()
    pace = world.frontier.again.pace
    version = pace.version
    world.pace.go_by(RevisitConfig())
    assert (world.pace.on, pace.on, kept(world).on) == (False, False, False)
    assert pace.version > version, "who stands in the queues is due no more"
    assert kept(world).cursor is None
    world.pass_time(1_000)
    world.pace.go_by(ON)
    assert (pace.on, pace.earned) == (True, world.frontier.again.wall.now()), "nothing was earned meanwhile"
    assert (kept(world).on, kept(world).cursor) == (True, b"")


def test_it_takes_one_policy_and_not_two(world):
    with pytest.raises(ConfigError):
        RevisitPace(world.environment, world.frontier, ON, alone=False)
    pace = RevisitPace(world.environment, world.frontier, RevisitConfig(), alone=False)
    pace.go_by(ON)
    assert (pace.on, world.frontier.again.pace.on) == (False, False)


@pytest.mark.parametrize(("speed", "rest"), [(1.0, 60.0), (60.0, 1.0), (1e6, 0.02)])
def test_it_is_corrected_each_minute_of_the_wall_clock_or_as_often_as_can_be(world_of, speed, rest):
    assert world_of(wall_speed=speed).pace.rest == rest


def test_what_may_be_spent_is_what_the_settings_say_or_a_seventh_of_the_pages(pace_of):
    world = pace_of()
    world.pace.correct()
    pace = world.frontier.again.pace
    assert pace.rate == world.pace.record.rate == pytest.approx(100 / DAY)
    assert pace.fair == world.pace.record.fair == pytest.approx(10 * DAY / 100)
    world.pace.go_by(msgspec.structs.replace(ON, visits=0))
    assert pace.rate == pytest.approx(10 / 7 / DAY)
    assert pace.fair == pytest.approx(7 * DAY)
    assert pace.step == round(world.pace.record.level * 24)


def test_a_few_more_pages_move_nothing_and_many_move_the_threshold_along(pace_of):
    world = pace_of(pages=100)
    world.pace.correct()
    fair, level = world.pace.record.fair, world.pace.record.level
    enrol(world, 1)
    world.pace.correct()
    assert (world.pace.record.fair, world.pace.record.level) == (fair, level)
    enrol(world, 49)
    world.pace.correct()
    assert world.pace.record.fair == pytest.approx(1.5 * fair)
    assert world.frontier.again.pace.fair == world.pace.record.fair
    assert world.pace.record.level > level, "each page has its turn later, so a visit must bring more"


@pytest.mark.parametrize("pages", [0, 10, 100])
def test_it_begins_where_a_page_like_any_other_is_due_after_an_eighth_of_the_mean_interval(pace_of, pages):
    world = pace_of(pages=pages)
    world.pace.correct()
    pace = world.frontier.again.pace
    assert pace.fair == pytest.approx(max(pages, 1) * DAY / 100)
    place = classes.classify(world.pace.spread.believe(History(0, 0)))
    assert classes.interval(place, pace.step) == pytest.approx(pace.fair / 8, rel=0.05)
    # More pages move it along: what was learned of it is how far it lies from there.
    enrol(world, 300)
    world.pace.correct()
    assert classes.interval(place, pace.step) == pytest.approx(pace.fair / 8, rel=0.05)
    with world.frontier.changes() as batch:
        world.pace.enter(batch)
    assert kept(world) == world.pace.record
    assert kept(world).corrected == world.frontier.again.wall.now()


def corrected(world, seconds, **spent):
    """How the threshold moves after so much time of the wall clock in which that was spent."""
    world.pace.correct()
    pace = world.frontier.again.pace
    level, version = world.pace.record.level, pace.version
    pace.saved = 0.0
    for name, value in spent.items():
        setattr(pace, name, value)
    world.pass_time(seconds / SPEED)
    world.pace.correct()
    assert pace.version == version + 1
    return world.pace.record.level - level


@pytest.mark.parametrize(
    ("seconds", "spent", "moves"),
    [
        # Four visits may be made in 3,456 s; before that nothing is known.
        (3_455, {"lent": 4, "late": 4 * 800.0}, 0),
        (3_457, {"lent": 4, "late": 4 * 800.0}, 1),
        (3_457, {"lent": 4, "late": 0.0}, -1),
        (3_457, {"lent": 4, "late": 4 * 86.4}, 0),  # a hundredth of the mean interval, as is wanted
        (3_457, {"lent": 1, "late": 86.4, "left": 0.99}, 0),  # none was left over
        (3_457, {"lent": 1, "late": 86.4, "left": 1.0}, -1),
        (3_457, {"lent": 0, "late": 800.0, "left": 0.0}, -1),
        (-1, {"lent": 4, "late": 4 * 800.0, "left": 1.0}, -1),  # the clock was put back
    ],
)
def test_the_threshold_follows_what_was_spent(pace_of, seconds, spent, moves):
    world = pace_of()
    moved = corrected(world, seconds, **spent)
    assert (moved > 1e-9) - (moved < -1e-9) == moves, moved
    if seconds > 3_456:
        visits, left = spent["lent"], spent.get("left", 0.0)
        part = min(10 * seconds / 8_640, 1.0)
        late = spent["late"] / visits / 8_640 if visits else 0.0
        change = part * (late - 0.01) - 2 * (left / 10 if left >= 1 else 0.0)
        assert moved == pytest.approx(max(min(change, 0.5), -0.5) / math.log(2), abs=1e-9)
    with world.frontier.changes() as batch:
        world.pace.enter(batch)
    assert kept(world).level == pytest.approx(world.pace.record.level)
    pace = world.frontier.again.pace
    sums = (pace.lent, pace.late, pace.asked)
    assert sums == ((0, 0.0, 0.0) if seconds != 3_455 else (spent["lent"], spent["late"], 0.0))


def test_it_sinks_while_all_that_may_be_saved_up_is(pace_of):
    """In a small crawl visits are hours apart, and so are the corrections: what is earned meanwhile would be lost."""
    world = pace_of()
    world.pace.correct()
    pace, level = world.frontier.again.pace, world.pace.record.level
    for minutes, saved, steps in ((0.5, 4.0, 0), (0.6, 4.0, 1), (0.5, 4.0, 1), (0.6, 4.0, 2), (1.1, 3.0, 2)):
        world.pass_time(minutes * 60 / SPEED)
        pace.saved, pace.earned = saved, world.frontier.again.wall.now()
        world.pace.correct()
        assert world.pace.record.level == pytest.approx(level - steps / 24)
        assert pace.step == round(world.pace.record.level * 24)


def test_where_visits_are_many_it_is_corrected_each_minute(pace_of):
    world = pace_of(msgspec.structs.replace(ON, visits=DAY))
    assert corrected(world, 59, lent=4, late=4.0) == 0
    assert corrected(world, 2, lent=4, late=4.0) > 0


def test_what_was_left_since_the_last_correction_counts_from_what_may_be_spent_now(pace_of):
    world = pace_of()
    corrected(world, 3_500, lent=4)
    pace = world.frontier.again.pace
    assert pace.left == pace.saved > 1


class Paces:
    """Other agents that have told something, and hear what this one tells."""

    def __init__(self, *others):
        self.others, self.told = list(others), []

    def tell(self, told):
        self.told.append(told)

    def heard(self, own):
        return [own, *self.others]


def test_agents_share_what_may_be_spent_and_go_by_one_threshold(pace_of):
    alone = pace_of()
    alone.pace.correct()
    level = alone.pace.record.level
    paces = Paces()
    world = pace_of(paces=paces)
    world.pace.correct()
    fair = world.pace.record.fair
    assert paces.told[-1] == Told(pytest.approx(level), fair, 10, paces.told[-1].eager)
    # Two more, each with as many pages that ask for as much; both lie higher by two.
    paces.others = [Told(level + 2, fair, 10, paces.told[-1].eager)] * 2
    world.pace.go_by(msgspec.structs.replace(ON, visits=300))
    pace = world.frontier.again.pace
    assert pace.rate == pytest.approx(100 / DAY), "its third of all"
    assert pace.fair == pytest.approx(fair), "three times the pages, three times the visits"
    assert world.pace.record.level == pytest.approx(level + 2), "the median"
    assert paces.told[-1].level == pytest.approx(level + 2)


def test_what_its_pages_ask_for_is_told(pace_of):
    paces = Paces()
    world = pace_of(paces=paces)
    pace = world.frontier.again.pace

    def eager(**spent):
        corrected(world, 3_500, **spent)
        return paces.told[-1].eager

    seen = Demand()
    usual = eager(lent=0)
    assert eager(lent=0) == usual, "who made no visit has learned nothing"
    # Of ten pages twenty visits were made, each asked for after half of the mean interval.
    sooner = eager(lent=20, asked=20 * pace.fair / 2, late=20 * 0.01 * pace.fair)
    assert sooner > 1.5 * usual
    seen.saw(2.0, 0.5, 0.01)
    assert sooner == pytest.approx(seen.eager)
    assert eager(lent=20, asked=20 * pace.fair * 2, late=20 * 0.01 * pace.fair) < sooner
    late = eager(lent=200, asked=200 * pace.fair, late=200 * 0.1 * pace.fair)
    assert late == pytest.approx(1.5, rel=0.02)


@pytest.mark.parametrize(
    ("theirs", "walks"),
    [
        (None, True),
        (RevisitRecord(on=False, every=b"-"), True),
        (RevisitRecord(on=True, every=b"-"), False),
        (RevisitRecord(on=True, every=b"-", cursor=b"half"), True),
        (RevisitRecord(on=True, every=b"other"), True),
    ],
)
def test_pages_of_another_agent_are_walked_over_unless_it_had_done_so(pace_of, tmp_path, theirs, walks):
    state = Environment.open(tmp_path / "theirs", StateConfig())
    if theirs is not None:
        batch = state.batch()
        batch.put(Family.META, REVISIT, encode(theirs))
        state.commit(batch)
    world = pace_of()
    for on in (True, False):
        world.pace.go_by(msgspec.structs.replace(ON, enabled=on))
        world.pace.record.cursor = None
        with world.frontier.changes() as batch:
            world.pace.took_in(state, 1, batch)
        assert world.pace.record.cursor == (b"" if walks and on else None)
        assert not on or kept(world).cursor == world.pace.record.cursor
    state.close()


def test_what_was_learned_is_written_with_the_next_batch_and_once(pace_of):
    world = pace_of()
    world.pace.correct()
    with world.frontier.changes() as batch:
        world.pace.enter(batch)
    world.pace.record.visits = 7
    for changed, there in ((False, 0), (True, 7)):
        if changed:
            world.pace.changed()
        with world.frontier.changes() as batch:
            world.pace.enter(batch)
        assert kept(world).visits == there
    assert kept(world).spread == world.pace.spread.pack()
    batch = world.environment.batch()
    empty = batch.raw.size_in_bytes()
    world.pace.enter(batch)
    assert batch.raw.size_in_bytes() == empty
    again = RevisitPace(world.environment, world.frontier, ON)
    assert again.record.visits == 7
    assert math.isclose(again.record.level, world.pace.record.level, abs_tol=1e-6)
