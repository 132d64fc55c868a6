"""Where the files of a mirror go: a folder or a ZIP file. Nothing is written beside it."""

import contextlib
import fcntl
import filecmp
import os
import stat
import zipfile
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import BinaryIO, Protocol

from gossamer.mirror.table import MANIFEST, PARTIAL, START, TABLE
from gossamer.model.errors import ConfigError, StorageError
from gossamer.state.scratch import Scratch

__all__ = ["FolderPlace", "Place", "ZipPlace"]

_STORED = {
    "avif", "docx", "epub", "gif", "gz", "jpeg", "jpg", "m4a", "mov", "mp3", "mp4", "odp", "ods", "odt", "ogg", "png",
    "pptx", "webm", "webp", "woff", "woff2", "xlsx", "zip",
}  # fmt: skip
"""Extensions of what is packed already."""
_EARLIEST, _LATEST = 1980, 2107
"""Years that a ZIP file can tell."""


class Place(Protocol):
    """Takes files by their names in the mirror.

    Attributes:
        table: folder of the table of names.
    """

    table: Path

    def put(self, file: str, content: bytes, time: str, *, ours: bool) -> bool:
        """Write a file, unless it is there as it is to be; whether it was written.

        Args:
            file: its name.
            content: its bytes.
            time: of the capture; empty for the mirror's own files, which have none.
            ours: what is there by that name was written by an earlier run.

        Raises:
            StorageError: it cannot be written, or somebody else's file is there.
        """

    def put_lines(self, file: str, lines: Iterable[bytes]) -> None:
        """Write a file of the mirror's own, whose lines may be more than fit into memory.

        Raises:
            StorageError: it cannot be written.
        """

    def size(self, file: str) -> int | None:
        """Bytes of a file of an earlier run; `None` if it is not there."""

    def remove(self, file: str) -> bool:
        """Remove a file of an earlier run, and folders that are empty then; whether it was there."""

    def finish(self) -> None:
        """All is written: make it whole."""

    def close(self) -> None:
        """Let go of it, finished or not."""


class FolderPlace:
    """A folder. A file is written under another name first, so that it is whole or as before."""

    def __init__(self, root: Path) -> None:
        """Args:
        root: made if it is not there.

        Raises:
            ConfigError: something else is there.
            StorageError: it cannot be made.
        """
        self.table = self._root = root
        self._sure = ""
        try:
            root.mkdir(parents=True, exist_ok=True)
            if not (root / TABLE).exists() and any(root.iterdir()):
                raise ConfigError(
                    f"{root}: holds other files, and is no mirror. Give a folder that is empty or new."
                )
            if (root / TABLE).is_symlink():
                raise ConfigError(f"{root / TABLE}: is a symbolic link. Give a folder that is empty or new.")
        except FileExistsError:
            raise ConfigError(f"{root}: is no folder. Give one that is empty or new, or --zip.") from None
        except OSError as error:
            raise StorageError(f"{root}: cannot be made ({error.strerror}).") from error

    def put(self, file: str, content: bytes, time: str, *, ours: bool) -> bool:
        """Write a file as `Place.put` says."""
        path, partial = self._root / file, self._root / PARTIAL
        try:
            self._enter(file.rpartition("/")[0])
            there = _kind(path)
            if there is not None and not (ours and stat.S_ISREG(there.st_mode)):
                raise StorageError(
                    f"{path}: is there, and not from this mirror. Move it away, then run this again."
                )
            if there is not None and there.st_size == len(content) and path.read_bytes() == content:
                return False
            self._write([content])
            if time:
                seconds = datetime.fromisoformat(time).timestamp()
                os.utime(partial, (seconds, seconds))
            partial.replace(path)
        except OSError as error:
            raise _failed(path, error) from error
        return True

    def put_lines(self, file: str, lines: Iterable[bytes]) -> None:
        """Write lines as `Place.put_lines` says."""
        path, partial = self._root / file, self._root / PARTIAL
        try:
            self._write(lines)
            if (there := _kind(path)) is None or not stat.S_ISREG(there.st_mode) or not _same(partial, path):
                partial.replace(path)
        except OSError as error:
            raise _failed(path, error) from error

    def _write(self, pieces: Iterable[bytes]) -> None:
        partial = self._root / PARTIAL
        partial.unlink(missing_ok=True)  # may be a link by now
        with partial.open("xb") as out:
            out.writelines(pieces)

    def size(self, file: str) -> int | None:
        """Bytes of a file, as `Place.size` says."""
        path = self._root / file
        there = _kind(path) if self._is_inside(path.parent) else None
        return there.st_size if there is not None and stat.S_ISREG(there.st_mode) else None

    def remove(self, file: str) -> bool:
        """Remove a file as `Place.remove` says."""
        path = self._root / file
        self._sure = ""
        try:
            if (
                not self._is_inside(path.parent)
                or (there := _kind(path)) is None
                or not stat.S_ISREG(there.st_mode)
            ):
                return False
            path.unlink()
        except OSError as error:
            raise StorageError(f"{path}: cannot be removed ({error.strerror}).") from error
        for folder in path.parents:
            if folder == self._root:
                break
            try:
                folder.rmdir()
            except OSError:
                break  # something else is in it
        return True

    def finish(self) -> None:
        """As `Place.finish`: each file was whole when it was written."""

    def close(self) -> None:
        """Remove what is not whole."""
        with contextlib.suppress(OSError):
            (self._root / PARTIAL).unlink(missing_ok=True)

    def _enter(self, folder: str) -> None:
        """Make a folder; a link in its place leads who knows where.

        Raises:
            StorageError: something else is there.
        """
        if not folder or folder == self._sure:
            return
        path = self._root
        for part in folder.split("/"):
            path /= part
            there = _kind(path)
            if there is None:
                path.mkdir()
            elif not stat.S_ISDIR(there.st_mode):
                raise StorageError(f"{path}: is no folder of this mirror. Move it away, then run this again.")
        self._sure = folder

    def _is_inside(self, folder: Path) -> bool:
        while folder != self._root:
            there = _kind(folder)
            if there is None or not stat.S_ISDIR(there.st_mode):
                return False
            folder = folder.parent
        return True


