"""Sees to it that one daemon works in a folder."""

import fcntl
import os
from pathlib import Path

from gossamer.model.errors import ConfigError


class Single:
    """The lock on a daemon's folder; the system lets go of it when the process ends, however that happens.

    Raises:
        ConfigError: another daemon has it.
    """

    def __init__(self, path: Path) -> None:
        self._descriptor: int | None = None
        try:
            self._descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
            fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            self.release()
            raise ConfigError(
                f"{path}: another daemon works in this folder. Stop it, or choose another --dir."
            ) from None
        except OSError as error:
            self.release()
            raise ConfigError(f"{path}: cannot be locked ({error.strerror}).") from None

    def release(self) -> None:
        """Let others have it; harmless if that is done."""
        descriptor, self._descriptor = self._descriptor, None
        if descriptor is not None:
            os.close(descriptor)
