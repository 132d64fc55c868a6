"""Run a program pinned to one core and account for its whole process tree."""

import compileall
import contextlib
import ctypes
import importlib.util
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import IO

import msgspec

SAMPLE_SECONDS = 0.05
GRACE_SECONDS = 15.0
_MIB = 1 << 20
_PAGE = os.sysconf("SC_PAGE_SIZE")


_PR_SET_PDEATHSIG = 1
_CPUCLOCK_SCHED = 2
_libc = ctypes.CDLL(None)


class Usage(msgspec.Struct, frozen=True):
    """What a program took, start-up included.

    Attributes:
        status: exit status; negative: ended by that signal.
        seconds: from start to end.
        cpu_seconds: user and system time of the process and all its descendants.
        peak_mb: MiB resident: the tree's sum at any sample, or one process's high-water mark if that is more.
        timed_out: it had to be ended.
    """

    status: int
    seconds: float
    cpu_seconds: float
    peak_mb: float
    timed_out: bool = False


def cores() -> tuple[int, int]:
    """(crawler's, server's): two different cores where there are two."""
    usable = sorted(os.sched_getaffinity(0))
    return usable[0], usable[-1]


def run(
    command: Sequence[str],
    *,
    log: Path,
    core: int | None = None,
    timeout: float = 1800.0,
    sampled: Callable[[float], None] | None = None,
) -> Usage:
    """Run `command` to its end; output goes to `log`.

    Args:
        command: program and arguments.
        log: where both output streams go, appended.
        core: the processor that the tree may use, or any.
        timeout: seconds until it is asked to stop (SIGINT), later made to.
        sampled: called with the tree's resident MiB about every `SAMPLE_SECONDS`.
    """
    with log.open("ab") as output:
        process = _start(command, output, core)
    try:
        return _watch(process, timeout, sampled)
    except BaseException:
        # Whoever called is about to remove the folder that the program writes to.
        process.kill()
        process.wait()
        raise


def _watch(
    process: subprocess.Popen[bytes], timeout: float, sampled: Callable[[float], None] | None
) -> Usage:
    started = time.monotonic()
    peak = 0.0
    stop_at = started + timeout
    signals = [signal.SIGINT, signal.SIGTERM, signal.SIGKILL]
    timed_out = False
    while True:
        pid, status, usage = os.wait4(process.pid, os.WNOHANG)
        if pid:
            break
        resident, marks = _tree_memory(process.pid)
        peak = max(peak, resident, marks)
        if sampled is not None:
            sampled(resident)
        if time.monotonic() > stop_at:
            timed_out = True
            process.send_signal(signals.pop(0) if len(signals) > 1 else signals[0])
            stop_at = time.monotonic() + GRACE_SECONDS
        time.sleep(SAMPLE_SECONDS)
    process.returncode = os.waitstatus_to_exitcode(status)
    seconds = time.monotonic() - started
    return Usage(process.returncode, seconds, usage.ru_utime + usage.ru_stime, peak, timed_out)


def _start(command: Sequence[str], output: IO[bytes], core: int | None) -> subprocess.Popen[bytes]:
    # A child inherits the affinity it is started under, so not even its start runs elsewhere.
    before = os.sched_getaffinity(0)
    if core is not None:
        os.sched_setaffinity(0, {core})
    try:
        return subprocess.Popen(
            list(command),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            env=_as_installed(),
            start_new_session=True,
            preexec_fn=end_with_parent,  # noqa: PLW1509  no threads here
        )
    finally:
        os.sched_setaffinity(0, before)


@cache
def _as_installed() -> dict[str, str]:
    """The environment, with bytecode at hand: pip compiles what it installs, a checkout need not be."""
    package = importlib.util.find_spec("gossamer")
    for folder in package.submodule_search_locations or () if package else ():
        compileall.compile_dir(folder, quiet=2)
    return {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}


def _tree_memory(root: int) -> tuple[float, float]:
    """(MiB resident in the tree, largest high-water mark of a process in it)."""
    resident = 0
    mark = 0
    waiting = [root]
    while waiting:
        pid = waiting.pop()
        folder = Path("/proc", str(pid))
        with contextlib.suppress(OSError, ValueError, IndexError):
            for task in (folder / "task").iterdir():
                waiting += map(int, (task / "children").read_text().split())
            resident += int((folder / "statm").read_text().split()[1]) * _PAGE
            mark = max(mark, _high_water((folder / "status").read_text()))
    return resident / _MIB, mark / _MIB


def _high_water(status: str) -> int:
    """Bytes of `VmHWM`; unlike `ru_maxrss` it does not count what the parent held before `exec`."""
    _, _, rest = status.partition("VmHWM:")
    return int(rest.split(None, 1)[0]) * 1024 if rest else 0


def cpu_seconds(pid: int) -> float:
    """User and system time of one running process; OSError when there is none.

    By its own clock (what clock_getcpuclockid(3) returns), for `/proc/PID/stat` counts in hundredths
    of a second: an idle daemon spends less than one of them in ten seconds.
    """
    return time.clock_gettime(~pid << 3 | _CPUCLOCK_SCHED)


def end_with_parent() -> None:
    """Have the calling process sent SIGTERM when its parent ends, however that ends; for `preexec_fn`."""
    _libc.prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)


def hear_interrupts() -> None:
    """Have what is started from now on hear SIGINT from its first moment.

    What a script starts in the background has it ignored, and so have its children until they say otherwise: one that
    came while Python began would be lost, and its crawl would never end.
    """
    signal.signal(signal.SIGINT, signal.default_int_handler)


def tidy_when_terminated() -> None:
    """Let SIGTERM unwind the stack, so that servers are stopped and folders removed."""
    signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))
