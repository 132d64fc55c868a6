"""What an agent keeps of the cluster's digests: those of its own shards, and what it has to tell of others'.

Keys in the family `digests`: `s` and the mark of a digest hold a `SharedDigestRecord`. The mark is a keyed
hash of the digest, and its first bits are the shard, so digests move with shards as hosts do.
"""

from collections import deque
from collections.abc import Callable, Collection, Iterable
from hashlib import blake2b

from gossamer.cluster.ranges import Span, shard_of
from gossamer.state.environment import Environment, Family
from gossamer.state.keys import HASH_BYTES, after_prefix
from gossamer.state.records import SharedDigestRecord, decode_shared_digest, encode

SHARED = b"s"
MOST_HELD = 1 << 14
"""Announcements held, some 500 bytes each; of more than that the oldest are never made."""

Announcement = tuple[bytes, SharedDigestRecord]
"""(mark, where its content was met first)."""


class Marks:
    """Marks of digests; keyed, so that no site can choose the agent that hears of it."""

    def __init__(self, secret: bytes) -> None:
        self._keyed = blake2b(digest_size=HASH_BYTES, key=secret, person=b"digests").copy

    def of(self, key: bytes) -> bytes:
        """8 bytes for a key of the family `digests` (kind and digest)."""
        made = self._keyed()
        made.update(key)
        return made.digest()


def digest_range(span: Span) -> tuple[bytes, bytes]:
    """The keys of some shards' digests, from the first up to, but not including, the second."""
    return SHARED + span.start, SHARED + span.end if span.end else after_prefix(SHARED)


class DigestTable:
    """Where content was met first, by mark.

    Each entry is of a capture that no loss can take back. So it stays true whoever holds it: an answer from
    an agent that owns the shard no longer is as good as any, and what is lost with an agent is only missed.
    """

    def __init__(self, environment: Environment) -> None:
        self._environment = environment

    def get(self, mark: bytes) -> SharedDigestRecord | None:
        """What is known of a mark."""
        data = self._environment.get(Family.DIGESTS, SHARED + mark)
        return decode_shared_digest(data) if data else None

    def enter(self, announcements: Iterable[Announcement]) -> None:
        """Enter, in one commit, those whose marks are new; the first that was entered stays."""
        new: dict[bytes, bytes] = {}
        for mark, record in announcements:
            key = SHARED + mark
            if key not in new and self._environment.get(Family.DIGESTS, key) is None:
                new[key] = encode(record)
        if new:
            batch = self._environment.batch()
            for key, data in new.items():
                batch.put(Family.DIGESTS, key, data)
            self._environment.commit(batch)


class Announcements:
    """Captures of ours that others are to be told of, none before a snapshot on record holds it.

    What a lost agent captured after that snapshot is in no collection, so a revisit must not refer to it. In
    memory only: what is forgotten with the process costs some copies.

    Invariant: at most `most` are held, those to come (in the order of their commits) and those due together.
    """

    def __init__(self, bits: int, most: int = MOST_HELD) -> None:
        """`bits`: of a mark that name its shard."""
        self._bits = bits
        self._most = most
        self._to_come: deque[tuple[int, Announcement]] = deque()
        self._due: dict[int, list[Announcement]] = {}
        self._due_count = 0
        self.committed = 0
        """How many captures were ever noted; all of them are committed."""

    def __len__(self) -> int:
        return len(self._to_come) + self._due_count

    def note(self, mark: bytes, record: SharedDigestRecord) -> None:
        """Keep the digest of a capture that was committed."""
        self.committed += 1
        if len(self) >= self._most:
            if not self._to_come:
                return
            self._to_come.popleft()
        self._to_come.append((self.committed, (mark, record)))

    def cover(self, committed: int) -> None:
        """No loss can take back what was committed when `committed` stood at this."""
        while self._to_come and self._to_come[0][0] <= committed:
            self.again([self._to_come.popleft()[1]])

    def again(self, announcements: Collection[Announcement]) -> None:
        """They are due; they were not told yet, or whoever was told does not own their shards."""
        for announcement in announcements:
            if len(self) < self._most:
                self._due.setdefault(shard_of(announcement[0], self._bits), []).append(announcement)
                self._due_count += 1

    def take(self, owner: Callable[[int], str], most: int) -> dict[str, list[Announcement]]:
        """Take out what is due to be told, at most so many by the name of who is to hear it.

        `owner`: name of a shard's owner; empty if there is none now, and then its announcements stay.
        """
        told: dict[str, list[Announcement]] = {}
        for shard in list(self._due):
            if name := owner(shard):
                taken = told.setdefault(name, [])
                due = self._due[shard]
                room = most - len(taken)
                taken += due[:room]
                self._due_count -= len(due[:room])
                if due[room:]:
                    self._due[shard] = due[room:]
                else:
                    del self._due[shard]
        return told
