"""A daemon that is measured, and processes on cores of their own."""

import contextlib
import json
import os
import signal
import subprocess
import time
import urllib.request
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from benchmarks import measure

LOOK_SECONDS = 0.25
RUN_SECONDS = 1_200.0
START_SECONDS = 60.0


class Daemon:
    """A daemon, and a job of it, as programs see them."""

    def __init__(self, url: str, job: str) -> None:
        self.url = url
        self._job = job
        self._open = urllib.request.build_opener(urllib.request.ProxyHandler({})).open
        self._crawler = 0

    def ask(self, method: str, path: str, body: dict[str, Any] | None = None) -> dict[str, Any]:
        """One request to its interface."""
        request = urllib.request.Request(
            f"{self.url}/api/v1{path}",
            data=json.dumps(body or {}).encode() if method == "POST" else None,
            headers={"Content-Type": "application/json"},
            method=method,
        )
        with self._open(request, timeout=START_SECONDS) as answer:
            return dict(json.loads(answer.read()))

    def _wait(self, figure: str, seconds: float) -> Any:
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            job = self.ask("GET", f"/jobs/{self._job}")
            if job["state"] in ("failed", "stopped"):
                raise RuntimeError(f"the job is {job['state']}: {job['reason']}")
            if found := job[figure]:
                return found
            time.sleep(LOOK_SECONDS)
        raise RuntimeError(f"the job has no {figure!r}: {job}")

    def wait_for_process(self) -> int:
        """The number of the crawl's process, once there is one."""
        self._crawler = int(self._wait("pid", START_SECONDS))
        return self._crawler

    def wait_for_end(self) -> None:
        """Until the job has finished."""
        self._wait("ended", RUN_SECONDS)
        self._crawler = 0

    def kill_job(self) -> None:
        """It outlives its daemon, but not this measurement."""
        if self._crawler:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self._crawler, signal.SIGKILL)


@contextlib.contextmanager
def started(line: Sequence[str], log: Path, core: int) -> Iterator[subprocess.Popen[bytes]]:
    """A process on one core; it ends with the block."""

    def settle() -> None:
        measure.end_with_parent()
        os.sched_setaffinity(0, {core})

    with log.open("ab") as output:
        process = subprocess.Popen(
            list(line),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            preexec_fn=settle,  # noqa: PLW1509 - before any thread of ours begins another process
        )
    try:
        yield process
    finally:
        process.terminate()
        try:
            process.wait(measure.GRACE_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def pin(pid: int, core: int) -> None:
    """Have every thread of a process run on one core."""
    for task in Path(f"/proc/{pid}/task").iterdir():
        with contextlib.suppress(ProcessLookupError):
            os.sched_setaffinity(int(task.name), {core})


def address_of(log: Path, process: subprocess.Popen[bytes]) -> str:
    """Where a daemon says that it answers."""
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline and process.poll() is None:
        for word in log.read_text(errors="replace").split():
            if word.startswith("http://"):
                return word.rstrip("/")
        time.sleep(0.05)
    raise RuntimeError("the daemon does not answer")
