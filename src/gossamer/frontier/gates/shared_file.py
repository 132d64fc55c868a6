"""The file of a table that the processes of one machine share, and the folder in which it lies."""

import os
import stat
import threading
from pathlib import Path

import lmdb

from gossamer.model.errors import ConfigError
from gossamer.state.machine import allocate


def make_folder(folder: Path) -> None:
    """Make the folder if need be.

    Raises:
        ConfigError: it belongs to somebody else, or others may write into it.
        OSError: it cannot be made.
    """
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    status = folder.stat()
    if status.st_uid != os.geteuid() or status.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        raise ConfigError(
            f"{folder}: politeness.shared needs a folder of its own that only its user may write into; "
            "choose another, or chmod 700 it if it is yours"
        )


def remove_older(folder: Path, table: Path) -> None:
    """Remove the tables of earlier boots."""
    for path in folder.glob("rests-*"):
        if not path.name.startswith(table.stem):
            path.unlink(missing_ok=True)


_open: dict[tuple[int, Path], tuple[lmdb.Environment, int]] = {}
"""Open tables and their users, by process and file: LMDB forbids to open a file twice in a process."""
_opening = threading.Lock()


def share(table: Path, size: int) -> lmdb.Environment:
    """The table in a file of `size` bytes, for one more user in this process, who has to `release` it.

    Raises:
        OSError: the file cannot be made or used.
        lmdb.Error: likewise.
    """
    place = (os.getpid(), table.resolve())
    with _opening:
        environment, users = _open.get(place, (None, 0))
        if environment is None:
            environment = lmdb.Environment(
                str(table),
                subdir=False,
                map_size=size,
                mode=0o600,
                sync=False,
                metasync=False,
                readahead=False,
                writemap=True,
                max_spare_txns=1,
            )
            try:
                _allocate(table, size)
            except OSError:
                environment.close()
                raise
        _open[place] = environment, users + 1
        return environment


def _allocate(table: Path, size: int) -> None:
    file = os.open(table, os.O_RDWR | os.O_CLOEXEC)
    try:
        allocate(file, size)
    finally:
        os.close(file)


def release(environment: lmdb.Environment) -> None:
    """Let go of a shared table; the last user of the process closes it."""
    with _opening:
        place = next(place for place, (candidate, _) in _open.items() if candidate is environment)
        _, users = _open.pop(place)
        if users > 1:
            _open[place] = environment, users - 1
        else:
            environment.close()
