"""Makes this interpreter look like one on another system, as far as the standard library's names go.

Only what the system lacks is taken away; what it has and Linux has not stays unknown. So a test that passes
shows that nothing of Linux is missed, not that the other system works.
"""

import importlib.abc
import os
import resource
import select
import socket
import sys
import time

MACOS_LACKS = {
    os: (
        *(
            "O_TMPFILE",
            "O_PATH",
            "O_DIRECT",
            "O_NOATIME",
            "copy_file_range",
            "eventfd",
            "fdatasync",
            "getrandom",
        ),
        *(
            "memfd_create",
            "pidfd_open",
            "posix_fadvise",
            "posix_fallocate",
            "sched_getaffinity",
            "sched_setaffinity",
        ),
        *(
            "sched_getscheduler",
            "sched_setscheduler",
            "SCHED_BATCH",
            "SCHED_IDLE",
            "getxattr",
            "setxattr",
            "splice",
        ),
        *("getresuid", "getresgid", "setresuid", "setresgid"),
    ),
    resource: ("prlimit", "RUSAGE_THREAD"),
    select: tuple(name for name in dir(select) if name.lower().startswith("epoll")),
    socket: (
        "SO_PEERCRED",
        "SO_BINDTODEVICE",
        "SOCK_CLOEXEC",
        "SOCK_NONBLOCK",
        "TCP_INFO",
        "TCP_USER_TIMEOUT",
    ),
    time: ("CLOCK_BOOTTIME", "CLOCK_TAI", "pthread_getcpuclockid"),
}
WINDOWS_LACKS = ("fcntl", "grp", "pwd", "resource", "termios", "uvloop")


class _Absent(importlib.abc.MetaPathFinder):
    def find_spec(self, name: str, path: object = None, target: object = None) -> None:
        if name in WINDOWS_LACKS:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)


def like_macos() -> None:
    """Call it before anything else is imported."""
    import asyncio
    import selectors
    import sysconfig
    import tempfile

    assert asyncio
    assert tempfile  # they have looked what there is
    sysconfig.get_config_vars()  # has a file for each system
    for module, names in MACOS_LACKS.items():
        for name in names:
            if hasattr(module, name):
                delattr(module, name)
    selectors.DefaultSelector = selectors.PollSelector
    sys.platform = "darwin"


def like_windows() -> None:
    """Call it before anything of Gossamer is imported."""
    sys.meta_path.insert(0, _Absent())
    os.name = "nt"
