"""Starts the process of a crawl, watches it, and limits it from outside."""

import asyncio
import contextlib
import os
import resource
import signal
import sys
from pathlib import Path

import msgspec

from gossamer.control.speedometer import memory_bytes, open_files
from gossamer.daemon.jobs.job import Mark
from gossamer.model.errors import StorageError
from gossamer.state.machine import boot_id

_POLL = 0.5
"""Seconds between two looks at a process on a system without pidfds."""
_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGPIPE)
_LAST_WORDS = 2_000
"""Characters of standard error that a reason quotes."""


class Footprint(msgspec.Struct, frozen=True):
    """What a process takes.

    Attributes:
        memory: resident, in bytes.
        files: open descriptors.
    """

    memory: int
    files: int


class JobProcess:
    """One running crawl, our child or not: it outlives the daemon, and the next daemon finds it again.

    Args:
        mark: a process that was alive a moment ago.
    """

    def __init__(self, mark: Mark) -> None:
        self.mark = mark
        self.status: int | None = None
        """Of the exit, once `ended` is set; negative for a signal; `None` of another's child."""
        self.ended = asyncio.Event()
        self._descriptor = -1
        self._poll: asyncio.Task[None] | None = None
        if sys.platform == "linux":
            with contextlib.suppress(OSError):
                self._descriptor = os.pidfd_open(mark.pid)
        if mark_of(mark.pid) != mark:  # it ended before, so the descriptor may be another's
            self.close()
            self._reap()
            self.ended.set()
        elif self._descriptor >= 0:
            asyncio.get_running_loop().add_reader(self._descriptor, self._on_end)
        else:
            self._poll = asyncio.create_task(self._look())

    def close(self) -> None:
        """Watch it no longer; it goes on."""
        if self._poll is not None:
            self._poll.cancel()
        descriptor, self._descriptor = self._descriptor, -1
        if descriptor >= 0:
            asyncio.get_running_loop().remove_reader(descriptor)
            os.close(descriptor)

    def send(self, number: signal.Signals) -> None:
        """Send a signal; nothing happens if it has ended."""
        with contextlib.suppress(ProcessLookupError):
            if self.ended.is_set():
                return
            if sys.platform == "linux" and self._descriptor >= 0:
                signal.pidfd_send_signal(self._descriptor, number)
            else:
                os.kill(self.mark.pid, number)

    def limit_files(self, now: int, most: int) -> None:
        """Bound its open files, and what it may raise that bound to itself; where the system lets us."""
        if sys.platform != "linux":
            return
        with contextlib.suppress(ProcessLookupError, PermissionError):
            hard = resource.prlimit(self.mark.pid, resource.RLIMIT_NOFILE)[1]
            if hard != resource.RLIM_INFINITY:
                most = min(most, hard)
            resource.prlimit(self.mark.pid, resource.RLIMIT_NOFILE, (min(now, most), most))

    def memory(self) -> int:
        """Resident bytes; 0 of one that has ended."""
        return memory_bytes(self.mark.pid)

    def footprint(self) -> Footprint:
        """What it takes now; nothing of one that has ended. Some microseconds for each open file."""
        return Footprint(self.memory(), open_files(self.mark.pid))

    def _on_end(self) -> None:
        self._reap()
        self.close()
        self.ended.set()

    def _reap(self) -> None:
        """Take the exit status, if it is our child."""
        try:
            pid, status = os.waitpid(self.mark.pid, os.WNOHANG)
        except ChildProcessError:
            return
        if pid:
            self.status = os.waitstatus_to_exitcode(status)

    async def _look(self) -> None:
        while mark_of(self.mark.pid) == self.mark:  # noqa: ASYNC110 - nothing tells of another's end
            await asyncio.sleep(_POLL)
        self._reap()
        self.ended.set()


