"""Candidates that wait for a time of their own, off their host's queue."""

from collections.abc import Callable

import msgspec

from gossamer.frontier.queues.host_queue import HostQueue
from gossamer.frontier.queues.queue_table import QueueTable
from gossamer.model.candidate import Candidate
from gossamer.model.reasons.reason import Reason
from gossamer.state.environment import Batch, Environment, Family
from gossamer.state.keys import later_key, split_later, split_ticket
from gossamer.state.records import Counters, HostRecord, QueueRecord, decode_queue, encode

PROMOTED_AT_ONCE = 1_000
SCANNED_AT_ONCE = 10_000


class DelayedQueue:
    """The `later` family. An entry keeps its ticket, so that it returns to its old place in the queue.

    What was visited and is due again stands here, too, and is counted apart: it is not left over when a crawl
    ends. Invariant: `record.waiting` and `record.again` count a host's entries; none falls due before
    `record.later_due`.
    """

    def __init__(self, environment: Environment, queues: QueueTable, counters: Counters, buffer: int) -> None:
        self._environment = environment
        self._queues = queues
        self._counters = counters
        self._buffer = buffer
        self._batch: Batch | None = None
        self._returned: set[bytes] = set()

    def put(
        self,
        queue: HostQueue,
        place: bytes,
        candidate: Candidate,
        due: int,
        reason: Reason | None,
        batch: Batch,
    ) -> None:
        """Move a queue entry that was taken here until `due`."""
        self._queues.delete(queue.key, queue.record, place, batch)
        self._enter(queue.key, queue.record, due, QueueRecord.of(candidate, reason, place), batch)

    def put_again(self, queue: HostQueue, place: bytes, candidate: Candidate, due: int, batch: Batch) -> None:
        """Move a queue entry that was visited here until it is due again."""
        self._queues.delete(queue.key, queue.record, place, batch)
        anew = msgspec.structs.replace(candidate, attempts=0, forced=False)
        self._enter(queue.key, queue.record, due, QueueRecord.of(anew, ticket=place, again=True), batch)

    def _enter(self, key: bytes, record: HostRecord, due: int, entry: QueueRecord, batch: Batch) -> None:
        _, sequence = split_ticket(entry.ticket)
        batch.put(Family.LATER, later_key(key, due, sequence), encode(entry))
        self._count(record, entry, 1)
        record.later_due = min(record.later_due, due) if record.later_due else due

    def promote(self, queue: HostQueue, now: int, batch: Batch) -> None:
        """Bring back to the queue what has fallen due, a bounded number at once."""
        record = queue.record
        record.later_due = 0
        for moved, (key, data) in enumerate(self._environment.scan(Family.LATER, prefix=queue.key)):
            due, _ = split_later(key)
            if due > now or moved == PROMOTED_AT_ONCE:
                record.later_due = due
                break
            self._return(queue.key, record, queue.insert, key, decode_queue(data), batch)

    def release(
        self, key: bytes, record: HostRecord, queue: HostQueue | None, origin: str, batch: Batch
    ) -> None:
        """Bring back what was held for the robots file of `origin`, a bounded number at once.

        The rest comes back when it falls due.
        """
        moved = 0
        for number, (entry, data) in enumerate(self._environment.scan(Family.LATER, prefix=key)):
            if number == SCANNED_AT_ONCE or moved == PROMOTED_AT_ONCE:
                break
            waiting = decode_queue(data)
            if waiting.attempts == 0 and not waiting.again and waiting.candidate().url.origin == origin:
                self._return(key, record, queue.insert if queue else None, entry, waiting, batch)
                moved += 1

    def bring_back(self, key: bytes, record: HostRecord, batch: Batch) -> None:
        """Bring back everything that waits; what is due again is left until then."""
        record.later_due = 0
        for entry, data in self._environment.scan(Family.LATER, prefix=key):
            waiting = decode_queue(data)
            if not waiting.again:
                self._return(key, record, None, entry, waiting, batch)
            elif not record.later_due:
                record.later_due, _ = split_later(entry)

    def _count(self, record: HostRecord, entry: QueueRecord, number: int) -> None:
        if entry.again:
            record.again += number
            self._counters.again += number
        else:
            record.waiting += number
            self._counters.waiting += number

    def _is_there(self, key: bytes, batch: Batch) -> bool:
        """Whether an entry on disk was not brought back within `batch` already, by another answer."""
        if batch is not self._batch:
            self._batch, self._returned = batch, set()
        if key in self._returned:
            return False
        self._returned.add(key)
        return True

    def _return(
        self,
        host: bytes,
        record: HostRecord,
        insert: Callable[[bytes, Candidate, int], object] | None,
        key: bytes,
        waiting: QueueRecord,
        batch: Batch,
    ) -> None:
        if not self._is_there(key, batch):
            return
        candidate = waiting.candidate()
        batch.delete(Family.LATER, key)
        self._queues.put(host, record, waiting.ticket, candidate, batch)
        self._count(record, waiting, -1)
        if insert is not None:
            insert(waiting.ticket, candidate, self._buffer)
