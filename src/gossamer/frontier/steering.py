"""Does to single hosts of a running crawl what its operator asks for."""

from collections.abc import Callable

import msgspec

from gossamer.frontier.frontier import Frontier
from gossamer.frontier.queues.host_queue import HostQueue
from gossamer.frontier.robots_table import RobotsEntry
from gossamer.model.candidate import Candidate
from gossamer.model.disposition import PageState
from gossamer.model.outcome import Rule
from gossamer.model.reasons.codes import BudgetCode, HoldCode
from gossamer.model.reasons.reason import Reason, because
from gossamer.policy.ordering.ordering import GRADE_SHIFT
from gossamer.policy.visits.politeness import PolitenessConfig
from gossamer.state.environment import Family
from gossamer.state.keys import HASH_BYTES
from gossamer.state.records import HostRecord, PageRecord, decode_robots, encode


class Steering:
    """The operator's hand on the frontier, and a part of its room.

    It is asked seldom, so nothing that is asked for each URL waits for it.
    """

    def __init__(self, frontier: Frontier) -> None:
        self._frontier = frontier

    def host(self, name: str) -> HostRecord | None:
        """What is known of a host queue."""
        return self._frontier.hosts.get(self._key(name))

    def rest(self, name: str, seconds: float) -> None:
        """Let a host lie still for `seconds` from now."""
        with self._frontier.changes():
            self._frontier.rest(name, seconds, because(HoldCode.OPERATOR_FOR, seconds))

    def end_rest(self, name: str, due: int, reason: Reason | None) -> None:
        """Take back a rest: the host is due at `due` again, and not before its last visit's rest is over."""
        frontier = self._frontier
        key = self._key(name)
        with frontier.changes() as batch:
            record = frontier.hosts.change(key, name)
            record.due = max(due, record.last_visit + record.rest)
            record.reason = reason
            frontier.serving.returned(key, record, batch)

    def park(self, name: str) -> None:
        """Leave a host alone until it is revived by hand."""
        self._frontier.park(name, Reason(HoldCode.OPERATOR))

    def revive(self, name: str) -> None:
        """Visit a host again as soon as its last visit's rest is over, whatever it was left alone for."""
        frontier, key = self._frontier, self._key(name)
        with frontier.changes() as batch:
            frontier.revive(key, frontier.hosts.change(key, name), batch)

    def revive_spent(self, cursor: bytes, most: int) -> bytes:
        """Revive hosts that were parked for budgets which they have not reached any more.

        Looks at so many hosts behind `cursor`; where to go on, empty at the end.
        """
        frontier = self._frontier
        looked, spent = b"", frontier.policy.budget_spent
        freed = []
        start = cursor + b"\0" if cursor else b""
        for number, (key, _) in enumerate(frontier.environment.scan(Family.HOSTS, start)):
            if number == most:
                break
            looked, record = key, frontier.hosts.get(key)
            assert record is not None
            if (
                record.parked
                and record.parked.code in _BUDGETS
                and not spent(record.name, record.pages, record.bytes)
            ):
                freed.append(record.name)
        else:
            looked = b""
        for name in freed:
            self.revive(name)
        return looked

    def repolite(self, before: Callable[[str], PolitenessConfig]) -> None:
        """Hosts in memory go by new delays and visits at once; `before` tells what held for a host.

        A rest that the least delay had set is set anew; one that something else had set only grows. What
        rests on disk keeps its rest.
        """
        frontier = self._frontier
        with frontier.changes():
            for queue in list(frontier.schedule.served.values()):
                self._repolite(queue, before)

    def _repolite(self, queue: HostQueue, before: Callable[[str], PolitenessConfig]) -> None:
        frontier, name = self._frontier, queue.record.name
        queue.limit = frontier.policy.visits_at_once(name)
        least = int(frontier.policy.rest(name) * 1e6)
        record = frontier.hosts.change(queue.key, name)
        # What is out will earn its host a rest by the new delays.
        if record.visits and not queue.lent:
            owed = int(max(record.crawl_delay, 0.0) * 1e6)
            if not record.reason and record.rest == int(before(name).min_delay * 1e6):
                record.rest = max(least, owed)
                record.due = record.last_visit + record.rest
            else:
                record.due = max(record.due, record.last_visit + least)
        if not queue.lent or len(queue.lent) < queue.limit:
            frontier.schedule.place(queue)

    def readmit(self, candidate: Candidate, fingerprint: bytes) -> None:
        """Queue a URL again that was settled, as if it had just been found, within the open batch."""
        frontier = self._frontier
        host, name = frontier.host_key(candidate.url)
        with frontier.changes() as batch:
            grade = 0 if frontier.domains is None else frontier.domains.admitted(candidate) << GRADE_SHIFT
            standings = frontier.standings
            if standings is None:
                level = frontier.ordering.level(candidate)
            else:
                forced = msgspec.structs.replace(candidate, forced=True)  # it may have a standing
                level = standings.admitted(fingerprint, forced, None)
            place = frontier.enqueue(host, name, candidate, grade | level, batch)
            frontier.counters.admitted -= 1  # it was counted when it was first found
            if standings is not None:
                standings.place(fingerprint, place, batch)
            frontier.seen.add(fingerprint, place, batch)

    def bring_back(self, candidate: Candidate, fingerprint: bytes, known: PageRecord, why: Reason) -> None:
        """Let a URL that was not to be visited have its turn after all, within the open batch.

        Its refusal does not count any more, so that nobody is told of it as left out.
        """
        assert known.reason is not None, known.url
        counters, refused = self._frontier.counters, f"refused: {known.reason.code}"
        with self._frontier.changes() as batch:
            if counters.faults.get(refused):
                counters.refused -= 1
                counters.faults[refused] -= 1
                if not counters.faults[refused]:
                    del counters.faults[refused]
                counters.dropped -= (
                    not known.visits_made
                )  # the ledger counts none that was to be visited again
            again = msgspec.structs.replace(known, state=PageState.RETRY, reason=why)
            batch.put(Family.PAGES, fingerprint, encode(again))
            self.readmit(candidate, fingerprint)

    def release_branch(self, host: bytes, name: str, number: int) -> None:
        """Let a branch of a host out for good."""
        frontier = self._frontier
        with frontier.changes() as batch:
            frontier.queues.release(host, name, number)
            frontier.serving.returned(host, frontier.hosts.change(host, name), batch)

    def forget_closed(self, name: str) -> None:
        """Ask for robots files again that could not be had because the host was blocked."""
        frontier = self._frontier
        key = self._key(name)
        with frontier.changes() as batch:
            for entry_key, data in frontier.environment.scan(Family.ROBOTS, prefix=key):
                record = decode_robots(data)
                if record.state == "closed" and record.reason and record.reason.code == Rule.SCOPE:
                    again = RobotsEntry(msgspec.structs.replace(record, until=0))
                    frontier.robots.put(key, entry_key[HASH_BYTES:].decode(), again, batch)

    def _key(self, name: str) -> bytes:
        return self._frontier.host_hash(name)


_BUDGETS = frozenset(BudgetCode)
