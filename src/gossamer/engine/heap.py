"""Keeps the memory of a process small: the C library's arenas, Python's garbage collector."""

import ctypes
import gc

_library = ctypes.CDLL(None)
_mallopt = getattr(_library, "mallopt", None)
_malloc_trim = getattr(_library, "malloc_trim", None)
_M_ARENA_MAX = -8  # malloc.h of glibc
ARENAS = 2
COLLECT_AFTER = 20_000
"""New containers between two collections, some MB."""
COLLECT_AT_START_AFTER = 200_000
"""The same while modules are loaded, which are nothing but containers that stay: 15 ms of each start."""


def seldom_collect() -> None:
    """Look for cycles less often than every 700 containers: a page makes thousands, and hardly a cycle."""
    gc.set_threshold(COLLECT_AT_START_AFTER)


def spare_what_stays() -> None:
    """Never look for cycles among what exists now: modules, settings and the crawl's parts."""
    gc.freeze()
    gc.set_threshold(COLLECT_AFTER)


def few_arenas() -> None:
    """Share few arenas among all threads (mallopt(3)); does nothing where the C library knows no arenas.

    By default each thread may get an arena of its own, eight a core, and each keeps what its busiest moment
    took. RocksDB and our own threads (reading large documents, writing the index) seldom work at one time.
    """
    if _mallopt is not None:
        _mallopt(_M_ARENA_MAX, ARENAS)


def give_back() -> None:
    """Give the system whole pages that nothing is in (malloc_trim(3)); does nothing where that is unknown.

    The C library by itself gives back only what is free at the end of an arena. RocksDB's merges take some MB
    and free them in between what stays. Takes below a millisecond.
    """
    if _malloc_trim is not None:
        _malloc_trim(0)
