"""When a job starts by itself, and when it rests."""

from datetime import datetime
from zoneinfo import ZoneInfo

import pytest

from gossamer.daemon.jobs.schedule import (
    Schedule,
    _own_zone,
    is_quiet,
    next_start,
    next_starts,
    quiet_until,
    schedule_problems,
)
from gossamer.model.reasons.reason import placed

BERLIN = ZoneInfo("Europe/Berlin")


def at(text: str) -> float:
    return datetime.fromisoformat(text).replace(tzinfo=BERLIN).timestamp()


def schedule(cron: str = "", *quiet: str) -> Schedule:
    return Schedule(cron=cron, zone="Europe/Berlin", quiet=quiet)


def test_the_next_start_lies_after_the_moment_asked_for() -> None:
    nightly = schedule("30 3 * * *")
    assert next_start(nightly, at("2026-05-04 03:29")) == at("2026-05-04 03:30")
    assert next_start(nightly, at("2026-05-04 03:30")) == at("2026-05-05 03:30")
    assert next_starts(nightly, at("2026-05-04 12:00"), 2) == [at("2026-05-05 03:30"), at("2026-05-06 03:30")]


def test_weekdays_and_steps() -> None:
    assert next_start(schedule("0 9 * * mon"), at("2026-05-05 00:00")) == at("2026-05-11 09:00")
    assert next_start(schedule("*/15 * * * *"), at("2026-05-05 10:07")) == at("2026-05-05 10:15")


def test_an_hour_that_is_skipped_in_spring_comes_when_the_clocks_go_on() -> None:
    found = next_start(schedule("30 2 * * *"), at("2026-03-29 00:00"))
    assert found == at("2026-03-29 03:00")


def test_an_hour_that_comes_twice_in_autumn_is_taken_once() -> None:
    first, second = next_starts(schedule("30 2 * * *"), at("2026-10-25 00:00"), 2)
    assert second - first == 25 * 3600


@pytest.mark.parametrize("minute", [10, 31])
def test_in_the_second_of_two_equal_hours_what_came_in_the_first_is_over(minute: int) -> None:
    """Or a job that starts anew each time would do so again and again until the hour is over."""
    now = datetime(2026, 10, 25, 2, minute, fold=1, tzinfo=BERLIN).timestamp()
    tomorrow = at("2026-10-26 02:45")
    assert next_start(schedule("45 2 * * *"), now) == tomorrow
    assert next_starts(schedule("45 2 * * *"), now, 2) == [tomorrow, tomorrow + 86_400]


def test_the_machine_s_zone_may_be_the_name_of_a_file(
    monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    """As many set it, to spare the C library a look at /etc/localtime before each use."""
    monkeypatch.setenv("TZ", ":/etc/localtime")
    _own_zone.cache_clear()
    request.addfinalizer(_own_zone.cache_clear)
    assert schedule_problems(Schedule(cron="0 3 * * *")) == []
    assert next_start(Schedule(cron="0 3 * * *"), 0) is not None


def test_without_an_expression_nothing_starts() -> None:
    assert next_start(schedule(), 0) is None and next_starts(schedule(), 0, 3) == []


@pytest.mark.parametrize(
    ("quiet", "moment", "expected"),
    [
        ("22:00-06:00", "2026-05-04 21:59", False),
        ("22:00-06:00", "2026-05-04 22:00", True),
        ("22:00-06:00", "2026-05-05 05:59", True),
        ("22:00-06:00", "2026-05-05 06:00", False),
        ("mon-fri 08:00-18:00", "2026-05-08 17:59", True),  # a Friday
        ("mon-fri 08:00-18:00", "2026-05-09 12:00", False),
        ("fri 22:00-06:00", "2026-05-09 05:00", True),
        ("fri 22:00-06:00", "2026-05-08 05:00", False),
        ("sat-mon 00:00-24:00", "2026-05-10 12:00", True),
        ("sat-mon 00:00-24:00", "2026-05-12 00:00", False),
        ("Sun 1:00 - 2:30", "2026-05-10 02:00", True),
    ],
)
def test_quiet_hours(quiet: str, moment: str, expected: bool) -> None:
    assert is_quiet(schedule("", quiet), at(moment)) is expected


def test_the_end_of_quiet_hours_is_told_across_those_that_touch() -> None:
    both = schedule("", "22:00-06:00", "05:30-08:00")
    assert quiet_until(both, at("2026-05-04 23:00")) == at("2026-05-05 08:00")
    assert quiet_until(both, at("2026-05-05 12:00")) is None
    assert quiet_until(schedule("", "00:00-24:00"), at("2026-05-05 12:00")) is None
    assert quiet_until(schedule("", "sat-sun 00:00-24:00"), at("2026-05-09 12:00")) == at("2026-05-11 00:00")


@pytest.mark.parametrize(
    ("broken", "path"),
    [
        (Schedule(cron="61 * * * *"), "schedule.cron"),
        (Schedule(cron="* * * *"), "schedule.cron"),
        (Schedule(cron="0 0 0 * * *"), "schedule.cron"),
        (Schedule(cron="0 0 30 2 *"), "schedule.cron"),
        (Schedule(cron="import os"), "schedule.cron"),
        (Schedule(zone="Middle/Earth"), "schedule.zone"),
        (Schedule(zone="../../etc/passwd"), "schedule.zone"),
        (Schedule(quiet=("25:00-06:00",)), "schedule.quiet[0]"),
        (Schedule(quiet=("22:00-06:00", "abc 1:00-2:00")), "schedule.quiet[1]"),
        (Schedule(quiet=("12:00-12:00",)), "schedule.quiet[0]"),
        (Schedule(quiet=("at night",)), "schedule.quiet[0]"),
    ],
)
def test_what_cannot_be_read_is_told_with_its_place(broken: Schedule, path: str) -> None:
    [problem] = schedule_problems(broken)
    assert placed(problem)[0] == path


def test_all_problems_come_at_once() -> None:
    assert len(schedule_problems(Schedule(cron="x", zone="y", quiet=("z",)))) == 3
    assert schedule_problems(schedule("0 3 * * *", "22:00-06:00")) == []
