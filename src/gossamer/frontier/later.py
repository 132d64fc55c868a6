"""Candidates that wait for a time of their own, off their host's queue."""

from collections.abc import Callable

from gossamer.frontier.host_queue import HostQueue
from gossamer.model.candidate import Candidate
from gossamer.state.environment import Batch, Environment, Family
from gossamer.state.keys import FOREVER, later_key, split_later, split_ticket
from gossamer.state.records import Counters, HostRecord, QueueRecord, decode_queue, encode

TRAP = "trap: "
"""Begins the reason of what was set aside because its pattern yields nothing."""
PROMOTED_AT_ONCE = 1_000
SCANNED_AT_ONCE = 10_000


class Later:
    """The `later` family. An entry keeps its ticket, so that it returns to its old place in the queue.

    Invariant: `record.waiting` counts a host's entries; none falls due before `record.later_due`.
    """

    def __init__(self, environment: Environment, counters: Counters, buffer: int) -> None:
        self._environment = environment
        self._counters = counters
        self._buffer = buffer
        self._batch: Batch | None = None
        self._returned: set[bytes] = set()

    def put(
        self, queue: HostQueue, place: bytes, candidate: Candidate, due: int, reason: str, batch: Batch
    ) -> None:
        """Move a queue entry here until `due`."""
        batch.delete(Family.QUEUE, queue.key + place)
        queue.record.queued -= 1
        self._counters.queued -= 1
        self._enter(queue.key, queue.record, due, QueueRecord.of(candidate, reason, place), batch)

    def set_aside(self, key: bytes, record: HostRecord, entry: QueueRecord, batch: Batch) -> None:
        """Let a new candidate, which has no entry in the queue, wait for ever."""
        self._counters.admitted += 1
        self._enter(key, record, FOREVER, entry, batch)

    def _enter(self, key: bytes, record: HostRecord, due: int, entry: QueueRecord, batch: Batch) -> None:
        _, sequence = split_ticket(entry.ticket)
        batch.put(Family.LATER, later_key(key, due, sequence), encode(entry))
        record.waiting += 1
        self._counters.waiting += 1
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
            if waiting.reason.startswith(TRAP):
                continue
            if waiting.attempts == 0 and waiting.candidate().url.origin == origin:
                self._return(key, record, queue.insert if queue else None, entry, waiting, batch)
                moved += 1

    def bring_back(self, key: bytes, record: HostRecord, batch: Batch) -> None:
        """Bring back everything that waits, but what was set aside as a trap."""
        record.later_due = 0
        for entry, data in self._environment.scan(Family.LATER, prefix=key):
            waiting = decode_queue(data)
            if waiting.reason.startswith(TRAP):
                record.later_due = record.later_due or FOREVER
            else:
                self._return(key, record, None, entry, waiting, batch)

    def give_back(
        self,
        host: bytes,
        record: HostRecord,
        queue: HostQueue | None,
        key: bytes,
        waiting: QueueRecord,
        batch: Batch,
    ) -> None:
        """Bring back one entry, which stands at `key`."""
        self._return(host, record, queue.insert if queue else None, key, waiting, batch)
        if not record.waiting:
            record.later_due = 0

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
        insert: Callable[[bytes, Candidate, int], None] | None,
        key: bytes,
        waiting: QueueRecord,
        batch: Batch,
    ) -> None:
        if not self._is_there(key, batch):
            return
        candidate = waiting.candidate()
        batch.delete(Family.LATER, key)
        batch.put(Family.QUEUE, host + waiting.ticket, encode(QueueRecord.of(candidate)))
        record.head = min(record.head, waiting.ticket) if record.queued else waiting.ticket
        record.queued += 1
        record.waiting -= 1
        self._counters.queued += 1
        self._counters.waiting -= 1
        if insert is not None:
            insert(waiting.ticket, candidate, self._buffer)