def _same(one: Path, other: Path) -> bool:
    return filecmp.cmp(one, other, shallow=False)


def _failed(path: Path, error: OSError) -> StorageError:
    return StorageError(
        f"{path}: cannot be written ({error.strerror}). Free some space; the same command goes on."
    )


def _kind(path: Path) -> os.stat_result | None:
    """What is there by that name, a link as itself."""
    try:
        return path.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return None


class ZipPlace:
    """A ZIP file, written beside its name and put there when it is whole. The same files make the same bytes."""

    def __init__(self, path: Path) -> None:
        """Args:
        path: of the ZIP file; one of a mirror is replaced.

        Raises:
            ConfigError: something else is there.
            StorageError: it cannot be written.
        """
        if path.is_symlink() or (path.exists() and not _is_mirror(path)):
            raise ConfigError(f"{path}: is there, and is no ZIP file of a mirror. Give another name.")
        self._path, self._partial = path, path.with_name(path.name + ".partial")
        self._scratch = Scratch()
        self.table = Path(self._scratch.name)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._out = _alone(self._partial)
        except OSError as error:
            self._scratch.cleanup()
            if isinstance(error, BlockingIOError):
                raise ConfigError(f"{path}: another mirror is being written here; wait for it.") from None
            raise StorageError(f"{self._partial}: cannot be written ({error.strerror}).") from error
        self._zip = zipfile.ZipFile(self._out, "w", zipfile.ZIP_DEFLATED, compresslevel=6)

    def put(self, file: str, content: bytes, time: str, *, ours: bool) -> bool:  # noqa: ARG002 (nothing is there)
        """Write a file as `Place.put` says."""
        member = _member(file, time)
        packed = file.rpartition(".")[2].lower() in _STORED
        try:
            self._zip.writestr(member, content, zipfile.ZIP_STORED if packed else zipfile.ZIP_DEFLATED)
        except OSError as error:
            raise _failed(self._partial, error) from error
        return True

    def put_lines(self, file: str, lines: Iterable[bytes]) -> None:
        """Write lines as `Place.put_lines` says."""
        member = _member(file, "")
        member.compress_type = zipfile.ZIP_DEFLATED
        try:
            with self._zip.open(member, "w", force_zip64=True) as out:
                out.writelines(lines)
        except OSError as error:
            raise _failed(self._partial, error) from error

    def size(self, file: str) -> int | None:  # noqa: ARG002
        """As `Place.size`: it has nothing of an earlier run."""
        return None

    def remove(self, file: str) -> bool:  # noqa: ARG002
        """As `Place.remove`: it has nothing of an earlier run."""
        return False

    def finish(self) -> None:
        """As `Place.finish`; a file with the same bytes stays."""
        try:
            self._zip.close()
            self._out.flush()
            if self._path.exists() and _same(self._partial, self._path):
                self._partial.unlink()
            else:
                self._partial.replace(self._path)
        except OSError as error:
            raise _failed(self._partial, error) from error

    def close(self) -> None:
        """Remove what is not whole."""
        with contextlib.suppress(OSError, ValueError):
            self._zip.close()
        with contextlib.suppress(OSError):
            if _is_at(self._partial, self._out):
                self._partial.unlink()
        with contextlib.suppress(OSError):
            self._out.close()
        self._scratch.cleanup()


def _alone(path: Path) -> BinaryIO:
    """An empty file that nobody else writes meanwhile.

    Raises:
        BlockingIOError: somebody does.
        OSError: the disk refuses.
    """
    out = os.fdopen(os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o666), "r+b")
    try:
        with contextlib.suppress(OSError):  # a file system that knows no locks
            try:
                fcntl.flock(out, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                out.close()
        if out.closed or not _is_at(path, out):  # or it was finished just now
            raise BlockingIOError
        out.truncate()  # not before that is known
    except BaseException:
        out.close()
        raise
    return out


def _is_at(path: Path, file: BinaryIO) -> bool:
    """Whether a file that is open is still called so."""
    try:
        return os.path.samestat(os.fstat(file.fileno()), path.stat())
    except FileNotFoundError:
        return False


def _member(file: str, time: str) -> zipfile.ZipInfo:
    moment = datetime.fromisoformat(time) if time else datetime(_EARLIEST, 1, 1, tzinfo=UTC)
    year = min(max(moment.year, _EARLIEST), _LATEST)
    member = zipfile.ZipInfo(
        file, (year, moment.month, moment.day, moment.hour, moment.minute, moment.second)
    )
    member.external_attr = (stat.S_IFREG | 0o644) << 16
    return member


def _is_mirror(path: Path) -> bool:
    try:
        with zipfile.ZipFile(path) as there:
            return {START, MANIFEST} <= set(there.namelist())
    except (OSError, zipfile.BadZipFile):
        return False
