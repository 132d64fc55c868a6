"""Which pages have a key: sorted numbers on disk, 8 bytes for a key with its page.

A posting is `key << 32 | page`, so that one sorted array of 64-bit numbers answers "the pages with this key, in
their order, that came before this page" with two binary searches. Of a key that very many pages have only the
first count: that bounds what a million equal pages cost, and stays true when later ones are taken back.
"""

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from gossamer.search.similar.shingles import Keys

__all__ = ["MOST", "Pages", "Postings", "latest", "merged", "once", "postings", "sought"]

Postings = NDArray[np.uint64]
Pages = NDArray[np.int64]

MOST = 64
"""Pages of one key, the first ones, that are kept and found."""
_HALF = np.uint64(32)
_PAGE = np.uint64(2**32 - 1)
_AT_ONCE = 4 << 20
"""Postings that are merged in memory."""
_COLLIDING = 4
"""URLs that share 32 bits of their keys, and are told apart."""


def postings(keys: Keys, pages: Pages) -> Postings:
    """Sorted postings of keys with the page of each."""
    return np.sort((keys.astype(np.uint64) << _HALF) | pages.astype(np.uint64))


def sought(segments: Sequence[Postings], keys: Keys, before: Pages) -> tuple[Pages, Pages]:
    """(index into `keys`, page) of each page with that key, among the first `MOST`, that is before `before`.

    Args:
        segments: in the order of their pages.
        keys: that are sought.
        before: for each key; only lower pages are given.
    """
    low = keys.astype(np.uint64) << _HALF
    high = low | before.astype(np.uint64)
    left = np.full(len(keys), MOST, np.int64)
    asked, found = [], []
    for segment in segments:
        start = np.searchsorted(segment, low)
        count = np.minimum(np.searchsorted(segment, high) - start, left)
        left -= count
        total = int(count.sum())
        if not total:
            continue
        first = np.cumsum(count) - count
        places = np.arange(total) + np.repeat(start - first, count)
        asked.append(np.repeat(np.arange(len(keys)), count))
        found.append((segment[places] & _PAGE).astype(np.int64))
    if not asked:
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    return np.concatenate(asked), np.concatenate(found)


def latest(segments: Sequence[Postings], keys: Keys, before: Pages) -> Iterator[tuple[Pages, Pages]]:
    """(index into `keys`, page) of pages with that key before `before`, from the last on, a few of each key."""
    low = keys.astype(np.uint64) << _HALF
    high = low | before.astype(np.uint64)
    for segment in reversed(segments):
        start, end = np.searchsorted(segment, low), np.searchsorted(segment, high)
        for back in range(1, _COLLIDING + 1):
            there = np.flatnonzero(end - back >= start)
            if not len(there):
                break
            yield there, (segment[end[there] - back] & _PAGE).astype(np.int64)


def merged(segments: Sequence[Postings], below: int, *, capped: bool) -> Iterator[Postings]:
    """Postings of all segments in one order, in pieces that fit into memory; only pages under `below`."""
    total = sum(len(segment) for segment in segments)
    steps = -(-total // _AT_ONCE) or 1
    borders = [(step * 2**32 // steps) << 32 for step in range(steps)]
    starts = [
        [int(np.searchsorted(segment, np.uint64(border))) for border in borders] for segment in segments
    ]
    for step in range(steps):
        pieces = [
            segment[own[step] : own[step + 1] if step + 1 < steps else len(segment)]
            for segment, own in zip(segments, starts, strict=True)
        ]
        found = np.sort(np.concatenate(pieces)) if pieces else np.zeros(0, np.uint64)
        found = found[(found & _PAGE) < np.uint64(below)]
        if capped and len(found) > MOST:
            # One of more than `MOST` of a key has the posting that many places before it under the same key.
            kept = np.ones(len(found), bool)
            kept[MOST:] = (found[MOST:] >> _HALF) != (found[:-MOST] >> _HALF)
            found = found[kept]
        yield found


def once(rows: Pages, pages: Pages) -> tuple[Pages, Pages]:
    """Pairs of a row and a page, sorted, each once."""
    both = np.unique((rows.astype(np.uint64) << _HALF) | pages.astype(np.uint64))
    return (both >> _HALF).astype(np.int64), (both & _PAGE).astype(np.int64)
