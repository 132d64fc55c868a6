"""Pages of a job with a million hosts: bounded in size, and each within a second of CPU."""

import asyncio
import contextlib
import time
from pathlib import Path

import pytest
from api_client import client_of
from console_stage import stage, visitor
from live_world import running
from service_world import WHO, open_daemon

from gossamer.assembly.folder import CrawlFolder
from gossamer.model.link import LinkKind
from gossamer.model.reasons.reason import text
from gossamer.simweb import SimulatedWeb, WorldSpec
from gossamer.state.environment import Environment, Family, StateConfig
from gossamer.state.keys import Fingerprints, ticket
from gossamer.state.records import COUNTERS, SECRET, Counters, HostRecord, QueueRecord, decode, encode

pytestmark = [pytest.mark.slow, pytest.mark.alone]

HOSTS = 1_000_000
BATCH = 20_000
SECONDS = 1.0
LARGEST = 400_000
"""Bytes of a page, charts and all."""
PAGES = (
    "/jobs/large",
    "/jobs/large?part=live",
    "/jobs/large/hosts",
    "/jobs/large/hosts?sort=name",
    "/jobs/large/hosts?sort=all",
    "/jobs/large/hosts?sort=all&state=resting&text=77",
    "/jobs/large/host?name=host-000123.example.test",
    "/jobs/large/queue",
    "/jobs/large/queue?host=host-000123.example.test",
    "/jobs/large/pages",
    "/jobs/large/log",
    "/jobs/large/codes",
    "/jobs/large/names",
    "/jobs/large/traps",
    "/jobs/large/forecast",
    "/jobs/large/settings",
    "/jobs/large/why?url=https://host-000123.example.test/page",
    "/",
)


def fill(folder: CrawlFolder) -> None:
    """Give a crawl a million hosts with a URL each, as if it had found them."""
    with contextlib.closing(Environment.open(folder.state, StateConfig(), create=False)) as environment:
        secret = environment.get(Family.META, SECRET)
        counters = decode(environment.get(Family.META, COUNTERS) or b"", Counters)
        assert secret is not None
        prints = Fingerprints(secret)
        place = ticket(2 << 8, 1 << 20)
        for start in range(0, HOSTS, BATCH):
            batch = environment.batch()
            for number in range(start, start + BATCH):
                name = f"host-{number:06}.example.test"
                key = prints.host(name)
                record = HostRecord(
                    name,
                    queued=1,
                    head=place,
                    pages=number % 1000,
                    bytes=number,
                    parked=None if number % 7 else text("x"),
                )
                batch.put(Family.HOSTS, key, encode(record))
                url = QueueRecord(f"https://{name}/page", LinkKind.NAVIGATION, 1, "L", "")
                batch.put(Family.QUEUE, key + place, encode(url))
            environment.commit(batch)
        counters.hosts += HOSTS
        counters.queued += HOSTS
        batch = environment.batch()
        batch.put(Family.META, COUNTERS, encode(counters))
        environment.commit(batch)


async def crawl_little(path: Path) -> None:
    with SimulatedWeb(WorldSpec.friendly(pages=30, hosts=3)) as web:
        async with running(path, web) as live:
            await live.until(lambda status: status["sums"]["pages"] > 5)


async def look(home: Path, made: Path) -> list[tuple[str, int, float, int]]:
    """(page, status, CPU seconds, bytes) of each; the middle one of three looks."""
    found = []
    async with open_daemon(home, roots=[str(made.parent)]) as daemon:
        await daemon.adopt("large", str(made), who=WHO)
        async with client_of(stage(daemon, visitor()), timeout=120) as client:
            for page in PAGES:
                times = []
                for _ in range(3):  # the second finds the state open, and maybe what the first has counted
                    begun = time.process_time()
                    answer = await client.get(page)
                    times.append(time.process_time() - begun)
                found.append((page, answer.status_code, sorted(times)[1], len(answer.content)))
    return found


def test_pages_of_a_million_hosts(tmp_path: Path) -> None:
    made = tmp_path / "made" / "large"
    made.parent.mkdir()
    asyncio.run(crawl_little(made))
    fill(CrawlFolder(made))
    found = asyncio.run(look(tmp_path / "home", made))
    for page, status, seconds, size in found:
        print(f"{seconds:6.3f} s {size:8,} B {status} {page}")
    assert [line for line in found if line[1] != 200] == []
    assert [line for line in found if line[3] > LARGEST] == []
    assert [line for line in found if line[2] > SECONDS] == []
