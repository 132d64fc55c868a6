"""What holds a job back outlives its process: a pause, whoever wanted it, and what it was granted."""

import asyncio
import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from service_world import SMALL, WHO, answering, begun, crawlers, open_daemon, reach, until

from gossamer.assembly.hold import read_hold
from gossamer.control.changes.change_log import read_changes
from gossamer.control.socket.client import ask
from gossamer.daemon.daemon import Daemon
from gossamer.simweb import SimulatedWeb


@pytest.fixture(scope="module")
def web() -> Iterator[SimulatedWeb]:
    with SimulatedWeb(SMALL) as simulated:
        yield simulated


async def kill(daemon: Daemon) -> None:
    pid = daemon.job("first").pid
    assert pid is not None
    os.kill(pid, signal.SIGKILL)
    await until(lambda: daemon.job("first").pid != pid)


@pytest.mark.slow
@pytest.mark.parametrize("past_the_daemon", [False, True])
def test_a_paused_job_that_is_killed_stays_paused(
    web: SimulatedWeb, home: Path, *, past_the_daemon: bool
) -> None:
    async def live() -> None:
        async with open_daemon(home) as daemon:
            await begun(daemon, web)
            if past_the_daemon:  # which has not looked yet
                await ask(home / "jobs" / "first", "pause", who="bob")
            else:
                await daemon.pause("first", who=WHO)
                await reach(daemon, "first", "paused")
            await kill(daemon)
            view = await reach(daemon, "first", "paused")
            await asyncio.sleep(1.0)  # ten times what it takes to be started again
            view = daemon.job("first")
            assert (view.state, view.wanted, view.pid) == ("paused", "pause", None)
            by = "bob" if past_the_daemon else WHO
            assert view.reason.startswith(f"paused by {by}; its process was killed")
            assert crawlers(home) == []
            await daemon.unpause("first", who=WHO)
            await answering(daemon, "first")
            await daemon.stop("first", who=WHO, now=True)
            await reach(daemon, "first", "stopped")

    asyncio.run(live())


@pytest.mark.slow
def test_what_was_granted_holds_before_the_daemon_has_told(web: SimulatedWeb, home: Path) -> None:
    async def live() -> None:
        async with open_daemon(home) as daemon:
            await begun(daemon, web)
            folder = home / "jobs" / "first"
            held = daemon.job("first").held
            await until(lambda: read_hold(folder).ceilings.connections == 4)
            await kill(daemon)
            await answering(daemon, "first")
            status = await daemon.figures("first")
            assert status["ceilings"]["bandwidth"] == held["bandwidth"] > 0
            told = [change for change in read_changes(folder) if change.path == "limits"]
            assert told == [], "it began with them"
            await daemon.stop("first", who=WHO, now=True)
            await reach(daemon, "first", "stopped")

    asyncio.run(live())
