"""Checkpoints: copies of the state from which a crawl goes on after a power failure or damage (W14)."""

import asyncio
import contextlib
import hashlib
import itertools
import os
import shutil
import time
from pathlib import Path

import msgspec

from gossamer.archive.writer import ArchiveWriter
from gossamer.engine.fault_points import fault_point
from gossamer.engine.in_thread import in_thread
from gossamer.model.errors import ConfigError, StorageError
from gossamer.model.events import Checkpointed
from gossamer.state.environment import Environment, Family, StateConfig
from gossamer.state.records import decode, encode
from gossamer.state.whole_files import sync_directory

INVENTORY = "inventory"
"""File in a checkpoint that lists the others."""
RESTORED = b"restored"
"""Key in `meta`: the state is a checkpoint's, so the archive may hold any number of files from later."""
_PARTIAL = ".partial"


class Restored(msgspec.Struct, frozen=True):
    """Which checkpoint was taken up, and where the state that it replaced is kept, if there was one."""

    name: str
    kept: Path | None


class Checkpoints:
    """Takes checkpoints into `folder`, one sub-folder each, named by number; keeps the latest few.

    A checkpoint is whole if and only if its name has no `.partial`: the archive is synced first, then the
    log, then RocksDB links its files, then they are listed, then the folder gets its name.
    """

    def __init__(self, folder: Path, environment: Environment, writer: ArchiveWriter, keep: int) -> None:
        self._folder = folder
        self._environment = environment
        self._writer = writer
        self._keep = keep

    async def take(self, held: asyncio.Lock) -> Checkpointed:
        """Take one, with settlement held meanwhile.

        Raises:
            StorageError: the disk refuses; earlier checkpoints stay as they are.
        """
        started = time.monotonic()
        async with held:
            name = await in_thread(self._take)
        return Checkpointed(name, time.monotonic() - started)

    def _take(self) -> str:
        try:
            self._folder.resolve().mkdir(exist_ok=True)
            for left in self._folder.glob(f"*{_PARTIAL}*"):  # RocksDB adds a suffix of its own
                shutil.rmtree(left)
            name = f"{max(map(int, names(self._folder)), default=0) + 1:08d}"
            self._writer.sync()
            self._environment.sync()
            fault_point("checkpoint.synced")
            partial = self._folder / (name + _PARTIAL)
            self._environment.checkpoint(partial)
            fault_point("checkpoint.copied")
            _list_files(partial)
            partial.rename(self._folder / name)
            sync_directory(self._folder)
            fault_point("checkpoint.named")
            for old in names(self._folder)[: -self._keep]:
                shutil.rmtree(self._folder / old)
        except OSError as error:
            raise StorageError(
                f"{self._folder}: the checkpoint failed ({error.strerror}). Free disk space, then resume."
            ) from error
        return name


def names(folder: Path) -> list[str]:
    """Names of whole checkpoints, the oldest first."""
    with contextlib.suppress(FileNotFoundError):
        return sorted(entry.name for entry in folder.iterdir() if entry.name.isdigit())
    return []


def _list_files(checkpoint: Path) -> None:
    """Write the inventory; it is on the disk when this returns."""
    with (checkpoint / INVENTORY).open("wb") as out:
        out.write(encode(_inventory(checkpoint)))
        out.flush()
        os.fsync(out.fileno())
    sync_directory(checkpoint)


def _inventory(checkpoint: Path) -> dict[str, tuple[int, bytes]]:
    """Size and digest of each file; tables have checksums of their own."""
    found = {}
    for path in sorted(checkpoint.iterdir()):
        if path.name != INVENTORY:
            digest = b""
            if path.suffix != ".sst":
                with path.open("rb") as file:
                    digest = hashlib.file_digest(file, "blake2b").digest()
            found[path.name] = path.stat().st_size, digest
    return found


def sign_of_loss(folder: Path, state: Path) -> str:
    """What shows that the state has lost commits, by the latest checkpoint; empty if nothing does.

    RocksDB takes a manifest that ends early for one that was never longer, forgets the tables that it
    does not name, and so loses commits without a word. But a manifest only grows.
    """
    for name in names(folder)[-1:]:
        for known in (folder / name).glob("MANIFEST-*"):
            with contextlib.suppress(FileNotFoundError):
                if (state / known.name).stat().st_size < known.stat().st_size:
                    return f"{state / known.name} is shorter than at checkpoint {name}"
    return ""


def restore(folder: Path, state: Path, config: StateConfig) -> Restored:
    """Put the latest checkpoint that is whole in the place of the state, which is kept beside it.

    A checkpoint shares table files with the state, so what damaged the one may have damaged the other:
    each is copied and read whole before it is trusted.

    Raises:
        ConfigError: there is none.
        StorageError: none can be read, or the disk refuses the copy.
    """
    available = names(folder)
    if not available:
        raise ConfigError(f"{folder}: there is no checkpoint to go back to. Start again in another folder.")
    state = state.resolve()  # what is renamed must lie on the disk that a link leads to
    fresh = state.with_name(state.name + ".restored")
    problem = ""
    for name in reversed(available):
        try:
            shutil.rmtree(fresh, ignore_errors=True)
            # Table files never change, but the log and the manifest do: they must not share an inode.
            shutil.copytree(folder / name, fresh)
            problem = _problem_of(fresh, config)
            if not problem:
                fault_point("restore.copied")
                return Restored(name, _exchange(fresh, state))
        except (OSError, shutil.Error) as error:
            raise StorageError(
                f"{folder / name}: cannot be copied to {fresh} ({error}). "
                "Free as much space as it takes, then try again."
            ) from None
    shutil.rmtree(fresh, ignore_errors=True)
    raise StorageError(
        f"{folder}: no checkpoint can be read ({problem}). The files in the archive are whole all the same; "
        "start again in another folder."
    )


def _problem_of(copy: Path, config: StateConfig) -> str:
    """Why the copy of a checkpoint is not whole; empty if it is, and then it is marked as restored."""
    try:
        listed = decode((copy / INVENTORY).read_bytes(), dict[str, tuple[int, bytes]])
    except (FileNotFoundError, msgspec.DecodeError) as error:
        return f"{INVENTORY}: {error}"
    if wrong := sorted(name for name, _ in listed.items() ^ _inventory(copy).items()):
        return f"{wrong[0]}: is not as it was"
    (copy / INVENTORY).unlink()
    try:
        environment = Environment.open(copy, config, create=False)
        try:
            for family in Family:
                for _ in environment.scan(family):
                    pass
            batch = environment.batch()
            batch.put(Family.META, RESTORED, b"")
            environment.commit(batch)
        finally:
            environment.close()
    except StorageError as error:
        return str(error)
    return ""


def _exchange(fresh: Path, state: Path) -> Path | None:
    """Move `fresh` to `state`; where the old one is now, if there was one."""
    if not state.exists():
        fresh.rename(state)
        return None
    places = (state.with_name(f"{state.name}.replaced-{number}") for number in itertools.count(1))
    kept = next(place for place in places if not place.exists())
    state.rename(kept)
    fault_point("restore.moved")
    fresh.rename(state)
    return kept
