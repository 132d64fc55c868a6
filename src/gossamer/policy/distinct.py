"""Counts distinct things in a few bytes: exactly while they are few, else by HyperLogLog.

A value is empty (nothing), or a sorted row of 4-byte hashes, or a mark and 64 registers of a byte each. It
depends on nothing but the set of hashes that were added, whatever their order and however often.
"""

import math
from collections import Counter
from functools import lru_cache

HASH_BYTES = 4
EXACT = 32
"""So many are counted exactly; a row of them takes 128 bytes, the registers 65 for any number."""

REGISTERS = 64
STANDARD_ERROR = 1.04 / math.sqrt(REGISTERS)
"""Of the estimate, relative: 13%."""

_MARK = b"\x01"  # makes the length odd, which no row of hashes has
_REST_BITS = 8 * HASH_BYTES - 6  # six bits choose the register
_REST = (1 << _REST_BITS) - 1


def add(value: bytes, item: bytes) -> bytes:
    """`value` with `item` in it, the same object if it was there already.

    Args:
        value: empty to begin with.
        item: 4 bytes, evenly distributed: a hash that outsiders cannot compute, or they choose the count.
    """
    if len(value) % HASH_BYTES:
        return _register(value, item)
    at = value.find(item)
    while at % HASH_BYTES and at > 0:
        at = value.find(item, at + 1)
    if at >= 0:
        return value
    items = sorted([item, *_row(value)])
    if len(items) <= EXACT:
        return b"".join(items)
    sketch = _MARK + bytes(REGISTERS)
    for each in items:
        sketch = _register(sketch, each)
    return sketch


def union(one: bytes, other: bytes) -> bytes:
    """What counts everything that either counts."""
    if len(one) % HASH_BYTES and len(other) % HASH_BYTES:
        return bytes(map(max, one, other))
    sketch, row = (one, other) if len(one) % HASH_BYTES else (other, one)
    for item in _row(row):
        sketch = add(sketch, item)
    return sketch


@lru_cache(maxsize=4_096)
def count(value: bytes) -> int:
    """How many distinct items: exact up to `EXACT`, else within `STANDARD_ERROR`; grows as items are added.

    Ertl's improved estimator (New cardinality estimation algorithms for HyperLogLog sketches, 2017,
    algorithm 6) needs neither tables nor a change of method for small numbers, where the classical one can
    fall as items are added. Its correction for full registers is left out: they are full beyond 2^30 items.
    """
    if len(value) % HASH_BYTES == 0:
        return len(value) // HASH_BYTES
    ranks = Counter(value[1:])
    total = REGISTERS * _sigma(ranks.pop(0, 0) / REGISTERS)
    total += sum(registers * 2.0**-rank for rank, registers in ranks.items())
    estimate = REGISTERS * REGISTERS / (2 * math.log(2) * total)
    return max(EXACT + 1, round(estimate))


def _row(value: bytes) -> list[bytes]:
    return [value[at : at + HASH_BYTES] for at in range(0, len(value), HASH_BYTES)]


def _register(sketch: bytes, item: bytes) -> bytes:
    number = int.from_bytes(item, "big")
    at = 1 + (number >> _REST_BITS)
    rank = _REST_BITS + 1 - (number & _REST).bit_length()
    if sketch[at] >= rank:
        return sketch
    return sketch[:at] + bytes((rank,)) + sketch[at + 1 :]


def _sigma(share: float) -> float:
    """x + sum of 2^(k-1) * x^(2^k), the weight of the registers (a share below 1 of all) still empty."""
    total, power, weight = share, share, 1.0
    while True:
        power *= power
        before, total = total, total + power * weight
        weight *= 2
        if total == before:
            return total
