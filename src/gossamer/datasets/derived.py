"""Tables of what documents say, as files in a crawl's folder that are committed together.

`documents/` holds numbered parts, each a Parquet file for each table, and `mark.json`: which parts count, and up
to which place of the archive they tell. A part that the mark does not name was never committed, and goes when
somebody writes next; so a kill costs what was read since the last commit, and the folder can be deleted at
any time. Parts that were merged into a larger one go at once, unless somebody said that he opens them by name
(`being_read`); other readers look again. Tables that are made anew by other settings have a mark of their own, in
`mark.new.json`, until they tell of all that is in the archive: only then does it take the place of the other.
"""

import contextlib
import fcntl
import hashlib
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import accumulate
from pathlib import Path
from typing import Any

import msgspec
import xxhash

from gossamer.archive.follower import KEPT, KEPT_ANEW, START, Mark
from gossamer.assembly.folder_lock import lock_folder
from gossamer.datasets.parquet import needed, parquet_writer, write_table
from gossamer.datasets.tables import DERIVED, Table
from gossamer.model.command_line import command_line
from gossamer.model.errors import StorageError
from gossamer.state.whole_files import sync_file, write_whole

FOLDER = "documents"
VERSION = 1
_READERS = "readers"
"""The file that readers lock together, and who removes parts alone."""
_MERGED_AT = 8
"""Small parts that are merged into one, at least."""
_SMALL = 20_000
"""Rows of documents up to which a part is small."""
_PIECE = 1 << 20


class DamagedTables(StorageError):  # noqa: N818 (what it says is what it is)
    """A file of the tables cannot be read; they can be made anew from the archive.

    Attributes:
        what: the message, without what to do.
    """

    def __init__(self, path: Path, fault: object) -> None:
        """`path`: `documents/` of a crawl, or a file there."""
        crawl = path.parent if path.name == FOLDER else path.parent.parent
        reason = " ".join(str(fault).split())[:300]
        self.what = f"{path}: cannot be read ({reason})"
        super().__init__(f"{self.what}. '{command_line('index', crawl)}' makes it anew.")


class Part(msgspec.Struct, frozen=True):
    """One part.

    Attributes:
        number: in the names of its files.
        documents: rows of the first table.
        digests: of the content of its files, in the order of the tables; parts of earlier versions have none.
    """

    number: int
    documents: int
    digests: tuple[str, ...] = ()


class State(msgspec.Struct, frozen=True, kw_only=True):
    """What is committed.

    Attributes:
        version: of the columns; others are made anew.
        made_of: the settings that decide what is derived; what was made by others is made anew.
        archive: name of the one that was read (`Committed.name`); empty if nothing was, or an earlier version did.
        mark: place in the archive up to which the parts tell.
        parts: in their order.
        next: number of the next part.
        documents: read so far.
        seconds: of the clock spent on them, all sessions together.
        marked: how many documents bear each mark.
    """

    version: int = VERSION
    made_of: str = ""
    archive: str = ""
    mark: Mark = START
    parts: tuple[Part, ...] = ()
    next: int = 0
    documents: int = 0
    seconds: float = 0.0
    marked: dict[str, int] = {}

    @property
    def source(self) -> str:
        """By what these tables are told from others, for whoever derives from them: archive and settings."""
        return f"{self.archive} {self.made_of}"


def state_of(folder: Path, name: str = KEPT) -> State | None:
    """What is committed in `documents/` of a crawl; `None` if nothing is, or it is damaged or of another
    version."""
    try:
        state = msgspec.json.decode((folder / name).read_bytes(), type=State)
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError):
        return None
    return state if state.version == VERSION else None


def files_of(folder: Path) -> dict[str, list[Path]]:
    """The committed files of each table; nothing if there are none."""
    state = state_of(folder)
    if state is None or not state.parts:
        return {}
    return {table.name: [_path(folder, table, part.number) for part in state.parts] for table in DERIVED}


def discard(folder: Path) -> None:
    """Forget what is committed: whoever writes next makes it anew, from the archive.

    Raises:
        StorageError: the disk refuses.
    """
    try:
        for name in (KEPT_ANEW, KEPT):
            (folder / name).unlink(missing_ok=True)
    except OSError as error:
        raise StorageError(f"{folder / KEPT}: cannot be removed ({error.strerror})") from error


