"""Keeps the files of one checkpoint from being pruned while a snapshot is made of it."""

import contextlib
import shutil
from pathlib import Path

from gossamer.archive.committed import archive_files
from gossamer.archive.file import OPEN_SUFFIX
from gossamer.archive.placement import ArchiveFile
from gossamer.assembly.folder import CrawlFolder
from gossamer.cluster.agent.outbox import THEIRS
from gossamer.cluster.snapshots.manifest import Position
from gossamer.cluster.snapshots.pieces import Local
from gossamer.engine.checkpoints import INVENTORY
from gossamer.engine.settlement.visit_log import LOG
from gossamer.model.errors import StorageError
from gossamer.state.environment import Environment, Family, StateConfig
from gossamer.state.records import decode

_LITTLE = StateConfig(block_cache=1 << 20, write_buffers=1 << 20, max_open_files=32)
"""A few keys are read, once."""


class Pinned:
    """A checkpoint with the archive and the log as it has them; a context manager that lets go of them.

    Attributes:
        checkpoint: its name.
        files: all that belongs to a snapshot.
        inbox: messages of other agents that it covers.
    """

    def __init__(self, checkpoint: str, links: Path, files: list[Local], inbox: tuple[Position, ...]) -> None:
        """Call `pin` instead."""
        self.checkpoint = checkpoint
        self.files = files
        self.inbox = inbox
        self._links = links

    def __enter__(self) -> "Pinned":
        return self

    def __exit__(self, *_: object) -> None:
        shutil.rmtree(self._links, ignore_errors=True)


def pin(folder: CrawlFolder, checkpoint: str) -> Pinned:
    """Keep the files of a checkpoint by hard links in `folder.tmp`; takes some milliseconds.

    Call it after `Crawl.checkpoint()` returned the name, before `engine.keep_checkpoints` more are taken.

    Raises:
        StorageError: the checkpoint is gone, or the disk refuses.
    """
    links = folder.tmp / f"snapshot-{checkpoint}"
    shutil.rmtree(links, ignore_errors=True)
    try:
        state = links / "state"
        state.mkdir(parents=True)
        for path in (folder.checkpoints / checkpoint).iterdir():
            if path.name != INVENTORY:
                # RocksDB's tables are most of it. Who opens a state may write to the small files.
                _link(path, state / path.name, link=path.suffix == ".sst")
        files = [_local(f"state/{path.name}", path) for path in sorted(state.iterdir())]
        archives, log, inbox = _committed(state)
        for archive in archives:
            files += _archive(folder, archive, links)
        if folder.log.exists():
            files.append(Local("crawl.log", folder.log, log, grows=True))
        files += [_local(path.name, path) for path in (folder.config, folder.seeds) if path.exists()]
    except FileNotFoundError as error:
        shutil.rmtree(links, ignore_errors=True)
        raise StorageError(
            f"{error.filename}: gone before a snapshot was made of checkpoint {checkpoint}. Keep more "
            "checkpoints (engine.keep_checkpoints), or take them less often (engine.checkpoint_every)."
        ) from None
    except OSError as error:
        shutil.rmtree(links, ignore_errors=True)
        raise StorageError(f"{links}: cannot be made ({error.strerror}). Free some space.") from None
    except BaseException:
        shutil.rmtree(links, ignore_errors=True)
        raise
    return Pinned(checkpoint, links, files, inbox)


def _committed(state: Path) -> tuple[list[ArchiveFile], int, tuple[Position, ...]]:
    """(archive files, length of the log, inbox) as a checkpoint has them."""
    environment = Environment.open_read_only(state, _LITTLE)
    try:
        log = environment.get(Family.META, LOG)
        inbox = tuple(
            Position(int.from_bytes(key[1:3], "big"), key[3:].decode(), int.from_bytes(value, "big"))
            for key, value in environment.scan(Family.OUTBOX, prefix=THEIRS)
        )
        return archive_files(environment), decode(log, int) if log else 0, inbox
    finally:
        environment.close()


def _archive(folder: CrawlFolder, archive: ArchiveFile, links: Path) -> list[Local]:
    """The file as it counts; nothing if the operator has moved it away since it was closed."""
    final = folder.archive / archive.name
    opened = folder.archive / (archive.name + OPEN_SUFFIX)
    name = f"archive/{archive.name}" + (OPEN_SUFFIX if archive.state == "open" else "")
    # It gets its final name when it is full, perhaps just now.
    for path in (opened, final, opened, final):
        with contextlib.suppress(FileNotFoundError):
            _link(path, links / archive.name, copy=False)
            return [Local(name, links / archive.name, archive.length, grows=True)]
        if path.exists():  # without hard links it is read where it stands
            return [Local(name, path, archive.length, grows=True)]
    if archive.state == "closed":
        return []
    raise FileNotFoundError(2, "is gone", str(opened))


def _link(path: Path, target: Path, *, link: bool = True, copy: bool = True) -> None:
    if link:
        try:
            target.hardlink_to(path)
        except FileNotFoundError:
            raise
        except OSError:
            if not copy:
                raise FileNotFoundError(str(path)) from None
        else:
            return
    shutil.copyfile(path, target)


def _local(name: str, path: Path) -> Local:
    return Local(name, path, path.stat().st_size)
