"""The time of day in which nobody is to be told: `22:00-07:00`, or with a time zone, `22:00-07:00 Europe/Berlin`."""

import re
from datetime import UTC, datetime, time, timedelta, tzinfo

import msgspec

__all__ = ["Quiet", "read_quiet"]

_TIMES = re.compile(r"([01]?\d|2[0-3]):([0-5]\d)\s*-\s*([01]?\d|2[0-3]):([0-5]\d)(?:\s+(\S+))?", re.ASCII)


class Quiet(msgspec.Struct, frozen=True):
    """From `start` up to `end` each day, which may lie on the next; `zone` is empty for that of the machine."""

    start: time
    end: time
    zone: str = ""

    def until(self, now: float) -> float | None:
        """When it ends, seconds since 1970; `None` if it is not quiet now.

        A clock that is put back or forward in the night moves the end with it, as people do.
        """
        here = datetime.fromtimestamp(now, UTC).astimezone(self._zone())
        clock = here.time().replace(tzinfo=None)
        over_night = self.end <= self.start
        quiet = clock >= self.start or clock < self.end if over_night else self.start <= clock < self.end
        if not quiet:
            return None
        day = here.date() + timedelta(days=1) if over_night and clock >= self.start else here.date()
        end = datetime.combine(day, self.end)
        return (end.replace(tzinfo=self._zone()) if self.zone else end.astimezone()).timestamp()

    def _zone(self) -> tzinfo | None:
        return _zone_of(self.zone) if self.zone else None


def _zone_of(name: str) -> tzinfo:
    from zoneinfo import ZoneInfo  # with all it loads, for which each command would wait

    return ZoneInfo(name)


def read_quiet(text: str) -> Quiet | None:
    """Read it; empty is none.

    Raises:
        ValueError: it cannot be read, or there is no such time zone.
    """
    if not text.strip():
        return None
    told = _TIMES.fullmatch(text.strip())
    if told is None:
        raise ValueError(
            f"{text!r} is no time of day; write e.g. '22:00-07:00' or '22:00-07:00 Europe/Berlin'"
        )
    zone = told[5] or ""
    if zone:
        try:
            _zone_of(zone)
        except (OSError, ValueError, KeyError):  # the last is what an unknown name raises
            raise ValueError(f"{zone!r} is no time zone; write e.g. Europe/Berlin") from None
    start, end = time(int(told[1]), int(told[2])), time(int(told[3]), int(told[4]))
    if start == end:
        raise ValueError(f"{text!r} is no time; its beginning is its end")
    return Quiet(start, end, zone)
