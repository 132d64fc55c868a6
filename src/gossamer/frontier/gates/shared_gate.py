"""Lets hosts pass that no other crawl of this machine visits, or has just visited, and whose server is free.

Decisions 0018 and 0037.
"""

from collections.abc import Callable

from gossamer.frontier.config import HostPolicy
from gossamer.frontier.gates.gate import Turn
from gossamer.frontier.gates.server_lines import NAME_WAIT, SERVER_CODES, ServerClaim, ServerLines
from gossamer.frontier.gates.shared_rests import Return, SharedRests
from gossamer.frontier.queues.host_queue import HostQueue
from gossamer.frontier.tally import Tally
from gossamer.model.reasons.codes import HoldCode
from gossamer.model.reasons.reason import Reason
from gossamer.state.records import HostRecord

SHARED = Reason(HoldCode.SHARED)
"""Why a host rests that rests for others."""
_Ended = tuple[HostRecord, list[tuple[ServerClaim, bool]], bool, int]


class SharedGate:
    """Claims a host, and where that is asked for its servers, before each visit, and gives them back when the visit
    is committed.

    A host that may not be visited rests in our frontier. Nobody tells us when others end, and nobody need:
    while they visit, we ask again after the rest that will follow their visit in any case.

    Invariant: each lease out has one visit under way in the table, to its host and each of its servers; it ends there
    after the commit that settles the lease, so that a crash before leaves a claim that lapses with a rest.
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
        self._servers: ServerLines | None = None
        if policy.politeness_at is not None:
            self._servers = ServerLines(policy.politeness_at, policy.names, now)
        self._ended: list[_Ended] = []
        self.refused = 0
        """Times that a host had to wait for other crawls, or for others on its server."""

    def judge(self, queue: HostQueue) -> Turn:
        """Whether the host may be visited now, and then the visit has begun; if not, the host rests."""
        if self._servers is None:
            wait = self._claim(queue)
            return self._refuse(queue, wait, SHARED) if wait else self._begin(queue)
        servers = self._servers.claims(queue)
        if servers is None:
            return self._refuse(queue, NAME_WAIT, None)
        name = queue.record.name
        if (before := self._servers.wait(name, servers)) is not None:
            claim, wait = before
            return self._refuse(queue, wait, claim.reason)
        for at, claim in enumerate(servers):
            wait = self._table.claim(claim.name, claim.rest, claim.rest, claim.limit)
            if wait:
                self._let_go(servers[:at])
                self._servers.refused(name, servers, claim, wait)
                return self._refuse(queue, wait, claim.reason)
        wait = self._claim(queue)
        if wait:
            self._let_go(servers)
            return self._refuse(queue, wait, SHARED)
        self._servers.begin(queue, servers)
        return self._begin(queue)

    def _claim(self, queue: HostQueue) -> int:
        """Begin a visit to the host itself; 0, or microseconds after which to ask again."""
        record = queue.record
        rest = int(max(self._policy.rest(record.name), record.crawl_delay) * 1e6)
        return self._table.claim(record.name, rest, max(rest, record.rest), queue.limit)

    def _let_go(self, servers: tuple[ServerClaim, ...]) -> None:
        if servers:
            self._table.give_back([Return(claim.name, 0, visited=False) for claim in servers])

    def _begin(self, queue: HostQueue) -> Turn:
        if queue.record.reason == SHARED:
            queue.record.reason = None
        return Turn.GO

    def _refuse(self, queue: HostQueue, wait: int, reason: Reason | None) -> Turn:
        record = queue.record
        self.refused += 1
        record.due = max(record.due, self._now() + wait)
        if reason is not None and (reason.code in SERVER_CODES or record.reason is None):
            record.reason = reason  # an earlier one is over
        self._place(queue)
        return Turn.WAIT

    def after_visit(self, queue: HostQueue, now: int, tally: Tally) -> None:
        """A lease of the host is being settled at `now`; its rest may still grow until the commit."""
        record = queue.record
        servers = self._servers.end(queue, tally) if self._servers is not None else []
        self._ended.append((record, servers, record.last_visit == now, now))

    def committed(self) -> None:
        """What was settled is committed: others may have their turns."""
        if not self._ended:
            return
        now = self._now()
        ended, self._ended = self._ended, []
        returns = []
        for record, servers, visited, at in ended:
            ago = max(now - at, 0)
            returns.append(Return(record.name, max(record.due - now, 0), visited, ago))
            for claim, claimed in servers:
                # Of one that was not claimed the table does not know what it is owed.
                wait = 0 if claimed else max(claim.rest - ago, 0)
                returns.append(Return(claim.name, wait, visited, ago, claimed=claimed))
        self._table.give_back(returns)

    def listen(self) -> None:
        """Let go of hosts for which another crawl waits; every second at least."""
        self._table.listen()
