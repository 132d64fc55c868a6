"""Keeps what all visits receive together, and what each host sends, below so many bytes a second (K15).

Reading a socket slowly holds back a long body, but a short one is in the kernel's buffer before it is read.
So a visit begins only when there is room for a body of the usual size, which it then owns; what comes beyond
that is paid for as it arrives, and where nothing is left the transfer is paused.
"""

import asyncio
import time
from collections import deque
from collections.abc import Callable

import pycurl

USUAL = 32 << 10
"""Bytes reserved for a visit before any has told."""
LEARNING = 0.1
"""Weight of the last visit in the usual size."""
BURST_SECONDS = 0.1
"""For which what was not used may be caught up."""
AHEAD_SECONDS = 0.2
"""By how much a body may be ahead of its host's speed before it is paused."""


VisitSpeed = Callable[[str], float]
"""Bytes a second of each visit to a host's queue; 0 for no limit."""


class Throttle:
    """A bucket that fills with `rate` bytes a second; whoever finds it empty waits in line."""

    def __init__(self, visit_speed: VisitSpeed | None = None) -> None:
        """`visit_speed`: as `limit_visits` has it."""
        self._rate = 0.0
        self._balance = 0.0
        self._at = 0.0
        self._usual = float(USUAL)
        self._line: deque[Callable[[], None]] = deque()
        self._timer: asyncio.TimerHandle | None = None
        self._visit_speed = visit_speed

    @property
    def active(self) -> bool:
        """Visits must ask before they begin."""
        return self._rate > 0 or self._visit_speed is not None

    @property
    def rate(self) -> float:
        """Bytes a second in all; 0 for no limit."""
        return self._rate

    @property
    def waiting(self) -> int:
        """Visits that wait for room."""
        return len(self._line)

    def set_rate(self, rate: float) -> None:
        """Another limit from now on; 0 for none."""
        if rate == self._rate:
            return
        self._refill()
        self._rate = rate
        self._balance = min(self._balance, rate * BURST_SECONDS)
        self._let_go()

    def limit_visits(self, visit_speed: VisitSpeed | None) -> None:
        """Limit visits that begin from now on, each by its host's queue; none if no host has a limit."""
        self._visit_speed = visit_speed

    async def begin(self, queue_key: str) -> "Flow":
        """Wait until a visit may begin; it gives back what it has not used by `Flow.end`."""
        speed = self._visit_speed(queue_key) if self._visit_speed is not None else 0.0
        if self._rate:
            self._refill()
            if self._line or self._balance < 0:
                await self._turn()
        usual = self._usual if self._rate else 0.0
        self._balance -= usual
        return Flow(self, usual, speed)

    def pay(self, size: float) -> None:
        """So much was received beyond what was reserved, or is given back (negative)."""
        if self._rate:
            self._refill()
            self._balance -= size
            if size < 0 and self._line:
                self._let_go()

    @property
    def empty(self) -> bool:
        """There is nothing left just now."""
        if not self._rate:
            return False
        self._refill()
        return self._balance < 0

    def line_up(self, go: Callable[[], None]) -> None:
        """Call `go` when there is something left and its turn has come."""
        self._line.append(go)
        self._let_go()

    def learn(self, size: int) -> None:
        """Learn from a visit that received `size` bytes in all."""
        self._usual += LEARNING * (size - self._usual)

    def close(self) -> None:
        """Wake nobody who was held back any more."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        self._line.clear()

    async def _turn(self) -> None:
        future: asyncio.Future[float] = asyncio.get_running_loop().create_future()

        def go() -> None:
            if not future.done():
                # The one who waits takes its share only later; whoever is next must see that it is gone.
                self._balance -= self._usual
                future.set_result(self._usual)

        self.line_up(go)
        try:
            await future
        finally:
            if future.done() and not future.cancelled():
                self._balance += future.result()

    def _refill(self) -> None:
        now = time.monotonic()
        if self._rate:
            self._balance = min(self._balance + (now - self._at) * self._rate, self._rate * BURST_SECONDS)
        else:
            self._balance = 0.0
        self._at = now

    def _let_go(self) -> None:
        """Let those go whose turn it is, and come back when the bucket is no longer empty."""
        while self._line and not self.empty:
            self._line.popleft()()
        if self._line and self._timer is None:
            wait = max(-self._balance / self._rate, 0.0) + 0.001
            self._timer = asyncio.get_running_loop().call_later(wait, self._tick)

    def _tick(self) -> None:
        self._timer = None
        self._let_go()


class Flow:
    """What one visit receives, as the throttle sees it."""

    __slots__ = (
        "_began",
        "_easy",
        "_may_go",
        "_reserved",
        "_speed",
        "_throttle",
        "_timer",
        "held",
        "received",
    )

    def __init__(self, throttle: Throttle, reserved: float, speed: float) -> None:
        self._throttle = throttle
        self._reserved = reserved
        self._speed = speed
        self._began = 0.0
        self._easy: pycurl.Curl | None = None
        self._may_go = False
        self._timer: asyncio.TimerHandle | None = None
        self.received = 0
        self.held = False
        """The transfer is paused, by us."""

    def begin(self, easy: pycurl.Curl) -> None:
        """Note that the transfer starts."""
        self._easy = easy
        self._began = time.monotonic()

    def holds(self, size: int) -> bool:
        """Whether the transfer must pause before it takes a piece; if not, the piece is paid for."""
        if not self._may_go:
            if self._reserved < size and self._throttle.empty:
                self.held = True
                self._throttle.line_up(self._go)
                return True
            if self._speed and (wait := self._ahead()) > AHEAD_SECONDS:
                self.held = True
                self._timer = asyncio.get_running_loop().call_later(wait, self._go)
                return True
        self._may_go = False
        self.received += size
        owned = min(self._reserved, size)
        self._reserved -= owned
        if size > owned:
            self._throttle.pay(size - owned)
        return False

    def received_whole(self, size: int) -> None:
        """A visit that was not held back has received `size` bytes; others wait until they are paid for."""
        self.received = size
        self._throttle.learn(size)
        owned = min(self._reserved, size)
        self._reserved -= owned
        self._throttle.pay(size - owned)

    def end(self) -> None:
        """The visit is over: what it owned and has not used goes back."""
        if self._easy is not None:
            self._throttle.learn(self.received)
        self._easy = None
        if self._timer is not None:
            self._timer.cancel()
        if self._reserved:
            self._throttle.pay(-self._reserved)
            self._reserved = 0.0

    def _ahead(self) -> float:
        """Seconds by which the host has sent too soon what it has sent."""
        return self.received / self._speed - (time.monotonic() - self._began)

    def _go(self) -> None:
        easy = self._easy
        if easy is None or not self.held:
            return
        self.held = False
        self._may_go = True
        # libcurl hands over within this call what it kept when the transfer was paused.
        easy.pause(pycurl.PAUSE_CONT)
