"""Sets up the memory of a process that is ours: the C library's arenas, Python's garbage collector."""

import ctypes
import gc

_M_ARENA_MAX = -8  # malloc.h of glibc
ARENAS = 2
COLLECT_AFTER = 20_000
"""New containers between two collections, some MB."""


def seldom_collect() -> None:
    """Look for cycles less often than every 700 containers: a page makes thousands, and hardly a cycle."""
    gc.set_threshold(COLLECT_AFTER)


def spare_what_stays() -> None:
    """Never look for cycles among what exists now: modules, settings and the crawl's parts."""
    gc.freeze()


def few_arenas() -> None:
    """Share few arenas among all threads (mallopt(3)); does nothing where the C library knows no arenas.

    By default each thread may get an arena of its own, eight a core, and each keeps what its busiest moment
    took. RocksDB and our own threads (reading large documents, writing the index) seldom work at one time.
    """
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        mallopt(_M_ARENA_MAX, ARENAS)
