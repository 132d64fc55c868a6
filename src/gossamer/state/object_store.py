"""An object store: whole objects under keys, at any address that fsspec knows."""

import base64
import contextlib
import itertools
import os
import random
import re
import time
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import fsspec
import msgspec
from fsspec.spec import AbstractFileSystem

from gossamer.model.errors import ConfigError, StorageError
from gossamer.state.whole_files import sync_directory

T = TypeVar("T")

CHUNK = 4 << 20
"""Bytes that an object store is asked for at once, or sent as one object without parts."""
SLICE = 128 << 10
"""Bytes that are copied at once to a folder. The C library keeps larger blocks, once they were in use."""
PART = 8 << 20
"""Bytes that an object store is sent at once; S3 wants at least 5 MiB."""
AT_ONCE = 4
"""Objects that travel at the same time: object stores take some 50 ms to answer, however small it is."""
_UNFINISHED = ".unfinished-"
"""Begins the names of objects that are being written."""
_STALE = 86_400.0
"""Seconds after which nobody goes on with an unfinished object."""
_WHOLE_AT_ONCE = frozenset(
    ("memory", "s3", "s3a", "gs", "gcs", "abfs", "abfss", "az", "oss", "oci", "ocilake", "r2", "tos", "obs")
)
"""Protocols of object stores: what is put is there whole or not at all, so it needs no other name first."""


class Patience(msgspec.Struct, frozen=True):
    """How long a store that fails is asked again.

    Attributes:
        tries: attempts of each operation.
        first: seconds of rest after the first failure; each later one is twice as long.
        longest: seconds of rest at most.
    """

    tries: int = 6
    first: float = 0.2
    longest: float = 10.0


class Told(msgspec.Struct, frozen=True):
    """What a store says of an object.

    Attributes:
        size: bytes.
        md5: what may be the MD5 of its content, in hex (an ETag is not, where the store encrypts by keys); empty
            if it says none.
    """

    size: int
    md5: str


class MissingError(StorageError):
    """There is no such object in the store."""


class RefusedError(StorageError):
    """The store did not do what it was asked, however often; `said`: its own words."""

    said = ""


