"""Takes up what was left alone: parked hosts, long waits, robots files that could not be had."""

import msgspec

from gossamer.frontier.queues.delayed import DelayedQueue
from gossamer.frontier.queues.hosts import HostTable
from gossamer.frontier.queues.wake import WakeIndex
from gossamer.model.reasons.codes import HoldCode
from gossamer.policy.visits.retry import asked_for_rest
from gossamer.state.environment import Batch, Environment, Family
from gossamer.state.records import Counters, HostRecord, decode_robots, encode


class Revival:
    """Brings hosts back that are not being served. Rests that a host asked for itself are kept."""

    def __init__(
        self,
        environment: Environment,
        hosts: HostTable,
        later: DelayedQueue,
        wake: WakeIndex,
        counters: Counters,
    ) -> None:
        self._environment = environment
        self._hosts = hosts
        self._later = later
        self._wake = wake
        self._counters = counters

    def revive(self, key: bytes, record: HostRecord, batch: Batch) -> None:
        """Serve a host again after the rest that its last visit earned, with all that waits."""
        self.forgive(record)
        self._return_waiting(key, record, batch)

    def forgive(self, record: HostRecord) -> None:
        """Let nothing but the rest that its last visit earned keep a host from being visited."""
        if record.parked:
            self._counters.hosts_parked -= 1
        record.parked = record.reason = None
        record.failures = 0
        record.due = record.last_visit + record.rest

    def take_up(self, batch: Batch, now: int) -> int:
        """Revive every host that was given up, and let nothing wait any longer; how many hosts that were.

        For the session after one that ended by itself: what it left can be tried again now. After a crash
        nothing is taken up, because holds and back-offs must survive it.
        """
        taken = 0
        for key, committed in self._hosts.scan():
            if not committed.queued and not committed.delayed and not committed.heads:
                continue
            if committed.parked and committed.parked.has(HoldCode.OPERATOR):
                continue
            asked = committed.reason is not None and asked_for_rest(committed.reason)
            given_up = bool(committed.parked) or (committed.failures > 0 and not asked)
            if not given_up and not (committed.waiting and committed.later_due > now):
                continue
            taken += 1
            record = self._hosts.change(key, committed.name)
            if given_up:
                self.revive(key, record, batch)
            else:
                self._return_waiting(key, record, batch)
        for key, data in self._environment.scan(Family.ROBOTS):
            robots = decode_robots(data)
            if robots.state in ("hold", "down") and not (robots.reason and asked_for_rest(robots.reason)):
                batch.put(Family.ROBOTS, key, encode(msgspec.structs.replace(robots, until=0)))
        return taken

    def _return_waiting(self, key: bytes, record: HostRecord, batch: Batch) -> None:
        self._later.bring_back(key, record, batch)
        if record.queued or record.again or record.heads:
            # What comes again is due by worth: the host is looked at once.
            ready = record.queued or record.heads
            due = record.due if ready else max(record.due, record.later_due)
            self._wake.set(key, record, due, batch)
