"""What hosts do now: of one, of the largest, and how many do what; for status, report, views and history."""

import time
from collections.abc import Callable
from operator import itemgetter
from typing import Any, Final

import msgspec

from gossamer.config.config import CrawlConfig
from gossamer.config.effective import Effective
from gossamer.model.reasons.codes import HoldCode
from gossamer.model.reasons.reason import Reason, sentence
from gossamer.state.environment import Environment, Family
from gossamer.state.keys import FOREVER
from gossamer.state.records import HostRecord, decode_host

KEPT: Final = 1_000
"""Hosts kept in the order of each sort, and of each state."""
SORTS: Final = ("queued", "pages", "seconds", "name")
SET_ASIDE = Reason(HoldCode.SET_ASIDE)
OWN_TIMES = Reason(HoldCode.OWN_TIMES)
POLITENESS = Reason(HoldCode.POLITENESS)
LOOKED_AT = 1_000
"""Hosts that stand for all where a line is drawn over time, because keys are keyed hashes: 1.5 ms, and off by
3% of all at worst in 19 of 20 cases. Always the same ones, so that the line does not jump."""


def doing(record: HostRecord, now: int) -> tuple[str, float, Reason | None]:
    """(state, seconds until it may be visited, reason) of a host; 0 s too if no time will bring its turn."""
    queued = record.queued - record.aside
    due = record.due if queued or not record.waiting else max(record.due, record.later_due)
    seconds = max(0.0, (due - now) / 1e6) if due < FOREVER else 0.0
    if record.parked:
        return "parked", seconds, record.parked
    if not record.queued and not record.waiting:
        return "empty", 0.0, None
    if due >= FOREVER or not (queued or record.waiting):
        return "waiting", 0.0, SET_ASIDE
    if seconds and not queued:
        return "waiting", seconds, record.reason or OWN_TIMES
    if seconds:
        return "resting", seconds, record.reason or POLITENESS
    return "ready", 0.0, None


class HostItem(msgspec.Struct, frozen=True):
    """One host in a list.

    Attributes:
        state: `ready`, `resting`, `waiting`, `parked` or `empty`.
        seconds: until it may be visited; 0 if it may be now.
        delay: seconds of rest after its last visit, or the least if there was none.
        next_at: wall time when it may be visited; `None` if it has nothing, or is left alone.
        why: `reason` as a value.
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
    why: Reason | None = None


def host_item(record: HostRecord, now: int, config: CrawlConfig) -> HostItem:
    """A host as of a crawl-clock microsecond, under the crawl's settings."""
    state, seconds, reason = doing(record, now)
    away = state in ("parked", "empty")
    return HostItem(
        name=record.name,
        state=state,
        seconds=0.0 if away else round(seconds, 1),
        reason=sentence(reason),
        why=reason,
        queued=record.queued,
        waiting=record.waiting,
        pages=record.pages,
        bytes=record.bytes,
        visits=record.visits,
        failures=record.failures,
        delay=record.rest / 1e6 if record.visits else Effective(config).politeness(record.name).min_delay,
        next_at=None if away or seconds > 1e9 else round(time.time() + seconds, 1),
    )


Rank = tuple[Any, ...]
"""Of a host in an order; the first has the smallest."""


class _First:
    """The `most` hosts with the smallest ranks."""

    __slots__ = ("_found", "_last", "_most")

    def __init__(self, most: int) -> None:
        self._most = most
        self._found: list[tuple[Rank, HostRecord]] = []
        self._last: Rank | None = None

    def offer(self, rank: Rank, record: HostRecord) -> None:
        if self._last is not None and rank >= self._last:
            return
        self._found.append((rank, record))
        if len(self._found) >= 2 * self._most:
            self._cut()

    def _cut(self) -> None:
        self._found.sort(key=itemgetter(0))
        del self._found[self._most :]
        if len(self._found) == self._most:
            self._last = self._found[-1][0]

    def hosts(self) -> list[HostRecord]:
        self._cut()
        return [record for _, record in self._found]


class HostCount:
    """What a walk over hosts has found so far; some 2 us for each host and sort.

    Args:
        clock: the crawl's, in microseconds.
        sorts: orders in which the first hosts are kept.
        most: of each sort, and of each state.
        states: they are kept for each state, too.

    Attributes:
        looked_at: hosts.
        complete: all of them.
        by_state: hosts by what they do.
        left_alone: URLs queued at hosts that are parked.
    """

    def __init__(
        self,
        clock: Callable[[], int],
        sorts: tuple[str, ...] = SORTS,
        most: int = KEPT,
        *,
        states: bool = True,
    ) -> None:
        self._clock = clock
        self._sorts = sorts
        self._most = most
        self._states = states
        self.looked_at = 0
        self.complete = False
        self.by_state: dict[str, int] = {}
        self.left_alone = 0
        self._first: dict[tuple[str, str], _First] = {}

    def add(self, _: bytes, record: HostRecord) -> None:
        """Take a host into account, as of now."""
        state, held = doing(record, self._clock())[:2]
        self.looked_at += 1
        if state == "parked":
            self.left_alone += record.queued
        self.by_state[state] = self.by_state.get(state, 0) + 1
        left, pages, name = record.queued + record.waiting, record.pages, record.name
        for sort in self._sorts:
            rank: Rank
            if sort == "queued":
                if not (left or pages) and state == "empty":
                    continue
                rank = -left, -pages, name
            elif sort == "pages":
                rank = -pages, -left, name
            elif sort == "seconds":
                if not left:
                    continue
                rank = -(held * 1e6 + record.queued * max(record.rest, 1)), name
            else:
                rank = (name,)
            self._offer(sort, "", rank, record)
            if self._states:
                self._offer(sort, state, rank, record)

    def finish(self) -> None:
        """All hosts were told of."""
        self.complete = True

    def _offer(self, sort: str, state: str, rank: Rank, record: HostRecord) -> None:
        first = self._first.get((sort, state))
        if first is None:
            first = self._first[sort, state] = _First(self._most)
        first.offer(rank, record)

    def largest(self, sort: str, state: str = "") -> list[HostRecord]:
        """The first hosts by one of `SORTS`, of all or of those in one state."""
        first = self._first.get((sort, state))
        return first.hosts() if first is not None else []

    def scaled(self, hosts: int) -> dict[str, int]:
        """`by_state`, for all `hosts`: keys are keyed hashes, so who was looked at stands for the rest."""
        if self.complete or not self.looked_at:
            return dict(self.by_state)
        factor = max(1.0, hosts / self.looked_at)
        return {state: round(count * factor) for state, count in self.by_state.items()}


def resting_hosts(environment: Environment, now: int, hosts: int) -> int:
    """How many of all `hosts` rest, as of the last commit; estimated if there are more than `LOOKED_AT`."""
    found = 0
    for looked_at, (_, data) in enumerate(environment.scan(Family.HOSTS), 1):
        found += doing(decode_host(data), now)[0] == "resting"
        if looked_at == LOOKED_AT:
            return round(found * max(1.0, hosts / looked_at))
    return found
