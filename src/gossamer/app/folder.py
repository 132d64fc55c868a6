"""The folder of a crawl: what lies where, who may use it."""

import contextlib
import os
import shutil
from pathlib import Path

from gossamer.model.errors import ConfigError, StorageError


class CrawlFolder:
    """Paths of one crawl (DESIGN section 6)."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.config = path / "crawl.toml"
        self.state = path / "state"
        self.archive = path / "archive"
        self.index = path / "index.cdxj"
        self.log = path / "crawl.log"
        self.report = path / "report.json"
        self.tmp = path / "tmp"
        self.checkpoints = path / "checkpoints"

    @property
    def used(self) -> bool:
        """A crawl lives here."""
        return self.config.exists() or self.state.exists()

    def create(self) -> None:
        """Make the folder for a new crawl.

        Raises:
            ConfigError: another crawl lives here, or the folder cannot be written.
        """
        if self.used:
            raise ConfigError(
                f"{self.path}: holds another crawl. Go on with it by 'gossamer resume {self.path}', "
                "or choose another --dir."
            )
        if self.path.exists() and (not self.path.is_dir() or any(self.path.iterdir())):
            raise ConfigError(f"{self.path}: is not an empty folder. Choose another --dir.")
        self._prepare()

    def reopen(self) -> None:
        """Check that a crawl lives here, and clear what an earlier session left behind.

        Raises:
            ConfigError: none does, or the folder cannot be written.
        """
        if not self.config.exists() or not self.state.is_dir():
            raise ConfigError(f"{self.path}: holds no crawl. Start one with 'gossamer crawl SEED --dir DIR'.")
        self._prepare()

    def clear_tmp(self) -> None:
        """Remove spooled bodies of an earlier session; only for the owner of the state's lock."""
        shutil.rmtree(self.tmp, ignore_errors=True)
        self.tmp.mkdir(exist_ok=True)

    def _prepare(self) -> None:
        try:
            for folder in (self.path, self.archive, self.tmp):
                folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise ConfigError(
                f"{self.path}: cannot be written ({error.strerror}). Choose a --dir you may write to."
            ) from None
        if not os.access(self.path, os.W_OK):
            raise ConfigError(f"{self.path}: cannot be written. Choose a --dir you may write to.")


def write_whole(path: Path, text: str) -> None:
    """Replace a file at once: a crash leaves the old or the new text, never a part.

    Raises:
        StorageError: the disk refuses.
    """
    partial = path.with_name(path.name + ".partial")
    try:
        with partial.open("w", encoding="utf-8") as out:
            out.write(text)
            out.flush()
            os.fsync(out.fileno())
        partial.replace(path)
    except OSError as error:
        with contextlib.suppress(OSError):
            partial.unlink()
        raise StorageError(f"{path}: cannot be written ({error.strerror}). Free some space.") from None
