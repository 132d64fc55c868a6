"""Ranges of host hashes that make up shards: a shard is the first so many bits of the hash."""

from collections.abc import Iterable
from typing import NamedTuple

from gossamer.state.keys import HASH_BYTES

_HASH_BITS = 8 * HASH_BYTES


class Span(NamedTuple):
    """Host hashes from `start` up to, but not including, `end`; `end` is empty at the end of all hashes."""

    start: bytes
    end: bytes

    def __contains__(self, host: object) -> bool:
        """Whether a key that begins with a host hash lies in it."""
        assert isinstance(host, bytes)
        return self.start <= host and (not self.end or host < self.end)


def shard_of(host: bytes, bits: int) -> int:
    """The shard of a key that begins with a host hash; there are at most 2 ** 16. Asked for every link."""
    return (host[0] << 8 | host[1]) >> (16 - bits)


def spans(shards: Iterable[int], bits: int) -> list[Span]:
    """The ranges of some shards in the order of their hashes; neighbours are one range."""
    found: list[tuple[int, int]] = []
    for shard in sorted(set(shards)):
        if not 0 <= shard < 1 << bits:
            raise ValueError(f"shard {shard} is none of {1 << bits}")
        if found and found[-1][1] == shard:
            found[-1] = found[-1][0], shard + 1
        else:
            found.append((shard, shard + 1))
    return [Span(_bound(first, bits), _bound(last, bits)) for first, last in found]


def _bound(shard: int, bits: int) -> bytes:
    """The first hash of a shard; empty behind the last one."""
    return (shard << (_HASH_BITS - bits)).to_bytes(HASH_BYTES, "big") if shard < 1 << bits else b""
