"""A daemon ends at once, whatever its keepers are about to do, and whatever its disk has refused."""

import asyncio
from pathlib import Path

import pytest
from patience import PATIENCE
from service_world import WHO, job_settings, open_daemon

from gossamer.daemon.jobs.schedule import Schedule
from gossamer.daemon.jobs.supervisor import Supervisor
from gossamer.model.errors import StorageError


def test_a_keeper_that_was_just_woken_ends_all_the_same(tmp_path: Path) -> None:
    """Its wait has come to an end in the very moment in which it is told to end itself."""

    async def live() -> None:
        async with open_daemon(tmp_path / "home") as daemon:
            await daemon.create("nightly", job_settings(None, seeds=["http://nowhere.test/"]), who=WHO)
            await daemon.schedule("nightly", Schedule(cron="0 3 * * *"), who=WHO)
            for turns in range(12):
                await asyncio.sleep(0.02)  # until it waits
                daemon._supervisor.wake("nightly")
                for _ in range(turns):
                    await asyncio.sleep(0)
                reconciler = daemon._supervisor._reconcilers.pop("nightly")
                async with asyncio.timeout(PATIENCE):
                    await reconciler.close()
                daemon._supervisor.add("nightly")

    asyncio.run(live())


def test_folders_are_measured_again_after_the_disk_has_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks = 0
    again = asyncio.Event()

    async def measure(self: Supervisor) -> None:
        nonlocal looks
        looks += 1
        if looks < 3:
            raise StorageError("service.db: database or disk is full.")
        again.set()

    async def live() -> None:
        async with open_daemon(tmp_path / "home", watch={"disk_every": 0.1}):
            async with asyncio.timeout(PATIENCE):
                await again.wait()

    monkeypatch.setattr(Supervisor, "measure", measure)
    asyncio.run(live())
