"""The daemon's SQLite file: what it must remember over its own death."""

import os
import sqlite3
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeAlias

from gossamer.model.errors import StorageError

Row: TypeAlias = tuple[Any, ...]

_PATIENCE = 10.0
"""Seconds for which another program may hold the file, `sqlite3` on a terminal for instance."""

_PAUSE = 0.02
_FULL = frozenset({sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR})
_DAMAGED = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB})
_REMEDY = (
    " Restore it from a copy; or move it away: the next start finds the jobs again in their folders, but who"
    " may log in, grants and schedules must be made anew."
)


class FullDiskError(StorageError):
    """The disk takes nothing more just now; later it may. What is written already can be read."""


class Database:
    """One connection, for the event loop; statements take less than a millisecond.

    Each statement is a transaction of its own. It survives a kill of the process; a power failure may take
    the last ones, never a part of one.

    Raises:
        StorageError: of any method: the file is damaged, or the disk refuses.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = threading.Lock()
        try:
            os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
            self._connection = sqlite3.connect(
                path, timeout=_PATIENCE, isolation_level=None, check_same_thread=False
            )
        except (OSError, sqlite3.Error) as error:
            raise StorageError(f"{path}: cannot be opened ({error}).") from None
        try:
            for pragma in ("journal_mode = WAL", "synchronous = NORMAL", "foreign_keys = ON"):
                self.query(f"PRAGMA {pragma}")
        except StorageError:
            self.close()
            raise

    @property
    def folder(self) -> Path:
        """The folder in which the file lies."""
        return self._path.parent

    def close(self) -> None:
        """Close the file; harmless if it is."""
        self._connection.close()

    def execute(self, statement: str, values: Sequence[Any] = ()) -> int:
        """Change something; how many rows were."""
        return self._run(statement, values)[1]

    def query(self, statement: str, values: Sequence[Any] = ()) -> list[Row]:
        """Rows, all of them: ask for a bounded number."""
        return self._run(statement, values)[0]

    def _run(self, statement: str, values: Sequence[Any]) -> tuple[list[Row], int]:
        deadline = time.monotonic() + _PATIENCE
        while True:
            try:
                with self._lock:
                    cursor = self._connection.execute(statement, values)
                    return cursor.fetchall(), cursor.rowcount
            except sqlite3.Error as error:
                # SQLite itself waits for others, but not in each case: not while the first of several
                # programs mends what a killed one has left.
                code = getattr(error, "sqlite_errorcode", 0) & 0xFF
                if code in _FULL:
                    raise FullDiskError(f"{self._path}: {error}.") from None
                if code != sqlite3.SQLITE_BUSY:
                    remedy = _REMEDY if code in _DAMAGED else ""
                    raise StorageError(f"{self._path}: {error}.{remedy}") from None
                if time.monotonic() > deadline:
                    raise StorageError(f"{self._path}: {error}: another program holds it.") from None
            time.sleep(_PAUSE)
