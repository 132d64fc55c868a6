"""The crawl clock: wall time that never jumps, by which everything on disk is due.

Within a process it advances with the monotonic clock, whatever happens to the wall clock. Over a
restart on the same boot it is carried on by the time since that boot; over a reboot it takes the wall clock,
but never goes back. So a wall clock that jumps, either way, makes us neither rude nor stall.
Dates that people read (WARC-Date, logs) come from the wall clock instead.
"""

import time
from collections.abc import Callable, Mapping

from gossamer.state.machine import boot_id, since_boot
from gossamer.state.records import ClockRecord

_FASTER = "GOSSAMER_CLOCK"
LAST_SECOND = float((1 << 32) - 1)


def _boottime() -> float:
    return since_boot() / 1e9


class CrawlClock:
    """Seconds since 1970, monotonic over the life of the crawl."""

    def __init__(self, last: ClockRecord | None = None) -> None:
        self._id = boot_id()
        self.rebooted = last is not None and not (self._id and last.boot_id == self._id)
        """The machine was started since, or this is another one: a power failure may have come between."""
        start = time.time()
        if last is not None:
            if not self.rebooted:  # noqa: SIM108
                start = last.crawl + max(0.0, _boottime() - last.boottime)
            else:
                start = max(start, last.crawl)
        self._offset = start - time.monotonic()

    def now(self) -> float:
        """Seconds of the crawl clock."""
        return self._offset + time.monotonic()

    def micros(self) -> int:
        """Microseconds, the unit of due times on disk."""
        # Not by `now`: each visit asks some fifteen times.
        return int((self._offset + time.monotonic()) * 1e6)

    def record(self) -> ClockRecord:
        """What to keep for the next start."""
        return ClockRecord(self.now(), self._id, _boottime())


class WallClock:
    """Wall time, by which pages have changed and were visited; tests let it run faster.

    In a crawl it goes by the crawl clock, which does not jump: after a step back of a day nothing would be due for one,
    after one ahead everything at once. It does not count what the machine slept through either. So dates of servers are
    compared with it by `of_date`, and its moments with dates by `date_of`.
    """

    def __init__(
        self, speed: float = 1.0, origin: float = 0.0, ticks: Callable[[], float] = time.time
    ) -> None:
        """
        Args:
            speed: seconds that it goes on in one.
            origin: when it said the same as the usual one.
            ticks: the usual one.
        """
        self.speed = speed
        self._ticks = ticks
        self._origin = origin

    @classmethod
    def of(cls, environment: Mapping[str, str], ticks: Callable[[], float] = time.time) -> "WallClock":
        """The usual one, or the one of a simulation: `GOSSAMER_CLOCK=SPEED@ORIGIN`."""
        speed, _, origin = environment.get(_FASTER, "").partition("@")
        return cls(float(speed), float(origin), ticks) if speed else cls(ticks=ticks)

    def now(self) -> float:
        """Seconds since 1970, and before 2106, when they no longer fit into what is kept of a page."""
        now = self._ticks()
        if self.speed != 1:
            now = self._origin + (now - self._origin) * self.speed
        return min(now, LAST_SECOND)

    def of_date(self, date: float) -> float:
        """What this clock said at the moment of a date that a server tells."""
        return date if self.speed != 1 else date + self._ticks() - time.time()

    def date_of(self, moment: float) -> float:
        """The date that a server whose clock is right told at a moment of this one."""
        return moment if self.speed != 1 else moment - self._ticks() + time.time()
