"""Fresh copies by schedule: the last few are kept."""

import asyncio
from pathlib import Path

import pytest
from service_world import WHO, job_settings, open_daemon, until

from gossamer.daemon.daemon import Daemon
from gossamer.daemon.jobs.copies import copy_and_start, too_old
from gossamer.daemon.jobs.schedule import Schedule


async def nightly(daemon: Daemon, keep: int) -> None:
    """A job with six copies that never ran, and one that the operator has made."""
    settings = job_settings(None, seeds=["http://nowhere.test/"])
    await daemon.create("nightly", settings, who=WHO)
    await daemon.schedule("nightly", Schedule(cron="0 3 * * *", how="anew", keep=keep), who=WHO)
    for number in range(6):
        await daemon.clone("nightly", f"nightly-{number}", who=WHO)
        daemon._roster.change(f"nightly-{number}", copy_of="nightly", created=float(number))
    await daemon.clone("nightly", "nightly-mine", who=WHO)


@pytest.mark.parametrize(("keep", "gone"), [(2, "0123"), (6, ""), (0, "")])
def test_the_oldest_go(home: Path, keep: int, gone: str) -> None:
    async def live() -> None:
        async with open_daemon(home) as daemon:
            await nightly(daemon, keep)
            assert too_old(daemon._roster, "nightly") == [f"nightly-{number}" for number in gone]

    asyncio.run(live())


def test_what_somebody_has_use_for_stays(home: Path) -> None:
    async def live() -> None:
        async with open_daemon(home) as daemon:
            await nightly(daemon, 2)
            daemon._roster.change("nightly-0", wanted="pause")
            await daemon.schedule("nightly-1", Schedule(quiet=("22:00-06:00",)), who=WHO)
            assert too_old(daemon._roster, "nightly") == ["nightly-2", "nightly-3"]
            await daemon.schedule("nightly", Schedule(cron="0 3 * * *", how="anew"), who=WHO)
            assert too_old(daemon._roster, "nightly") == [], "seven are kept unless somebody says otherwise"
            await daemon.schedule("nightly", None, who=WHO)
            assert too_old(daemon._roster, "nightly") == []

    asyncio.run(live())


def test_a_new_copy_pushes_out_the_oldest_with_their_folders(home: Path) -> None:
    async def live() -> None:
        async with open_daemon(home) as daemon:
            await nightly(daemon, 2)
            await copy_and_start(daemon, daemon._roster, "nightly")
            names = [job.name for job in daemon.jobs()]
            new = next(name for name in names if name.startswith("nightly-2") and len(name) > 12)
            assert sorted(names) == sorted(["nightly", "nightly-5", "nightly-mine", new])
            assert daemon.job(new).wanted == "run"
            assert not (home / "jobs" / "nightly-0").exists()
            deleted = [line.job for line in daemon.audit()["items"] if line.action == "delete"]
            assert sorted(deleted) == [f"nightly-{number}" for number in range(5)]
            await daemon.stop(new, who=WHO, now=True)
            await until(lambda: daemon.job(new).pid is None and daemon.job(new).wanted == "stop")

    asyncio.run(live())
