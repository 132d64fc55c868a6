"""Tells when a job is to start, and during which hours it rests."""

import os
import re
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta, tzinfo
from functools import cache
from itertools import islice, product
from pathlib import Path
from typing import Annotated, Literal
from zoneinfo import ZoneInfo

import msgspec
from cronsim import CronSim, CronSimError
from msgspec import Meta

from gossamer.model.reasons.codes import ProblemCode
from gossamer.model.reasons.reason import Reason, because, of

DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_QUIET = re.compile(
    r"(?:(?P<first>[a-z]{3})(?:-(?P<last>[a-z]{3}))? +)?"
    r"(?P<from_hour>\d{1,2}):(?P<from_minute>\d\d) *- *(?P<to_hour>\d{1,2}):(?P<to_minute>\d\d)",
    re.ASCII,
)
_MINUTES_OF_A_DAY = 24 * 60
_DAYS_AHEAD = 9
"""Quiet hours recur weekly, so what does not end in a week never does."""
_MOST_QUIET = 32
_FIELDS = 5


class Schedule(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """When a job runs by itself."""

    cron: Annotated[
        str, Meta(max_length=200, description="minute hour day month weekday, as crontab(5); empty: never")
    ] = ""
    zone: Annotated[
        str, Meta(max_length=64, description="time zone, like Europe/Berlin; empty: the machine's")
    ] = ""
    how: Annotated[
        Literal["resume", "anew", "revisit"],
        Meta(
            description="resume: the same crawl goes on; anew: a copy of the job starts with an empty folder;"
            " revisit: the same crawl goes on, and visits pages again that are due"
        ),
    ] = "resume"
    hours: Annotated[
        int,
        Meta(
            ge=0,
            le=8_760,
            description="with revisit, how many hours after its start the job is stopped, until its next start;"
            " 0: it goes on until somebody stops it",
        ),
    ] = 0
    keep: Annotated[
        int,
        Meta(
            ge=0,
            le=1_000,
            description="with anew, copies that are kept; older ones that have ended are removed with their"
            " folders; 0: all are kept, until the disk is full",
        ),
    ] = 7
    quiet: Annotated[
        tuple[Annotated[str, Meta(max_length=64)], ...],
        Meta(
            max_length=_MOST_QUIET,
            description="hours in which the job is paused: 22:00-06:00, or mon-fri 08:00-18:00",
        ),
    ] = ()


class _Quiet(msgspec.Struct, frozen=True):
    """Some minutes of some days; an end before the beginning lies on the next day."""

    days: frozenset[int]
    begin: int
    end: int

    def covers(self, moment: datetime) -> bool:
        minute = moment.hour * 60 + moment.minute
        today, yesterday = moment.weekday(), (moment.weekday() - 1) % 7
        if self.begin < self.end:
            return today in self.days and self.begin <= minute < self.end
        return (today in self.days and minute >= self.begin) or (yesterday in self.days and minute < self.end)


def schedule_problems(schedule: Schedule) -> list[Reason]:
    """What is wrong with a schedule."""
    problems = []
    if (zone := _zone(schedule.zone)) is None:
        name = schedule.zone or os.environ.get("TZ", "")
        problems.append(of("schedule.zone", because(ProblemCode.ZONE, name)))
    if schedule.cron:
        try:
            next(_times(schedule.cron, datetime.now(zone or UTC)))
        except CronSimError as error:
            problems.append(of("schedule.cron", because(ProblemCode.CRON, schedule.cron, str(error))))
        except StopIteration:
            problems.append(of("schedule.cron", because(ProblemCode.CRON_NEVER, schedule.cron)))
    for number, text in enumerate(schedule.quiet):
        if _quiet(text) is None:
            problems.append(of(f"schedule.quiet[{number}]", because(ProblemCode.QUIET, text)))
    return problems


def next_start(schedule: Schedule, after: float) -> float | None:
    """The first moment (seconds of the wall clock) after another one at which the job is to start.

    Times that the clocks skip in spring come when they go on, times that come twice in autumn come once.
    """
    zone = _zone(schedule.zone)
    if not schedule.cron or zone is None:
        return None
    try:
        return next(_times(schedule.cron, datetime.fromtimestamp(after, zone))).timestamp()
    except (CronSimError, StopIteration):
        return None


def next_starts(schedule: Schedule, after: float, count: int) -> list[float]:
    """The next few, for people to see what they have written; `schedule` has no problems."""
    zone = _zone(schedule.zone)
    if not schedule.cron or zone is None:
        return []
    moments = islice(_times(schedule.cron, datetime.fromtimestamp(after, zone)), count)
    return [moment.timestamp() for moment in moments]


def is_quiet(schedule: Schedule, now: float) -> bool:
    """Whether the job is to rest now."""
    return _covered(_all_quiet(schedule), datetime.fromtimestamp(now, _zone(schedule.zone) or UTC))


def quiet_until(schedule: Schedule, now: float) -> float | None:
    """When quiet hours end that are on now; `None` if none are, or if they never end."""
    quiets = _all_quiet(schedule)
    moment = datetime.fromtimestamp(now, _zone(schedule.zone) or UTC)
    if not _covered(quiets, moment):
        return None
    midnight = moment.replace(hour=0, minute=0, second=0, microsecond=0)
    ends = (
        midnight + timedelta(days=day, minutes=quiet.end)
        for day, quiet in product(range(_DAYS_AHEAD), quiets)
    )
    later = (end for end in ends if end.timestamp() > now and not _covered(quiets, end))
    return min((end.timestamp() for end in later), default=None)


def _covered(quiets: Sequence[_Quiet], moment: datetime) -> bool:
    return any(quiet.covers(moment) for quiet in quiets)


def _all_quiet(schedule: Schedule) -> list[_Quiet]:
    return [quiet for text in schedule.quiet if (quiet := _quiet(text)) is not None]


def _quiet(text: str) -> _Quiet | None:
    found = _QUIET.fullmatch(text.strip().lower())
    if found is None:
        return None
    first, last = found["first"], found["last"]
    if any(day is not None and day not in DAYS for day in (first, last)):
        return None
    begin = int(found["from_hour"]) * 60 + int(found["from_minute"])
    end = int(found["to_hour"]) * 60 + int(found["to_minute"])
    minutes_fit = int(found["from_minute"]) < 60 and int(found["to_minute"]) < 60
    if not minutes_fit or begin >= _MINUTES_OF_A_DAY or end > _MINUTES_OF_A_DAY or begin == end:
        return None
    return _Quiet(_days(first, last), begin, end)


def _days(first: str | None, last: str | None) -> frozenset[int]:
    if first is None:
        return frozenset(range(7))
    begin = DAYS.index(first)
    end = DAYS.index(last or first)
    return frozenset(day % 7 for day in range(begin, begin + (end - begin) % 7 + 1))


def _times(cron: str, after: datetime) -> Iterator[datetime]:
    """Moments after another one.

    Raises:
        CronSimError: the expression is none. One with a sixth field, for seconds, is none here: a job takes
            longer to start.
    """
    if len(cron.split()) != _FIELDS:
        raise CronSimError("it needs five fields")
    now = after.timestamp()
    # In an hour that comes twice, the second time, it begins with moments of the first.
    return (moment for moment in CronSim(cron, after) if moment.timestamp() > now)


def _zone(name: str) -> tzinfo | None:
    """The zone of a name; the machine's of none; `None` of a name that is none."""
    try:
        return ZoneInfo(name) if name else _own_zone()
    except (KeyError, ValueError, OSError):
        return None


@cache
def _own_zone() -> tzinfo:
    """The machine's zone with its rules, which the C library's offset of today has not."""
    name = os.environ.get("TZ", "").removeprefix(":")
    if name and not name.startswith("/"):
        return ZoneInfo(name)
    try:
        with Path(name or "/etc/localtime").open("rb") as rules:
            return ZoneInfo.from_file(rules)
    except (OSError, ValueError):
        return UTC
