"""Checkpoints: copies of the state from which a crawl goes on after a power failure or damage (W14)."""

import asyncio
import contextlib
import shutil
import time
from pathlib import Path

from gossamer.archive.writer import ArchiveWriter
from gossamer.engine.fault_points import fault_point
from gossamer.engine.in_thread import in_thread
from gossamer.model.errors import ConfigError, StorageError
from gossamer.model.events import Checkpointed
from gossamer.state.environment import Environment

_PARTIAL = ".partial"


class Checkpoints:
    """Takes checkpoints into `folder`, one sub-folder each, named by number; keeps the latest few.

    A checkpoint is whole if and only if its name has no `.partial`: the archive is synced first, then the
    log, then RocksDB links its files, then the folder gets its name.
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
            self._folder.mkdir(exist_ok=True)
            for left in self._folder.glob(f"*{_PARTIAL}"):
                shutil.rmtree(left)
            name = f"{max(map(int, names(self._folder)), default=0) + 1:08d}"
            self._writer.sync()
            self._environment.sync()
            fault_point("checkpoint.synced")
            partial = self._folder / (name + _PARTIAL)
            self._environment.checkpoint(partial)
            fault_point("checkpoint.copied")
            partial.rename(self._folder / name)
            fault_point("checkpoint.named")
            for old in names(self._folder)[: -self._keep]:
                shutil.rmtree(self._folder / old)
        except OSError as error:
            raise StorageError(
                f"{self._folder}: the checkpoint failed ({error.strerror}). Free disk space, then resume."
            ) from error
        return name


def names(folder: Path) -> list[str]:
    """Whole checkpoints, oldest first."""
    with contextlib.suppress(FileNotFoundError):
        return sorted(entry.name for entry in folder.iterdir() if entry.name.isdigit())
    return []


def restore(folder: Path, state: Path) -> str:
    """Put the latest checkpoint in the place of the state; the damaged one is kept beside it.

    Returns:
        The name of the checkpoint.

    Raises:
        ConfigError: there is none.
    """
    available = names(folder)
    if not available:
        raise ConfigError(f"{folder}: there is no checkpoint to go back to. Start again in another folder.")
    source = folder / available[-1]
    fresh = state.with_name(state.name + ".restored")
    shutil.rmtree(fresh, ignore_errors=True)
    # Table files never change, but the log and the manifest do: they must not share an inode.
    shutil.copytree(source, fresh)
    damaged = state.with_name(f"{state.name}.replaced-{int(time.time())}")
    if state.exists():
        state.rename(damaged)
    fresh.rename(state)
    return available[-1]