def spawn(folder: Path, errors: Path, *, revisit: bool = False) -> Mark:
    """Let the crawl in `folder` go on in a process of its own, which outlives this one.

    Args:
        errors: its standard error is appended there.
        revisit: it visits pages again.

    Raises:
        StorageError: the system does not let us.
    """
    # -P: nothing is imported from whatever folder the daemon was started in.
    command = [sys.executable, "-P", "-m", "gossamer", "resume", "--quiet"]
    command += ["--revisit", str(folder)] if revisit else [str(folder)]
    append = os.O_WRONLY | os.O_CREAT | os.O_APPEND
    try:
        pid = os.posix_spawn(
            sys.executable,
            command,
            os.environ,
            file_actions=[
                (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
                (os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0),
                (os.POSIX_SPAWN_OPEN, 2, str(errors), append, 0o600),
            ],
            setsid=True,
            setsigmask=(),
            setsigdef=_SIGNALS,
        )
    except OSError as error:
        raise StorageError(f"{folder}: its process cannot be started ({error.strerror}).") from None
    mark = mark_of(pid)
    # A child that has ended already is a zombie until we wait for it, so it has a mark.
    return mark or Mark(pid, 0, boot_id())


def mark_of(pid: int) -> Mark | None:
    """Who has this number now; `None` if nobody, or one who has ended and only waits to be told of."""
    try:
        text = Path(f"/proc/{pid}/stat").read_bytes()
    except OSError:
        return None
    # The name, in brackets, may hold anything; the state is the first field after it (proc(5)).
    fields = text[text.rfind(b")") + 2 :].split()
    if len(fields) < 20 or fields[0] in (b"Z", b"X"):
        return None
    return Mark(pid, int(fields[19]), boot_id())


def crawler_of(folder: Path) -> Mark | None:
    """The process that holds the lock of a crawl's folder; `None` if nobody but we does.

    Only looked up, never tried: who tries a lock has it for a moment, and a crawl that starts in that
    moment would be turned away.
    """
    try:
        status = folder.stat()
        locks = Path("/proc/locks").read_text(encoding="ascii").splitlines()
    except OSError:
        return None
    own = os.getpid()
    for line in locks:
        fields = line.split()
        if len(fields) < 6 or fields[1:4] != ["FLOCK", "ADVISORY", "WRITE"]:
            continue
        # The device is not compared: some file systems (btrfs, overlays) tell programs another one.
        pid = int(fields[4])
        if pid != own and fields[5].rpartition(":")[2] == str(status.st_ino) and _has_open(pid, status):
            return mark_of(pid)
    return None


def _has_open(pid: int, status: os.stat_result) -> bool:
    descriptors = f"/proc/{pid}/fd"
    try:
        names = os.listdir(descriptors)  # noqa: PTH208 - names only
    except OSError:
        return False
    for name in names:
        with contextlib.suppress(OSError):
            found = os.stat(f"{descriptors}/{name}")  # noqa: PTH116 - follows the link
            if (found.st_dev, found.st_ino) == (status.st_dev, status.st_ino):
                return True
    return False


def last_words(errors: Path) -> str:
    """The last lines of a process's standard error."""
    try:
        with errors.open("rb") as file:
            file.seek(max(0, file.seek(0, os.SEEK_END) - _LAST_WORDS))
            text = file.read(_LAST_WORDS).decode("utf-8", "replace")
    except OSError:
        return ""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return " / ".join(lines[-3:])


def cut_errors(errors: Path, most: int) -> None:
    """Keep only the end of a file of errors that has become long; whoever writes it appends."""
    with contextlib.suppress(OSError):
        if errors.stat().st_size <= most:
            return
        with errors.open("r+b") as file:
            file.seek(-most // 2, os.SEEK_END)
            kept = file.read(most)
            file.truncate(0)
            file.seek(0)
            file.write(kept)


def folder_size(folder: Path) -> int:
    """Bytes that a folder takes on its disk; files with several names in it count once."""
    seen: set[int] = set()
    total = 0
    pending: list[str | Path] = [folder]
    while pending:
        with contextlib.suppress(OSError), os.scandir(pending.pop()) as entries:
            for entry in entries:
                with contextlib.suppress(OSError):
                    status = entry.stat(follow_symlinks=False)
                    if entry.is_dir(follow_symlinks=False):
                        pending.append(entry.path)
                    elif status.st_ino not in seen:
                        seen.add(status.st_ino)
                        total += status.st_blocks * 512
    return total
