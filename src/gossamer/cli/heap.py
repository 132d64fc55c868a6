"""Keeps the C library's heap small, in a process that is ours."""

import ctypes

_M_ARENA_MAX = -8  # malloc.h of glibc
ARENAS = 2


def few_arenas() -> None:
    """Share few arenas among all threads (mallopt(3)); does nothing where the C library knows no arenas.

    By default each thread may get an arena of its own, eight a core, and each keeps what its busiest moment
    took. RocksDB and our own threads (reading large documents, writing the index) seldom work at one time.
    """
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        mallopt(_M_ARENA_MAX, ARENAS)
