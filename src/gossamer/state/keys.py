"""Keys of the column families: fixed-width, big-endian, so that bytewise order is the order we mean.

Host families begin with `host_hash` (8 bytes, keyed), so everything of one host is one contiguous key
range, and so is every shard (a prefix of the hash): it can be counted, moved or deleted as a range.
"""

import struct
from collections.abc import Iterable, Iterator
from hashlib import blake2b
from typing import Final

HASH_BYTES: Final = 8
TICKET_BYTES: Final = 10
FOREVER: Final = (1 << 63) - 1
"""Due time, in microseconds, of what waits for the operator."""

_LATER = struct.Struct(">QQ")
_DUE = struct.Struct(">Q")
_AGAIN = struct.Struct(">HI")


class Fingerprints:
    """Keyed 64-bit hashes of host names and canonical URLs.

    The key is secret and drawn once per crawl: a seed known to outsiders would let a site choose
    collisions and so hide its pages, or another's (field.md 6.1). At 64 bits within a host, which has a
    hash of its own, a false "seen" is expected once in 10^9 crawls of hosts with 100,000 pages.
    """

    def __init__(self, secret: bytes) -> None:
        # A copy of one that has its key already is made faster than a new one.
        self._keyed = blake2b(digest_size=HASH_BYTES, key=secret).copy

    def host(self, queue_key: str) -> bytes:
        """8 bytes for the name of a host queue."""
        return self.url(queue_key)

    def url(self, canonical: str) -> bytes:
        """8 bytes for a canonical URL."""
        made = self._keyed()
        made.update(canonical.encode())
        return made.digest()


SEQUENCE_BITS = 40
_LEVEL_BITS = 28
_ORDER_BITS = _LEVEL_BITS + SEQUENCE_BITS
MOST_BRANCHES: Final = (1 << 8 * TICKET_BYTES - _ORDER_BITS) - 1


def ticket(level: int, sequence: int, branch: int = 0) -> bytes:
    """Place within a host's queue, 10 bytes: by branch (12 bits); in a branch lower levels (28 bits) first,
    then by arrival (40 bits)."""
    return (branch << _ORDER_BITS | level << SEQUENCE_BITS | sequence).to_bytes(TICKET_BYTES, "big")


def split_ticket(place: bytes) -> tuple[int, int]:
    """(level, sequence) of a ticket."""
    number = int.from_bytes(place, "big") & (1 << _ORDER_BITS) - 1
    return number >> SEQUENCE_BITS, number & (1 << SEQUENCE_BITS) - 1


_AGAIN_BIT = 1 << SEQUENCE_BITS - 1


def again_ticket(level: int, sequence: int) -> bytes:
    """Place of a page that comes again: of its level behind all that does not, by when it was given its turn."""
    return ticket(level, _AGAIN_BIT | sequence)


def arrival_of(place: bytes) -> tuple[int, bool]:
    """(number among all that were given a ticket, whether it is an `again_ticket`) of a ticket."""
    sequence = split_ticket(place)[1]
    return sequence & _AGAIN_BIT - 1, bool(sequence & _AGAIN_BIT)


def branch_of(place: bytes) -> int:
    """The branch in whose queue a ticket stands."""
    return place[0] << 4 | place[1] >> 4  # the first 12 bits


def branch_range(branch: int) -> tuple[bytes, bytes]:
    """The first ticket of a branch, and the first one behind it."""
    return ticket(0, 0, branch), ticket(0, 0, branch + 1)


def order_of(place: bytes) -> int:
    """Puts tickets of different branches in order: by level, then by arrival."""
    return int.from_bytes(place, "big") & (1 << _ORDER_BITS) - 1


def at_level(place: bytes, level: int) -> bytes:
    """The ticket with another level, in the same branch."""
    return ticket(level, split_ticket(place)[1], branch_of(place))


def later_key(host: bytes, due: int, sequence: int) -> bytes:
    """Key of a candidate that waits until `due` (microseconds of the crawl clock)."""
    return host + _LATER.pack(due, sequence)


def split_later(key: bytes) -> tuple[int, int]:
    """(due, sequence) of a key in `later`."""
    due, sequence = _LATER.unpack(key[HASH_BYTES:])
    return due, sequence


def again_key(host: bytes, place: int, since: int, url: bytes) -> bytes:
    """Key of a page that comes again, 22 bytes: of its class on its host, who has waited longest comes first.

    Args:
        host: 8 bytes of the queue in which it is visited.
        place: its class, 16 bits.
        since: wall time since when it stands there, whole seconds.
        url: 8 bytes, the second half of its fingerprint.
    """
    return host + _AGAIN.pack(place, since) + url


def split_again(key: bytes) -> tuple[int, int, bytes]:
    """(class, since, url) of a key in `again`."""
    place, since = _AGAIN.unpack_from(key, HASH_BYTES)
    return place, since, key[HASH_BYTES + _AGAIN.size :]


def pack_heads(heads: Iterable[tuple[int, int]]) -> bytes:
    """(class, since) of each class in use on a host, 6 bytes each."""
    return b"".join([_AGAIN.pack(place, since) for place, since in heads])


def unpack_heads(stored: bytes) -> Iterator[tuple[int, int]]:
    """(class, since) of each class in use."""
    return _AGAIN.iter_unpack(stored)


def wake_key(due: int, host: bytes) -> bytes:
    """Key that orders hosts by the time they fall due."""
    return _DUE.pack(due) + host


def split_wake(key: bytes) -> tuple[int, bytes]:
    """(due, host_hash) of a key in `wake`."""
    return _DUE.unpack_from(key)[0], key[8:]


def after_prefix(prefix: bytes) -> bytes:
    """The smallest key greater than every key that begins with `prefix`."""
    number = int.from_bytes(prefix, "big") + 1
    if number >> (8 * len(prefix)):
        return b"\xff" * (len(prefix) + 32)
    return number.to_bytes(len(prefix), "big")
