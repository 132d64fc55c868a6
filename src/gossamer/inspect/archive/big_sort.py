"""Sorts more lines than fit into memory."""

import contextlib
import heapq
import io
from collections.abc import Iterable, Iterator
from pathlib import Path

from isal import igzip

from gossamer.model.errors import StorageError

__all__ = ["BigSort", "LineFile", "read_lines"]

MOST_RUNS = 32
"""Files merged at once; each takes some 200 KiB of memory."""
_OVERHEAD = 41
"""Bytes that a line takes beside its own: the object's head, and its place in the list."""
_WRITTEN_AT_ONCE = 1 << 16
_LEVEL = 1


class LineFile:
    """A gzip file of lines, being written; use as a context manager."""

    def __init__(self, path: Path, level: int = _LEVEL) -> None:
        self._path = path
        self._held: list[bytes] = []
        self._size = 0
        self.lines = 0
        with _naming(path):
            self._out = igzip.IGzipFile(path, "wb", compresslevel=level, mtime=0)

    def write(self, line: bytes) -> None:
        """Append `line`, which holds no line end.

        Raises:
            StorageError: the disk refuses.
        """
        self._held.append(line)
        self._size += len(line)
        self.lines += 1
        if self._size > _WRITTEN_AT_ONCE:
            self._flush()

    def _flush(self) -> None:
        if self._held:
            self._held.append(b"")
            with _naming(self._path):
                self._out.write(b"\n".join(self._held))
            self._held.clear()
            self._size = 0

    def __enter__(self) -> "LineFile":
        return self

    def __exit__(self, *_: object) -> None:
        try:
            self._flush()
        finally:
            with _naming(self._path):
                self._out.close()


def read_lines(path: Path) -> Iterator[bytes]:
    """The lines of a `LineFile`, without line ends.

    Raises:
        StorageError: it cannot be read.
    """
    with _naming(path), igzip.IGzipFile(path, "rb") as raw, io.BufferedReader(raw, _WRITTEN_AT_ONCE) as lines:
        for line in lines:
            yield line[:-1]


class BigSort:
    """Takes lines in any order; gives them back sorted bytewise, each once, by a merge sort on disk.

    Memory is bounded by what it is given and by `MOST_RUNS`, whatever the number of lines. Runs of lines
    are merged 32 at a time, so that each line is written once for each 32-fold.
    """

    def __init__(self, folder: Path, name: str, memory: int) -> None:
        """Args:
        folder: for runs; they are removed as they are merged.
        name: begins the names of their files.
        memory: bytes of lines held.
        """
        self._folder = folder
        self._name = name
        self._memory = memory
        self._held: list[bytes] = []
        self._size = 0
        self._made = 0
        self._levels: list[list[Path]] = [[]]

    def add(self, line: bytes) -> None:
        """Take in a line, which holds no line end.

        Raises:
            StorageError: the disk refuses.
        """
        self._held.append(line)
        self._size += len(line) + _OVERHEAD
        if self._size > self._memory:
            self._spill()

    def __iter__(self) -> Iterator[bytes]:
        """All lines; once, after which the sort is empty."""
        self._held.sort()
        runs = [path for level in self._levels for path in level]
        yield from _merged([self._held, *map(read_lines, runs)])
        self._held = []
        self._size = 0
        self._levels = [[]]
        for path in runs:
            path.unlink()

    def _spill(self) -> None:
        self._held.sort()
        self._write([self._held], 0)
        self._held.clear()
        self._size = 0

    def _write(self, sources: list[Iterable[bytes]], level: int) -> None:
        """Merge sources to a run of a level; if that is full, all of it to one run of the next."""
        path = self._folder / f"{self._name}-{self._made}"
        self._made += 1
        with LineFile(path) as out:
            for line in _merged(sources):
                out.write(line)
        if level == len(self._levels):
            self._levels.append([])
        runs = self._levels[level]
        runs.append(path)
        if len(runs) >= MOST_RUNS:
            self._levels[level] = []
            self._write([read_lines(run) for run in runs], level + 1)
            for run in runs:
                run.unlink()


def _merged(sources: list[Iterable[bytes]]) -> Iterator[bytes]:
    """Sorted sources as one, each line once."""
    last = None
    for line in heapq.merge(*sources) if len(sources) > 1 else sources[0]:
        if line != last:
            yield line
            last = line


@contextlib.contextmanager
def _naming(path: Path) -> Iterator[None]:
    """Tell what the disk refuses by name and remedy."""
    try:
        yield
    except (OSError, EOFError) as error:
        why = getattr(error, "strerror", None) or error
        raise StorageError(
            f"{path}: cannot be written or read ({why}). Free some space, then try again."
        ) from None
