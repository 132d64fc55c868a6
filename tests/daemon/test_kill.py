"""`kill -9` of the daemon, of a job, of both: all jobs end complete, each page once."""

import asyncio
import contextlib
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from patience import PATIENCE
from service_world import WHO, crawlers, job_settings, no_survivors, service_config
from torture_lives import Life, assert_complete, small_world

from gossamer.config.settings import to_toml
from gossamer.control.socket.address import connected
from gossamer.control.socket.client import ask
from gossamer.control.socket.protocol import LiveError, NotRunning
from gossamer.daemon.daemon import Daemon
from gossamer.daemon.database import Database
from gossamer.daemon.jobs.job import Job, JobState
from gossamer.daemon.store import Store
from gossamer.simweb import SimulatedWeb

JOBS = ("one", "two")
PAGES = 400
"""More than a crawl visits while it is killed again and again."""
ROUNDS = ("daemon", "job", "both") * 3 + ("daemon",)


class Service:
    """`gossamer serve` as a process that is killed again and again."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        command = [sys.executable, "-m", "gossamer", "serve", "--dir", str(self.home), "--port", "0"]
        command += ["--token-file", "none"]
        with (self.home / "serve.err").open("ab") as errors:
            self._process = subprocess.Popen(command, stderr=errors, stdout=subprocess.DEVNULL)

    def kill(self, number: signal.Signals = signal.SIGKILL) -> int:
        assert self._process is not None
        self._process.send_signal(number)
        status = self._process.wait(PATIENCE)
        self._process = None
        return status

    def jobs(self) -> list[Job]:
        """As last written down."""
        with contextlib.closing(Database(self.home / "service.db")) as database:
            return Store(database).jobs()

    def wait_for_crawler(self, patience: float = PATIENCE) -> int:
        """A process of a job that has begun to crawl; whichever comes first."""
        deadline = time.monotonic() + patience
        while time.monotonic() < deadline:
            for pid in crawlers(self.home):
                if _answers(pid, self.home):
                    return pid
            assert any(job.wanted == "run" for job in self.jobs()), f"all have ended: {self.story()}"
            time.sleep(0.05)
        raise AssertionError(f"nothing crawls: {self.story()}")

    def hurry(self) -> None:
        """Let the jobs come to their ends: their rests are long only so that none does before it was killed."""
        deadline = time.monotonic() + PATIENCE
        for job in self.jobs():
            while not _told(job.name, self.home) and self.state_of(job.name) is not JobState.FINISHED:
                assert time.monotonic() < deadline, self.story()
                time.sleep(0.05)

    def state_of(self, name: str) -> JobState:
        """As last written down."""
        return next(job.state for job in self.jobs() if job.name == name)

    def story(self) -> str:
        """What became of the jobs, for who has to find out why."""
        states = [(job.name, job.state, job.wanted, job.reason, job.process) for job in self.jobs()]
        with contextlib.closing(Database(self.home / "service.db")) as database:
            audit = [(line.job, line.action, line.details) for line in Store(database).audit(None, 30)]
        errors = [path.read_text()[-2_000:] for path in (self.home / "jobs").glob("*.err")]
        return f"{states}, {audit}, {errors}, {(self.home / 'serve.err').read_text()[-4_000:]}"


def _told(name: str, home: Path) -> bool:
    """Whether a job's crawl has heard that it need not rest any more."""
    with contextlib.suppress(NotRunning, LiveError):
        asyncio.run(ask(home / "jobs" / name, "set", {"changes": {"politeness.min_delay": 0.02}}))
        return True
    return False


def _answers(pid: int, home: Path) -> bool:
    """A process answers in a folder of a job; the socket of one that was killed lies there, too."""
    with contextlib.suppress(OSError, NotRunning):
        words = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
        for word in words:  # none are left of one that is just dying
            if word.startswith(os.fsencode(str(home.resolve()))):
                with connected(Path(os.fsdecode(word))) as peer:
                    peer.close()
                    return True
    return False


async def _make(home: Path, webs: dict[str, SimulatedWeb], settings: dict[str, object]) -> None:
    daemon = Daemon.prepare(home, service_config())
    try:
        for name, web in webs.items():
            await daemon.create(name, job_settings(web, **settings), who=WHO)
            await daemon.start(name, who=WHO)
    finally:
        await daemon.close()


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Path]:
    path = tmp_path / "service"
    path.mkdir()
    with no_survivors(path):
        yield path


@pytest.mark.slow
def test_killed_ten_times_in_turn_all_jobs_end_complete(home: Path) -> None:
    chance = random.Random(5)
    (home / "service.toml").write_text(to_toml(service_config()))
    service = Service(home)
    with contextlib.ExitStack() as stack:
        webs = {
            name: stack.enter_context(SimulatedWeb(small_world(seed=number, pages=PAGES)))
            for number, name in enumerate(JOBS, 1)
        }
        settings: dict[str, object] = {"politeness__min_delay": "500ms", "archive__max_file_size": "24KiB"}
        asyncio.run(_make(home, webs, settings))
        service.start()
        killed = 0
        try:
            for target in ROUNDS:
                crawler = service.wait_for_crawler()
                time.sleep(chance.uniform(0.1, 0.8))
                if target != "job":
                    assert service.kill() == -signal.SIGKILL, service.story()
                if target != "daemon":
                    with contextlib.suppress(ProcessLookupError):  # it has just come to its end
                        os.kill(crawler, signal.SIGKILL)
                        killed += 1
                if target != "job":
                    time.sleep(chance.uniform(0.0, 0.5))
                    service.start()
            service.hurry()
            deadline = time.monotonic() + PATIENCE
            while any(job.state is not JobState.FINISHED for job in service.jobs()):
                states = [(job.name, job.state, job.reason) for job in service.jobs()]
                assert time.monotonic() < deadline, service.story()
                assert JobState.FAILED not in [state for _, state, _ in states], service.story()
                time.sleep(0.2)
        finally:
            service.kill(signal.SIGTERM)
        assert killed >= 5
        for name, web in webs.items():
            assert_complete(Life(web, home / "jobs" / name))
    assert all(job.process is None and not any(job.held.values()) for job in service.jobs())
