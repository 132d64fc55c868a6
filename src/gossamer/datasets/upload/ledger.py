"""What of a crawl its store holds, kept in the crawl's folder so that the store need not be asked."""

import contextlib
import hashlib
import os
from pathlib import Path
from typing import BinaryIO

import msgspec

from gossamer.assembly.folder_lock import lock_folder
from gossamer.model.errors import StorageError
from gossamer.state.whole_files import write_whole

FOLDER = "upload"
"""In the folder of the crawl; also holds the mark by which `status` tells how far the store is behind (`FOLLOWERS` of
inspect/lag.py)."""
_FILE = "uploaded.jsonl"
REPORT = "report.json"
"""What is sent last of a crawl that has ended."""


class Stored(msgspec.Struct, frozen=True):
    """One object of the store.

    Attributes:
        name: path within the crawl's folder, and behind the store's address.
        size: bytes.
        sha256: of its content, in hex; empty if it was removed again.
    """

    name: str
    size: int
    sha256: str


class Done(msgspec.Struct, frozen=True):
    """What an upload has come to.

    Attributes:
        address: of the store.
        files, bytes: that are in it.
        sent: files that were sent this time.
        whole: everything is there: the crawl has ended well, and nothing is left.
    """

    address: str
    files: int
    bytes: int
    sent: int
    whole: bool


class _Head(msgspec.Struct, frozen=True):
    address: str
    crawl: str
    folder: str


class Ledger:
    """Lines of JSON that are appended, each on the disk before the next upload; a half line at its end never was."""

    def __init__(self, folder: Path, address: str) -> None:
        """Be the only process that uploads the crawl in `folder`.

        Args:
            folder: of the crawl.
            address: of the store. If it is another than before, or the folder a copy of one that is still there,
                nothing is there yet.

        Raises:
            Busy: another process uploads it.
            StorageError: the disk refuses.
        """
        self._lock = lock_folder(folder / FOLDER, "uploads")
        self._path = folder / FOLDER / _FILE
        self.stored: dict[str, Stored] = {}
        """What is in the store, by name."""
        try:
            lines = _whole_lines(self._path)
            head = _head(lines)
            known = head
            if head is None or head.address != address or _is_copy(head, folder):
                head, lines = _Head(address, os.urandom(16).hex(), str(folder.resolve())), []
            head = msgspec.structs.replace(head, folder=str(folder.resolve()))
            if head != known:
                write_whole(
                    self._path, b"".join(line + b"\n" for line in (msgspec.json.encode(head), *lines[1:]))
                )
            self._out: BinaryIO = self._path.open("ab", buffering=0)
        except OSError as error:
            os.close(self._lock)
            raise self._refused(error) from None
        self.crawl = head.crawl
        """A name of this crawl that no other has."""
        for line in lines[1:]:
            self._enter(msgspec.json.decode(line, type=Stored))

    def note(self, stored: Stored) -> None:
        """Keep that an object is in the store now, or was removed; it is on the disk when this returns.

        Raises:
            StorageError: the disk refuses.
        """
        try:
            self._out.write(msgspec.json.encode(stored) + b"\n")
            os.fsync(self._out.fileno())
        except OSError as error:
            raise self._refused(error) from None
        self._enter(stored)

    def close(self) -> None:
        """Let other processes upload this crawl; nothing is noted any more."""
        self._out.close()
        os.close(self._lock)

    def _enter(self, stored: Stored) -> None:
        if stored.sha256:
            self.stored[stored.name] = stored
        else:
            self.stored.pop(stored.name, None)

    def _refused(self, error: OSError) -> StorageError:
        return StorageError(f"{self._path}: cannot be written ({error.strerror}). Free some space.")


def is_whole(folder: Path) -> bool:
    """Whether all of the crawl in `folder`, which has ended, is in its store: each end has another report."""
    sha256, path = "", folder / FOLDER / _FILE
    with contextlib.suppress(OSError, msgspec.MsgspecError):
        for line in path.read_bytes().splitlines()[1:]:
            stored = msgspec.json.decode(line, type=Stored)
            sha256 = stored.sha256 if stored.name == REPORT else sha256
        return sha256 == hashlib.sha256((folder / REPORT).read_bytes()).hexdigest()
    return False


def known_store(folder: Path) -> str:
    """The address to which the crawl in `folder` has begun to be uploaded; empty if to none."""
    with contextlib.suppress(OSError):
        head = _head((folder / FOLDER / _FILE).read_bytes().splitlines()[:1])
        return head.address if head is not None and not _is_copy(head, folder) else ""
    return ""


def _is_copy(head: _Head, folder: Path) -> bool:
    """Whether the folder was copied, and not moved, from another: two that upload would undo each other's work."""
    if head.folder == str(folder.resolve()):
        return False
    with contextlib.suppress(OSError):
        other = _head((Path(head.folder) / FOLDER / _FILE).read_bytes().splitlines()[:1])
        return other is not None and other.crawl == head.crawl
    return False


def _head(lines: list[bytes]) -> _Head | None:
    try:
        return msgspec.json.decode(lines[0], type=_Head)
    except (IndexError, msgspec.MsgspecError):
        return None


def _whole_lines(path: Path) -> list[bytes]:
    """The lines of a file, from whose end what is no whole line is cut."""
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        return []
    whole = content[: content.rfind(b"\n") + 1]
    if len(whole) < len(content):
        os.truncate(path, len(whole))
    return whole.splitlines()
