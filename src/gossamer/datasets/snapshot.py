"""Keeps Parquet files of a crawl's tables in its folder, made anew where the crawl has gone on."""

import contextlib
import fcntl
import os
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import chain
from pathlib import Path

import msgspec

from gossamer.archive.cdxj import read_capture
from gossamer.assembly.private import private_folder
from gossamer.datasets.parquet import needed, write_table
from gossamer.datasets.tables import CAPTURES, HOSTS, PAGES, VISITS
from gossamer.inspect.crawl_log import VisitLines
from gossamer.inspect.inspection import Inspection
from gossamer.model.errors import StorageError
from gossamer.state.environment import Family
from gossamer.state.records import decode_page
from gossamer.state.whole_files import write_whole

FOLDER = "tables"
_MARK = "mark.json"
VERSION = 1
_FULL = 200_000
_KEPT_FOR = 20.0
"""Times as long as they took to write may files be used that are kept."""


class _Mark(msgspec.Struct):
    """As of what the files were written.

    Attributes:
        version: of the columns; other files are made anew.
        state: sums that change with every commit.
        logs: bytes of each log that were read, by its path in the crawl's folder.
        parts: files of visits.
        last: bytes of each log before the last of them, and its rows; it is written anew until it is full.
        at, took: wall time when they were last up to date, and the seconds that this took.
    """

    version: int = VERSION
    state: list[int] = []
    logs: dict[str, int] = {}
    parts: int = 0
    last: tuple[dict[str, int], int] = ({}, 0)
    at: float = 0.0
    took: float = 0.0


class VisitRow(msgspec.Struct, frozen=True, gc=False):
    """A line of the log, as far as the table of visits has it."""

    at: float
    url: str
    kind: str = ""
    depth: int = 0
    via: str = ""
    attempt: int = 0
    became: str = ""
    status: int = 0
    size: int | None = None
    seconds: float = -1.0
    type: str = ""
    fault: str = ""
    refused: str = ""
    address: str = ""


class _CaptureRow(msgspec.Struct, frozen=True, gc=False):
    url: str
    seconds: float
    status: str
    type: str | None
    digest: str
    length: str
    filename: str
    offset: str


def refresh(inspection: Inspection, folder: Path, *, keep: bool = False) -> dict[str, list[Path]]:
    """Bring the tables of a crawl up to date; their files, by the table's name.

    Pages, hosts and captures are written anew if anything was committed since, some 15 us a row; of visits
    only what was added to the log. Who comes while another writes waits for it.

    Args:
        inspection: of the crawl, which may be running.
        folder: where they are kept; made if it is not there.
        keep: files that took long to write may be some time old, so that who asks often does not spend all
            time on them: of a crawl that runs, one twentieth at most.

    Raises:
        ConfigError: the extra is not installed, or the folder belongs to somebody else.
        StorageError: the disk refuses.
    """
    needed()
    try:
        private_folder(folder)
    except OSError as error:
        raise StorageError(f"{folder}: cannot be made ({error.strerror}).") from error
    with alone(folder):
        snapshot = _Snapshot(inspection, folder)
        if keep and (kept := snapshot.kept()):
            return kept
        return snapshot.refreshed()


@contextlib.contextmanager
def alone(folder: Path) -> Iterator[None]:
    """While nobody else writes tables there."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        with contextlib.suppress(OSError):  # a file system that knows no locks
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


class _Snapshot:
    def __init__(self, inspection: Inspection, folder: Path) -> None:
        self._inspection = inspection
        self._folder = folder
        try:
            self._mark = msgspec.json.decode((folder / _MARK).read_bytes(), type=_Mark)
        except (OSError, msgspec.MsgspecError, UnicodeDecodeError):
            self._mark = _Mark(version=0)

    def kept(self) -> dict[str, list[Path]]:
        """The files as they stand if they are young enough; none otherwise."""
        mark = self._mark
        files = self._files()
        whole = mark.version == VERSION and all(path.exists() for paths in files.values() for path in paths)
        return files if whole and 0 <= time.time() - mark.at < _KEPT_FOR * mark.took else {}

    def _files(self) -> dict[str, list[Path]]:
        single = {table.name: [self._folder / f"{table.name}.parquet"] for table in (PAGES, HOSTS, CAPTURES)}
        return single | {VISITS.name: [self._part(number) for number in range(self._mark.parts)]}

    def refreshed(self) -> dict[str, list[Path]]:
        """Bring them up to date."""
        began = time.monotonic()
        root = self._inspection.folder.path
        sizes = {str(log.relative_to(root)): _size(log) for log in self._inspection.logs}
        if self._mark.version != VERSION or any(
            self._mark.logs.get(name, 0) > size for name, size in sizes.items()
        ):
            self._begin_anew()
        counters = self._inspection.counters
        state = [counters.visits, counters.admitted, counters.rejected, counters.queued, counters.archived]
        single = {name: paths[0] for name, paths in self._files().items() if name != VISITS.name}
        changed = state != self._mark.state or not all(path.exists() for path in single.values())
        if changed:
            write_table(PAGES, self._pages(), single[PAGES.name])
            write_table(HOSTS, self._inspection.hosts(), single[HOSTS.name])
            write_table(CAPTURES, self._captures(), single[CAPTURES.name])
            self._mark.state = state
            self._keep()
        if self._add_visits() or changed:
            self._mark.at, self._mark.took = time.time(), time.monotonic() - began
            self._keep()
        return self._files()

    def _begin_anew(self) -> None:
        for path in self._folder.glob("*.parquet*"):
            path.unlink(missing_ok=True)
        self._mark = _Mark()

    def _keep(self) -> None:
        write_whole(self._folder / _MARK, msgspec.json.encode(self._mark))

    def _part(self, number: int) -> Path:
        return self._folder / f"visits-{number:05d}.parquet"

    def _add_visits(self) -> bool:
        """What the logs have got since, in the last file if that is not full; whether there was anything."""
        root, mark = self._inspection.folder.path, self._mark
        logs = {str(path.relative_to(root)): path for path in self._inspection.logs}
        if mark.parts and all(mark.logs.get(name, 0) == _size(path) for name, path in logs.items()):
            return False
        begin, rows = mark.last
        if not mark.parts or rows >= _FULL:
            begin = mark.logs
            mark.parts += 1
        readers = {name: VisitLines(path, VisitRow) for name, path in logs.items()}
        for name, lines in readers.items():
            lines.offset = begin.get(name, 0)
        visits = chain.from_iterable(chain.from_iterable(readers.values()))
        mark.last = begin, write_table(VISITS, visits, self._part(mark.parts - 1))
        mark.logs = {name: lines.offset for name, lines in readers.items()}
        return True

    def _pages(self) -> Iterator[object]:
        for _, data in self._inspection.environment.scan(Family.PAGES):
            yield decode_page(data)

    def _captures(self) -> Iterator[object]:
        for key, data in self._inspection.environment.scan(Family.CAPTURES):
            line = read_capture(data)
            time = datetime.strptime(key.split(b" ")[1].decode("ascii"), "%Y%m%d%H%M%S").replace(tzinfo=UTC)
            yield _CaptureRow(
                line.url, time.timestamp(), line.status, line.media_type or None, line.digest, line.length,
                line.filename, line.offset,
            )  # fmt: skip


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0
