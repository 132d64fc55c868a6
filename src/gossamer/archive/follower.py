"""Follows an archive: its records in their order, as far as they are committed, from a mark on.

For whatever is derived from the archive (text, tables, an index) beside a crawl that goes on, or after it.
A follower keeps the mark of the last record that it is done with, in the same commit as what it made of the
record, and begins there again after any end; then it has had each record once. No record is given before the
crawl has committed it, so that no kill of the crawl takes one back. Where the operator goes back to a
checkpoint, or a power failure takes commits away, the follower is told (`Rewound`) from which place on
records are no longer those that it was given. It holds one record's head and 256 KiB of its payload at most.
"""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO

import msgspec

from gossamer.archive.committed import Committed
from gossamer.archive.placement import ArchiveFile
from gossamer.archive.reader import open_archive_file
from gossamer.archive.record_head import MAIN_KINDS, RecordHead
from gossamer.archive.scan import Member, OpenedRecord, next_record
from gossamer.model.errors import StorageError

__all__ = [
    "KEPT", "KEPT_ANEW", "START", "FollowedRecord", "Follower", "Mark", "Rewound", "Unreadable", "kept_mark",
    "standing",
]  # fmt: skip

KEPT = "mark.json"
"""The file in a follower's folder whose first line is JSON with its `mark`, beside whatever else it commits."""
KEPT_ANEW = "mark.new.json"
"""The same of what is made anew beside what was made before, until it tells all and becomes `KEPT`."""


class Mark(msgspec.Struct, frozen=True, array_like=True):
    """A place between two records. Marks of one history are ordered by `place`.

    Attributes:
        serial: of the archive file.
        offset: in the file, bytes; all that stands before it is done.
        history: of the archive (`Cut.history`).
    """

    serial: int = 0
    offset: int = 0
    history: str = ""

    @property
    def place(self) -> tuple[int, int]:
        """What marks are ordered by, and what derived data is to be kept under: (serial, offset)."""
        return self.serial, self.offset


START = Mark()
"""Before the first record of any archive."""


class Rewound(msgspec.Struct, frozen=True):
    """Records from `to` on are no longer those that were given: what was made of them is to be dropped."""

    to: Mark


class Unreadable(msgspec.Struct, frozen=True):
    """Bytes of the archive that hold no readable record, passed over; `after` is the mark to keep."""

    file: str
    offset: int
    text: str
    after: Mark


class FollowedRecord(RecordHead):
    """A record whose head is read. Its payload streams by once, before the next record is asked for.

    Attributes:
        file: final name of the archive file.
        serial, offset: of the file, and of the record's gzip member in it, bytes.
        fields: the WARC fields.
        http_head: the stored HTTP head with its empty line; empty for records without one.
        damage: why the record could not be read to its end; empty if it could, or was not yet.
    """

    def __init__(self, stream: BinaryIO, file: ArchiveFile, offset: int, history: str) -> None:
        """Read its head.

        Raises:
            StorageError: no readable record begins there.
        """
        self.file, self.serial, self.offset = file.name, file.serial, offset
        self._stream, self._end, self._history = stream, file.length, history
        self._member = Member(stream, offset, file.length)
        self._record = OpenedRecord(self._member)
        self.fields, self.http_head = self._record.fields, self._record.http_head
        self.damage = ""
        self._after: Mark | None = None

    def payload(self) -> Iterator[bytes]:
        """What follows the HTTP head, content codings as they came, in pieces of at most 256 KiB.

        Raises:
            StorageError: it cannot be read to its end.
        """
        return self._record.payload()

    def first(self, size: int) -> bytes | None:
        """The first `size` bytes of the payload, or all of it; what follows is not kept in memory.

        `None` if it is damaged before that: the records after it are none the worse.
        """
        kept: list[bytes] = []
        try:
            for piece in self.payload():
                kept.append(piece[:size])
                size -= len(kept[-1])
                if not size:
                    break
        except StorageError:
            return None
        return b"".join(kept)

    def finish(self) -> Mark:
        """Pass over what was not read of it. The mark to keep when the record is done."""
        if self._after is None:
            try:
                self._record.rest()
                self.damage = "; ".join(self._record.problems)
                if not self._member.length:
                    raise StorageError("the gzip member was not read to its end")
                end = self.offset + self._member.length
            except StorageError as error:
                self.damage = str(error)
                end = next_record(self._stream, self.offset + 1, self._end)
            self._after = Mark(self.serial, end, self._history)
        return self._after


