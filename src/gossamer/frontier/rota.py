"""The hosts being served: which is ready, which rests, whose turn it is."""

import heapq
from collections.abc import Callable, Iterator
from typing import TypeVar

from gossamer.frontier.config import Census
from gossamer.frontier.host_queue import HostQueue

NEVER = 1 << 63
SPARE = 256
"""Void entries that are let be, however few hosts there are."""

_Turn = TypeVar("_Turn", bytes, int)


class Rota:
    """Host queues in memory, in the order of their turns.

    Invariant: a queue is served if and only if it is in `served`; its latest entry in one of the two
    heaps bears the number `placed`, and entries with another number are void. After `place` there are
    at most a quarter, and `SPARE`, more than were valid when all were last looked at.
    """

    def __init__(self, now: Callable[[], int]) -> None:
        self._now = now
        self._ready: list[tuple[bytes, int, HostQueue]] = []
        self._resting: list[tuple[int, int, HostQueue]] = []
        self._placings = 0
        self._most = SPARE  # entries until void ones are looked for
        self.served: dict[bytes, HostQueue] = {}

    def add(self, queue: HostQueue) -> None:
        """Serve a host; `place` gives it a turn."""
        self.served[queue.key] = queue

    def remove(self, queue: HostQueue) -> None:
        """Serve it no more."""
        queue.placed = None
        del self.served[queue.key]

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
            heapq.heappush(self._ready, (queue.first_ticket, self._placings, queue))
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
        """The ready host with the best URL; it has no turn until it is placed again."""
        while self._ready:
            _, placing, queue = heapq.heappop(self._ready)
            if queue.placed == placing:
                queue.placed = None
                return queue
        return None

    def rested_by(self, until: int, most: int) -> Iterator[HostQueue]:
        """Hosts that rest now, and no longer than `until`, among at most so many that are looked at."""
        heap, at = self._resting, [0]
        while at and most:
            index = at.pop()
            if index < len(heap) and heap[index][0] <= until:
                most -= 1
                at += 2 * index + 2, 2 * index + 1
                if heap[index][2].placed == heap[index][1]:
                    yield heap[index][2]

    @property
    def short(self) -> bool:
        """Hardly a host is ready: it is time to look for more."""
        return len(self._ready) < 2

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


def _keep_valid(heap: list[tuple[_Turn, int, HostQueue]]) -> None:
    heap[:] = [entry for entry in heap if entry[2].placed == entry[1]]
    heapq.heapify(heap)