@contextlib.contextmanager
def being_read(folders: Iterable[Path]) -> Iterator[None]:
    """While the files that the tables in these folders have now are not removed, though they be merged.

    For whoever opens them by name later than the mark was read.
    """
    with contextlib.ExitStack() as held:
        for folder in folders:
            with contextlib.suppress(OSError):  # no tables yet, or a file system that knows no locks
                descriptor = os.open(folder / _READERS, os.O_RDONLY | os.O_CLOEXEC)
                held.callback(os.close, descriptor)
                fcntl.flock(descriptor, fcntl.LOCK_SH)
        yield


def _path(folder: Path, table: Table, number: int) -> Path:
    return folder / f"{table.name}-{number:06d}.parquet"


class Store:
    """Writes the parts. One process at a time."""

    def __init__(self, folder: Path, made_of: str) -> None:
        """Open the folder, made if it is not there; what no commit names goes. What was made by other settings stays
        until `publish`.

        Raises:
            Busy: another process writes here.
            ConfigError: the extra is not installed, or the folder is somebody else's.
            DamagedTables: a file is not what was written.
            StorageError: the disk refuses.
        """
        needed()
        self._folder = folder
        self._readers = -1
        self._lock = lock_folder(folder, "makes these tables")
        self._last: State | None = None
        """What readers have while all is made anew."""
        held = state_of(folder)
        if held is not None and held.made_of != made_of:
            self._last, held = held, state_of(folder, KEPT_ANEW)
        if held is None or held.made_of != made_of:
            held = State(made_of=made_of, next=self._last.next if self._last else 0)
        self.state = held
        try:
            self._readers = os.open(folder / _READERS, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            self._clear()
            self._prove()
        except OSError as error:
            self.close()
            raise StorageError(f"{folder}: cannot be written ({error.strerror}). Free some space.") from error
        except DamagedTables:
            self.close()
            raise

    def close(self) -> None:
        """Let other processes write here."""
        if self._readers >= 0:
            with contextlib.suppress(OSError):
                self._clear()
            os.close(self._readers)
            self._readers = -1
        os.close(self._lock)

    def commit(
        self,
        rows: Mapping[str, Sequence[object]],
        mark: Mark,
        seconds: float,
        marks: Iterable[str],
        archive: str = "",
    ) -> None:
        """Add a part with rows of each table, and the place in the archive, of that name, up to which they tell.

        Raises:
            StorageError: the disk refuses; nothing was added.
        """
        state, count = self.state, len(rows[DERIVED[0].name])
        marked = dict(state.marked)
        for one in marks:
            marked[one] = marked.get(one, 0) + 1
        parts = state.parts
        if any(rows.values()):
            for table in DERIVED:
                write_table(table, rows[table.name], _path(self._folder, table, state.next))
            parts = (*parts, self._part(state.next, count))
        self._keep(
            msgspec.structs.replace(
                state,
                archive=archive,
                mark=mark,
                parts=parts,
                next=state.next + (parts != state.parts),
                documents=state.documents + count,
                seconds=round(state.seconds + seconds, 3),
                marked=marked,
            )
        )
        self._merge()

    @property
    def is_anew(self) -> bool:
        """Whether readers have something else until `publish`."""
        return self._last is not None

    def publish(self) -> None:
        """All that is in the archive is told: if it was made anew, let it take the place of what was there.

        Raises:
            StorageError: the disk refuses.
        """
        if self._last is not None:
            self._last = None
            self._keep(self.state)
            self._clear()

    def rewind(self, mark: Mark) -> None:
        """Drop what was made of records from `mark` on: the archive has others there now.

        Raises:
            StorageError: the disk refuses.
        """
        self._rewrite(self.state.parts, mark, only_before=True)

    def _merge(self) -> None:
        """Make one of the small parts at the end, once there are many.

        A part is written anew only with others that have as many documents together: so each document is
        written some log2(_SMALL / ROWS) times, however many parts come.
        """
        small: list[Part] = []
        for part in reversed(self.state.parts):
            if part.documents > _SMALL:
                break
            small.append(part)
        behind = accumulate((part.documents for part in small), initial=0)
        wanted = 0
        for number, (part, others) in enumerate(zip(small, behind, strict=False), 1):
            if number >= _MERGED_AT and part.documents <= others:
                wanted = number
        if wanted:
            self._rewrite(tuple(reversed(small[:wanted])), self.state.mark, only_before=False)

    def _rewrite(self, parts: tuple[Part, ...], mark: Mark, *, only_before: bool) -> None:
        """Write parts anew as one, with what stands before `mark` or all of it."""
        arrow, state = needed(), self.state
        from pyarrow import compute, dataset

        number, documents = state.next, 0
        for table in DERIVED:
            paths = [str(_path(self._folder, table, part.number)) for part in parts]
            if not paths:
                break
            where = None
            if only_before:
                serial, offset = mark.place
                where = (compute.field("serial") < serial) | (
                    (compute.field("serial") == serial) & (compute.field("offset") < offset)
                )
            partial = _path(self._folder, table, number).with_suffix(".partial")
            count = 0
            try:
                found = dataset.dataset(paths, format="parquet")
                with parquet_writer(partial, found.schema) as out:
                    for batch in found.to_batches(filter=where, batch_size=5_000):
                        if batch.num_rows:
                            out.write_table(arrow.Table.from_batches([batch]))
                            count += batch.num_rows
                sync_file(partial)
                partial.replace(_path(self._folder, table, number))
            except (arrow.ArrowException, OSError) as error:
                partial.unlink(missing_ok=True)
                missing = isinstance(error, FileNotFoundError)
                if not missing and isinstance(error, OSError) and error.strerror:
                    raise StorageError(
                        f"{self._folder}: cannot be written ({error.strerror}). Free some space."
                    ) from error
                raise DamagedTables(self._folder, error) from error
            if table is DERIVED[0]:
                documents = count
        others = tuple(part for part in state.parts if part not in parts)
        lost = sum(part.documents for part in parts) - documents
        self._keep(
            msgspec.structs.replace(
                state,
                mark=mark,
                parts=(*others, self._part(number, documents)) if documents else others,
                next=number + 1,
                documents=state.documents - lost,
            )
        )
        self._clear()

    def _keep(self, state: State) -> None:
        """Commit.

        Raises:
            StorageError: the disk refuses.
        """
        write_whole(self._folder / (KEPT if self._last is None else KEPT_ANEW), msgspec.json.encode(state))
        self.state = state

    def _part(self, number: int, documents: int) -> Part:
        try:
            digests = tuple(_digest(_path(self._folder, table, number)) for table in DERIVED)
        except OSError as error:
            raise StorageError(f"{self._folder}: cannot be read ({error.strerror}).") from error
        return Part(number, documents, digests)

    def _prove(self) -> None:
        """Read all files once; who reads single rows of them later does not see what is damaged elsewhere."""
        for part in self.state.parts:
            for table, digest in zip(DERIVED, part.digests, strict=False):
                path = _path(self._folder, table, part.number)
                try:
                    if _digest(path) != digest:
                        raise DamagedTables(path, "its content has changed")
                except OSError as error:
                    raise DamagedTables(path, error.strerror) from error

    def _clear(self) -> None:
        """Remove what no commit names, unless somebody may be about to open it."""
        try:
            fcntl.flock(self._readers, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return
        except OSError:  # a file system that knows no locks
            pass
        try:
            states = [self.state] if self._last is None else [self.state, self._last]
            named = {part.number for state in states for part in state.parts}
            for path in self._folder.iterdir():
                gone = path.name == KEPT_ANEW and self._last is None
                if (
                    gone
                    or path.suffix == ".partial"
                    or (path.suffix == ".parquet" and _number(path) not in named)
                ):
                    with contextlib.suppress(OSError):
                        path.unlink()
        finally:
            with contextlib.suppress(OSError):
                fcntl.flock(self._readers, fcntl.LOCK_UN)


def _number(path: Path) -> int:
    digits = path.stem.rpartition("-")[2]
    return int(digits) if digits.isdigit() else -1


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, xxhash.xxh3_64).hexdigest()


def rows_of(folder: Path, table: str, columns: Sequence[str] | None = None) -> Iterator[dict[str, Any]]:
    """The committed rows of a table, some thousand in memory at a time."""
    from pyarrow import dataset

    paths = files_of(folder).get(table, [])
    if not paths:
        return
    for batch in dataset.dataset([str(path) for path in paths], format="parquet").to_batches(columns=columns):
        yield from batch.to_pylist()
