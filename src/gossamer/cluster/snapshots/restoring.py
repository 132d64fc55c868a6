"""Brings a snapshot back from the store, every file verified by size and digest."""

import contextlib
import os
import shutil
from collections.abc import Callable, Iterable
from hashlib import blake2b
from pathlib import Path, PurePosixPath

import msgspec

from gossamer.archive.file import OPEN_SUFFIX
from gossamer.cluster.snapshots.catalogue import ids, read
from gossamer.cluster.snapshots.manifest import (
    DIGEST_BYTES,
    DamagedError,
    Manifest,
    Piece,
    StoredFile,
    object_key,
    objects_prefix,
)
from gossamer.engine.fault_points import fault_point
from gossamer.model.errors import ConfigError, StorageError
from gossamer.state.object_store import MissingError, Store, in_parallel
from gossamer.state.whole_files import sync_directory

_PARTIAL = ".partial"
_STATE = "state/"
TABLE = ".sst"
"""Ends names of RocksDB's tables, which are most of a state."""
FETCHED = "tables.fetched"
"""File in a state that was fetched alone: its tables by their pieces."""


def fetch(store: Store, manifest: Manifest, target: Path) -> None:
    """Make the folder `target` (absent or empty) the crawl folder as it was; `gossamer resume` goes on.

    The folder has its name only when all of it is there; until then it is `target.partial`.

    Raises:
        ConfigError: `target` is not empty.
        DamagedError: something in the store is missing, or not what was put there.
        StorageError: store or disk refuse.
    """
    with contextlib.suppress(FileNotFoundError, NotADirectoryError):
        if any(target.iterdir()):
            raise ConfigError(f"{target}: is not empty. Choose another folder to restore to.")
    _fetch(store, manifest, {file.name: file for file in manifest.files}, target)


def fetch_state(store: Store, manifest: Manifest, target: Path) -> None:
    """Make the folder `target` (absent or empty) the state (RocksDB) of a snapshot.

    Raises:
        As `fetch`.
    """
    files = {f.name.removeprefix(_STATE): f for f in manifest.files if f.name.startswith(_STATE)}
    _fetch(store, manifest, files, target)


def fetch_missing(
    store: Store, manifest: Manifest, names: Iterable[str], target: Path, earlier: Iterable[Path] = ()
) -> None:
    """Fetch files of a snapshot's state that are not in the folder `target` yet; each is whole or absent.

    Args:
        names: which, as they are called in the state.
        earlier: folders that this has filled before; tables that are in one of them need not travel.

    Raises:
        DamagedError: something in the store is missing, or not what was put there.
        StorageError: store or disk refuse.
    """
    state = {f.name.removeprefix(_STATE): f for f in manifest.files if f.name.startswith(_STATE)}
    here = _tables(earlier)

    def fetch_one(name: str) -> None:
        path, file = target / _within(name), state.get(name)
        if path.exists():
            return
        if file is None:
            raise DamagedError(f"snapshot {manifest.id} of {manifest.agent}: has no {name}, which it needs")
        near = here.get(file.pieces) if name.endswith(TABLE) else None
        if near is None or not _linked(path, near, file.size):
            partial = path.with_name(path.name + _PARTIAL)
            _write(store, manifest, file, partial)
            partial.replace(path)

    try:
        target.mkdir(parents=True, exist_ok=True)
        in_parallel(fetch_one, names)
        there = {name: file for name, file in state.items() if (target / _within(name)).exists()}
        _list_tables(there, target)
    except OSError as error:
        raise _refused(target, error) from None


def state_files(manifest: Manifest) -> list[str]:
    """Names of what a snapshot has of a state, as they are called there."""
    return [file.name.removeprefix(_STATE) for file in manifest.files if file.name.startswith(_STATE)]


def lacking(store: Store, manifest: Manifest) -> str:
    """A file of the state, objects of which are not in the store; empty if all are there, unread.

    Raises:
        StorageError: the store refuses.
    """
    there = set(store.names(objects_prefix(manifest.agent)))
    for file in manifest.files:
        if file.name.startswith(_STATE) and any(piece.object not in there for piece in file.pieces):
            return file.name
    return ""


def fetch_archive(store: Store, manifest: Manifest, target: Path) -> list[Path]:
    """The archive files of a snapshot under their final names in the folder `target`; what is there stays.

    Raises:
        As `fetch`.
    """
    made = []
    try:
        target.mkdir(parents=True, exist_ok=True)
        for file in manifest.files:
            if file.name.startswith("archive/"):
                path = target / file.name.removeprefix("archive/").removesuffix(OPEN_SUFFIX)
                made.append(path)
                if path.exists() and path.stat().st_size == file.size:
                    continue
                partial = path.with_name(path.name + _PARTIAL)
                _write(store, manifest, file, partial)
                partial.replace(path)
    except OSError as error:
        raise _refused(target, error) from None
    return made


