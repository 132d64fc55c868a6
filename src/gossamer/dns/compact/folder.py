"""The folder that processes share a cache in: who uses it, and whether its file may be trusted.

LMDB believes its pages: a file that is not whole may crash the process that reads it. So whoever comes
first, with no other user about, decides before LMDB sees the file:

| the last user | and since | the file is |
|---|---|---|
| closed it | not touched (size and time of change as sealed) | used |
| was killed | the machine has not been started again | read through, used if whole |
| anything else, a power failure for one | | started anew |

Whole pages reach the system's page cache in the order in which they are written, so a kill leaves the file
as of the last commit; a power failure may leave anything, which is why it is known by the boot's id.
"""

import contextlib
import fcntl
import os
import stat
import time
from collections.abc import Iterator
from pathlib import Path

import msgspec
from lmdb import verify

from gossamer.model.errors import ConfigError
from gossamer.state.machine import boot_id

DATA = "names.mdb"
LOCK = "names.mdb-lock"
SEAL = "seal.json"
_GATE = "gate"
_USERS = "users"
GATE_SECONDS = 30.0
"""Longest wait for one who opens or closes: reading a large file through takes 1.4 s per million names."""
_POLL_SECONDS = 0.01


class Seal(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What the last one out, or the first one in, wrote down.

    Attributes:
        boot: id of the boot in which the file was last used.
        size: bytes of the file as it was closed; 0 while it is in use.
        changed: its time of change then, ns since 1970.
    """

    boot: str
    size: int = 0
    changed: int = 0


class CacheFolder:
    """One process's hold on the folder.

    Invariant: between `share` and `leave` the process holds a shared lock on `users`, so nobody starts the
    file anew under it. Locks are the kernel's and end with the process.
    """

    def __init__(self, path: Path) -> None:
        """Make the folder, or look at the one that is there.

        Raises:
            ConfigError: it belongs to somebody else, or others may write into it.
            OSError: it cannot be made or used.
        """
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
        status = path.stat()
        if status.st_uid != os.geteuid() or status.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
            raise ConfigError(
                f"{path}: the name cache needs a folder of its own that only its user may write into; "
                f"choose another, or chmod 700 it if it is yours"
            )
        self.path = path
        self.data = path / DATA
        self._users: int | None = None

    @contextlib.contextmanager
    def gate(self) -> Iterator[None]:
        """Hold the gate that everybody passes in opening and closing.

        Raises:
            TimeoutError: another process holds it and does not get on.
            OSError: the folder cannot be used.
        """
        gate = _open(self.path / _GATE)
        try:
            _wait_for(gate, fcntl.LOCK_EX)
            yield
        finally:
            os.close(gate)

    def enter(self) -> bool:
        """Become a user, within the gate; whether there is no other."""
        self._users = _open(self.path / _USERS)
        return _try_lock(self._users, fcntl.LOCK_EX)

    def unseal(self) -> None:
        """Note that the file is in use, by its only user within the gate, before anything is written."""
        self._write(Seal(boot_id()))

    def share(self) -> None:
        """Let others in, within the gate."""
        assert self._users is not None
        _wait_for(self._users, fcntl.LOCK_SH)

    def last(self) -> bool:
        """Whether the process is the only user left, within the gate."""
        assert self._users is not None
        return _try_lock(self._users, fcntl.LOCK_EX)

    def seal(self) -> None:
        """Vouch for the file, closed and synced, by the last user within the gate."""
        status = self.data.stat()
        self._write(Seal(boot_id(), status.st_size, status.st_mtime_ns))

    def leave(self) -> None:
        """Be a user no more."""
        if self._users is not None:
            os.close(self._users)
            self._users = None

    def trouble(self) -> str | None:
        """Why the only user must start the file anew: empty if nobody did wrong, `None` if it is good."""
        try:
            status = self.data.stat()
        except FileNotFoundError:
            return ""
        try:
            seal = msgspec.json.decode((self.path / SEAL).read_bytes(), type=Seal)
        except FileNotFoundError:
            return ""
        except (OSError, msgspec.DecodeError):
            return "nothing tells how it was left"
        if seal.size:
            untouched = (status.st_size, status.st_mtime_ns) == (seal.size, seal.changed)
            return None if untouched else "it was changed by another program"
        if seal.boot != boot_id() or not seal.boot:
            return ""
        return _flaw(self.data)

    def clear(self) -> None:
        """Remove the file, by its only user."""
        for name in (SEAL, DATA, LOCK):
            (self.path / name).unlink(missing_ok=True)

    def _write(self, seal: Seal) -> None:
        """Write the seal so that a power failure leaves the old one or the new one."""
        fresh = self.path / f"{SEAL}.tmp"
        file = _open(fresh, os.O_TRUNC)
        try:
            os.write(file, msgspec.json.encode(seal))
            os.fsync(file)
        finally:
            os.close(file)
        fresh.replace(self.path / SEAL)
        folder = os.open(self.path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


def _flaw(data: Path) -> str | None:
    """What is wrong with the file's pages, found without LMDB; `None` if nothing."""
    try:
        flaws: list[str] = verify.verify(str(data), subdir=False)  # type: ignore[no-untyped-call]
    except (verify.VerifyError, OSError) as error:
        return str(error)
    return flaws[0] if flaws else None


def _open(path: Path, flags: int = 0) -> int:
    return os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW | flags, 0o600)


def _try_lock(file: int, kind: int) -> bool:
    try:
        fcntl.flock(file, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _wait_for(file: int, kind: int) -> None:
    until = time.monotonic() + GATE_SECONDS
    while not _try_lock(file, kind):
        if time.monotonic() > until:
            raise TimeoutError("another process is opening or closing it and does not get on")
        time.sleep(_POLL_SECONDS)
