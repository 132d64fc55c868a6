"""Replaces files at once and durably: a crash leaves the old one or the new one, never a part."""

import contextlib
import ctypes
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import BinaryIO

from gossamer.model.errors import StorageError

__all__ = [
    "PARTIAL", "Version", "exchange", "replacing", "sync_directory", "sync_file", "version_of", "write_pieces",
    "write_whole",
]  # fmt: skip

PARTIAL = ".partial"
"""How the name ends of what is not whole yet."""


Version = tuple[int, int, int, int] | None
"""By which a file is told from the one that takes its place; `None` if there is none."""


def version_of(path: Path) -> Version:
    """Which file is there now: asked before it is read, it tells whether reading it again would bring anything."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns


@contextlib.contextmanager
def replacing(path: Path) -> Iterator[BinaryIO]:
    """A file to be written that takes the place of `path` once the context ends well.

    Raises:
        StorageError: the disk refuses. What the context raises leaves the old file, too.
    """
    partial = path.with_name(path.name + PARTIAL)
    try:
        with partial.open("wb") as out:
            yield out
            out.flush()
            os.fsync(out.fileno())
        partial.replace(path)
    except OSError as error:
        raise StorageError(
            f"{path}: cannot be written ({error.strerror}). "
            "Free some space, or see that the folder is writable."
        ) from error
    finally:
        with contextlib.suppress(OSError):
            partial.unlink(missing_ok=True)
    with contextlib.suppress(OSError):  # some network file systems cannot
        sync_directory(path.parent)


def write_whole(path: Path, content: str | bytes) -> None:
    """Replace a file at once; a text is written in UTF-8.

    Raises:
        StorageError: the disk refuses.
    """
    write_pieces(path, (content.encode() if isinstance(content, str) else content,))


def write_pieces(path: Path, pieces: Iterable[bytes]) -> None:
    """Replace a file at once, like `write_whole`, with what comes in pieces.

    Raises:
        StorageError: the disk refuses. What `pieces` raises leaves the old file, too.
    """
    with replacing(path) as out:
        out.writelines(pieces)


_HERE, _EXCHANGE = -100, 2


def exchange(one: Path, other: Path) -> None:
    """Let two folders of one file system change places: at once on Linux, elsewhere within an instant.

    Raises:
        OSError: one is not there, or the disk refuses.
    """
    with contextlib.suppress(AttributeError):  # not Linux
        names = ctypes.c_char_p(os.fsencode(one)), ctypes.c_char_p(os.fsencode(other))
        if ctypes.CDLL(None).renameat2(_HERE, names[0], _HERE, names[1], _EXCHANGE) == 0:
            return
    aside = one.with_name(f"{one.name}.other")
    other.rename(aside)
    one.rename(other)
    aside.rename(one)


def sync_directory(directory: Path) -> None:
    """Bring names made, changed and removed in `directory` to the disk."""
    sync_file(directory)


def sync_file(path: Path) -> None:
    """Bring the content of a file that another library has written to the disk."""
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