def restore(store: Store, agent: str, target: Path, tell: Callable[[str], None] = lambda _: None) -> Manifest:
    """`fetch` the newest snapshot of an agent that is whole; `tell` hears of each that is not.

    Raises:
        ConfigError: `target` is not empty.
        StorageError: none is whole, or store or disk refuse.
    """
    numbers = ids(store, agent)
    for number in reversed(numbers):
        try:
            manifest = read(store, agent, number)
            fetch(store, manifest, target)
        except (DamagedError, MissingError) as error:
            tell(f"snapshot {number} of {agent} cannot be used ({error}); going back to the one before")
            continue
        return manifest
    raise StorageError(
        f"{store.address}: none of {len(numbers)} snapshots of {agent} can be used. See that the address is "
        "right; if the store has lost data, what other agents hold is whole all the same."
    )


def verify(store: Store, manifest: Manifest) -> list[str]:
    """Read everything a snapshot names; what is wrong with it, one sentence each.

    Raises:
        StorageError: the store refuses.
    """
    problems = []
    seen: set[Piece] = set()
    for file in manifest.files:
        for piece in file.pieces:
            if piece not in seen:
                seen.add(piece)
                try:
                    for _ in _checked(store, manifest, file, piece):
                        pass
                except DamagedError as error:
                    problems.append(str(error))
    return problems


def intact(store: Store, manifest: Manifest) -> set[str]:
    """Objects of a snapshot that are what was put there: those of the state are read, others looked for.

    Raises:
        StorageError: the store refuses.
    """
    good = manifest.objects & set(store.names(objects_prefix(manifest.agent)))
    for file in manifest.files:
        for piece in file.pieces:
            if file.name.startswith(_STATE) and piece.object in good:
                try:
                    for _ in _checked(store, manifest, file, piece):
                        pass
                except DamagedError:
                    good.discard(piece.object)
    return good


_Tables = dict[tuple[Piece, ...], Path]
"""Tables of RocksDB on this disk by their pieces: they are never written to again."""


def _tables(states: Iterable[Path]) -> _Tables:
    found: _Tables = {}
    for state in states:
        with contextlib.suppress(FileNotFoundError, msgspec.MsgspecError):
            listed = msgspec.msgpack.decode((state / FETCHED).read_bytes(), type=dict[str, tuple[Piece, ...]])
            for name, pieces in listed.items():
                found[pieces] = state / name
    return found


def _list_tables(files: dict[str, StoredFile], state: Path) -> None:
    tables = {name: file.pieces for name, file in files.items() if name.endswith(TABLE)}
    (state / FETCHED).write_bytes(msgspec.msgpack.encode(tables))


def _fetch(store: Store, manifest: Manifest, files: dict[str, StoredFile], target: Path) -> None:
    partial = target.with_name(target.name + _PARTIAL)
    try:
        shutil.rmtree(partial, ignore_errors=True)
        partial.mkdir(parents=True)

        def fetch_one(item: tuple[str, StoredFile]) -> None:
            name, file = item
            path = partial / _within(name)
            path.parent.mkdir(parents=True, exist_ok=True)
            _write(store, manifest, file, path)
            fault_point("snapshot.fetching")

        in_parallel(fetch_one, files.items())
        for folder in (partial, *(path for path in partial.iterdir() if path.is_dir())):
            sync_directory(folder)
        if target.exists():
            target.rmdir()
        partial.rename(target)
        sync_directory(target.parent)
    except OSError as error:
        shutil.rmtree(partial, ignore_errors=True)
        raise _refused(target, error) from None
    except StorageError:
        shutil.rmtree(partial, ignore_errors=True)
        raise


def _linked(path: Path, near: Path, size: int) -> bool:
    with contextlib.suppress(OSError):
        if near.stat().st_size == size:
            path.hardlink_to(near)
            return True
    return False


def _write(store: Store, manifest: Manifest, file: StoredFile, path: Path) -> None:
    with path.open("wb") as out:
        for piece in file.pieces:
            for data in _checked(store, manifest, file, piece):
                out.write(data)
        out.flush()
        os.fsync(out.fileno())
    if sum(piece.size for piece in file.pieces) != file.size:
        raise _damaged(manifest, file, "its pieces are not as long as the file")


def _checked(store: Store, manifest: Manifest, file: StoredFile, piece: Piece) -> Iterable[bytes]:
    """The bytes of a piece; the last is not the end if it raises."""
    digest, size = blake2b(digest_size=DIGEST_BYTES), 0
    try:
        for data in store.read(object_key(manifest.agent, piece.object), piece.size):
            digest.update(data)
            size += len(data)
            yield data
    except MissingError:
        raise _damaged(manifest, file, f"object {piece.object} is missing") from None
    if size != piece.size:
        raise _damaged(manifest, file, f"object {piece.object} has {size} of {piece.size} bytes")
    if digest.hexdigest() != piece.object:
        raise _damaged(manifest, file, f"object {piece.object} is not what was put there")


def _damaged(manifest: Manifest, file: StoredFile, what: str) -> DamagedError:
    return DamagedError(f"{file.name} in snapshot {manifest.id} of {manifest.agent}: {what}")


def _within(name: str) -> PurePosixPath:
    """A path that leads nowhere else than into the folder."""
    path = PurePosixPath(name)
    if path.is_absolute() or ".." in path.parts or not path.parts:
        raise DamagedError(f"{name!r}: is no path within a crawl folder")
    return path


def _refused(target: Path, error: OSError) -> StorageError:
    return StorageError(
        f"{target}: cannot be restored to ({error.strerror}). Free as much space as it takes."
    )
