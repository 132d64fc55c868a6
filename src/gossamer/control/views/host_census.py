"""Counts hosts by state and keeps the largest, in steps that are short however many there are."""

import time
from operator import itemgetter
from typing import Any, Final

import msgspec

from gossamer.control.views.paging import SECONDS, Patience
from gossamer.inspect.inspection import doing
from gossamer.state.environment import Environment, Family
from gossamer.state.records import HostRecord, decode_host

KEPT: Final = 1_000
"""Hosts kept in the order of each sort, and of each state."""
FRESH_FOR: Final = 100
"""A sweep's result is used for so many times as long as the sweep took: nobody pays more than a hundredth."""
SORTS: Final = ("queued", "pages", "seconds", "name")

Weight = tuple[Any, ...]


class _Leaders:
    """The `KEPT` hosts with the largest weights."""

    __slots__ = ("_found", "_least")

    def __init__(self) -> None:
        self._found: list[tuple[Weight, HostRecord]] = []
        self._least: Weight | None = None

    def offer(self, weight: Weight, record: HostRecord) -> None:
        if self._least is not None and weight <= self._least:
            return
        self._found.append((weight, record))
        if len(self._found) >= 2 * KEPT:
            self._cut()

    def _cut(self) -> None:
        self._found.sort(key=itemgetter(0), reverse=True)
        del self._found[KEPT:]
        if len(self._found) == KEPT:
            self._least = self._found[-1][0]

    def hosts(self) -> list[HostRecord]:
        self._cut()
        return [record for _, record in self._found]


class HostCount:
    """What one sweep has found so far.

    Attributes:
        looked_at: hosts.
        complete: all of them.
        by_state: hosts by what they do.
        left_alone: URLs queued at hosts that are parked.
    """

    def __init__(self) -> None:
        self.looked_at = 0
        self.complete = False
        self.by_state: dict[str, int] = {}
        self.left_alone = 0
        self._leaders: dict[tuple[str, str], _Leaders] = {}

    def add(self, record: HostRecord, now: int) -> None:
        """Take a host into account, as of a crawl-clock microsecond."""
        state, held, _ = doing(record, now)
        self.looked_at += 1
        if state == "parked":
            self.left_alone += record.queued
        self.by_state[state] = self.by_state.get(state, 0) + 1
        name = _Backwards(record.name)
        left = record.queued + record.waiting
        if left:
            self._offer("queued", state, (left, record.pages, name), record)
            self._offer("seconds", state, (held * 1e6 + record.queued * max(record.rest, 1), name), record)
        elif record.pages or state != "empty":
            self._offer("queued", state, (0, record.pages, name), record)
        self._offer("pages", state, (record.pages, left, name), record)
        self._offer("name", state, (name,), record)

    def _offer(self, sort: str, state: str, weight: Weight, record: HostRecord) -> None:
        for which in ("", state):
            leaders = self._leaders.get((sort, which))
            if leaders is None:
                leaders = self._leaders[sort, which] = _Leaders()
            leaders.offer(weight, record)

    def largest(self, sort: str, state: str = "") -> list[HostRecord]:
        """The first hosts by one of `SORTS`, of all or of those in one state."""
        leaders = self._leaders.get((sort, state))
        return leaders.hosts() if leaders is not None else []

    def scaled(self, hosts: int) -> dict[str, int]:
        """`by_state`, for all `hosts`: keys are keyed hashes, so who was looked at stands for the rest."""
        if self.complete or not self.looked_at:
            return dict(self.by_state)
        factor = max(1.0, hosts / self.looked_at)
        return {state: round(count * factor) for state, count in self.by_state.items()}


class _Backwards:
    """A name that is the larger the earlier it comes."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def __lt__(self, other: "_Backwards") -> bool:
        return self.name > other.name

    def __le__(self, other: "_Backwards") -> bool:
        return self.name >= other.name

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Backwards) and self.name == other.name

    __hash__ = None  # type: ignore[assignment]


class HostCensus:
    """Sweeps over all hosts of one crawl, a bounded time at each look."""

    def __init__(self, environment: Environment) -> None:
        self._environment = environment
        self._done: HostCount | None = None
        self._doing = HostCount()
        self._cursor = b""
        self._took = 0.0
        self._fresh_until = 0.0

    def look(self, now: int, seconds: float = SECONDS) -> HostCount:
        """The last whole sweep, or as much of the first as there is; sweeps on if that is getting old.

        Args:
            now: crawl-clock microseconds.
            seconds: to look at most.
        """
        began = time.monotonic()
        if self._done is not None and began < self._fresh_until:
            return self._done
        self._sweep(now, seconds)
        self._took += time.monotonic() - began
        if self._doing.complete:
            self._done, self._doing, self._cursor = self._doing, HostCount(), b""
            self._fresh_until = time.monotonic() + FRESH_FOR * self._took
            self._took = 0.0
        return self._done or self._doing

    def _sweep(self, now: int, seconds: float) -> None:
        patience = Patience(seconds)
        for key, data in self._environment.scan(Family.HOSTS, self._cursor):
            if patience.over:
                self._cursor = key
                return
            record = decode_host(data)
            self._doing.add(record, now)
        self._doing.complete = True


class HostItem(msgspec.Struct, frozen=True):
    """One host in a list.

    Attributes:
        state: `ready`, `resting`, `waiting`, `parked` or `empty`.
        seconds: until it may be visited; 0 if it may be now.
        delay: seconds of rest after its last visit, or the least if there was none.
        next_at: wall time when it may be visited; `None` if it has nothing, or is left alone.
    """

    name: str
    state: str
    seconds: float
    reason: str
    queued: int
    waiting: int
    pages: int
    bytes: int
    visits: int
    failures: int
    delay: float
    next_at: float | None


def host_item(record: HostRecord, now: int, least: float) -> HostItem:
    """A host as of now; `least` is the rest that it has at least."""
    state, seconds, reason = doing(record, now)
    away = state in ("parked", "empty")
    return HostItem(
        name=record.name,
        state=state,
        seconds=0.0 if away else round(seconds, 1),
        reason=reason,
        queued=record.queued,
        waiting=record.waiting,
        pages=record.pages,
        bytes=record.bytes,
        visits=record.visits,
        failures=record.failures,
        delay=record.rest / 1e6 if record.visits else least,
        next_at=None if away or seconds > 1e9 else round(time.time() + seconds, 1),
    )
