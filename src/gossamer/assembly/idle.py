"""Lets a process use only what nobody else wants of the CPU and the disk.

Linux has classes for that: SCHED_IDLE (sched(7)) and the idle class of ioprio_set(2). Whatever the process starts from
then on, threads and processes, inherits both. Other systems have the lowest niceness at most.
"""

import ctypes
import os
import platform
from collections.abc import Iterator
from contextlib import suppress
from enum import StrEnum
from pathlib import Path

LOWEST = 19
"""Niceness (nice(2))."""
_THREADS = Path("/proc/self/task")
_IOPRIO_SET = {
    "x86_64": 251,
    "aarch64": 30,
    "riscv64": 30,
    "i686": 289,
    "armv7l": 314,
    "ppc64le": 273,
    "s390x": 282,
}
"""Numbers of the system call, which the C library has no function for (asm/unistd.h)."""
_WHO_PROCESS, _CLASS_IDLE = 1, 3 << 13
"""Of linux/ioprio.h; the process that is named is a thread."""


class Spared(StrEnum):
    """What others have before us."""

    CPU = "cpu"
    DISK = "disk"


NOT_SPARED = {
    Spared.CPU: "this system does not let the crawl use idle CPU time alone: it runs at the lowest priority",
    Spared.DISK: "this system does not let the crawl use idle disk time alone: it may slow others down there",
}
"""What is said of a class that the system does not have."""


def only_when_idle() -> frozenset[Spared]:
    """Have this process, with all of its threads, run only when nobody else wants to; what the system has such a class
    for. Where it has none for the CPU, the niceness is the lowest."""
    spared = set()
    threads = list(_threads())
    if all(_idle_cpu(thread) for thread in threads):
        spared.add(Spared.CPU)
    else:
        with suppress(OSError):
            os.nice(LOWEST)
    if all(_idle_disk(thread) for thread in threads):
        spared.add(Spared.DISK)
    return frozenset(spared)


def _threads() -> Iterator[int]:
    """Those of the process; 0, which is the one that asks, where they cannot be seen."""
    try:
        yield from (int(entry.name) for entry in _THREADS.iterdir())
    except OSError:
        yield 0


def _idle_cpu(thread: int) -> bool:
    policy, schedule = getattr(os, "SCHED_IDLE", None), getattr(os, "sched_setscheduler", None)
    if policy is None or schedule is None:
        return False
    try:
        schedule(thread, policy, os.sched_param(0))
    except ProcessLookupError:
        return True  # it has ended meanwhile
    except OSError:
        return False
    return True


def _idle_disk(thread: int) -> bool:
    number = _IOPRIO_SET.get(platform.machine()) if platform.system() == "Linux" else None
    if number is None:
        return False
    try:
        call = ctypes.CDLL(None).syscall
    except (OSError, AttributeError):
        return False
    call.restype = ctypes.c_long
    return bool(call(*map(ctypes.c_long, (number, _WHO_PROCESS, thread, _CLASS_IDLE))) == 0)
