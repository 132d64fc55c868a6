"""Lets work that may wait have the time that the event loop has to spare."""

import asyncio
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

LEAST = 0.25
"""Rest after a piece of work, in times of it, where nobody else has anything to do."""
OTHERS = 20.0
"""The same where the event loop is busy all the time: such work has a twentieth of it then."""
PIECE = 0.001
"""Seconds of CPU that a thread works at a time."""
MEMORY = 0.05
"""Seconds over which it is judged how busy the event loop is."""


class SpareTime:
    """Says how long such work rests after each piece of it, by how busy the event loop was in earlier rests.

    Pieces should take one or two milliseconds: a visit goes through the event loop some ten times, and may
    meet one each time. What is measured is the CPU time of the event loop's thread, made in which this is.
    """

    def __init__(self) -> None:
        if sys.platform == "linux":
            self._clock = time.pthread_getcpuclockid(threading.get_ident())
        else:  # no clock of another thread: that of all of them, so such work rests rather too long
            self._clock = time.CLOCK_PROCESS_CPUTIME_ID
        self._busy = 1.0
        self._threads = 0
        self.hurry = False
        """Nobody is left who could be held up."""

    async def rest(self, worked: float) -> None:
        """Rest after `worked` seconds of CPU on the event loop."""
        if self.hurry:
            await asyncio.sleep(0)
            return
        began = self._now()
        await asyncio.sleep(self._owed(worked))
        self._learn(*began)

    @contextmanager
    def in_thread(self) -> Iterator[Callable[[], None]]:
        """What a thread beside the event loop is to call now and then; of several each rests longer."""
        worked_until = 0.0  # by the clock of that thread

        def pause() -> None:
            nonlocal worked_until
            worked = time.thread_time() - worked_until
            if worked_until and worked < PIECE:
                return
            if worked_until:
                began = self._now()
                self._sleep(self._owed(worked) * self._threads)
                self._learn(*began)
            worked_until = time.thread_time()

        self._threads += 1
        try:
            yield pause
        finally:
            self._threads -= 1

    def _sleep(self, seconds: float) -> None:
        time.sleep(seconds)

    def _owed(self, worked: float) -> float:
        return worked * max(LEAST, OTHERS * self._busy)

    def _now(self) -> tuple[float, float]:
        return time.monotonic(), time.clock_gettime(self._clock)

    def _learn(self, began: float, used: float) -> None:
        now, cpu = self._now()
        passed = max(now - began, 1e-9)
        self._busy += (min((cpu - used) / passed, 1.0) - self._busy) * passed / (passed + MEMORY)
