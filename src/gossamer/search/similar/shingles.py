"""Shingles of a text, and the small things that stand for all of them.

A shingle is five words in a row (Broder 1997). Two texts resemble each other by the Jaccard coefficient of
their sets of shingles. A text of fewer words is one shingle as a whole: it resembles the same text only.

- The **sketch** holds four bits of each of 128 minima (b-bit minwise hashing, Li & König 2010): it estimates the
  resemblance with a standard deviation of at most 0.05.
- **Bands** (Indyk & Motwani 1998) of two minima each: ten of them, of which two texts that resemble each other by 0.6
  share at least one in 98.8% of the cases, by 0.7 in 99.9%.
- **Fingerprints** by winnowing (Schleimer, Wilkerson & Aiken 2003): the least shingle of each window. Two texts with 44
  words in a row in common share at least one; about one word in twenty has one.

Nothing that stands in a table depends on a key: what two of them share is only a reason to look at the texts.
"""

import functools
from typing import TypeVar

import msgspec
import numpy as np
from numpy.typing import NDArray

from gossamer.search.similar.words import Hashes

__all__ = [
    "BANDS", "SHINGLE", "SKETCH", "WINDOW", "Keys", "Signature", "contained", "distinct", "estimates", "fingerprints",
    "once_each", "resemblance", "shingles", "signature",
]  # fmt: skip

Keys = NDArray[np.uint32]
_Number = TypeVar("_Number", np.uint32, np.uint64)

SHINGLE = 5
"""Words."""
WINDOW = 40
"""Shingles of which the least is a fingerprint."""
BANDS = 10
_ROWS = 2
_MINIMA = 128
SKETCH = _MINIMA // 2
"""Bytes of a sketch."""
_CHANCE = 1 / 16
"""How often four bits agree that have nothing in common."""
_AT_ONCE = 256
_MASK = 2**64 - 1
_A, _B = np.uint64(0xD6E8FEB86659FD93), np.uint64(32)


class Signature(msgspec.Struct, frozen=True):
    """What is kept of a text.

    Attributes:
        size: different shingles.
        sketch: bytes.
        bands: a key for each band; none of a text without words.
    """

    size: int
    sketch: NDArray[np.uint8]
    bands: Keys


def _mixed(values: Hashes) -> Hashes:
    for _ in range(2):
        values = (values ^ (values >> _B)) * _A
    return values ^ (values >> _B)


def _numbers(seed: int, count: int) -> Hashes:
    """Fixed numbers that look like chance, odd (splitmix64); of the same version the same everywhere."""
    found = []
    for _ in range(count):
        seed = (seed + 0x9E3779B97F4A7C15) & _MASK
        value = ((seed ^ (seed >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
        value = ((value ^ (value >> 27)) * 0x94D049BB133111EB) & _MASK
        found.append((value ^ (value >> 31)) | 1)
    return np.array(found, np.uint64)


_WEIGHTS = _numbers(1, SHINGLE)


@functools.cache
def _family() -> tuple[Keys, Keys]:
    """The hash functions a*x + b of 32 bits, as columns."""
    numbers = _numbers(2, 2 * _MINIMA) >> _B
    factors = (numbers[:_MINIMA] | np.uint64(1)).astype(np.uint32)
    return factors[:, None], numbers[_MINIMA:].astype(np.uint32)[:, None]


def shingles(hashes: Hashes) -> Hashes:
    """The shingles of these words in their order, the first at the first word."""
    count = len(hashes) - SHINGLE + 1
    if not len(hashes):
        return hashes
    if count < 1:
        return _mixed((hashes * _WEIGHTS[: len(hashes)]).sum(dtype=np.uint64, keepdims=True))
    found = hashes[:count] * _WEIGHTS[0]
    for place in range(1, SHINGLE):
        found += hashes[place : place + count] * _WEIGHTS[place]
    return _mixed(found)


def distinct(hashes: Hashes) -> Hashes:
    """The set of the shingles of these words, sorted."""
    return once_each(shingles(hashes))


def once_each(values: NDArray[_Number]) -> NDArray[_Number]:
    """Values sorted, each once. `np.unique` does it by hashing, at three times the time."""
    values = np.sort(values)
    kept = np.ones(len(values), bool)
    np.not_equal(values[1:], values[:-1], out=kept[1:])
    return values[kept]


def resemblance(one: Hashes, other: Hashes) -> float:
    """Jaccard coefficient of two sets; 0 if both are empty."""
    common = len(np.intersect1d(one, other, assume_unique=True))
    whole = len(one) + len(other) - common
    return common / whole if whole else 0.0


def contained(one: Hashes, other: Hashes) -> float:
    """Which part of the first set is in the other; 0 if it is empty."""
    return len(np.intersect1d(one, other, assume_unique=True)) / len(one) if len(one) else 0.0


def fingerprints(found: Hashes) -> Keys:
    """The fingerprints of shingles in their order, each once."""
    count = len(found)
    if count <= WINDOW:
        least = found.min(keepdims=True) if count else found
    else:
        # Minimum of each window from those of its two ends in blocks of its width (van Herk): linear in the text.
        filled = np.full(-(-count // WINDOW) * WINDOW, np.uint64(_MASK))
        filled[:count] = found
        blocks = filled.reshape(-1, WINDOW)
        ahead = np.minimum.accumulate(blocks, axis=1).ravel()
        behind = np.minimum.accumulate(blocks[:, ::-1], axis=1)[:, ::-1].ravel()
        least = np.minimum(behind[: count - WINDOW + 1], ahead[WINDOW - 1 : count])
    # The low bits: the high ones are small where a minimum was taken.
    return once_each(least.astype(np.uint32))


def signature(found: Hashes) -> Signature:
    """What is kept of a set of shingles."""
    if not len(found):
        return Signature(0, np.zeros(SKETCH, np.uint8), np.zeros(0, np.uint32))
    factors, terms = _family()
    minima = np.full(_MINIMA, np.uint32(2**32 - 1))
    reduced = (found >> _B).astype(np.uint32)
    for at in range(0, len(reduced), _AT_ONCE):
        products = factors * reduced[at : at + _AT_ONCE]
        products += terms
        np.minimum(minima, products.min(axis=1), out=minima)
    low = (minima & np.uint32(15)).astype(np.uint8)
    rows = minima[: BANDS * _ROWS].astype(np.uint64).reshape(BANDS, _ROWS)
    keys = _mixed(((rows[:, 0] << _B) | rows[:, 1]) + np.arange(BANDS, dtype=np.uint64) * _WEIGHTS[0]) >> _B
    return Signature(len(found), low[::2] << np.uint8(4) | low[1::2], keys.astype(np.uint32))


def estimates(some: NDArray[np.uint8], others: NDArray[np.uint8]) -> NDArray[np.float64]:
    """Estimated resemblance of pairs of sketches, row by row; arrays of shape (pairs, SKETCH)."""
    differ = some ^ others
    agree = ((differ & np.uint8(15)) == 0).sum(axis=1) + ((differ >> np.uint8(4)) == 0).sum(axis=1)
    return np.asarray(np.maximum((agree / _MINIMA - _CHANCE) / (1 - _CHANCE), 0.0), np.float64)
