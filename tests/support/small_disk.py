"""A small disk in memory that a test can fill."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

MIB = 1 << 20


class Disk:
    """A small disk in memory, mounted at `place`, whose room a test can take and give."""

    def __init__(self, place: Path, size: int = 64 * MIB) -> None:
        self.place = place
        self._size = size
        self._ballast = place / "ballast"
        place.mkdir(parents=True, exist_ok=True)
        _mount("-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(place))

    @property
    def free(self) -> int:
        return shutil.disk_usage(self.place).free

    def leave(self, free: int) -> None:
        """Take all room but `free` bytes."""
        with self._ballast.open("wb") as ballast:
            os.posix_fallocate(ballast.fileno(), 0, self.free - free)

    def give_back(self) -> None:
        self._ballast.unlink()

    def grow(self, size: int) -> None:
        _mount("-o", f"remount,size={size}", str(self.place))

    def let_nobody_write(self) -> None:
        _mount("-o", "remount,ro", str(self.place))

    def move(self, place: Path) -> None:
        """Mount it elsewhere; where it was, there is what lies below."""
        if (
            os.geteuid()
            or subprocess.run(["mount", "--move", self.place, place], capture_output=True).returncode
        ):
            pytest.skip("a mounted disk cannot be moved here")
        self.place = place

    def close(self) -> None:
        subprocess.run(["umount", "--lazy", str(self.place)], check=True, capture_output=True)


def _mount(*arguments: str) -> None:
    if os.geteuid() != 0:
        pytest.skip("a small disk needs root, who alone may mount a tmpfs")
    done = subprocess.run(["mount", *arguments], capture_output=True, text=True)
    if done.returncode:
        pytest.skip(f"a tmpfs cannot be mounted here: {done.stderr.strip()}")
