"""Appends the records of visits to archive files."""

import os
import re
import threading
import time
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path

from isal import igzip_lib, isal_zlib

from gossamer.archive.config import ArchiveConfig
from gossamer.archive.file import SUFFIX, FaultPoint, WritingFile, no_fault
from gossamer.archive.head import HeadStore
from gossamer.archive.placement import ArchiveFile, Original, Placed
from gossamer.archive.records import Pairs, Record, RecordBuilder, Visit, Warcinfo
from gossamer.archive.recovery import recover
from gossamer.archive.stamps import timestamp17
from gossamer.model.errors import InternalError, StorageError
from gossamer.model.exchange import Exchange
from gossamer.model.name import Answer

FORMAT_FIELDS = (
    ("format", "WARC File Format 1.1"),
    ("conformsTo", "http://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/"),
)

_GZIP_WINDOW = 31  # zlib's way to ask for a gzip container


class ArchiveWriter:
    """The archive of one agent, written by one caller at a time.

    How to use it with the state::

        if writer.rotate_due:
            writer.rotate()
        placed = [writer.append(exchange, fields) for ...]
        batch.put(... writer.positions() ...)
        batch.commit()
        writer.committed()

    **Why nothing is lost or doubled.** The state's list of files is the truth and the folder follows it
    (`recover`, at start). What `append` returned has reached the system, so after `kill -9` at any point:

    - *in or after `append`, before the commit*: bytes behind the committed length are cut off, a file
      that was created since is removed. The visits were not settled, so they are made again.
    - *after the commit*: the length covers the records; they stay, and the visits are settled.
    - *in `rotate`, before the rename*: the file is still `*.open` and still known as open; it goes on.
    - *in `rotate`, after the rename*: the file is known as open but has its final name; it is closed.
      Everything in it was committed, since rotation is between a commit and the next `append`.
      (If it is not, what was not committed is cut off as above.)
    - *the new file*: is unknown until the commit that holds its first records; that commit also says
      that the old one is closed.

    - *in `recover`*: each of its steps may be done again.

    After a power failure the system may have kept the state's log but not the archive's bytes; `recover`
    then says so, and the last checkpoint, before which `sync` was called, is whole.
    """

    def __init__(
        self, directory: Path, config: ArchiveConfig, info: Pairs, fault_point: FaultPoint = no_fault
    ) -> None:
        """Call `open` instead."""
        self.repairs: list[str] = []
        self._directory = directory
        self._config = config
        self._info = (*info, *FORMAT_FIELDS)
        if config.operator:
            self._info = (("operator", config.operator), *self._info)
        self._fault_point = fault_point
        self._heads = HeadStore(config.redact)
        self._next_serial = 0
        self._file: WritingFile | None = None
        self._builder: RecordBuilder | None = None
        self._changed: dict[str, ArchiveFile] = {}
        self._in_use = threading.Lock()

    @classmethod
    def open(
        cls,
        directory: Path,
        config: ArchiveConfig,
        info: Pairs,
        files: Iterable[ArchiveFile],
        fault_point: FaultPoint = no_fault,
    ) -> "ArchiveWriter":
        """Recover the folder and go on with the file that is open, if its warcinfo would still be the same.

        Args:
            directory: of the archive; made if missing. All `*.warc.gz` files in it are ours.
            config: settings.
            info: fields of the warcinfo record: `software`, `robots`, `http-header-user-agent`, `isPartOf`
                and so on (`operator`, `format` and `conformsTo` are added).
            files: what the state has, from `positions`.
            fault_point: for tests.

        Raises:
            StorageError: the folder cannot be used, or committed bytes are missing.
        """
        writer = cls(directory, config, info, fault_point)
        try:
            directory.resolve().mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise StorageError(
                f"cannot make {directory}: {error.strerror}. Choose a folder that is writable"
            ) from error
        recovery = recover(directory, files, fault_point)
        writer.repairs = recovery.repairs
        writer._changed = {entry.name: entry for entry in recovery.changed}
        writer._next_serial = max((entry.serial for entry in recovery.files), default=-1) + 1
        still_open = [entry for entry in recovery.files if entry.state == "open"]
        for entry in still_open:
            writer._use(WritingFile(directory, entry, fault_point))
            if entry is not still_open[-1] or writer._warcinfo(entry.name).record_id != entry.warcinfo_id:
                writer._finish()
        return writer

    # Appending

    def append(self, exchange: Exchange, fields: Pairs = (), refers_to: Original | None = None) -> Placed:
        """Append a visit's records: response (or revisit), request, metadata if there are `fields`, others.

        The bytes have reached the system when this returns. Bodies above 1 MiB are streamed, which takes
        about 2 ms a MiB: call it in a thread for those, still one call at a time.

        Args:
            exchange: what to keep.
            fields: of the metadata record: `via`, `hopsFromSeed`, `fetchTimeMs`, ...
            refers_to: makes it a revisit record: server-not-modified for status 304, else
                identical-payload-digest, and then the payload must be the same.

        Raises:
            StorageError: nothing of the visit is in the file.
        """
        with self._alone():
            builder = self._ready()
            return self._append(builder.visit(exchange, fields, refers_to))

    def append_dns(self, answer: Answer) -> Placed:
        """Append a `dns:` record of an answer that came from a name server."""
        with self._alone():
            return self._append(self._ready().dns(answer))

    def _append(self, visit: Visit) -> Placed:
        file = self._file
        assert file is not None
        offset = file.length
        self._fault_point("archive.append.before_write")
        main, *others = visit.records
        members = [_member(record, self._config.compression) for record in others]
        rest = b"".join(members)
        if main.body is None:
            member = _member(main, self._config.compression)
            length = len(member)
            file.append((member + rest,))
        else:
            counted = _Counted(_stream(main, self._config.compression))
            file.append(chain(counted, (rest,)))
            length = counted.size
        self._fault_point("archive.append")
        sizes = [length, *map(len, members)]
        further = [
            (
                one.url,
                one.media_type,
                Placed(
                    file.name,
                    offset + sum(sizes[: one.number]),
                    sizes[one.number],
                    file.serial,
                    "resource",
                    one.record_id,
                    visit.date,
                    one.sha256,
                ),
            )
            for one in visit.resources
        ]
        main_place = (
            file.name,
            offset,
            length,
            file.serial,
            visit.kind,
            visit.record_id,
            visit.date,
            visit.sha256,
        )
        return Placed(*main_place, tuple(further))

    def _ready(self) -> RecordBuilder:
        """The builder for the current file, which is made now if there is none."""
        if self._builder is not None:
            return self._builder
        now = time.time()
        host = re.sub("[^A-Za-z0-9-]", "-", os.uname().nodename.partition(".")[0])[:32] or "host"
        name = f"{self._config.prefix}-{timestamp17(now)}-{self._next_serial:05d}-{host}{SUFFIX}"
        warcinfo = self._warcinfo(name)
        entry = ArchiveFile(name, 0, "open", self._next_serial, warcinfo.record_id)
        file = WritingFile(self._directory, entry, self._fault_point)
        self._fault_point("archive.create")
        try:
            file.append((_member(warcinfo.record(now), self._config.compression),))
        except StorageError:
            file.discard()
            raise
        self._fault_point("archive.create.after_warcinfo")
        self._next_serial += 1
        return self._use(file)

    def _use(self, file: WritingFile) -> RecordBuilder:
        self._file = file
        self._builder = RecordBuilder(
            self._heads, file.warcinfo_id, include_requests=self._config.include_requests
        )
        return self._builder

    def _warcinfo(self, name: str) -> Warcinfo:
        return Warcinfo.of(name, self._info)

    # Committing

    def positions(self) -> list[ArchiveFile]:
        """Files to put into the batch that commits what was appended, each under its name."""
        open_file = [] if self._file is None else [self._file.entry()]
        return [*self._changed.values(), *open_file]

    def committed(self) -> None:
        """Say that the last `positions` are in the state; closed files are then not named again."""
        self._changed.clear()

    def sync(self) -> None:
        """Bring all that was appended to the disk, for a checkpoint. Blocks; may be called in a thread."""
        with self._alone():
            if self._file is not None:
                self._file.sync()

    # Rotation

    @property
    def rotate_due(self) -> bool:
        """Whether the current file has reached its size."""
        return self._file is not None and self._file.length >= self._config.max_file_size

    def rotate(self) -> None:
        """Finish the current file: synced, renamed, closed. To be called between a commit and an `append`.

        Blocks for as long as the disk takes to sync; may be called in a thread. The next `append` begins a
        new file; the next commit tells the state (`positions`).
        """
        with self._alone():
            self._finish()

    def _finish(self) -> None:
        file, self._file, self._builder = self._file, None, None
        if file is None:
            return
        try:
            self._changed[file.name] = file.finish()
        finally:
            file.close()

    def close(self) -> None:
        """End well: finish the current file. Commit `positions` afterwards."""
        self.rotate()

    def abandon(self) -> None:
        """End without finishing the current file, after an error or to go on with it later."""
        if self._file is not None:
            self._file.close()
        self._file = self._builder = None

    def _alone(self) -> "_Alone":
        return _Alone(self._in_use)


