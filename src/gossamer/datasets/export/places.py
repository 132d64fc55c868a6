"""Where an export's files go: a folder, or an address that fsspec knows."""

import contextlib
import fcntl
import io
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Protocol

from gossamer.model.errors import ConfigError, StorageError

_ADDRESS = re.compile(r"([a-z][a-z0-9+.-]+)://", re.ASCII)


class CountedFile(io.RawIOBase):
    """A file that is written once, and knows how many bytes it has."""

    def __init__(self, out: Any, name: str) -> None:
        super().__init__()
        self._out = out
        self._name = name
        self.count = 0

    def writable(self) -> bool:
        """It can be, until it is closed."""
        return True

    def tell(self) -> int:
        """Bytes that were written to it so far."""
        return self.count

    def abandon(self) -> None:
        """What a writer still writes when it is thrown away goes nowhere."""
        self._out = None

    def write(self, data: Any) -> int:
        """Write all of `data`.

        Raises:
            StorageError: it cannot be written.
        """
        view = memoryview(data).cast("B")
        if self._out is None:
            return len(view)
        try:
            self._out.write(view)
        except Exception as error:  # each kind of store raises what its library does
            raise refused(self._name, error) from error
        self.count += len(view)
        return len(view)


def refused(name: str, error: Exception) -> StorageError:
    """What to say when a file cannot be written."""
    reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return StorageError(
        f"{name}: cannot be written ({reason or type(error).__name__}). Free some space or see that it may be"
        " written to; the same command goes on from the last whole file."
    )


class Place(Protocol):
    """Holds an export's files by name."""

    address: str

    def read(self, name: str) -> bytes | None:
        """The content of a file; `None` if it is not there."""

    def size(self, name: str) -> int | None:
        """Bytes of a file; `None` if it is not there."""

    def put(self, name: str, data: bytes) -> None:
        """Replace a file by one with other content."""

    def create(self, name: str) -> contextlib.AbstractContextManager[CountedFile]:
        """A file to be written, that counts once the context ends well."""

    def rename(self, name: str, to: str) -> None:
        """Let a file take the place of another, if it is there."""

    def remove(self, name: str) -> None:
        """Remove a file if it is there."""

    def is_empty(self) -> bool:
        """Whether nothing is at the address."""

    def alone(self) -> contextlib.AbstractContextManager[None]:
        """Refuse a second export to the same place, as far as that can be known."""


def place_of(address: str) -> Place:
    """The folder or store at an address.

    Raises:
        ConfigError: nothing knows such addresses.
    """
    scheme = _ADDRESS.match(address)
    if scheme is None:
        return Folder(Path(address))
    if scheme[1] == "file":
        return Folder(Path(address.removeprefix("file://")))
    return Remote(address)


