"""What is done to a crawl through the daemon stands in the daemon's audit, too."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from service_world import LONG, SMALL, WHO, answering, job_settings, open_daemon, reach

from gossamer.daemon.daemon import Daemon
from gossamer.daemon.errors import ServiceError
from gossamer.simweb import SimulatedWeb


def noted(daemon: Daemon) -> list[tuple[str, str, str]]:
    """(who, action, details), the oldest first."""
    items = daemon.audit(job="first")["items"]
    return [(line.who, line.action, line.details) for line in reversed(items)]


@pytest.mark.slow
def test_every_operation_is_noted_and_no_view(home: Path) -> None:
    async def live(web: SimulatedWeb) -> None:
        async with open_daemon(home) as daemon:
            await daemon.create("first", job_settings(web, **LONG), who=WHO, claim={"connections": 8})
            await daemon.start("first", who=WHO)
            await answering(daemon, "first")
            await reach(daemon, "first", "running")
            before = len(noted(daemon))
            host = (await daemon.ask("first", "hosts", {}, who="ada"))["items"][0]["name"]
            changes: dict[str, Any] = {"scope.block": [host]}
            await daemon.ask("first", "preview_scope", {"changes": changes}, who="ada")
            with pytest.raises(ServiceError):
                await daemon.ask("first", "set", {"changes": {"engine.workers": -1}}, who="ada")
            assert noted(daemon)[before:] == [], "nothing was changed"
            await daemon.ask("first", "pause", who="ada")  # first, or it ends when its only host is parked
            [change] = await daemon.ask("first", "set", {"changes": {"engine.workers": 3}}, who="ada")
            await daemon.ask("first", "host_park", {"name": host}, who="bob")
            await daemon.ask("first", "undo", {"id": change["id"]}, who="ada")
            found = noted(daemon)[before:]
            assert [line[:2] for line in found] == [
                ("ada", "pause"), ("ada", "set"), ("bob", "host_park"), ("ada", "undo"),
            ]  # fmt: skip
            assert "engine.workers" in found[1][2] and host in found[2][2]
            await daemon.stop("first", who=WHO, now=True)
            await reach(daemon, "first", "stopped")

    with SimulatedWeb(SMALL) as web:
        asyncio.run(live(web))
