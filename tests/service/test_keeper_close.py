"""A daemon ends at once, whatever its keepers are about to do."""

import asyncio
from pathlib import Path

from service_world import WHO, job_settings, open_daemon

from gossamer.service.schedule import Schedule


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
                keeper = daemon._supervisor._keepers.pop("nightly")
                async with asyncio.timeout(20):
                    await keeper.close()
                daemon._supervisor.add("nightly")

    asyncio.run(live())
