"""Keeps what is owed to other agents until they have it for good (W1, UbiCrawler's exchange).

Keys in the family `outbox`: `o` shard (2 bytes) sequence (8) holds a message of ours; `i` shard (2) name of
the sender holds the sequence up to which its messages to the shard were applied here. Both kinds are written
in the batch that makes them true. The `i` entries move with the shard: a message is applied once.
"""

import struct
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager

from gossamer.cluster.protocol import Entry
from gossamer.state.environment import Batch, Environment, Family

COUNTS = b"exchange"
"""Key in `meta` of (next sequence, messages put, messages of others applied)."""

_KEY = struct.Struct(">cHQ")
_PLACE = struct.Struct(">cH")
_NUMBER = struct.Struct(">Q")
_COUNTS = struct.Struct(">QQQ")
OURS, THEIRS = b"o", b"i"
DROPPED_AT_ONCE = 2_000


class Counts:
    """Sums of the exchange, committed with what they count."""

    def __init__(self, environment: Environment, first: int) -> None:
        """`first`: the smallest sequence that may be given now (`protocol.first_sequence`)."""
        known = environment.get(Family.META, COUNTS)
        self.next, self.sent, self.received = _COUNTS.unpack(known) if known else (1, 0, 0)
        self.next = max(self.next, first)

    def enter(self, batch: Batch) -> None:
        """Put the sums into `batch`."""
        batch.put(Family.META, COUNTS, _COUNTS.pack(self.next, self.sent, self.received))


def outbox_key(shard: int, sequence: int) -> bytes:
    """Key of a message of ours."""
    return _KEY.pack(OURS, shard, sequence)


def inbox_key(shard: int, sender: str) -> bytes:
    """Key of the position up to which messages of `sender` to `shard` were applied."""
    return _PLACE.pack(THEIRS, shard) + sender.encode()


def inbox_prefix(shard: int) -> bytes:
    """What the keys of all senders' positions in `shard` begin with."""
    return _PLACE.pack(THEIRS, shard)


class Outbox:
    """Messages to shards of other agents, in order.

    Invariant: for each shard `covered <= applied <= last`: what its owner's snapshots hold, what the owner
    has said that it applied, and what was put. Messages up to `covered` are deleted in time.
    """

    def __init__(
        self,
        environment: Environment,
        changes: Callable[[], AbstractContextManager[Batch]],
        counts: Counts,
    ) -> None:
        """`changes`: the frontier's open batch."""
        self._environment = environment
        self._changes = changes
        self._counts = counts
        self._last: dict[int, int] = {}
        self._first: dict[int, int] = {}
        self._applied: dict[int, int] = {}
        self._trim: dict[int, int] = {}
        self.waiting = 0
        """Messages on disk, those applied and not yet covered among them."""
        for key, _ in environment.scan(Family.OUTBOX, prefix=OURS):
            _, shard, sequence = _KEY.unpack(key)
            self._first.setdefault(shard, sequence)
            self._last[shard] = sequence
            self.waiting += 1

    def put(self, shard: int, data: bytes) -> None:
        """Owe a message to the owner of `shard`, within the open batch."""
        with self._changes() as batch:
            sequence = self._counts.next
            self._counts.next += 1
            self._counts.sent += 1
            batch.put(Family.OUTBOX, outbox_key(shard, sequence), data)
            self._counts.enter(batch)
        self._first.setdefault(shard, sequence)
        self._last[shard] = sequence
        self.waiting += 1

    def shards_owed(self) -> list[int]:
        """Shards with messages of which their owner has not said that it applied them."""
        applied = self._applied
        return [shard for shard, last in self._last.items() if last > applied.get(shard, 0)]

    def owed(self, shard: int, most_bytes: int, most: int) -> list[Entry]:
        """The next messages to `shard`, at least one if any is owed."""
        found: list[Entry] = []
        size = 0
        if shard not in self._applied:
            most = 1  # the owner's answer says where to go on
        start = outbox_key(shard, self._applied.get(shard, 0) + 1)
        for key, data in self._environment.scan(Family.OUTBOX, start, _PLACE.pack(OURS, shard)):
            found.append(Entry(shard, _KEY.unpack(key)[2], data))
            size += len(data)
            if size >= most_bytes or len(found) >= most:
                break
        return found

    def forget_answers(self, shard: int) -> None:
        """The shard has another owner, or its owner began anew: it says itself what it has."""
        self._applied.pop(shard, None)

    def answered(self, shard: int, applied: int, covered: int) -> None:
        """What the owner of `shard` has applied, and what of it no loss of its disk can undo."""
        if shard in self._last:
            self._applied[shard] = applied
            if covered >= self._first[shard]:
                self._trim[shard] = covered

    def trim(self) -> None:
        """Delete a bounded number of messages that are covered."""
        left = DROPPED_AT_ONCE
        while self._trim and left > 0:
            shard, covered = self._trim.popitem()
            with self._changes() as batch:
                done = True
                start = outbox_key(
                    shard, self._first[shard]
                )  # what was deleted before is not stepped over again
                for key, _ in self._environment.scan(Family.OUTBOX, start, _PLACE.pack(OURS, shard)):
                    sequence = _KEY.unpack(key)[2]
                    self._first[shard] = sequence
                    if sequence > covered:
                        break
                    if not left:
                        done = False
                        self._trim[shard] = covered
                        break
                    batch.delete(Family.OUTBOX, key)
                    left -= 1
                    self.waiting -= 1
                    if sequence == self._last[shard]:
                        self._last.pop(shard), self._first.pop(shard), self._applied.pop(shard, None)
                        break
            if not done:
                return


class Inbox:
    """How far the messages of each sender to each of our shards were applied.

    Invariant: a position in memory is on disk, or in the open batch.
    """

    def __init__(self, environment: Environment) -> None:
        self._environment = environment
        self._positions: dict[tuple[int, str], int] = {}
        self._covered: dict[tuple[int, str], int] = {}

    def position(self, shard: int, sender: str) -> int:
        """The sequence up to which messages of `sender` to `shard` were applied; 0 if none was."""
        known = self._positions.get((shard, sender))
        if known is None:
            data = self._environment.get(Family.OUTBOX, inbox_key(shard, sender))
            known = self._positions[shard, sender] = _NUMBER.unpack(data)[0] if data else 0
        return known

    def advance(self, shard: int, sender: str, sequence: int, batch: Batch) -> None:
        """Messages up to `sequence` are applied by `batch`."""
        batch.put(Family.OUTBOX, inbox_key(shard, sender), _NUMBER.pack(sequence))
        self._positions[shard, sender] = sequence

    def covered(self, shard: int, sender: str) -> int:
        """The position that the latest finished snapshot holds."""
        return self._covered.get((shard, sender), 0)

    def cover(self, positions: Iterable[tuple[int, str, int]]) -> None:
        """(shard, sender, sequence) of a snapshot that can no longer be lost."""
        self._covered = {(shard, sender): sequence for shard, sender, sequence in positions}

    def forget(self, shards: set[int]) -> None:
        """The shards were imported or given away: what disk says of them counts."""
        for positions in (self._positions, self._covered):
            for key in [key for key in positions if key[0] in shards]:
                del positions[key]


def positions_of(environment: Environment, shard: int) -> Iterator[tuple[str, int]]:
    """(sender, position) of a shard, as on disk."""
    prefix = inbox_prefix(shard)
    for key, data in environment.scan(Family.OUTBOX, prefix=prefix):
        yield key[len(prefix) :].decode(), _NUMBER.unpack(data)[0]
