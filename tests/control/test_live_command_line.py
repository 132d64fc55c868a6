"""The commands that steer a crawl, on one that runs in a process of its own; and one that is killed."""

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from patience import PATIENCE

from gossamer.cli.live import show_pause, show_set, show_undo
from gossamer.config.config import CrawlConfig
from gossamer.config.settings import load, read_toml
from gossamer.control.socket.address import connected
from gossamer.control.socket.client import ask
from gossamer.control.socket.protocol import NotRunning
from gossamer.inspect.inspection import inspect
from gossamer.inspect.status import status_of
from gossamer.model.errors import ConfigError
from gossamer.simweb import SimulatedWeb, WorldSpec

SPEC = WorldSpec.friendly(hosts=8, pages=40_000, page_bytes=400)


@pytest.fixture(scope="module")
def web() -> Iterator[SimulatedWeb]:
    with SimulatedWeb(SPEC) as served:
        yield served


def gossamer(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "gossamer", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=False)


def answers(path: Path) -> bool:
    """Whether the crawl hears: its socket is there a moment before."""
    try:
        with connected(path) as client:
            client.close()
    except NotRunning:
        return False
    return True


@pytest.fixture
def running(tmp_path: Path, web: SimulatedWeb) -> Iterator[tuple[Path, subprocess.Popen[bytes]]]:
    path = tmp_path / "crawl"
    settings = [
        "scope.mode=any",
        "fetch.allow_private=true",
        "politeness.min_delay=0.05",
        "politeness.factor=0",
    ]
    command = [sys.executable, "-m", "gossamer", "crawl", *web.seeds, "--dir", str(path), "--quiet"]
    command += ["--nameserver", web.nameserver, *(part for one in settings for part in ("--set", one))]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        deadline = time.monotonic() + PATIENCE
        while not answers(path):
            assert time.monotonic() < deadline
            assert process.poll() is None
            time.sleep(0.02)
        yield path, process
        process.kill()


@pytest.mark.slow
def test_set_undo_and_pause(
    running: tuple[Path, subprocess.Popen[bytes]], capsys: pytest.CaptureFixture[str]
) -> None:
    path, process = running
    show_set(path, ["engine.workers=3", "politeness.min_delay=20ms"], json=False)
    assert "engine.workers: 32 -> 3 (change 1)" in capsys.readouterr().out
    with pytest.raises(ConfigError) as caught:
        show_set(path, ["engine.workers=0", "engine.order=dfs"], json=False)
    assert len(caught.value.problems) == 2
    assert any("cannot change while the crawl runs" in problem for problem in caught.value.problems)
    with pytest.raises(ConfigError, match="must be UTF-8"):
        show_set(path, ['scope.exclude=["\udcff"]'], json=False)
    with pytest.raises(ConfigError, match="holds a character NUL"):
        show_set(path, ['seeds_watch="a\\u0000b"'], json=False)
    show_pause(path, on=True, json=False)
    assert capsys.readouterr().out.startswith("paus")
    show_pause(path, on=False, json=True)
    assert json.loads(capsys.readouterr().out) == {"state": "running"}
    show_undo(path, 1, json=True)
    [undone] = json.loads(capsys.readouterr().out)
    assert (undone["new"], undone["undoes"]) == (32, 1)
    with inspect(path) as inspection:  # beside it, as before
        assert status_of(inspection).sums.pages >= 0
    process.send_signal(signal.SIGINT)
    assert process.wait(PATIENCE) == 130
    stopped = gossamer("pause", path)
    assert stopped.returncode == 2
    assert f"no crawl runs there. 'gossamer resume {path}' goes on with it" in stopped.stderr
    nothing = gossamer("pause", path / "archive")
    assert (nothing.returncode, "holds no crawl" in nothing.stderr) == (2, True)


@pytest.mark.slow
def test_a_change_survives_a_kill(running: tuple[Path, subprocess.Popen[bytes]]) -> None:
    path, process = running
    changed = gossamer("set", path, 'scope.exclude=["/never/"]', "engine.workers=5")
    assert changed.returncode == 0, changed.stderr
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    config = load(CrawlConfig, read_toml(path / "crawl.toml"))
    assert (config.engine.workers, config.scope.exclude) == (5, ("/never/",))
    with (path / "changes.jsonl").open("ab") as log:
        log.write(b'{"id": 3, "when"')  # as a power failure would leave it
    command = [sys.executable, "-m", "gossamer", "resume", str(path), "--quiet"]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as again:
        assert change_workers(path, again) == 3
        again.send_signal(signal.SIGINT)
        assert again.wait(PATIENCE) == 130


def change_workers(path: Path, process: "subprocess.Popen[bytes]") -> int:
    """Number of the change, once the crawl answers."""
    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            [entry] = asyncio.run(ask(path, "set", {"changes": {"engine.workers": 6}}))
        except NotRunning:
            assert time.monotonic() < deadline
            assert process.poll() is None
            time.sleep(0.05)
        else:
            assert (entry["old"], entry["new"]) == (5, 6)
            return int(entry["id"])
