"""Cuts files into pieces named by their content, so that what the store has need not travel again."""

import os
from hashlib import blake2b
from pathlib import Path

import msgspec

from gossamer.archive.file import OPEN_SUFFIX
from gossamer.cluster.snapshots.manifest import DIGEST_BYTES, Piece
from gossamer.model.errors import StorageError

PIECE = 64 << 20
"""Bytes of a piece at most."""
_CHUNK = 128 << 10


class Local(msgspec.Struct, frozen=True):
    """A file of the crawl as it belongs to a snapshot.

    Attributes:
        name: its path in the crawl folder.
        path: where it can be read now.
        length: bytes of it that count.
        grows: more may be appended to it, but what stands there stays.
    """

    name: str
    path: Path
    length: int
    grows: bool = False

    @property
    def alias(self) -> str:
        """The other name of an archive file: before it was full, or after."""
        opened = self.name.endswith(OPEN_SUFFIX)
        return self.name.removesuffix(OPEN_SUFFIX) if opened else self.name + OPEN_SUFFIX


class Cut(msgspec.Struct, frozen=True, array_like=True):
    """A file as it was when it was cut: the same size, time and inode mean that it is the same still."""

    size: int
    changed: int
    inode: int
    pieces: tuple[Piece, ...]

    def is_of(self, mark: tuple[int, int, int], length: int) -> bool:
        """Whether these are the pieces of the first `length` bytes of a file with (size, time, inode)."""
        if mark != (self.size, self.changed, self.inode):
            return False
        return sum(piece.size for piece in self.pieces) == length


def cut(file: Local, before: Cut | None, stored: tuple[Piece, ...]) -> Cut:
    """The pieces of a file.

    Args:
        file: which.
        before: when it was last cut by this process or one before it, in this folder.
        stored: its pieces in the latest snapshot. Of a file that grows they are kept; only the last one that
            is kept is read, for a file that was cut back and has grown again differs from there on.

    Raises:
        StorageError: it cannot be read, or is shorter than it should be.
    """
    try:
        status = file.path.stat()
        mark = status.st_size, status.st_mtime_ns, status.st_ino
        if before is not None and before.is_of(mark, file.length):
            return before
        kept = _kept(file, stored) if file.grows else []
        at = sum(piece.size for piece in kept)
        with file.path.open("rb", buffering=0) as source:
            while at < file.length:
                size = min(PIECE, file.length - at)
                kept.append(Piece(_digest(source.fileno(), at, size, file.path), size))
                at += size
    except OSError as error:
        raise StorageError(
            f"{file.path}: cannot be read for a snapshot ({error.strerror}). Check the disk."
        ) from None
    return Cut(*mark, tuple(kept))


def _kept(file: Local, stored: tuple[Piece, ...]) -> list[Piece]:
    """The stored pieces that stay.

    One that is not full and not twice as large as what comes after it is cut anew together with that: so
    there are few pieces, and each byte travels a few times at most.
    """
    kept: list[Piece] = []
    at = 0
    for piece in stored:
        if at + piece.size > file.length:
            break
        kept.append(piece)
        at += piece.size
    while kept and at < file.length and kept[-1].size < min(PIECE, 2 * (file.length - at)):
        at -= kept.pop().size
    if kept:
        last = kept[-1]
        with file.path.open("rb", buffering=0) as source:
            if _digest(source.fileno(), at - last.size, last.size, file.path) != last.object:
                return []
    return kept


def _digest(descriptor: int, start: int, size: int, path: Path) -> str:
    digest = blake2b(digest_size=DIGEST_BYTES)
    end = start + size
    while start < end:
        data = os.pread(descriptor, min(_CHUNK, end - start), start)
        if not data:
            raise StorageError(f"{path}: has {start} of the {end} bytes that were committed. Check the disk.")
        digest.update(data)
        start += len(data)
    return digest.hexdigest()
