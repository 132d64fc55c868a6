"""Keeps what a crawl holds, and the secrets it goes with, from the machine's other users."""

import os
from pathlib import Path

from gossamer.model.errors import ConfigError

OTHERS = 0o077


def keep_private() -> None:
    """What this process makes from now on is for its user alone, whatever the umask was."""
    os.umask(os.umask(OTHERS) | OTHERS)


def private_folder(path: Path) -> None:
    """A folder that only its owner may look into, made if it is not there.

    Raises:
        ConfigError: others may look into it, and it is not ours to change that.
        OSError: it cannot be made.
    """
    path.mkdir(mode=0o700, parents=True, exist_ok=True)
    found = path.stat()
    if not found.st_mode & OTHERS:
        return
    if found.st_uid != os.geteuid():
        raise ConfigError(
            f"{path}: other users may look into it, and it belongs to one of them. Choose another folder."
        )
    path.chmod(found.st_mode & 0o700)
