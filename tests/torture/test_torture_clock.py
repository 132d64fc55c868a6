"""A wall clock that jumps an hour, either way: neither rude nor stalled."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from torture_lives import (
    RETRY_AFTER,
    THROTTLED,
    THROTTLING_MANNERS,
    Life,
    Manners,
    assert_complete,
    rude_visits,
    throttling_world,
    wait_for,
    wait_until_throttled,
    waits,
)

from gossamer.simweb import SimulatedWeb

HOUR = 3600
"""Seconds; with a clock that stands still for an hour, or is obeyed, a crawl takes far longer."""

SITECUSTOMIZE = """
import os, time
_true_time = time.time
def _told_time():
    with open(os.environ["TOLD_TIME"]) as offset:
        return _true_time() + float(offset.read() or 0)
time.time = _told_time
"""
FAKETIME = Path("/usr/lib", f"{os.uname().machine}-linux-gnu", "faketime", "libfaketimeMT.so.1")

Tell = Callable[[int], None]


def told_by_python(life: Life, place: Path) -> Tell:
    """Python code of the crawler reads a clock that is off by what is told."""
    offset = place / "offset"
    (place / "sitecustomize.py").write_text(SITECUSTOMIZE)
    path = os.pathsep.join(filter(None, (str(place), os.environ.get("PYTHONPATH"))))
    life.env = {"PYTHONPATH": path, "TOLD_TIME": str(offset)}

    def tell(seconds: int) -> None:
        partial = place / "offset.partial"
        partial.write_text(str(seconds))
        partial.replace(offset)

    tell(0)
    return tell


def told_by_faketime(life: Life, place: Path) -> Tell:
    """All code of the process, libcurl and RocksDB included, reads that clock."""
    if not FAKETIME.exists():
        pytest.skip("libfaketime is not installed (Debian: apt-get install faketime)")
    offset = place / "faketimerc"
    life.env = {
        "LD_PRELOAD": str(FAKETIME),
        "FAKETIME_TIMESTAMP_FILE": str(offset),
        "FAKETIME_NO_CACHE": "1",
        "FAKETIME_DONT_FAKE_MONOTONIC": "1",
    }

    def tell(seconds: int) -> None:
        partial = place / "faketimerc.partial"
        partial.write_text(f"{seconds:+d}s\n")
        partial.replace(offset)

    tell(0)
    return tell


def told_time(life: Life) -> str:
    """What a process of this life takes the time for, and what it really is: proof that the trick works."""
    code = "import time; print(time.time() - float(open('/proc/uptime').read().split()[0]))"
    told = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, **life.env},
        capture_output=True,
        text=True,
        check=True,
    )
    return told.stdout


def make_life(web: SimulatedWeb, tmp_path: Path) -> Life:
    settings = {"politeness.min_delay": "100ms", "engine.give_up_after": "8s"}
    return Life(web, tmp_path / "crawl", settings)


def assert_unmoved(life: Life) -> None:
    """Complete, polite, and every request for rest was obeyed."""
    assert_complete(life)
    assert not rude_visits(life, THROTTLING_MANNERS)
    for case in THROTTLED:
        held = waits(life, f"{case}.sim.test", 503 if "503" in case else 429)
        assert len(held) == 2 and min(held) >= RETRY_AFTER - 0.01, (case, held)


@pytest.mark.slow
@pytest.mark.parametrize("way", [told_by_python, told_by_faketime])
@pytest.mark.parametrize("jump", [HOUR, -HOUR])
def test_the_clock_jumps_during_a_crawl(tmp_path: Path, way: Callable[[Life, Path], Tell], jump: int) -> None:
    with SimulatedWeb(throttling_world(*THROTTLED)) as web:
        life = make_life(web, tmp_path)
        tell = way(life, tmp_path)
        before = float(told_time(life))
        process = life.begin_crawl()
        wait_for(life, lambda log: len(log) > 8)
        tell(jump)
        assert abs(float(told_time(life)) - before - jump) < 60
        assert life.end(process).status == 0
        assert_unmoved(life)


@pytest.mark.slow
@pytest.mark.parametrize("jump", [HOUR, -HOUR])
def test_the_clock_jumps_between_two_runs(tmp_path: Path, jump: int) -> None:
    with SimulatedWeb(throttling_world(*THROTTLED)) as web:
        life = make_life(web, tmp_path)
        tell = told_by_python(life, tmp_path)
        process = life.begin_crawl()
        wait_until_throttled(life)
        assert life.kill_after(process, 0.7).killed
        tell(jump)
        assert life.end(life.begin_resume()).status == 0
        assert_unmoved(life)


@pytest.mark.slow
@pytest.mark.parametrize("jump", [HOUR, -HOUR])
def test_the_clock_jumps_over_a_reboot(tmp_path: Path, jump: int) -> None:
    """Nobody can know how long the machine was off: hosts rest as after any unclean end."""
    if os.geteuid() != 0 or shutil.which("unshare") is None:
        pytest.skip("a new boot id needs root and unshare")
    boot_id = tmp_path / "boot_id"
    boot_id.write_text("00000000-0000-4000-8000-000000000000\n")
    enter = f"mount --bind {boot_id} /proc/sys/kernel/random/boot_id"
    if subprocess.run(["unshare", "--mount", "sh", "-c", enter], capture_output=True).returncode:
        pytest.skip("mounts are not allowed here")
    with SimulatedWeb(throttling_world(*THROTTLED)) as web:
        life = make_life(web, tmp_path)
        tell = told_by_python(life, tmp_path)
        process = life.begin_crawl()
        wait_until_throttled(life)
        assert life.kill_after(process, 0.7).killed
        tell(jump)
        life.command = ["unshare", "--mount", "sh", "-c", f'{enter} && exec "$@"', "sh", *life.command]
        assert life.end(life.begin_resume()).status == 0
        assert_complete(life)
        # Holds may have ended while it was off, as far as it can tell by a clock that went ahead.
        known = {} if jump > 0 else THROTTLING_MANNERS.retry_after
        assert not rude_visits(life, Manners(min_delay=0.1, retry_after=known))
