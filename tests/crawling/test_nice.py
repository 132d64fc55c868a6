"""A crawl that is to leave the machine to others has no thread and no process that does not."""

import os
import platform
import subprocess
import sys
from pathlib import Path

import pytest
from patience import SLOW_SECONDS
from small_site import small_site

LINUX = platform.system() == "Linux" and platform.machine() == "x86_64"
TELL = """
import ctypes, os, pathlib, subprocess, sys, threading
from gossamer.assembly.idle import only_when_idle
before = threading.Event()
threading.Thread(target=before.wait, daemon=True).start()
print(*sorted(only_when_idle()))
after = threading.Event()
threading.Thread(target=after.wait, daemon=True).start()
for task in pathlib.Path("/proc/self/task").iterdir():
    print(os.sched_getscheduler(int(task.name)), ctypes.CDLL(None).syscall(252, 1, int(task.name)) >> 13)
child = "import os, ctypes; print(os.sched_getscheduler(0), ctypes.CDLL(None).syscall(252, 1, 0) >> 13)"
print(subprocess.run([sys.executable, "-c", child], capture_output=True, text=True).stdout.strip())
"""


@pytest.mark.skipif(not LINUX, reason="the classes of Linux")
def test_threads_and_children_leave_the_machine_to_others() -> None:
    said = subprocess.run([sys.executable, "-c", TELL], capture_output=True, text=True, check=True).stdout
    spared, *each = said.split("\n")[:-1]
    assert spared == "cpu disk"
    # Three threads and a child: SCHED_IDLE (sched(7)), and the idle class (linux/ioprio.h).
    assert each == [f"{os.SCHED_IDLE} 3"] * 4


@pytest.mark.skipif(not LINUX, reason="the classes of Linux")
def test_where_there_are_no_such_classes_the_priority_is_the_lowest() -> None:
    without = (
        "import os; del os.SCHED_IDLE; import platform; platform.machine = lambda: 'other'\n"
        "from gossamer.assembly.idle import only_when_idle; print(len(only_when_idle()), os.nice(0))"
    )
    said = subprocess.run([sys.executable, "-c", without], capture_output=True, text=True, check=True).stdout
    assert said.split() == ["0", "19"]


@pytest.mark.slow
@pytest.mark.skipif(not LINUX, reason="the classes of Linux")
def test_each_thread_of_a_crawl_is_nice(tmp_path: Path) -> None:
    begun: list[subprocess.Popen[str]] = []
    policies: set[int] = set()

    def page(_: str) -> str:
        for task in Path(f"/proc/{begun[0].pid}/task").iterdir():
            policies.add(os.sched_getscheduler(int(task.name)))
        return "<p>page"

    with small_site(page) as site:
        command = [
            sys.executable,
            "-m",
            "gossamer",
            "crawl",
            site,
            "--nice",
            "--min-delay",
            "0",
            "--dir",
            "c",
        ]
        begun.append(subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, text=True))
        _, said = begun[0].communicate(timeout=SLOW_SECONDS * 2 / 3)
    assert (begun[0].returncode, policies) == (0, {os.SCHED_IDLE})
    assert "nobody else" in said
    assert "nice = true" in (tmp_path / "c" / "crawl.toml").read_text()
