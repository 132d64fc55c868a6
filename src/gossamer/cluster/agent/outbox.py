"""Keeps what is owed to other agents until they have it for good (W1, UbiCrawler's exchange).

Keys in the family `outbox`: `o` shard (2 bytes) sequence (8) holds a message of ours; `i` shard (2) name of
the sender holds the sequence up to which its messages to the shard were applied here. Both kinds are written
in the batch that makes them true. The `i` entries move with the shard: a message is applied once.
"""

import asyncio
import struct
from collections import deque
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager

from gossamer.cluster.agent.between import Entry
from gossamer.state.environment import Batch, Environment, Family

COUNTS = b"exchange"
"""Key in `meta` of (next sequence, messages put, messages of others applied)."""

_KEY = struct.Struct(">cHQ")
_PLACE = struct.Struct(">cH")
_NUMBER = struct.Struct(">Q")
_COUNTS = struct.Struct(">QQQ")
OURS, THEIRS = b"o", b"i"
DROPPED_AT_ONCE = 2_000
FRESH = 1 << 14
"""Messages not applied yet that memory holds too, some 300 bytes each, lest each shard be sought on disk."""


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


def _durable(environment: Environment) -> int:
    """The sequence below which all messages are committed."""
    known = environment.get(Family.META, COUNTS)
    return int(_COUNTS.unpack(known)[0]) if known else 0


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
        self._fresh: dict[int, deque[Entry]] = {}
        self._before: dict[int, int] = {}  # what is later in the shard is fresh, all of it
        self._held = 0
        self._durable = _durable(environment)
        self.waiting = 0
        """Messages on disk, those applied and not yet covered among them."""
        self.news = asyncio.Event()
        """Something may be owed that was not; for whoever sends to clear."""
        for key, _ in environment.scan(Family.OUTBOX, prefix=OURS):
            _, shard, sequence = _KEY.unpack(key)
            self._first.setdefault(shard, sequence)
            self._last[shard] = sequence
            self.waiting += 1
        self._before |= self._last

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
        self.news.set()
        self._keep(shard, Entry(shard, sequence, data))

    def _keep(self, shard: int, entry: Entry) -> None:
        fresh = self._fresh.get(shard)
        if self._held >= FRESH:  # its owner is slow: disk it is
            self._before[shard] = entry.sequence
            if fresh:
                self._held -= len(fresh)
                fresh.clear()
            return
        if fresh is None:
            fresh = self._fresh[shard] = deque()
        fresh.append(entry)
        self._held += 1

    def shards_owed(self) -> list[int]:
        """Shards with messages of which their owner has not said that it applied them."""
        self._durable = _durable(self._environment)
        applied = self._applied
        return [shard for shard, last in self._last.items() if last > applied.get(shard, 0)]

    def shards_kept(self) -> list[int]:
        """Shards with messages that are not covered yet, all that are owed any among them."""
        self._durable = _durable(self._environment)
        return list(self._last)

    def owed(self, shard: int, most_bytes: int, most: int) -> list[Entry]:
        """The next messages to `shard`, at least one if any is owed."""
        found: list[Entry] = []
        size = 0
        if shard not in self._applied:
            most = 1  # the owner's answer says where to go on
        applied = self._applied.get(shard, 0)
        if applied >= self._before.get(shard, 0):
            return self._first_fresh(shard, most_bytes, most)
        start = outbox_key(shard, max(applied + 1, self._first[shard]))  # before it is what was deleted
        for key, data in self._environment.scan(Family.OUTBOX, start, _PLACE.pack(OURS, shard)):
            found.append(Entry(shard, _KEY.unpack(key)[2], data))
            size += len(data)
            if size >= most_bytes or len(found) >= most:
                break
        return found

    def _first_fresh(self, shard: int, most_bytes: int, most: int) -> list[Entry]:
        found: list[Entry] = []
        size = 0
        for entry in self._fresh.get(shard, ()):
            # What a failed commit left in memory only was never found, and must not be told.
            if entry.sequence >= self._durable or size >= most_bytes or len(found) >= most:
                break
            found.append(entry)
            size += len(entry.data)
        return found

    def forget_answers(self, shard: int) -> None:
        """The shard has another owner, or its owner began anew: it says itself what it has."""
        self._applied.pop(shard, None)
        self.news.set()

    def answered(self, shard: int, applied: int, covered: int) -> None:
        """What the owner of `shard` has applied, and what of it no loss of its disk can undo."""
        if shard in self._last:
            self._applied[shard] = applied
            self._let_go(shard, applied)
            if covered >= self._first[shard]:
                self._trim[shard] = covered

    def _let_go(self, shard: int, applied: int) -> None:
        fresh = self._fresh.get(shard)
        while fresh and fresh[0].sequence <= applied:
            self._before[shard] = fresh.popleft().sequence
            self._held -= 1

    def trim(self) -> None:
        """Delete a bounded number of messages that are covered."""
        left = DROPPED_AT_ONCE
        while self._trim and left > 0:
            shard, covered = self._trim.popitem()
            with self._changes() as batch:
                done = True
                # What was deleted before is not stepped over again.
                start = outbox_key(shard, self._first[shard])
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
                        for known in (self._last, self._first, self._applied, self._before):
                            known.pop(shard, None)
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