class Follower:
    """Gives the records of an archive from a mark on. One caller at a time."""

    def __init__(
        self,
        directory: Path,
        look: Callable[[], Committed],
        mark: Mark = START,
        kinds: frozenset[str] = MAIN_KINDS,
    ) -> None:
        """Args:
        directory: of the archive.
        look: how far it is committed by now, for instance `committed` of a state opened for reading.
        mark: what was kept last.
        kinds: of the records that are given; the others are passed over.
        """
        self._directory = directory
        self._look = look
        self._kinds = kinds
        self.mark = mark
        """Behind the last record that was given and is done with, or was passed over."""

    @property
    def archive(self) -> str:
        """The name of the archive (`Committed.name`) by now.

        Raises:
            StorageError: the state cannot be read.
        """
        return self._look().name

    def read(self) -> Iterator[FollowedRecord | Rewound | Unreadable]:
        """What is committed by now and was not given yet; to be called again for what comes later.

        Asking for the next one says that the last is done with.

        Raises:
            StorageError: the state or a file cannot be read.
        """
        view = self._look()
        before, self.mark = self.mark, standing(self.mark, view)
        if self.mark.place < before.place:
            yield Rewound(self.mark)
        for file in view.files:
            if file.serial > self.mark.serial:
                self.mark = Mark(file.serial, 0, view.history)
            if file.serial == self.mark.serial and self.mark.offset < file.length:
                yield from self._of_file(file)

    def _of_file(self, file: ArchiveFile) -> Iterator[FollowedRecord | Unreadable]:
        history = self.mark.history
        try:
            stream = open_archive_file(self._directory, file.name)
        except FileNotFoundError as error:
            if file.state == "open":
                raise StorageError(f"{self._directory / file.name}: {error.strerror}") from error
            start, self.mark = self.mark.offset, Mark(file.serial, file.length, history)
            yield Unreadable(file.name, start, "is not in the folder; it was moved away", self.mark)
            return
        except OSError as error:
            raise StorageError(f"{self._directory / file.name}: {error.strerror}") from error
        with stream:
            while self.mark.offset < file.length:
                offset = self.mark.offset
                try:
                    record = FollowedRecord(stream, file, offset, history)
                except StorageError as error:
                    self.mark = Mark(file.serial, next_record(stream, offset + 1, file.length), history)
                    yield Unreadable(file.name, offset, str(error), self.mark)
                    continue
                if record.kind in self._kinds:
                    yield record
                self.mark = record.finish()


class _Kept(msgspec.Struct):
    mark: Mark = START


def kept_mark(folder: Path) -> Mark | None:
    """How far a follower has come that keeps its mark in `folder`; `None` if it has not begun, or that is damaged."""
    try:
        content = (folder / KEPT).read_bytes().partition(b"\n")[0]
        return msgspec.json.decode(content, type=_Kept).mark
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError):
        return None


def standing(mark: Mark, view: Committed) -> Mark:
    """The mark, or the earlier place up to which the archive is still what it was."""
    histories = [cut.history for cut in view.cuts]
    since = histories.index(mark.history) + 1 if mark.history in histories else 0
    places = [(cut.serial, cut.length) for cut in view.cuts[since:]]
    last = view.files[-1] if view.files else None
    places.append((last.serial, last.length) if last is not None else START.place)
    return Mark(*min(mark.place, *places), view.history)
