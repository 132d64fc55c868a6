"""Makes one index over the archives of all agents, and checks that each page stands in it once."""

import os
import shutil
from collections.abc import Callable, Iterable, Iterator
from itertools import groupby
from pathlib import Path

import msgspec

from gossamer.archive.cdxj import moved_capture, read_capture, write_index
from gossamer.archive.committed import archive_files
from gossamer.archive.file import OPEN_SUFFIX
from gossamer.assembly.folder import CrawlFolder
from gossamer.cluster.snapshots.catalogue import ids, read
from gossamer.cluster.snapshots.manifest import DamagedError
from gossamer.cluster.snapshots.restoring import fetch_archive, fetch_state
from gossamer.inspect.archive.big_sort import BigSort
from gossamer.model.errors import ConfigError, StorageError
from gossamer.state.environment import Environment, Family, StateConfig
from gossamer.state.object_store import MissingError, Store

SORTED_AT_ONCE = 32 << 20
"""Bytes of lines in memory."""
MOST_NAMED = 100
"""Doubles that are told by name."""
INDEX = "index.cdxj"

_PASSING = StateConfig(block_cache=2 << 20, write_buffers=1 << 20, max_open_files=64)
"""One family is read from beginning to end."""


class Part(msgspec.Struct, frozen=True):
    """What one agent contributes: its crawl folder, or (a lost agent) its last snapshot.

    Attributes:
        agent: its name.
        folder: of its crawl, which is not running.
        snapshot: counts instead of the folder; its archive files are fetched to `archive/AGENT/`. If it is
            damaged, the one before it counts.
    """

    agent: str
    folder: Path | None = None
    snapshot: int = 0


class Collected(msgspec.Struct, frozen=True):
    """What stands in the index.

    Attributes:
        captures: lines.
        pages: URLs.
        doubled: URLs captured by more than one agent.
        doubles: the first hundred of them.
        problems: snapshots that cannot be collected, in words for operators.
    """

    captures: int
    pages: int
    doubled: int
    doubles: tuple[str, ...]
    problems: tuple[str, ...] = ()


def collect(parts: Iterable[Part], target: Path, store: Store | None = None) -> Collected:
    """Write `target/index.cdxj` over the archives of all `parts`, in bounded memory.

    The `filename` of a line is the path of the archive file from `target` on, so that whoever serves `target`
    finds it. Archive files of snapshots that were fetched before are not fetched again.

    Args:
        store: where the snapshots are; needed if a part is one.

    Raises:
        StorageError: a part cannot be read, or the disk refuses.
        ConfigError: a part is a snapshot, and there is no store.
    """
    scratch = target / "tmp" / "collecting"
    try:
        shutil.rmtree(scratch, ignore_errors=True)
        scratch.mkdir(parents=True)
        lines = BigSort(scratch, "lines", SORTED_AT_ONCE)
        problems: list[str] = []
        for part in parts:
            for line in _lines(part, target, store, scratch / "part", problems.append):
                lines.add(line)
        census = _Census()
        write_index(census.counted(lines), target / INDEX)
    except OSError as error:
        raise StorageError(f"{target}: cannot be written ({error.strerror}). Free some space.") from None
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    return msgspec.structs.replace(census.result(), problems=tuple(problems))


def _lines(
    part: Part, target: Path, store: Store | None, scratch: Path, tell: Callable[[str], None]
) -> Iterator[bytes]:
    """Lines of one agent, with the paths of its archive files."""
    if not part.snapshot:
        if part.folder is None:
            raise ConfigError(f"{part.agent}: has neither a folder nor a snapshot to be collected from.")
        folder = CrawlFolder(part.folder)
        yield from _rewritten(folder.state, folder.archive, target)
        return
    if store is None:
        raise ConfigError(f"{part.agent}: is to be collected from a snapshot. Name the snapshot store.")
    archive = target / "archive" / part.agent
    if _fetched(store, part, archive, scratch, tell):
        try:
            yield from _rewritten(scratch, archive, target)
        finally:
            shutil.rmtree(scratch, ignore_errors=True)


def _fetched(store: Store, part: Part, archive: Path, state: Path, tell: Callable[[str], None]) -> bool:
    """Fetch the newest snapshot of a part that is whole; `False` if none is."""
    older = [number for number in ids(store, part.agent) if number < part.snapshot]
    for number in (part.snapshot, *reversed(older)):
        try:
            manifest = read(store, part.agent, number)
            fetch_archive(store, manifest, archive)
            fetch_state(store, manifest, state)
        except (DamagedError, MissingError) as error:
            shutil.rmtree(state, ignore_errors=True)
            tell(
                f"snapshot {number} of {part.agent}, which is lost, cannot be collected ({error}): "
                "pages that only it has do not stand in the index, though they count as fetched. If there is "
                "a copy of the store, put it back and collect again by 'gossamer cluster resume'."
            )
        else:
            return True
    return False


def _rewritten(state: Path, archive: Path, target: Path) -> Iterator[bytes]:
    environment = Environment.open_read_only(state, _PASSING)
    try:
        paths = {}
        for file in archive_files(environment):
            opened = archive / (file.name + OPEN_SUFFIX)
            path = opened if opened.exists() else archive / file.name
            paths[file.name] = os.path.relpath(path, target)
        for _, data in environment.scan(Family.CAPTURES):
            yield moved_capture(data, paths[read_capture(data).filename])
    finally:
        environment.close()


class _Census:
    """Counts lines and URLs as they pass in order."""

    def __init__(self) -> None:
        self._captures = self._pages = self._doubled = 0
        self._doubles: list[str] = []

    def counted(self, lines: Iterable[bytes]) -> Iterator[bytes]:
        """The same lines, counted as they go by."""
        for _, group in groupby(lines, key=lambda line: line[: line.index(b" ")]):
            # Those of one sort key: a URL, with others that are spelt nearly like it.
            finders: dict[str, str] = {}
            doubled: set[str] = set()
            for text in group:
                self._captures += 1
                line = read_capture(text)
                folder = line.filename.rpartition("/")[0]
                if finders.setdefault(line.url, folder) != folder:
                    doubled.add(line.url)
                yield text
            self._pages += len(finders)
            self._doubled += len(doubled)
            self._doubles += sorted(doubled)[: MOST_NAMED - len(self._doubles)]

    def result(self) -> Collected:
        """The sums over all agents' archives."""
        return Collected(self._captures, self._pages, self._doubled, tuple(self._doubles))
