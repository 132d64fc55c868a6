"""Six jobs whose claims together exceed the machine's limits: all end, the limits are kept, as measured."""

import asyncio
from collections import defaultdict
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import pytest
from service_world import WHO, job_settings, open_daemon, until
from slow_servers import SlowServers

from gossamer.daemon.daemon import Daemon
from gossamer.daemon.errors import ServiceError
from gossamer.daemon.jobs.job import JobState
from gossamer.simweb import Visit

JOBS = [f"job{number}" for number in range(6)]
MIB = 1 << 20
SPEED = 400_000
LIMITS = {"connections": 14, "bandwidth": SPEED, "memory": 560 * MIB, "files": 3_000, "disk": 900 * MIB}
CLAIM = {"connections": 8, "bandwidth": SPEED // 4, "memory": 180 * MIB, "files": 700, "disk": 64 * MIB}
HOSTS, PAGES, SECONDS, PAGE = 30, 4, 0.2, 12_000
DELAY = 0.1
SLACK = 0.005
"""Of the clocks of two processes, and of what lies between the last byte sent and the last byte read."""
WINDOW = 5.0
"""Seconds over which a speed is taken."""


class Watch:
    """What is seen of the daemon and its processes while they run."""

    def __init__(self, daemon: Daemon) -> None:
        self.daemon = daemon
        self.memory: list[int] = []
        self.workers: list[int] = []
        self.waited: set[str] = set()
        self.at_once = 0

    async def look(self) -> None:
        views = [view for view in self.daemon.jobs() if view.pid is not None]
        self.at_once = max(self.at_once, len(views))
        self.memory.append(sum(resident(view.pid) for view in views if view.pid is not None))
        allocation = self.daemon.allocation()
        assert len(allocation.safe_sequence) == len(allocation.processes)
        assert all(free >= 0 for free in allocation.available)
        self.waited.update(wait.process for wait in allocation.waiting)
        workers = 0
        for view in views:
            status = await self.daemon.figures(view.name)
            if status["state"] != "stopped":
                workers += status["workers"]["wanted"]
                assert status["workers"]["wanted"] <= CLAIM["connections"]
        self.workers.append(workers)


def resident(pid: int) -> int:
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * 4096
    except OSError:
        return 0


async def ask_for_more(daemon: Daemon, name: str, waited: set[str]) -> None:
    """As soon as a job crawls: three times the workers; above the claim is an error."""

    async def crawls() -> bool:
        view = daemon.job(name)
        return view.state is JobState.FINISHED or (
            view.state is JobState.RUNNING and (await daemon.figures(name))["state"] == "running"
        )

    await until(crawls)
    try:
        answer = await daemon.ask(name, "set", {"changes": {"engine.workers": 6}}, who=WHO)
    except ServiceError as error:  # it was about to end
        assert error.code == "conflict", error
        return
    if "waits" in answer:
        waited.add(name)
    if daemon.job(name).state is JobState.RUNNING:
        with pytest.raises(ServiceError) as caught:
            await daemon.ask(name, "set", {"changes": {"engine.workers": 60}}, who=WHO)
        assert caught.value.code == "conflict"


def smallest_gap(visits: Sequence[Visit]) -> float:
    """Seconds between the end of a visit and the beginning of the next at the same host."""
    by_host = defaultdict(list)
    for visit in sorted(visits, key=lambda visit: visit.started):
        by_host[visit.host].append(visit)
    return min(after.started - before.ended for them in by_host.values() for before, after in pairwise(them))


def fastest(visits: Sequence[Visit], seconds: float) -> float:
    """Bytes a second sent in the busiest stretch of some length."""
    ends = sorted((visit.ended, visit.sent) for visit in visits)
    most = total = first = 0
    for last, (moment, sent) in enumerate(ends):
        total += sent
        while ends[first][0] < moment - seconds:
            total -= ends[first][1]
            first += 1
        most = max(most, total) if last >= first else most
    return most / seconds


@pytest.mark.slow
@pytest.mark.alone
def test_six_jobs_end_within_limits_that_are_too_small_for_all(home: Path) -> None:
    servers = SlowServers(HOSTS, PAGES, SECONDS, PAGE)
    with servers.running():
        watch, asked = asyncio.run(_run(servers.seeds, home))
    visits = servers.visits
    speed, gap = fastest(visits, WINDOW), smallest_gap(visits)
    print(
        f"\nat once {watch.at_once} jobs, {max(watch.workers)} workers, {servers.most} visits;"
        f" memory {max(watch.memory) // MIB} of {LIMITS['memory'] // MIB} MiB; smallest gap {gap:.3f} s;"
        f" {speed:,.0f} B/s; waited {sorted(watch.waited)}, for more workers {sorted(asked)}"
    )
    assert len(visits) >= len(JOBS) * HOSTS * (PAGES + 1)
    assert all(sum(CLAIM[name] for _ in JOBS) > LIMITS[name] for name in LIMITS if name != "disk")
    assert 1 < watch.at_once < len(JOBS), "they all ran at once, so nothing was tried"
    assert watch.waited and asked, (watch.waited, asked)
    assert max(watch.memory) <= LIMITS["memory"]
    assert 4 < max(watch.workers) <= LIMITS["connections"]
    assert 4 < servers.most <= LIMITS["connections"]
    assert gap >= DELAY - SLACK and max(visit.open for visit in visits) == 1
    # What the kernel holds of a body counts as sent before it is read: one body for each connection.
    assert speed <= SPEED * 1.1 + LIMITS["connections"] * PAGE / WINDOW


async def _run(seeds: list[str], home: Path) -> tuple[Watch, set[str]]:
    asked: set[str] = set()
    settings = {
        **job_settings(None, engine__workers=2, state__max_open_files=64),
        "seeds": seeds,
        "politeness.min_delay": DELAY,
        "politeness.factor": 0,
    }
    async with open_daemon(home, limits=LIMITS) as daemon:
        watch = Watch(daemon)
        for name in JOBS:
            await daemon.create(name, settings, who=WHO, claim=CLAIM)
            await daemon.start(name, who=WHO)
        wishes = [asyncio.create_task(ask_for_more(daemon, name, asked)) for name in JOBS]

        async def over() -> bool:
            await watch.look()
            states = {view.name: view.state for view in daemon.jobs()}
            assert JobState.FAILED not in states.values(), [view.reason for view in daemon.jobs()]
            return all(state is JobState.FINISHED for state in states.values())

        await until(over)
        await asyncio.gather(*wishes)
        assert daemon.allocation().processes == ()
        reports = [daemon.job(name).report for name in JOBS]
        assert [report and report["pages"] for report in reports] == [HOSTS * PAGES] * len(JOBS)
    return watch, asked
