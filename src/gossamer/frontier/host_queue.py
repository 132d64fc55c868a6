"""The part of one host's queue that is in memory while the host is being served."""

from bisect import bisect_left, insort

from gossamer.model.candidate import Candidate
from gossamer.model.errors import StorageError
from gossamer.state.environment import Environment, Family
from gossamer.state.records import HostRecord, decode_queue

Entry = tuple[bytes, Candidate]
_NEVER = 1 << 63
FIRST_FILL = 4
"""Entries read when a host comes into memory; it often leaves again after one visit. Then twice as many."""
_ROBOTS = bytes(4)
"""Level of robots files, in a ticket."""


class HostQueue:
    """Front of a host's queue, with what is lent of it.

    Invariant: `buffer` is sorted by ticket and holds exactly the disk entries that stand before its
    last one, less those lent; if `complete`, the disk holds nothing beyond buffer and lent.
    """

    __slots__ = (
        "awaits", "behind", "buffer", "complete", "filled", "key", "lent", "limit", "named", "named_until",
        "placed", "record",
    )  # fmt: skip

    def __init__(self, key: bytes, record: HostRecord, limit: int) -> None:
        self.key = key
        self.record = record
        self.limit = limit  # leases at once
        self.buffer: list[Entry] = []
        self.complete = False
        self.filled = 0  # times that it was filled
        self.lent: dict[bytes, Candidate] = {}
        self.placed: int | None = None  # number of its latest heap entry; older ones are void
        self.awaits = ""  # the host name that must be answered first
        self.behind = 0  # handicap of the whole host, 0 to 15 (link farms)
        self.named, self.named_until = "", 0  # a host name whose answer is at hand until then

    def __repr__(self) -> str:
        record = self.record
        return (
            f"<HostQueue {record.name} queued {record.queued} waiting {record.waiting} lent {len(self.lent)}>"
        )

    @property
    def has_entry(self) -> bool:
        """There is something to lend now, in memory or on disk."""
        return self.record.queued > len(self.lent)

    @property
    def due(self) -> int:
        """When the host may be visited next, in microseconds; 2**63 if it has nothing to lend."""
        record = self.record
        if self.has_entry:
            return record.due
        return max(record.due, record.later_due) if record.waiting else _NEVER

    @property
    def first_ticket(self) -> bytes:
        """Where the host stands among ready hosts."""
        first = self.buffer[0][0] if self.buffer else self.record.head
        if self.behind and first[:4] != _ROBOTS and self.behind > first[0] >> 4:
            return bytes((self.behind << 4 | first[0] & 15,)) + first[1:]
        return first

    def fill(self, environment: Environment, room: int) -> None:
        """Read the front of the queue from disk, at most `room` entries.

        Raises:
            StorageError: the disk holds less than the record counts.
        """
        room = min(room, FIRST_FILL << self.filled) if self.filled < 16 else room
        self.filled += 1
        self.complete = True
        for key, data in environment.scan(Family.QUEUE, self.key + self.record.head, self.key):
            place = key[8:]
            if place in self.lent:
                continue
            if len(self.buffer) == room:
                self.complete = False
                break
            self.buffer.append((place, decode_queue(data).candidate()))
        if not self.buffer:
            raise StorageError(
                f"the state contradicts itself: {self!r} counts entries that are not on disk. Go back to a "
                "checkpoint with resume --from-checkpoint; if no disk was damaged, please report this."
            )

    def insert(self, ticket: bytes, candidate: Candidate, room: int) -> None:
        """Take note of an entry that was, or is about to be, put on disk."""
        if not self.buffer:
            # With nothing in the buffer only a complete queue tells that this is the front.
            if self.complete:
                self.buffer.append((ticket, candidate))
            return
        if ticket < self.buffer[-1][0]:
            insort(self.buffer, (ticket, candidate), key=_ticket_of)
        elif self.complete:
            self.buffer.append((ticket, candidate))
        if len(self.buffer) > 2 * room:
            del self.buffer[room:]
            self.complete = False

    def remove(self, ticket: bytes) -> Candidate | None:
        """Take an entry out of the buffer, if it is there."""
        at = bisect_left(self.buffer, ticket, key=_ticket_of)
        if at < len(self.buffer) and self.buffer[at][0] == ticket:
            return self.buffer.pop(at)[1]
        return None

    def set_head(self, settled: bytes) -> None:
        """Note the first live ticket, so that the next scan need not step over deleted entries.

        With nothing in the buffer of a queue that goes on, on disk, the head stays: a better entry may have
        come while this one was out. The next scan steps over the deleted entries, as many as a buffer holds.
        """
        if self.buffer:
            self.record.head = min(*self.lent, self.buffer[0][0]) if self.lent else self.buffer[0][0]
        elif self.complete:
            self.record.head = min(self.lent, default=max(self.record.head, settled))


def _ticket_of(entry: Entry) -> bytes:
    return entry[0]
