"""Ends transfers that stay below the lowest speed for too long.

libcurl's own low-speed check is not used: driven by sockets, it sleeps until something else wakes
the transfer (libcurl 8.23: two silent transfers at once are noticed at the connect time-out only).
"""

import asyncio
from collections.abc import Callable
from typing import Protocol

import pycurl

from gossamer.fetch.config import FetchConfig

_TICK = 1.0  # seconds between two looks


class Watched(Protocol):
    """A transfer, as far as its pace goes."""

    easy: pycurl.Curl

    @property
    def received(self) -> int:
        """Bytes that have come, heads included."""

    @property
    def connected(self) -> bool:
        """The peer could be talked to."""

    @property
    def held(self) -> bool:
        """It is paused, by us."""


class _Pace:
    """How one transfer is doing: bytes at the last look, seconds below the lowest speed."""

    __slots__ = ("received", "slow")

    def __init__(self) -> None:
        self.received = 0
        self.slow = 0.0


class PaceWatch:
    """Looks at all transfers under way once a second, as long as there are any.

    Args:
        stop: ends a transfer as timed out, with a message.
    """

    def __init__(self, config: FetchConfig, stop: Callable[[Watched, str], None]) -> None:
        self._stop = stop
        self._min_speed = config.min_speed
        self._idle_timeout = config.idle_timeout
        self._interval = min(_TICK, config.idle_timeout / 4)
        self._paces: dict[Watched, _Pace] = {}
        self._timer: asyncio.TimerHandle | None = None
        self._last_look = 0.0

    def add(self, transfer: Watched) -> None:
        """Watch a transfer from now on."""
        if not self._min_speed:
            return
        self._paces[transfer] = _Pace()
        if self._timer is None:
            loop = asyncio.get_running_loop()
            self._last_look = loop.time()
            self._timer = loop.call_later(self._interval, self._look, loop)

    def remove(self, transfer: Watched) -> None:
        """Watch a transfer no longer."""
        self._paces.pop(transfer, None)

    def close(self) -> None:
        """Watch no transfer any more."""
        self._paces.clear()
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _look(self, loop: asyncio.AbstractEventLoop) -> None:
        now = loop.time()
        # A process that was stopped for an hour has not seen an hour of silence.
        passed = min(now - self._last_look, 2 * self._interval)
        self._last_look = now
        for transfer, pace in list(self._paces.items()):
            received = transfer.received
            fast = received - pace.received >= self._min_speed * passed
            if fast or not transfer.connected or transfer.held:
                pace.slow = 0.0
            else:
                pace.slow += passed
            pace.received = received
            if pace.slow >= self._idle_timeout:
                self._stop(transfer, self._complaint(received))
        self._timer = loop.call_later(self._interval, self._look, loop) if self._paces else None

    def _complaint(self, received: int) -> str:
        if not received:
            return f"idle for {self._idle_timeout:g} s"
        return f"too slow: below {self._min_speed} bytes/s for {self._idle_timeout:g} s"
