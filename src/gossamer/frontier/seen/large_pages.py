"""Has the system put large pages under a block of memory that a library allocates."""

import ctypes
import mmap
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar

T = TypeVar("T")

_MAPS = Path("/proc/self/maps")
_COLLAPSE = 25
"""MADV_COLLAPSE of Linux 6.1: exchange the pages that are there for large ones."""

Span = tuple[int, int]
"""First address, address behind the last."""


def on_large_pages(allocate: Callable[[], T], size: int, *, filled: bool = False) -> T:
    """What `allocate` makes, which takes a block of at least `size` bytes from the system, on large pages.

    With small ones nearly every look-up in hundreds of megabytes misses the processor's table of pages, which
    costs a Bloom filter a third of its time. Where the system knows no large pages, all stays as it is.
    `filled`: the block is in use already.
    """
    before = _anonymous()
    made = allocate()
    advice = getattr(mmap, "MADV_HUGEPAGE", None)
    if advice is not None:
        madvise = ctypes.CDLL(None).madvise
        for start, end in _added(before, _anonymous()):
            if end - start >= size:
                place, length = ctypes.c_void_p(start), ctypes.c_size_t(end - start)
                madvise(place, length, advice)
                if filled:
                    madvise(place, length, _COLLAPSE)
    return made


def _anonymous() -> list[Span]:
    """The process's writable memory that is no file's, by address."""
    try:
        lines = _MAPS.read_text().splitlines()
    except OSError:
        return []
    fields = (line.split() for line in lines)
    spans = (row[0].split("-") for row in fields if row[1] == "rw-p" and len(row) == 5)
    return [(int(start, 16), int(end, 16)) for start, end in spans]


def _added(before: list[Span], after: list[Span]) -> Iterator[Span]:
    """What is in `after` beyond `before`; a new block may have been joined to one beside it."""
    for start, end in after:
        rest = start
        for old_start, old_end in before:
            if old_start < end and old_end > rest:
                if rest < old_start:
                    yield rest, old_start
                rest = old_end
        if rest < end:
            yield rest, end
