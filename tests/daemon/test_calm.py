"""How soon the daemon looks at a job again that runs."""

import asyncio
from pathlib import Path

import pytest
from service_world import begun, open_daemon, until

from gossamer.daemon.jobs.process import JobProcess
from gossamer.daemon.jobs.run_control import CALM_TIMES
from gossamer.simweb import SimulatedWeb, WorldSpec

EVERY = 0.1


def test_a_job_that_takes_little_is_looked_at_less_often(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    takes = [1 << 20]
    monkeypatch.setattr(JobProcess, "memory", lambda _: takes[0])

    async def check() -> None:
        with SimulatedWeb(WorldSpec.plain(pages=2_000, hosts=2)) as web:
            async with open_daemon(tmp_path, watch={"every": EVERY}) as daemon:
                await begun(daemon, web)
                run_control = daemon._supervisor.reconciler("first")._run_control
                assert run_control is not None

                async def calm() -> bool:
                    return await run_control.step() == CALM_TIMES * EVERY

                await until(calm)
                takes[0] = daemon._around.roster.get("first").held["memory"] * 2 // 3
                assert await run_control.step() == EVERY

    asyncio.run(check())
