"""Lets one process write what is derived of a crawl, in a folder of its own."""

import fcntl
import os
from pathlib import Path

from gossamer.assembly.private import private_folder
from gossamer.model.errors import ConfigError, StorageError


class Busy(ConfigError):  # noqa: N818 (what it says is what it is)
    """Another process writes there; it ends some time."""


def lock_folder(folder: Path, what: str) -> int:
    """Make a folder that is private, and be the only process that writes in it.

    Args:
        folder: the folder.
        what: what the other process would be doing, for the message.

    Returns:
        A descriptor of the folder; whoever closes it lets others write, and so does the end of the process.

    Raises:
        Busy: another process writes there.
        ConfigError: the folder is somebody else's.
        StorageError: the disk refuses.
    """
    try:
        private_folder(folder)
        lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError as error:
        raise StorageError(f"{folder}: cannot be made ({error.strerror}). Free some space.") from error
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(lock)
        raise Busy(f"{folder}: another process {what} now; wait for it.") from None
    except OSError:  # a file system that knows no locks
        pass
    return lock


def is_locked(folder: Path) -> bool:
    """Whether another process writes there now, as `lock_folder` has it; so also if this one does."""
    try:
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError:  # not made yet, or not to be read
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:  # a file system that knows no locks
        return False
    finally:
        os.close(descriptor)
    return False
