"""The hosts being served: which is ready, which rests, whose turn it is.

Where workers are fewer than hosts, the hosts take turns (start-time fair queueing): next is the one that has
had the least; among equals the one with the best URL. What is beyond its domain's budget (`star`)
comes after all else. The hosts of one registrable domain share its turns, for hosts cost nothing. An order
that compares URLs by importance goes first: the host with the best URL is next, but every `FAIR_TURN`th turn
goes to the one that has had the least. So it is, whatever the order, for hosts that have nothing but pages to be
visited again: who is worth most is next.
"""

import heapq
from collections import Counter
from collections.abc import Callable
from itertools import islice
from typing import TypeVar

from gossamer.frontier.config import Census
from gossamer.frontier.queues.host_queue import HostQueue
from gossamer.policy.ordering.ordering import GRADE_SHIFT
from gossamer.state.keys import SEQUENCE_BITS

NEVER = 1 << 63
GRADE_BITS = GRADE_SHIFT + SEQUENCE_BITS
SPARE = 256
"""Void entries that are let be, however few hosts there are."""

FAIR_TURN = 8
"""Every so manieth turn goes to the host that has had the least, whatever the order says."""

_Turn = TypeVar("_Turn", tuple[int, float, int], int)


class HostSchedule:
    """Host queues in memory, in the order of their turns.

    Invariant: a queue is served if and only if it is in `served`; its latest entry in one of the two
    heaps bears the number `placed`, and entries with another number are void. After `place` there are
    at most a quarter, and `SPARE`, more than were valid when all were last looked at.
    """

    def __init__(
        self, now: Callable[[], int], *, by_order: bool = False, domain: Callable[[str], str] | None = None
    ) -> None:
        """`by_order`: the best URL goes first, whichever host has it; `domain(name)`: whose turns a host
        shares."""
        self._now = now
        self._domain = domain
        self._by_order = by_order
        self._turns = 0
        self._clock = 0.0  # where the turns are
        self._domains: Counter[str] = Counter()
        self._ready: list[tuple[tuple[int, float, int], int, HostQueue]] = []
        self._best: list[tuple[int, int, HostQueue]] = []  # those that go by their next URLs
        self._resting: list[tuple[int, int, HostQueue]] = []
        self._placings = 0
        self._most = SPARE  # entries until void ones are looked for
        self.served: dict[bytes, HostQueue] = {}

    def add(self, queue: HostQueue) -> None:
        """Serve a host; `place` gives it a turn."""
        self.served[queue.key] = queue
        if self._domain is not None:
            self._domains[self._domain(queue.record.name)] += 1

    def remove(self, queue: HostQueue) -> None:
        """Take a host out of the schedule."""
        queue.placed = None
        del self.served[queue.key]
        if self._domain is not None:
            domain = self._domain(queue.record.name)
            self._domains[domain] -= 1
            if not self._domains[domain]:
                del self._domains[domain]

    def place(self, queue: HostQueue) -> None:
        """Put a host where it belongs now: among the ready, among the resting, or nowhere."""
        queue.placed = None
        if queue.record.parked or queue.awaits or len(queue.lent) >= queue.limit:
            return
        due = queue.due
        if due == NEVER:
            return
        self._placings += 1
        queue.placed = self._placings
        if due <= self._now():
            # A host that was away has had no turns meanwhile, and is not owed them.
            queue.passed = max(queue.passed, self._clock)
            order = queue.first_order
            turn = order >> GRADE_BITS, queue.passed, order
            heapq.heappush(self._ready, (turn, self._placings, queue))
            if self._by_order or queue.comes_again:
                heapq.heappush(self._best, (order, self._placings, queue))
        else:
            heapq.heappush(self._resting, (due, self._placings, queue))
        if len(self._ready) + len(self._resting) > self._most:
            self._drop_void()

    def _drop_void(self) -> None:
        """Keep valid entries only, each time that a quarter has come to those that were.

        A void one goes when its turn comes; but where better ones keep coming that is never, and it keeps its
        host in memory. A host whose first URL has risen in its queue leaves its old place behind.
        """
        _keep_valid(self._ready)
        _keep_valid(self._best)
        _keep_valid(self._resting)
        self._most = (len(self._ready) + len(self._resting)) * 5 // 4 + SPARE

    def pop_rested(self) -> HostQueue | None:
        """A host whose rest is over; it has no turn until it is placed again."""
        now = self._now()
        while self._resting and self._resting[0][0] <= now:
            _, placing, queue = heapq.heappop(self._resting)
            if queue.placed == placing:
                queue.placed = None
                return queue
        return None

    def pop_ready(self) -> HostQueue | None:
        """The ready host whose turn it is; it has none until it is placed again."""
        best = _pop_valid(self._best) if (self._turns + 1) % FAIR_TURN else None
        return best if best is not None else _pop_valid(self._ready)

    def gave_turn(self, queue: HostQueue) -> None:
        """A URL of the host is lent."""
        self._turns += 1
        self._clock = max(self._clock, queue.passed)
        fellows = 1 if self._domain is None else self._domains[self._domain(queue.record.name)]
        queue.passed += fellows

    @property
    def short(self) -> bool:
        """Hardly a host is ready: it is time to look for more."""
        ready = (None for _, placing, queue in self._ready if queue.placed == placing)
        return len(list(islice(ready, 2))) < 2

    @property
    def has_ready(self) -> bool:
        """Whether a host has a turn that nobody took yet."""
        while self._ready and self._ready[0][2].placed != self._ready[0][1]:
            heapq.heappop(self._ready)
        return bool(self._ready)

    def next_due(self) -> int:
        """When the next rest ends; microseconds, or `NEVER`."""
        while self._resting and self._resting[0][2].placed != self._resting[0][1]:
            heapq.heappop(self._resting)
        return self._resting[0][0] if self._resting else NEVER

    def census(self, lent: int, awaiting: int) -> Census:
        """The hosts in memory by what they do; cheap enough for a progress display."""
        resting = sum(1 for _, placing, queue in self._resting if queue.placed == placing)
        largest = max(self.served.values(), key=lambda queue: queue.record.queued, default=None)
        if largest is None:
            return Census(resting, lent, awaiting_names=awaiting)
        record = largest.record
        return Census(resting, lent, record.name, record.queued, record.rest / 1e6, awaiting)


def _pop_valid(heap: list[tuple[_Turn, int, HostQueue]]) -> HostQueue | None:
    while heap:
        _, placing, queue = heapq.heappop(heap)
        if queue.placed == placing:
            queue.placed = None
            return queue
    return None


def _keep_valid(heap: list[tuple[_Turn, int, HostQueue]]) -> None:
    heap[:] = [entry for entry in heap if entry[2].placed == entry[1]]
    heapq.heapify(heap)
