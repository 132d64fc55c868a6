"""What `gossamer serve` says at its end of the crawls that outlive it, and whether that is so."""

import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import loopback
import pytest
from console_stage import StageDaemon
from patience import PATIENCE
from service_world import LONG, SMALL, crawlers, job_settings, no_survivors

from gossamer.cli.serve import closing_words
from gossamer.daemon.jobs.process import mark_of
from gossamer.simweb import SimulatedWeb

HOME = Path("/srv/gossamer")


def test_those_that_have_no_process_are_not_spoken_of() -> None:
    views = [view for view in StageDaemon().jobs() if view.pid is None]
    assert closing_words(views, HOME) == ["the daemon has ended; no crawl was running"]


def test_those_that_go_on_are_named_with_how_to_stop_them() -> None:
    assert closing_words(StageDaemon().jobs(), HOME) == [
        "the daemon has ended; 2 crawls go on without it: docs, shops-weekly (paused)",
        "to stop them as well: kill 4242 4243",
        "gossamer serve --dir /srv/gossamer finds them again, and goes on with those that were killed",
    ]


def test_of_many_not_all_are_named() -> None:
    docs = StageDaemon().job("docs")
    first, kill, _ = closing_words([docs] * 12, Path("/a b"))
    assert first.endswith(f": {', '.join(['docs'] * 5)} and 7 more")
    assert kill == f"to stop them as well: kill{' 4242' * 12}"
    [one, kill, again] = closing_words([docs], Path("/a b"))
    assert one == "the daemon has ended; 1 crawl goes on without it: docs"
    assert kill == "to stop it as well: kill 4242"
    assert again == 'gossamer serve --dir "/a b" finds it again, and goes on with it if it was killed'


@pytest.mark.slow
def test_a_crawl_goes_on_until_it_is_told_to_stop(home: Path) -> None:
    command = [sys.executable, "-m", "gossamer", "serve", "--dir", str(home), "--port", "0"]
    command += ["--token-file", "none"]
    with SimulatedWeb(SMALL) as web, no_survivors(home):
        process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
        assert process.stderr is not None
        try:
            address = process.stderr.readline().split()[2]
            with loopback.Client(base_url=f"{address}api/v1") as client:
                job = {"name": "long", "settings": job_settings(web, **LONG)}
                assert client.post("/jobs", json=job).status_code == 201
                assert client.post("/jobs/long/start", json={}).status_code == 200
                pid = soon(lambda: client.get("/jobs/long").json()["pid"])
            process.send_signal(signal.SIGINT)
            said = process.stderr.read()
            assert process.wait(PATIENCE) == 0
        finally:
            process.kill()
            process.wait()
            process.stderr.close()
        assert "1 crawl goes on without it: long" in said
        assert crawlers(home) == [pid]
        found = re.search(r"to stop it as well: (kill \d+)\n", said)
        assert found is not None
        subprocess.run(["sh", "-c", found[1]], check=True)
        soon(lambda: mark_of(pid) is None)


def soon(condition: Callable[[], Any]) -> Any:
    """What a condition gives as soon as it gives something."""
    deadline = time.monotonic() + PATIENCE
    while not (found := condition()):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    return found