class Folder:
    """A folder; files are whole or not there."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.address = str(path)

    def read(self, name: str) -> bytes | None:
        """The content of a file; `None` if it is not there."""
        try:
            return (self._path / name).read_bytes()
        except FileNotFoundError:
            return None
        except OSError as error:
            raise StorageError(f"{self._path / name}: cannot be read ({error.strerror}).") from error

    def size(self, name: str) -> int | None:
        """Bytes of a file; `None` if it is not there."""
        try:
            return (self._path / name).stat().st_size
        except OSError:
            return None

    def put(self, name: str, data: bytes) -> None:
        """Replace a file at once.

        Raises:
            StorageError: it cannot be written.
        """
        with self.create(name) as out:
            out.write(data)

    @contextlib.contextmanager
    def create(self, name: str) -> Iterator[CountedFile]:
        """A file to be written, that has its name once the context ends well.

        Raises:
            StorageError: it cannot be written.
        """
        path, partial = self._path / name, self._path / f"{name}.partial"
        try:
            with partial.open("wb") as raw:
                out = CountedFile(raw, str(path))
                try:
                    yield out
                finally:
                    out.abandon()
                raw.flush()
                os.fsync(raw.fileno())
            partial.replace(path)
        except OSError as error:
            raise refused(str(path), error) from error
        finally:
            with contextlib.suppress(OSError):
                partial.unlink(missing_ok=True)

    def rename(self, name: str, to: str) -> None:
        """Let a file take the place of another at once, if it is there.

        Raises:
            StorageError: it cannot be.
        """
        try:
            with contextlib.suppress(FileNotFoundError):
                (self._path / name).replace(self._path / to)
        except OSError as error:
            raise refused(str(self._path / to), error) from error

    def remove(self, name: str) -> None:
        """Remove a file if it is there."""
        with contextlib.suppress(FileNotFoundError):
            (self._path / name).unlink()

    def is_empty(self) -> bool:
        """Whether nothing is there, the rest of a killed export left out."""
        return not self._path.exists() or all(one.name.endswith(".partial") for one in self._path.iterdir())

    @contextlib.contextmanager
    def alone(self) -> Iterator[None]:
        """Make the folder, and refuse a second export to it.

        Raises:
            ConfigError: there is one.
            StorageError: it cannot be made.
        """
        try:
            self._path.mkdir(parents=True, exist_ok=True)
            lock = os.open(self._path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        except OSError as error:
            raise refused(str(self._path), error) from error
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(lock)
            raise ConfigError(f"{self._path}: another export writes here now; wait for it.") from None
        except OSError:  # a file system that knows no locks
            pass
        try:
            for rest in self._path.glob("*part-*.partial"):  # of one that was killed
                rest.unlink(missing_ok=True)
            yield
        finally:
            os.close(lock)


class Remote:
    """An address that fsspec knows. Its files are whole if the manifest, written after each, names them."""

    def __init__(self, address: str) -> None:
        """Args:
        address: `s3://bucket/path`, `memory://...`; credentials are fsspec's own affair.

        Raises:
            ConfigError: fsspec, or its package for such addresses, is not installed.
        """
        self.address = re.sub(r"//[^/@]*@", "//", address)
        try:
            import fsspec

            self._files, root = fsspec.core.url_to_fs(address)
        except ImportError as error:
            raise ConfigError(
                f"{self.address}: addresses need fsspec and its package for that kind ({error}):"
                " pip install 'gossamer[export]'"
            ) from None
        except Exception as error:  # noqa: BLE001 - each kind of store raises what its library does
            raise ConfigError(f"{self.address}: cannot be reached ({error}).") from None
        self._root = root.rstrip("/")

    def _named(self, name: str) -> str:
        return f"{self._root}/{name}"

    def read(self, name: str) -> bytes | None:
        """The content of a file; `None` if it is not there."""
        try:
            return bytes(self._files.cat_file(self._named(name)))
        except FileNotFoundError:
            return None
        except Exception as error:
            raise StorageError(f"{self.address}/{name}: cannot be read ({error}).") from error

    def size(self, name: str) -> int | None:
        """Bytes of a file; `None` if it is not there."""
        try:
            return int(self._files.size(self._named(name)))
        except FileNotFoundError:
            return None
        except Exception as error:
            raise StorageError(f"{self.address}/{name}: cannot be read ({error}).") from error

    def put(self, name: str, data: bytes) -> None:
        """Replace a file at once.

        Raises:
            StorageError: it cannot be written.
        """
        try:
            self._files.makedirs(self._root, exist_ok=True)
            self._files.pipe_file(self._named(name), data)
        except Exception as error:
            raise refused(f"{self.address}/{name}", error) from error

    @contextlib.contextmanager
    def create(self, name: str) -> Iterator[CountedFile]:
        """A file to be written; it counts once the manifest names it.

        Raises:
            StorageError: it cannot be written.
        """
        label = f"{self.address}/{name}"
        try:
            self._files.makedirs(self._root, exist_ok=True)
            raw = self._files.open(self._named(name), "wb")
        except Exception as error:
            raise refused(label, error) from error
        out = CountedFile(raw, label)
        try:
            yield out
        except BaseException:
            out.abandon()
            with contextlib.suppress(Exception):
                raw.discard()
            raise
        try:
            raw.close()
        except Exception as error:
            raise refused(label, error) from error

    def rename(self, name: str, to: str) -> None:
        """Let a file take the place of another, if it is there; the store may copy it.

        Raises:
            StorageError: it cannot be.
        """
        if self.size(name) is None:
            return
        try:
            self._files.mv(self._named(name), self._named(to))
        except Exception as error:
            raise refused(f"{self.address}/{to}", error) from error

    def remove(self, name: str) -> None:
        """Remove a file if it is there."""
        with contextlib.suppress(Exception):
            self._files.rm_file(self._named(name))

    def is_empty(self) -> bool:
        """Whether nothing is at the address."""
        try:
            return not self._files.exists(self._root) or not self._files.ls(self._root)
        except Exception as error:
            raise StorageError(f"{self.address}: cannot be read ({error}).") from error

    @contextlib.contextmanager
    def alone(self) -> Iterator[None]:
        """Nothing is known of others there."""
        yield