class Store:
    """Objects by key (`snapshots/a-1/...`), each whole or absent. Blocks: call it in threads, also several.

    Every operation is tried several times (`Patience`), then raises StorageError that names the remedy.
    """

    def __init__(self, address: str, patience: Patience | None = None) -> None:
        """`address`: folder, `memory://...`, `s3://bucket/path`, ...; credentials are fsspec's own affair.

        Raises:
            ConfigError: no file system of that name is installed.
        """
        self.address = re.sub(r"//[^/@]*@", "//", address)
        """For messages: without a password."""
        self._patience = patience or Patience()
        try:
            self._files, root = fsspec.core.url_to_fs(address)
        except (ImportError, ValueError) as error:
            raise ConfigError(
                f"{self.address}: no store can be reached there ({error}). Name a folder, or install "
                "fsspec's package for that kind of address."
            ) from None
        except Exception as error:  # noqa: BLE001 - each kind of store raises what its library does
            raise StorageError(
                f"{self.address}: the store cannot be reached ({_reason(error)}). See that the "
                "address is right, and that fsspec has its credentials in the environment."
            ) from None
        self._root = root.rstrip("/")
        protocols = self._files.protocol
        names = {protocols} if isinstance(protocols, str) else set(protocols)
        self._local = "file" in names
        renames = type(self._files).mv is not AbstractFileSystem.mv
        self._renames = not self._local and renames and not names & _WHOLE_AT_ONCE

    # Writing …

    def put(self, key: str, data: bytes) -> None:
        """Replace an object at once: readers see the old or the new one.

        Raises:
            StorageError: the store refuses.
        """
        self._write(key, lambda: iter((data,)))

    def put_file(self, key: str, path: Path, start: int, length: int) -> None:
        """Replace an object by `length` bytes of a file from `start` on.

        Raises:
            StorageError: the store refuses, or the file cannot be read or is too short.
        """
        self._write(key, lambda: _pieces(path, start, length, SLICE if self._local else CHUNK))

    def _write(self, key: str, pieces: Callable[[], Iterator[bytes]]) -> None:
        if self._local:
            self._try("written", key, lambda: self._write_local(key, pieces()))
        elif self._renames:
            self._try("written", key, lambda: self._write_renamed(key, pieces()))
        else:
            self._try("written", key, lambda: self._write_whole(self._path(key), pieces()))

    def _write_local(self, key: str, pieces: Iterator[bytes]) -> None:
        target = Path(self._path(key))
        target.parent.mkdir(parents=True, exist_ok=True)
        fresh = target.with_name(f"{_UNFINISHED}{uuid.uuid4().hex}")
        try:
            with fresh.open("wb") as out:
                for piece in pieces:
                    out.write(piece)
                out.flush()
                os.fsync(out.fileno())
            fresh.replace(target)
            with contextlib.suppress(OSError):  # some network file systems cannot
                sync_directory(target.parent)
        finally:
            fresh.unlink(missing_ok=True)

    def _write_renamed(self, key: str, pieces: Iterator[bytes]) -> None:
        target = self._path(key)
        folder = target.rpartition("/")[0]
        fresh = f"{folder}/{_UNFINISHED}{uuid.uuid4().hex}"
        self._files.makedirs(folder, exist_ok=True)
        try:
            self._write_whole(fresh, pieces)
            try:
                self._files.mv(fresh, target)
            except Exception:  # noqa: BLE001 - some servers rename to no name that is taken
                self._files.rm_file(target)
                self._files.mv(fresh, target)
        except BaseException:
            with contextlib.suppress(Exception):
                self._files.rm_file(fresh)
            raise

    def _write_whole(self, path: str, pieces: Iterator[bytes]) -> None:
        first, second = next(pieces, b""), next(pieces, None)
        if second is None:
            self._files.pipe_file(path, first)
            return
        out = self._files.open(path, "wb", block_size=PART)
        try:
            for piece in itertools.chain((first, second), pieces):
                out.write(piece)
            out.close()
        except BaseException:
            _throw_away(out)
            raise

    def delete(self, key: str) -> None:
        """Remove an object, if it is there.

        Raises:
            StorageError: the store refuses.
        """
        with contextlib.suppress(MissingError):
            self._try("deleted", key, lambda: self._files.rm_file(self._path(key)), answers=True)

    # Reading …

    def get(self, key: str) -> bytes | None:
        """An object, `None` if there is none.

        Raises:
            StorageError: the store refuses.
        """
        try:
            return bytes(self._try("read", key, lambda: self._files.cat_file(self._path(key)), answers=True))
        except MissingError:
            return None

    def read(self, key: str, size: int) -> Iterator[bytes]:
        """The first `size` bytes of an object in pieces; fewer if it is shorter.

        Raises:
            MissingError: there is none.
            StorageError: the store refuses.
        """
        path = self._path(key)
        if not size and not self._try("read", key, lambda: self._files.exists(path)):
            raise self._missing(key)
        at = 0
        while at < size:
            end = min(size, at + CHUNK)
            # By name: s3fs has a version between the path and these.
            ask = partial(self._files.cat_file, path, start=at, end=end)
            piece = bytes(self._try("read", key, ask, answers=True))
            yield piece
            if len(piece) < end - at:
                return
            at = end

    def names(self, prefix: str) -> list[str]:
        """Names of what is directly in the folder `prefix`, sorted; unfinished objects are left out.

        Raises:
            StorageError: the store refuses.
        """
        found = (path.rsplit("/", 1)[-1] for path, _ in self._listed(prefix))
        return sorted(name for name in found if not name.startswith(_UNFINISHED))

    def sweep(self, prefix: str, left_for: float = _STALE) -> None:
        """Remove objects directly in the folder `prefix` (empty: the store itself) that somebody began to write, and
        left for so many seconds.

        Raises:
            StorageError: the store refuses.
        """
        if not (self._local or self._renames):
            return  # what is not finished is no object
        for path, changed in self._listed(prefix):
            name = path.rsplit("/", 1)[-1]
            if name.startswith(_UNFINISHED) and (not left_for or 0 < changed < time.time() - left_for):
                self.delete(f"{prefix}/{name}" if prefix else name)

    def told(self, key: str) -> Told | None:
        """What the store says of an object, without reading it; `None` if there is none.

        Raises:
            StorageError: the store refuses.
        """

        def ask() -> dict[str, Any]:
            self._files.invalidate_cache()
            return dict(self._files.info(self._path(key)))

        try:
            info = self._try("looked at", key, ask, answers=True)
        except MissingError:
            return None
        return Told(int(info.get("size") or 0), _md5(info))

    def _listed(self, prefix: str) -> list[tuple[str, float]]:
        """(path, when it was changed or 0) of each entry of a folder."""
        path = self._path(prefix).rstrip("/")

        def ask() -> list[dict[str, Any]]:
            self._files.invalidate_cache()
            return list(self._files.ls(path, detail=True))

        try:
            entries = self._try("listed", prefix, ask, answers=True)
        except MissingError:
            return []
        found = ((str(entry["name"]).rstrip("/"), entry.get("mtime")) for entry in entries)
        return [
            (name, float(changed) if isinstance(changed, int | float) else 0.0)
            for name, changed in found
            if name != path
        ]

    # Asking again …

    def _try(self, verb: str, key: str, work: Callable[[], T], *, answers: bool = False) -> T:
        """Do `work`, several times if need be; `answers`: that something is not there is an answer."""
        rest = self._patience.first
        for left in reversed(range(self._patience.tries)):
            try:
                return work()
            except StorageError:
                raise
            except Exception as error:  # noqa: BLE001 - each kind of store raises what its library does
                if answers and isinstance(error, FileNotFoundError):
                    raise self._missing(key) from None
                if not left:
                    raise self._refusal(verb, key, error) from None
            # Not all agents at the same moment.
            time.sleep(rest * random.uniform(0.5, 1.0))  # noqa: S311
            rest = min(2 * rest, self._patience.longest)
        raise AssertionError("unreachable: Patience.tries is at least 1")

    def _path(self, key: str) -> str:
        return f"{self._root}/{key}"

    def _missing(self, key: str) -> MissingError:
        return MissingError(f"{self.address}: there is no {key} in the store.")

    def _refusal(self, verb: str, key: str, error: Exception) -> RefusedError:
        refused = RefusedError(
            f"{self.address}: {key} cannot be {verb} ({_reason(error)}), after {self._patience.tries} "
            "attempts. See that the store can be reached, has room, and lets these credentials "
            "write; the crawl itself goes on, and it is tried again later."
        )
        refused.said = _reason(error)
        return refused


