"""The document input stream: a body read once from the network and re-read by many (W8)."""

import hashlib
import io
import itertools
import os
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import BinaryIO, NamedTuple

from gossamer.model.errors import InternalError, StorageError

LONGEST_HELD = 1 << 20
"""Bytes of a body beyond which it always goes to a file; what is longer would be read in pieces anyway."""

_serial = itertools.count()


class KeptFile(NamedTuple):
    """The beginning of a body, in a file of its own name, for a writer to go on with.

    `digest` is SHA-256 of it, running; whoever has a kept file has it alone.
    """

    path: Path
    size: int
    digest: "hashlib._Hash"

    @property
    def is_whole(self) -> bool:
        """Whether the file is still as it was kept."""
        try:
            return self.path.stat().st_size == self.size
        except OSError:
            return False

    def discard(self) -> None:
        """Remove the file; harmless if it is gone."""
        self.path.unlink(missing_ok=True)


class BodyMemory:
    """What all bodies longer than their own bound may hold of memory together, so that a crawl is bounded.

    A file for each page of 64 to 256 KiB took 3% of a crawl's CPU (docs/decisions/0009-memory.md).
    """

    __slots__ = ("left",)

    def __init__(self, size: int) -> None:
        """`size`: bytes."""
        self.left = size

    def take(self, size: int) -> bool:
        """Whether there is room for `size` bytes more, which are then taken; who has them gives them back."""
        if size > self.left:
            return False
        self.left -= size
        return True

    def give_back(self, size: int) -> None:
        """`size` bytes are free again."""
        self.left += size


class SpooledBody:
    """A body that has arrived, in memory or in a file (`gossamer.model.exchange.Body`).

    Invariant: the file, if any, exists until `close`; readers opened before that stay usable.

    The file stays open from its writing to its end: three readers each opening it would cost more than they
    read.
    """

    __slots__ = ("_content", "_digest", "_file", "_path", "_release", "size")

    def __init__(
        self,
        content: bytes = b"",
        *,
        release: Callable[[], None] | None = None,
        file: io.FileIO | None = None,
        size: int | None = None,
        digest: "hashlib._Hash | None" = None,
    ) -> None:
        """`release`: called once, when the body is closed. `digest`: SHA-256, if it was made."""
        self._release = release
        self._content: bytes | None = content
        self._file = file
        self._path = Path(str(file.name)) if file is not None else None
        self._digest = digest
        self.size = len(content) if size is None else size

    @property
    def sha256(self) -> bytes:
        """SHA-256 of the stored bytes, 32 bytes; of a body in memory it is made when first asked for."""
        if self._digest is None:
            self._digest = hashlib.sha256(self._held())
        return self._digest.digest()

    @property
    def path(self) -> Path | None:
        """The spooled file, which exists until `close`; `None` if the bytes are in memory."""
        return self._path

    def open(self) -> BinaryIO:
        """A new reader at the start; readers are independent of each other.

        Raises:
            StorageError: the spooled file cannot be read.
        """
        if self._path is None:
            return io.BytesIO(self._held())
        try:
            return self._path.open("rb")
        except OSError as error:
            raise _storage_error(self._path, "read", error) from None

    def chunks(self, size: int = 1 << 18) -> Iterator[bytes]:
        """The stored bytes in pieces of at most `size`."""
        if self._file is None:
            content = self._held()
            if len(content) <= size:
                if content:
                    yield content
                return
            for start in range(0, len(content), size):
                yield content[start : start + size]
            return
        place = 0
        # What is behind its end belongs to another, which goes on with the file (`keep`).
        while chunk := self._read_at(place, min(size, self.size - place)):
            yield chunk
            place += len(chunk)

    def read(self, limit: int = -1) -> bytes:
        """The first `limit` bytes (all of them if negative)."""
        if self._file is None:
            content = self._held()
            return content if limit < 0 or limit >= len(content) else content[:limit]
        wanted = self.size if limit < 0 else min(limit, self.size)
        content = self._read_at(0, wanted)
        # One system call brings it all, but for what is longer than 2 GiB.
        while len(content) < wanted and (more := self._read_at(len(content), wanted - len(content))):
            content += more
        return content

    def keep(self) -> KeptFile | None:
        """Its file, which then outlives it; `None` if it has none, or the file system knows no second names.

        To be gone on with only when nobody reads this body any more.
        """
        if self._path is None or self._digest is None:
            return None
        path = _new_path(self._path.parent)
        try:
            os.link(self._path, path)
        except OSError:
            return None
        return KeptFile(path, self.size, self._digest.copy())

    def close(self) -> None:
        """Give back the memory or the spooled file. The body cannot be read afterwards."""
        self._content = None
        self._give_back()
        file, self._file = self._file, None
        if file is not None and self._path is not None:
            file.close()
            self._path.unlink(missing_ok=True)
            self._path = None

    def _give_back(self) -> None:
        release, self._release = self._release, None
        if release is not None:
            release()

    # Of a visit that was cancelled nobody closes the body; what it took would be missing for ever.
    __del__ = _give_back

    def _read_at(self, place: int, size: int) -> bytes:
        if self._file is None:
            raise InternalError("a body was read after it was closed; please report this")
        try:
            return os.pread(self._file.fileno(), size, place)
        except OSError as error:
            raise _storage_error(self._path, "read", error) from None

    def _held(self) -> bytes:
        if self._content is None:
            raise InternalError("a body was read after it was closed; please report this")
        return self._content

    def __repr__(self) -> str:
        if self._path is not None:
            return f"<SpooledBody {self.size} bytes in {self._path.name}>"
        return "<SpooledBody closed>" if self._content is None else f"<SpooledBody {self.size} bytes>"


