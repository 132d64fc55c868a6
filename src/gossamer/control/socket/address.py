"""Binds and finds the control socket of a crawl's folder, however long the folder's path is."""

import contextlib
import os
import socket
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path

from gossamer.control.socket.protocol import SOCKET, NotRunning

_BACKLOG = 16


class ControlSocket:
    """The socket that a crawl listens on; only for the process that has locked the folder.

    Raises:
        OSError: the folder's file system has no sockets, or something else of this name lies there.
    """

    def __init__(self, folder: Path) -> None:
        self._directory = _open_directory(folder)
        self.listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            # What lies there is of a process that has died, for this one owns the folder.
            self._remove()
            # Linux gives the file this mode, so that it is nobody else's from its first moment.
            os.fchmod(self.listening.fileno(), 0o600)
            with _address(self._directory, folder) as address:
                self.listening.bind(address)
            os.chmod(SOCKET, 0o600, dir_fd=self._directory)
            self.listening.listen(_BACKLOG)
            self.listening.setblocking(False)
        except BaseException:
            self.listening.close()
            os.close(self._directory)
            raise

    def close(self) -> None:
        """Listen no more, and remove what was linked."""
        self.listening.close()
        with contextlib.suppress(OSError):
            self._remove()
        os.close(self._directory)

    def _remove(self) -> None:
        with contextlib.suppress(FileNotFoundError):
            if not stat.S_ISSOCK(os.stat(SOCKET, dir_fd=self._directory, follow_symlinks=False).st_mode):
                raise FileExistsError(f"{SOCKET} is no socket")
            os.unlink(SOCKET, dir_fd=self._directory)


@contextlib.contextmanager
def connected(folder: Path) -> Iterator[socket.socket]:
    """A socket that is connected to the crawl in `folder`, not blocking; the caller closes it if all is well.

    Raises:
        NotRunning: nobody answers there.
    """
    client = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    client.setblocking(False)
    try:
        try:
            directory = _open_directory(folder)
            try:
                with _address(directory, folder) as address:
                    client.connect(address)
            finally:
                os.close(directory)
        except OSError as error:
            raise NotRunning(f"{folder}: no running crawl answers ({error.strerror})") from None
        yield client
    except BaseException:
        client.close()
        raise


def _open_directory(folder: Path) -> int:
    return os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)


@contextlib.contextmanager
def _address(directory: int, folder: Path) -> Iterator[str]:
    """Of the socket, by the directory's descriptor, or by a short link where there is no `/proc`.

    Addresses of sockets are limited to 108 bytes, on macOS to 104.
    """
    if Path("/proc/self/fd").is_dir():
        yield f"/proc/self/fd/{directory}/{SOCKET}"
        return
    with tempfile.TemporaryDirectory(prefix="gossamer-") as short:
        link = Path(short, "f")
        link.symlink_to(folder.absolute())
        yield str(link / SOCKET)