def in_parallel(work: Callable[[T], None], items: Iterable[T]) -> None:
    """`work` on each item, some at the same time; if one fails, no more are begun."""
    failed: list[BaseException] = []

    def attempt(item: T) -> None:
        if not failed:
            try:
                work(item)
            except BaseException as error:
                failed.append(error)
                raise

    with ThreadPoolExecutor(AT_ONCE) as pool:
        for _ in pool.map(attempt, items):
            pass


def _throw_away(out: Any) -> None:
    """Let go of an object that is not whole: a writer that is only closed, or forgotten, would finish it.

    What was sent in parts is dropped by the store, or by its rule for parts that nobody finishes.
    """
    with contextlib.suppress(Exception):
        out.closed = True
    with contextlib.suppress(Exception):
        out.discard()
    with contextlib.suppress(Exception):  # a file that knows nothing of this has another name so far
        out.close()


def _md5(info: Mapping[str, Any]) -> str:
    etag = str(info.get("ETag", "")).strip('"').lower()
    if re.fullmatch("[0-9a-f]{32}", etag):
        return etag
    with contextlib.suppress(ValueError):
        return base64.b64decode(str(info.get("md5Hash", ""))).hex()
    return ""


def _reason(error: Exception) -> str:
    return getattr(error, "strerror", None) or " ".join(str(error).split())[:300] or type(error).__name__


def _pieces(path: Path, start: int, size: int, at_once: int) -> Iterator[bytes]:
    """`size` bytes of a file, so many at once.

    Raises:
        StorageError: the file cannot be read, or is too short.
    """
    try:
        with path.open("rb", buffering=0) as file:
            file.seek(start)
            while size > 0:
                piece = file.read(min(size, at_once))
                if not piece:
                    raise StorageError(f"{path}: ends before what was committed of it. Check the disk.")
                size -= len(piece)
                yield piece
    except OSError as error:
        raise StorageError(f"{path}: cannot be read ({error.strerror}). Check the disk.") from None