class BodyWriter:
    """Takes a body as it arrives.

    Args:
        spool_dir: folder of files for longer bodies; leftovers in it may be removed at any start.
        memory_limit: bytes always kept in memory; of a longer body all goes to a file, unless `shared` has
            room for what is above the limit.
    """

    __slots__ = (
        "_chunks", "_digest", "_file", "_held", "_memory_limit", "_path", "_shared", "_spool_dir", "size"
    )  # fmt: skip

    def __init__(self, spool_dir: Path, memory_limit: int, shared: BodyMemory) -> None:
        self._spool_dir = spool_dir
        self._memory_limit = memory_limit
        self._shared = shared
        self._held = 0  # bytes of `shared`
        self._chunks: list[bytes] = []
        self._file: io.FileIO | None = None
        self._path: Path | None = None
        self.size = 0

    def write(self, chunk: bytes) -> None:
        """Append `chunk`.

        Raises:
            StorageError: our disk is full or refuses.
        """
        self.size += len(chunk)
        if self._file is not None:
            self._put(self._file, chunk)
            return
        self._chunks.append(chunk)
        beyond = self.size - self._memory_limit - self._held
        if beyond > 0:
            if self.size <= LONGEST_HELD and self._shared.take(beyond):
                self._held += beyond
            else:
                self._spool()

    def finish(self) -> SpooledBody:
        """The whole body; the writer is done.

        Raises:
            StorageError: our disk is full or refuses.
        """
        file, self._file = self._file, None
        if file is None:
            content = self._chunks[0] if len(self._chunks) == 1 else b"".join(self._chunks)
            self._chunks = []
            held, self._held = self._held, 0
            return SpooledBody(content, release=partial(self._shared.give_back, held) if held else None)
        return SpooledBody(file=file, size=self.size, digest=self._digest)

    def go_on(self, kept: KeptFile) -> None:
        """Before anything was written: begin with what was kept, whose file is the writer's now.

        Raises:
            StorageError: our disk refuses.
        """
        self._path = kept.path
        try:
            self._file = io.FileIO(kept.path, "r+")
            self._file.seek(kept.size)
        except OSError as error:
            raise _storage_error(kept.path, "gone on with", error) from None
        self._digest, self.size = kept.digest, kept.size

    def discard(self) -> None:
        """Forget what arrived; harmless after `finish` and a second time."""
        self._let_go()
        if self._file is None or self._path is None:
            return
        self._file.close()
        self._file = None
        self._path.unlink(missing_ok=True)

    def _spool(self) -> None:
        self._path = _new_path(self._spool_dir)
        try:
            self._file = io.FileIO(self._path, "x+")
        except OSError as error:
            raise _storage_error(self._path, "created", error) from None
        self._digest = hashlib.sha256()
        content = b"".join(self._chunks)
        self._let_go()
        self._put(self._file, content)

    def _let_go(self) -> None:
        """Of all that is in memory."""
        self._chunks = []
        self._shared.give_back(self._held)
        self._held = 0

    def _put(self, file: io.FileIO, chunk: bytes) -> None:
        self._digest.update(chunk)
        try:
            written = file.write(chunk)
            while written < len(chunk):  # a disk that fills up takes a part first
                written += file.write(memoryview(chunk)[written:])
        except OSError as error:
            path = self._path
            self.discard()
            raise _storage_error(path, "written", error) from None


def _new_path(folder: Path) -> Path:
    return folder / f"body-{os.getpid():x}-{time.monotonic_ns():x}-{next(_serial):x}"


def _storage_error(path: Path | None, verb: str, error: OSError) -> StorageError:
    return StorageError(
        f"{path}: a body cannot be {verb} ({error.strerror or error}). "
        "Free some disk space or mend the folder, then resume."
    )
