"""Tells the crawls of one machine who of them lives, and lets one call another.

A crawl is known by a number that is given once only, and holds a lock on the byte of that number in a file.
The kernel drops the lock with the process, however it ends; no process id is compared, which could be
another's by now, or belong to another container. In the same file each crawl has a word, its bell, that all
have mapped: to see whether it was rung takes no system call.
"""

import fcntl
import mmap
import os
import struct
from collections.abc import Callable
from pathlib import Path

from gossamer.state.machine import allocate

BELLS = 4_096
"""A crawl shares its bell with those whose numbers differ by multiples of this: they hear too much, too."""
_WORD = 8
_FLAGS = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
_LOCK = struct.Struct("hhqqi4x")
"""`struct flock` of a 64-bit machine: type, whence, start, length, pid."""


class Presence:
    """That a crawl is there, until it is closed or its process ends.

    Args:
        path: the file; made if need be.
        next_number: gives a number that was never given.

    Raises:
        OSError: the file cannot be used.
    """

    def __init__(self, path: Path, next_number: Callable[[], int]) -> None:
        self._locks = os.open(path, _FLAGS, 0o600)
        try:
            self.number = self._join(next_number)
            allocate(self._locks, BELLS * _WORD)
            self._mapped = _map(path)
        except BaseException:
            os.close(self._locks)
            raise
        self._bells = memoryview(self._mapped).cast("Q")
        self._bell = self.number % BELLS
        self._heard = self._bells[self._bell]

    def close(self) -> None:
        """Be there no more for the other crawls."""
        os.close(self._locks)
        self._bells.release()
        self._mapped.close()

    def alive(self, crawl: int) -> bool:
        """Whether a crawl is there."""
        if crawl == self.number:
            return True
        answer = fcntl.fcntl(self._locks, fcntl.F_OFD_GETLK, _byte(crawl))
        return bool(_LOCK.unpack(answer)[0] != fcntl.F_UNLCK)

    def ring(self, crawl: int) -> None:
        """Call a crawl; not for two at once, or one of their rings might be lost."""
        bell = crawl % BELLS
        self._bells[bell] = (self._bells[bell] + 1) % (1 << 8 * _WORD)

    def rung(self) -> bool:
        """Whether somebody has called since this was last asked."""
        now = self._bells[self._bell]
        rung, self._heard = now != self._heard, now
        return rung

    def _join(self, next_number: Callable[[], int]) -> int:
        while True:
            number = next_number()
            try:
                fcntl.fcntl(self._locks, fcntl.F_OFD_SETLK, _byte(number))
            except BlockingIOError:
                continue  # the table of numbers was removed under a crawl that goes on
            return number


def _map(path: Path) -> mmap.mmap:
    # Opened anew: the mapping keeps a copy of the descriptor, and with it the lock, beyond a close.
    file = os.open(path, _FLAGS, 0o600)
    try:
        return mmap.mmap(file, BELLS * _WORD)
    finally:
        os.close(file)


def _byte(number: int) -> bytes:
    return _LOCK.pack(fcntl.F_WRLCK, os.SEEK_SET, number, 1, 0)
