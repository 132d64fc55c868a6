"""What is asked of the system beneath, where systems differ: when the machine was started, and room on its disk."""

import ctypes
import os
import sys
import time
from functools import cache
from pathlib import Path

from gossamer.model.errors import ConfigError

if sys.platform == "linux":
    _SINCE_BOOT = time.CLOCK_BOOTTIME
else:  # macOS counts sleep in this one (clock_gettime(3)); Linux does not
    _SINCE_BOOT = time.CLOCK_MONOTONIC
_BOOT_ID = Path("/proc/sys/kernel/random/boot_id")


@cache
def boot_id() -> str:
    """Which start of the machine this is; empty where the system does not tell."""
    if sys.platform == "darwin":
        return _sysctl("kern.bootsessionuuid")
    try:
        return _BOOT_ID.read_text(encoding="ascii").strip()
    except OSError:
        return ""


def since_boot() -> int:
    """Nanoseconds since the machine was started, its sleep included; the same for all processes."""
    return time.clock_gettime_ns(_SINCE_BOOT)


def only_on_linux(what: str) -> None:
    """Refuse what needs of Linux what other systems do not have.

    Raises:
        ConfigError: this is another system.
    """
    if sys.platform != "linux":
        raise ConfigError(f"{what} needs Linux; what works elsewhere: docs/how-to/systems.md")


def allocate(descriptor: int, size: int) -> None:
    """Let a file have `size` bytes on the disk: a page that is mapped and has no room would kill the process.

    Raises:
        ConfigError: this is not Linux.
        OSError: there is no room.
    """
    if sys.platform == "linux":
        os.posix_fallocate(descriptor, 0, size)
    else:
        only_on_linux("a file that is written by way of memory")


def _sysctl(name: str) -> str:
    """A text that sysctlbyname(3) gives; empty if it gives none."""
    ask = getattr(ctypes.CDLL(None), "sysctlbyname", None)
    if ask is None:
        return ""
    text, size = ctypes.create_string_buffer(64), ctypes.c_size_t(64)
    failed = ask(name.encode(), text, ctypes.byref(size), None, ctypes.c_size_t(0))
    return "" if failed else text.value.decode("ascii", "replace")
