"""Folders for what is needed for a moment, which a kill leaves behind and the next of our programs removes."""

import contextlib
import fcntl
import functools
import os
import re
import shutil
import tempfile
import time
import weakref
from collections.abc import Iterator
from pathlib import Path

_PREFIX = "gossamer-scratch-"
_OURS = re.compile(rf"{_PREFIX}\w+")
_NEW = 60.0
"""Seconds in which the process that made a folder has locked it, too."""


class Scratch(tempfile.TemporaryDirectory[str]):
    """A folder in the temporary folder of the system, or in another. Its process holds a lock on it, which ends with
    the process: so what nobody holds was left by one that was killed. Where file systems know no locks, it stays."""

    def __init__(self, place: Path | None = None) -> None:
        """Args:
        place: the folder that it is made in.

        Raises:
            OSError: it cannot be made.
        """
        _remove_left(str(place or tempfile.gettempdir()))
        super().__init__(prefix=_PREFIX, dir=place, ignore_cleanup_errors=True)
        lock = os.open(self.name, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        self._let_go = weakref.finalize(self, os.close, lock)
        _locks(lock)

    def cleanup(self) -> None:
        """Remove it with all that is in it; what refuses is removed later."""
        super().cleanup()
        self._let_go()


def _locks(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:  # held, or there are no locks
        return False
    return True


@functools.cache
def _remove_left(place: str) -> None:
    """Remove what processes of this user have left in a folder; once in each process, and without a word."""
    with contextlib.suppress(OSError):
        for path in list(_left(place)):
            with contextlib.suppress(OSError):
                lock = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
                try:
                    if _locks(lock):
                        shutil.rmtree(path, ignore_errors=True)
                finally:
                    os.close(lock)


def _left(place: str) -> Iterator[str]:
    before = time.time() - _NEW
    with os.scandir(place) as entries:
        for entry in entries:
            if not _OURS.fullmatch(entry.name) or not entry.is_dir(follow_symlinks=False):
                continue
            with contextlib.suppress(FileNotFoundError):
                known = entry.stat(follow_symlinks=False)
                if known.st_uid == os.geteuid() and known.st_mtime < before:
                    yield entry.path
