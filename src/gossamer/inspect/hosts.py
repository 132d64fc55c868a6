"""What hosts do now: of one, of the largest, and how many do what; for status, report, views and history."""

import time
from collections.abc import Callable
from operator import itemgetter
from typing import Any, Final

import msgspec

from gossamer.config.config import CrawlConfig
from gossamer.state.environment import Environment, Family
from gossamer.state.keys import FOREVER
from gossamer.state.records import HostRecord, decode_host

KEPT: Final = 1_000
"""Hosts kept in the order of each sort, and of each state."""
SORTS: Final = ("queued", "pages", "seconds", "name")
SET_ASIDE = "its URLs are set aside: see 'gossamer traps' and 'gossamer why'"
LOOKED_AT = 1_000
"""Hosts that stand for all where a line is drawn over time, because keys are keyed hashes: 1.5 ms, and off by
3% of all at worst in 19 of 20 cases. Always the same ones, so that the line does not jump."""


def doing(record: HostRecord, now: int) -> tuple[str, float, str]:
    """(state, seconds until it may be visited, reason) of a host; 0 s too if no time will bring its turn."""
    queued = record.queued - record.aside
    due = record.due if queued or not record.waiting else max(record.due, record.later_due)
    seconds = max(0.0, (due - now) / 1e6) if due < FOREVER else 0.0
    if record.parked:
        return "parked", seconds, record.parked
    if not record.queued and not record.waiting:
        return "empty", 0.0, ""
    if due >= FOREVER or not (queued or record.waiting):
        return "waiting", 0.0, SET_ASIDE
    if seconds and not queued:
        return "waiting", seconds, record.reason or "its URLs wait for times of their own"
    if seconds:
        return "resting", seconds, record.reason or "politeness"
    return "ready", 0.0, ""


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


def host_item(record: HostRecord, now: int, config: CrawlConfig) -> HostItem:
    """A host as of a crawl-clock microsecond, under the crawl's settings."""
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
        delay=record.rest / 1e6 if record.visits else config.politeness_of(record.name).min_delay,
        next_at=None if away or seconds > 1e9 else round(time.time() + seconds, 1),
    )


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
    """What a walk over hosts has found so far.

    Args:
        clock: the crawl's, in microseconds.
        sorts: orders in which the first hosts are kept.
        states: they are kept for each state, too.

    Attributes:
        looked_at: hosts.
        complete: all of them.
        by_state: hosts by what they do.
        left_alone: URLs queued at hosts that are parked.
    """

    def __init__(
        self, clock: Callable[[], int], sorts: tuple[str, ...] = SORTS, *, states: bool = True
    ) -> None:
        self._clock = clock
        self._sorts = sorts
        self._states = states
        self.looked_at = 0
        self.complete = False
        self.by_state: dict[str, int] = {}
        self.left_alone = 0
        self._leaders: dict[tuple[str, str], _Leaders] = {}

    def add(self, _: bytes, record: HostRecord) -> None:
        """Take a host into account, as of now."""
        state, held = doing(record, self._clock())[:2]
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

    def finish(self) -> None:
        """All hosts were told of."""
        self.complete = True

    def _offer(self, sort: str, state: str, weight: Weight, record: HostRecord) -> None:
        if sort not in self._sorts:
            return
        for which in ("", state) if self._states else ("",):
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


def resting_hosts(environment: Environment, now: int, hosts: int) -> int:
    """How many of all `hosts` rest, as of the last commit; estimated if there are more than `LOOKED_AT`."""
    found = 0
    for looked_at, (_, data) in enumerate(environment.scan(Family.HOSTS), 1):
        found += doing(decode_host(data), now)[0] == "resting"
        if looked_at == LOOKED_AT:
            return round(found * max(1.0, hosts / looked_at))
    return found
