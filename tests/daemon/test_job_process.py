"""Processes of jobs: begun, found, limited, and not mistaken for others."""

import asyncio
import os
import resource
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from patience import PATIENCE

from gossamer.assembly.folder import CrawlFolder
from gossamer.daemon.jobs.job import Mark
from gossamer.daemon.jobs.process import (
    JobProcess,
    crawler_of,
    cut_errors,
    folder_size,
    last_words,
    mark_of,
    spawn,
)


@pytest.fixture
def sleeper() -> Iterator[subprocess.Popen[bytes]]:
    program = "import time; print(flush=True); time.sleep(60)"
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()  # now it is as large as it will be
        yield process
        process.kill()


def mark(process: subprocess.Popen[bytes]) -> Mark:
    found = mark_of(process.pid)
    assert found is not None
    return found


def test_the_end_of_a_child_is_noticed_with_its_status(sleeper: subprocess.Popen[bytes]) -> None:
    async def watch() -> int | None:
        process = JobProcess(mark(sleeper))
        assert not process.ended.is_set()
        assert process.memory() > 1 << 20 and process.footprint().files >= 3
        process.send(signal.SIGTERM)
        await asyncio.wait_for(process.ended.wait(), PATIENCE)
        assert process.memory() == 0
        process.send(signal.SIGTERM)  # nobody is hit
        return process.status

    assert asyncio.run(watch()) == -signal.SIGTERM
    sleeper.returncode = -signal.SIGTERM  # its status has been taken


def test_another_process_with_the_same_number_is_not_ours(sleeper: subprocess.Popen[bytes]) -> None:
    async def watch() -> bool:
        old = mark(sleeper)
        process = JobProcess(Mark(old.pid, old.ticks - 1, old.boot))
        process.send(signal.SIGKILL)
        return process.ended.is_set()

    assert asyncio.run(watch())
    assert sleeper.poll() is None


def test_a_process_that_has_ended_but_was_not_waited_for_is_dead() -> None:
    process = subprocess.Popen([sys.executable, "-c", "pass"])
    os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
    assert mark_of(process.pid) is None
    assert process.wait() == 0


def test_open_files_are_bounded_by_the_kernel(sleeper: subprocess.Popen[bytes]) -> None:
    async def limit() -> None:
        process = JobProcess(mark(sleeper))
        process.limit_files(64, 128)
        assert resource.prlimit(sleeper.pid, resource.RLIMIT_NOFILE) == (64, 128)
        process.limit_files(100, 128)
        assert resource.prlimit(sleeper.pid, resource.RLIMIT_NOFILE) == (100, 128)
        process.close()

    asyncio.run(limit())


def test_who_crawls_into_a_folder_is_found_without_touching_its_lock(tmp_path: Path) -> None:
    folder = CrawlFolder(tmp_path / "crawl")
    program = (
        "import sys; from pathlib import Path; from gossamer.assembly.folder import CrawlFolder;"
        "CrawlFolder(Path(sys.argv[1])).create(); print(flush=True); sys.stdin.read()"
    )
    command = [sys.executable, "-c", program, str(folder.path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
        assert other.stdin is not None and other.stdout is not None
        other.stdout.readline()
        assert crawler_of(folder.path) == mark_of(other.pid)
        other.stdin.close()
    assert crawler_of(folder.path) is None
    # Not whoever asks: the daemon has the lock for a moment while it writes to a folder.
    (folder.path / "crawl.toml").touch()
    folder.reopen()
    assert crawler_of(folder.path) is None
    folder.release()
    assert crawler_of(tmp_path / "nothing") is None


def test_a_crawl_that_cannot_begin_says_why_on_standard_error(tmp_path: Path) -> None:
    async def run() -> int | None:
        process = JobProcess(spawn(tmp_path / "nothing", tmp_path / "nothing.err"))
        await asyncio.wait_for(process.ended.wait(), PATIENCE)
        return process.status

    assert asyncio.run(run()) == 2
    assert "holds no crawl" in last_words(tmp_path / "nothing.err")


def test_errors_that_pile_up_are_cut_to_their_end(tmp_path: Path) -> None:
    errors = tmp_path / "job.err"
    errors.write_text("".join(f"line {number}\n" for number in range(1000)))
    cut_errors(errors, 1 << 20)
    assert errors.stat().st_size > 8_000
    cut_errors(errors, 1_000)
    assert errors.stat().st_size == 500
    assert last_words(errors) == "line 997 / line 998 / line 999"
    cut_errors(tmp_path / "none", 1_000)
    assert last_words(tmp_path / "none") == ""


def test_the_size_of_a_folder_counts_files_with_two_names_once(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "one").write_bytes(b"x" * 100_000)
    size = folder_size(tmp_path)
    assert 100_000 <= size < 200_000
    os.link(tmp_path / "a" / "one", tmp_path / "two")
    (tmp_path / "away").symlink_to("/usr")
    assert folder_size(tmp_path) == size
    assert folder_size(tmp_path / "none") == 0
