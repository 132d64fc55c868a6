"""Memory for a table of 64-bit hashes that is large and met at random."""

import contextlib
import mmap

HASH_BYTES = 8
LARGE = 4 << 20
"""Bytes from which large pages are asked for: else nearly every look-up misses the processor's page table."""


def hash_table(places: int) -> memoryview:
    """Zeros for so many hashes, as bytes to be cast; the system gives the memory as it is used."""
    memory = mmap.mmap(-1, places * HASH_BYTES, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    if places * HASH_BYTES >= LARGE and hasattr(mmap, "MADV_HUGEPAGE"):
        with contextlib.suppress(OSError):  # a system may have none
            memory.madvise(mmap.MADV_HUGEPAGE)
    return memoryview(memory)
