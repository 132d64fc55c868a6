"""The folder of a crawl: what lies where, who may use it."""

import fcntl
import os
import shutil
from pathlib import Path

from gossamer.assembly.disks import LINKS, discard, is_ours
from gossamer.assembly.private import private_folder
from gossamer.model.command_line import command_line
from gossamer.model.errors import ConfigError, StorageError
from gossamer.state.whole_files import PARTIAL


class CrawlFolder:
    """Paths of one crawl (docs/results.md)."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.config = path / "crawl.toml"
        self.seeds = path / "seeds.txt"
        self.state = path / "state"
        self.archive = path / "archive"
        self.index = path / "index.cdxj"
        self.log = path / "crawl.log"
        self.report = path / "report.json"
        self.refetches = path / "refetch.json"
        self.tmp = path / "tmp"
        self.checkpoints = path / "checkpoints"
        self.names = path / "names"
        self.rests = path / "rests"
        self._lock: int | None = None

    @property
    def name(self) -> str:
        """What the folder is called, however it was given."""
        return self.path.resolve().name

    @property
    def used(self) -> bool:
        """Whether a crawl was begun in this folder."""
        return self.config.exists() or self.state.exists()

    @property
    def has_results(self) -> bool:
        """Something was crawled, so the state must know of it."""
        return self.checkpoints.exists() or (self.log.exists() and self.log.stat().st_size > 0)

    def create(self) -> None:
        """Make the folder for a new crawl, and lock it.

        Raises:
            ConfigError: another crawl lives here, the folder cannot be written, or RocksDB could not name it.
        """
        self._prove_name()
        try:
            if self.used:
                raise ConfigError(
                    f"{self.path}: holds another crawl. Go on with it by '{command_line('resume', self.path)}', "
                    "or choose another --dir."
                )
            if self.path.exists() and not self._empty():
                raise ConfigError(f"{self.path}: is not an empty folder. Choose another --dir.")
            private_folder(self.path)
        except OSError as error:
            raise self._unwritable(error) from None
        self._own()

    def reopen(self) -> None:
        """Check that a crawl lives here, and lock it.

        Raises:
            ConfigError: none does, another process works on it, the folder cannot be written, or RocksDB
                could not name it.
        """
        self._prove_name()
        try:
            if not self.config.exists():
                raise ConfigError(
                    f"{self.path}: holds no crawl. Start one with 'gossamer crawl SEED --dir DIR'."
                )
        except OSError as error:
            raise self._unwritable(error) from None
        self._own()

    def release(self) -> None:
        """Let other processes use the folder; harmless if it is not locked."""
        descriptor, self._lock = self._lock, None
        if descriptor is not None:
            os.close(descriptor)

    def in_use(self) -> bool:
        """Whether a process works on the folder; taken for granted where the file system knows no locks."""
        try:
            descriptor = os.open(self.path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        except OSError:
            return True
        try:
            fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except OSError:
            return True
        finally:
            os.close(descriptor)
        return False

    def clear_tmp(self) -> None:
        """Remove spooled bodies of an earlier session; only for the owner of the folder.

        Where the operator has put a link of his own, there may be more than these, and all of it stays.

        Raises:
            StorageError: the disk refuses.
        """
        place = self.tmp.resolve()
        if not self.tmp.is_symlink() or is_ours(self.path, self.tmp):
            shutil.rmtree(place, ignore_errors=True)
        try:
            place.mkdir(exist_ok=True)
        except OSError as error:
            raise StorageError(
                f"{self.tmp}: cannot be made ({error.strerror}). Free some space, then resume."
            ) from None

    def discard(self) -> None:
        """Remove the folder with what was made for its crawl on other disks; what refuses stays."""
        discard(self.path)
        shutil.rmtree(self.path, ignore_errors=True)

    def _prove_name(self) -> None:
        """RocksDB's binding takes names as text, so bytes that are no UTF-8 cannot be said to it."""
        try:
            str(self.path).encode()
        except UnicodeEncodeError:
            shown = os.fsencode(self.path).decode(errors="backslashreplace")
            raise ConfigError(f"{shown}: its name is not UTF-8. Choose another --dir.") from None

    def _empty(self) -> bool:
        """Nothing is in the folder, or only what a start leaves that was killed at once."""
        left = {self.config.name + PARTIAL, self.seeds.name, self.seeds.name + PARTIAL}
        links = {name for names in LINKS.values() for name in names}
        return self.path.is_dir() and all(
            entry.name in left or (entry.name in links and entry.is_symlink() and not entry.exists())
            for entry in self.path.iterdir()
        )

    def _own(self) -> None:
        """Lock the folder; the system lets go of it when this process ends, however that happens."""
        if not os.access(self.path, os.W_OK):
            raise ConfigError(
                f"{self.path}: cannot be written. See that you may write to it, or choose another --dir."
            )
        try:
            self._lock = os.open(self.path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        except OSError as error:
            raise self._unwritable(error) from None
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            self.release()
            raise ConfigError(
                f"{self.path}: another process is crawling into this folder. "
                "Wait for it, stop it, or choose another --dir."
            ) from None
        except OSError:
            pass  # some network file systems know no such locks; RocksDB has one of its own

    def _unwritable(self, error: OSError) -> ConfigError:
        return ConfigError(
            f"{self.path}: cannot be written ({error.strerror}). Choose a --dir you may write to."
        )


def state_lost(folder: CrawlFolder, sign: str) -> StorageError:
    """What is to be said of a state that is less than it was at a checkpoint; `sign` shows it."""
    return StorageError(
        f"{folder.state}: the state has lost what was committed to it: {sign}. Go back to a checkpoint: "
        f"'{command_line('resume', folder.path, '--from-checkpoint')}'."
    )
