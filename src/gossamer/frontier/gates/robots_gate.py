"""Lets a URL pass when the robots rules of its origin are known (RFC 9309), and has them asked for."""

from collections.abc import Callable
from contextlib import AbstractContextManager

from gossamer.frontier.gates.gate import Turn
from gossamer.frontier.queues.delayed import DelayedQueue
from gossamer.frontier.queues.host_queue import HostQueue
from gossamer.frontier.queues.hosts import HostTable
from gossamer.frontier.robots_table import RobotsTable
from gossamer.model.candidate import Candidate
from gossamer.model.link import LinkKind, further
from gossamer.model.reasons.reason import Reason
from gossamer.model.url import WITH_ROBOTS, Url
from gossamer.state.environment import Batch

HELD_AT_ONCE = 100
"""Entries of one host moved to `later` in a row before the whole host rests instead."""


class RobotsGate:
    """Judges the first entry of a host's queue; changes the queue only where its origin's rules are missing.

    A robots file is a candidate of first priority, so hosts never wait for each other holding a lease.
    """

    def __init__(
        self,
        robots: RobotsTable,
        later: DelayedQueue,
        hosts: HostTable,
        changes: Callable[[], AbstractContextManager[Batch]],
        admit: Callable[[Candidate], None],
    ) -> None:
        self._robots = robots
        self._later = later
        self._hosts = hosts
        self._changes = changes
        self._admit = admit

    def judge(self, queue: HostQueue) -> Turn:
        """Whether the robots rules of the first entry's origin are known."""
        first = queue.first
        assert first is not None
        candidate = first[1]
        if candidate.kind is LinkKind.ROBOTS or candidate.url.scheme not in WITH_ROBOTS:
            return Turn.GO
        known = self._robots.get(queue.key, candidate.url.origin)
        if known is None:
            if any(lent.kind is LinkKind.ROBOTS for lent in queue.lent.values()):
                return Turn.WAIT
            self._ask(candidate)
            return Turn.NEXT
        if known.record.state not in ("hold", "pending"):
            return Turn.GO
        whole = queue.held + 1 == HELD_AT_ONCE
        self._hold(queue, known.record.until, known.record.reason, whole=whole)
        return Turn.WAIT if whole else Turn.NEXT

    def _ask(self, asker: Candidate) -> None:
        origin = asker.url.origin
        url = Url.from_serialised(origin + "/robots.txt")
        assert url is not None
        hops = further(asker.hops, "P")
        self._admit(Candidate(url, LinkKind.ROBOTS, asker.depth, hops, asker.url.text, origin=origin))

    def _hold(self, queue: HostQueue, until: int, reason: Reason | None, *, whole: bool) -> None:
        """Let the first entry wait, because its origin's robots file has no answer yet; or the whole host."""
        with self._changes() as batch:
            record = self._hosts.change(queue.key, queue.record.name)
            if whole:
                record.due = max(record.due, until)
                record.reason = reason
            else:
                place, candidate = queue.take()
                self._later.put(queue, place, candidate, until, reason, batch)
