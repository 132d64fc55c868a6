"""One archive file while it is being written."""

import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Literal

from gossamer.archive.placement import ArchiveFile
from gossamer.model.errors import StorageError
from gossamer.state.whole_files import sync_directory

SUFFIX = ".warc.gz"
"""Of every archive file; whatever in the folder has it is ours."""
OPEN_SUFFIX = ".open"

FaultPoint = Callable[[str], None]
"""Called with the name of each state in which a crash must do no harm; tests die there."""


def no_fault(name: str) -> None:
    """The fault point of ordinary runs, at which nothing dies."""


class WritingFile:
    """A file named `*.open` on disk, until it is finished.

    Invariant: the file on disk is exactly `length` bytes of whole gzip members whenever no method runs,
    unless a method was killed; then at least that.
    """

    __slots__ = ("_descriptor", "_directory", "_fault_point", "_synced_name", "length", "name", "serial",
                 "warcinfo_id")  # fmt: skip

    def __init__(self, directory: Path, entry: ArchiveFile, fault_point: FaultPoint) -> None:
        """Open the file of `entry`: a new one if its length is 0, else one that `recover` has cut."""
        self.name = entry.name
        self.serial = entry.serial
        self.warcinfo_id = entry.warcinfo_id
        self.length = entry.length
        self._directory = directory
        self._fault_point = fault_point
        self._synced_name = entry.length > 0
        flags = os.O_WRONLY | os.O_CLOEXEC | (0 if entry.length else os.O_CREAT | os.O_EXCL)
        try:
            self._descriptor = os.open(self.path, flags, 0o644)
        except OSError as error:
            raise StorageError(
                f"cannot open {self.path}: {error.strerror}. See that the folder is writable, then resume"
            ) from error

    @property
    def path(self) -> Path:
        """Where the file stands until it is finished."""
        return self._directory / (self.name + OPEN_SUFFIX)

    def entry(self, state: Literal["open", "closed"] = "open") -> ArchiveFile:
        """The file as the state should keep it now."""
        return ArchiveFile(self.name, self.length, state, self.serial, self.warcinfo_id)

    def append(self, pieces: Iterable[bytes]) -> None:
        """Write all `pieces` or nothing: on any error the file is cut back to where it was.

        Raises:
            StorageError: the system does not take the bytes (full, quota, broken), or `pieces` raised it.
        """
        end = self.length
        try:
            for piece in pieces:
                view = memoryview(piece)
                while view:
                    written = os.pwrite(self._descriptor, view, end)
                    end += written
                    view = view[written:]
                self._fault_point("archive.append.piece")
        except OSError as error:
            self._cut_back()
            raise StorageError(
                f"cannot write {self.path}: {error.strerror}. Make room (or raise the quota), then resume"
            ) from error
        except BaseException:
            self._cut_back()
            raise
        self.length = end

    def _cut_back(self) -> None:
        try:
            os.ftruncate(self._descriptor, self.length)
        except OSError as error:
            raise StorageError(
                f"cannot cut {self.path} back to {self.length} bytes: {error.strerror}. "
                "Resume does it when the disk works again"
            ) from error

    def sync(self) -> None:
        """Bring the file, and its name, to the disk; blocks as long as the disk takes."""
        try:
            os.fsync(self._descriptor)
            if not self._synced_name:
                sync_directory(self._directory)
        except OSError as error:
            raise StorageError(
                f"cannot sync {self.path}: {error.strerror}. Check the disk; then go back to the last "
                "checkpoint with resume --from-checkpoint"
            ) from error
        self._synced_name = True

    def finish(self) -> ArchiveFile:
        """Sync the file, give it its final name and close it."""
        self._fault_point("archive.rotate.before_sync")
        self.sync()
        self._fault_point("archive.rotate.before_rename")
        give_final_name(self._directory, self.name)
        self._fault_point("archive.rotate.after_rename")
        self.close()
        return self.entry("closed")

    def close(self) -> None:
        """Let go of the file and leave its name."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    def discard(self) -> None:
        """Close and remove a file that holds no record of a visit."""
        self.close()
        self.path.unlink(missing_ok=True)


def give_final_name(directory: Path, name: str) -> None:
    """Rename `name.open` to `name`, on disk when this returns."""
    try:
        (directory / (name + OPEN_SUFFIX)).rename(directory / name)
        sync_directory(directory)
    except OSError as error:
        raise StorageError(
            f"cannot rename {directory / name}{OPEN_SUFFIX}: {error.strerror}. "
            "See that the folder is writable, then resume"
        ) from error
