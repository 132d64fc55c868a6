"""The crawl clock: wall time that never jumps, by which everything on disk is due.

Within a process it advances with the monotonic clock, whatever happens to the wall clock. Over a
restart on the same boot it is carried on by `CLOCK_BOOTTIME`; over a reboot it takes the wall clock,
but never goes back. So a wall clock that jumps, either way, makes us neither rude nor stall.
Dates that people read (WARC-Date, logs) come from the wall clock instead.
"""

import time
from collections.abc import Mapping
from pathlib import Path

from gossamer.state.records import ClockRecord

_FASTER = "GOSSAMER_CLOCK"
LAST_SECOND = float((1 << 32) - 1)
_BOOT_ID = Path("/proc/sys/kernel/random/boot_id")


def _boot_id() -> str:
    try:
        return _BOOT_ID.read_text().strip()
    except OSError:
        return ""


def _boottime() -> float:
    return time.clock_gettime(time.CLOCK_BOOTTIME)


class CrawlClock:
    """Seconds since 1970, monotonic over the life of the crawl."""

    def __init__(self, last: ClockRecord | None = None) -> None:
        self._id = _boot_id()
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
        return int(self.now() * 1e6)

    def record(self) -> ClockRecord:
        """What to keep for the next start."""
        return ClockRecord(self.now(), self._id, _boottime())


class WallClock:
    """Wall time, by which pages have changed and were visited; tests let it run faster.

    Dates of servers and of other agents are compared with it. It may jump: then pages are due too early or too
    late once, within their hosts' rests and the visits that may be made.
    """

    def __init__(self, speed: float = 1.0, origin: float = 0.0) -> None:
        """`speed`: seconds that it goes on in one; `origin`: when it said the same as the usual one."""
        self.speed = speed
        self._origin = origin

    @classmethod
    def of(cls, environment: Mapping[str, str]) -> "WallClock":
        """The usual one, or the one of a simulation: `GOSSAMER_CLOCK=SPEED@ORIGIN`."""
        speed, _, origin = environment.get(_FASTER, "").partition("@")
        return cls(float(speed), float(origin)) if speed else cls()

    def now(self) -> float:
        """Seconds since 1970, and before 2106, when they no longer fit into what is kept of a page."""
        now = time.time()
        if self.speed != 1:
            now = self._origin + (now - self._origin) * self.speed
        return min(now, LAST_SECOND)
