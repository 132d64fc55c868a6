"""Lets hosts pass that no other crawl of this machine visits, or has just visited (decision 0018)."""

from collections.abc import Callable

from gossamer.frontier.config import HostPolicy
from gossamer.frontier.gates.gate import Turn
from gossamer.frontier.gates.shared_rests import Return, SharedRests
from gossamer.frontier.queues.host_queue import HostQueue
from gossamer.model.reasons.codes import HoldCode
from gossamer.model.reasons.reason import Reason
from gossamer.state.records import HostRecord

SHARED = Reason(HoldCode.SHARED)
"""Why a host rests that rests for others."""


class SharedGate:
    """Claims a host before each visit, and gives it back when the visit is committed.

    A host that may not be visited rests in our frontier. Nobody tells us when others end, and nobody need:
    while they visit, we ask again after the rest that will follow their visit in any case.

    Invariant: each lease out has one visit under way in the table; it ends there after the commit that
    settles the lease, so that a crash before leaves a claim that lapses with a rest.
    """

    def __init__(
        self,
        table: SharedRests,
        policy: HostPolicy,
        now: Callable[[], int],
        place: Callable[[HostQueue], None],
    ) -> None:
        """`place` gives a host that rests from now on its place among those that do."""
        self._table = table
        self._place = place
        self._policy = policy
        self._now = now
        self._ended: list[tuple[HostRecord, bool, int]] = []
        self.refused = 0
        """Times that a host had to wait for other crawls."""

    def judge(self, queue: HostQueue) -> Turn:
        """Whether the host may be visited now, and then the visit has begun; if not, the host rests."""
        record = queue.record
        rest = int(max(self._policy.rest(record.name), record.crawl_delay) * 1e6)
        wait = self._table.claim(record.name, rest, max(rest, record.rest), queue.limit)
        if not wait:
            if record.reason == SHARED:
                record.reason = None
            return Turn.GO
        self.refused += 1
        record.due = max(record.due, self._now() + wait)
        record.reason = record.reason or SHARED
        self._place(queue)
        return Turn.WAIT

    def after_visit(self, queue: HostQueue, now: int) -> None:
        """A lease of the host is being settled at `now`; its rest may still grow until the commit."""
        record = queue.record
        self._ended.append((record, record.last_visit == now, now))

    def committed(self) -> None:
        """What was settled is committed: others may have their turns."""
        if not self._ended:
            return
        now = self._now()
        ended, self._ended = self._ended, []
        self._table.give_back(
            Return(record.name, max(record.due - now, 0), visited, max(now - at, 0))
            for record, visited, at in ended
        )

    def listen(self) -> None:
        """Let go of hosts for which another crawl waits; every second at least."""
        self._table.listen()
