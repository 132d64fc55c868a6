"""Tells how fast a crawl is, and what its process takes."""

import os
import resource
import sys
import time
from collections import deque
from collections.abc import Callable

import msgspec

from gossamer.state.records import Counters

_TELLS_PEAK = sys.platform == "darwin"
"""`ru_maxrss` is in bytes there, getrusage(2)."""

SHORT, LONG = 10.0, 60.0
"""Seconds over which rates are taken."""


class Rates(msgspec.Struct, frozen=True):
    """Pages, bytes of bodies and visits a second of late."""

    pages_per_s: float = 0.0
    bytes_per_s: float = 0.0
    visits_per_s: float = 0.0


class Speedometer:
    """Rates from counts that are noted now and then."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self.started = time.time()
        """Wall time."""
        self._points: deque[tuple[float, int, int, int]] = deque(maxlen=64)

    def note(self, counters: Counters) -> None:
        """Remember the counts of now; called every second."""
        self._points.append((self._clock(), counters.pages, counters.bytes, counters.visits))

    def rates(self, counters: Counters, seconds: float) -> Rates:
        """Over the last `seconds`, or since the first note."""
        now = self._clock()
        then = next((point for point in self._points if point[0] >= now - seconds), None)
        if then is None or now - then[0] < 0.2:
            return Rates()
        span = now - then[0]
        return Rates(
            round((counters.pages - then[1]) / span, 2),
            round((counters.bytes - then[2]) / span, 1),
            round((counters.visits - then[3]) / span, 2),
        )


def memory_bytes(pid: int | str = "self") -> int:
    """Resident memory of a process, this one if none is named; 0 of one that has ended.

    Where the system does not tell (macOS): the most that this one ever had, 0 of others.
    """
    try:  # asked for every second, so without a Path and a stream, which make ten system calls of three
        file = os.open(f"/proc/{pid}/statm", os.O_RDONLY | os.O_CLOEXEC)
        try:
            pages = os.read(file, 256).split()[1]
        finally:
            os.close(file)
    except (OSError, IndexError):
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss if _TELLS_PEAK and pid == "self" else 0
    return int(pages) * os.sysconf("SC_PAGE_SIZE")


def open_files(pid: int | str = "self") -> int:
    """Open descriptors of a process, this one if none is named; 0 where the system does not tell."""
    try:
        return len(os.listdir("/dev/fd" if pid == "self" else f"/proc/{pid}/fd"))  # noqa: PTH208 - a Path for each would cost more
    except OSError:
        return 0