class _Alone:
    """Holds the writer for one call; a second call at the same time is an error of ours, not a wait."""

    __slots__ = ("_lock",)

    def __init__(self, lock: threading.Lock) -> None:
        self._lock = lock

    def __enter__(self) -> None:
        if not self._lock.acquire(blocking=False):
            raise InternalError("two calls of the archive writer at once")

    def __exit__(self, *_: object) -> None:
        self._lock.release()


def _member(record: Record, level: int) -> bytes:
    """A record whose bytes are at hand, as a gzip member."""
    return bytes(igzip_lib.compress(b"".join(record.pieces()), level, igzip_lib.COMP_GZIP))


def _stream(record: Record, level: int) -> Iterator[bytes]:
    """A record as the pieces of one gzip member, in bounded memory."""
    compressor = isal_zlib.compressobj(level, isal_zlib.DEFLATED, _GZIP_WINDOW)
    for piece in record.pieces():
        squeezed = compressor.compress(piece)
        if squeezed:
            yield squeezed
    yield compressor.flush()


class _Counted:
    """Counts the bytes of `pieces` as they pass."""

    __slots__ = ("_pieces", "size")

    def __init__(self, pieces: Iterator[bytes]) -> None:
        self._pieces = pieces
        self.size = 0

    def __iter__(self) -> "_Counted":
        return self

    def __next__(self) -> bytes:
        piece = next(self._pieces)
        self.size += len(piece)
        return piece
