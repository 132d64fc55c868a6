"""Ceilings of bandwidth: of all visits together, and of one host."""

import asyncio
import itertools
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from live_world import PACED, Running, running_with
from small_site import small_site

SIZE = 40_000
PAGES = 12
LONG = 600_000


def pages(path: str) -> str | None:
    """Pages of one length, and one that is long."""
    if path == "":
        return "".join(f'<a href="/p/{n}">x</a>' for n in range(PAGES))
    if path.startswith("p/"):
        return "x" * SIZE
    return "y" * LONG if path == "long" else None


@pytest.fixture
def site() -> Iterator[str]:
    with small_site(pages) as address:
        yield address


def crawl(path: Path, check: Any, **changes: Any) -> tuple[list[dict], float]:
    """The crawl log, and the seconds that the crawl took."""
    settings = PACED | {"scope.mode": "host", "politeness.min_delay": 0, "robots.obey": False} | changes
    settings |= {"politeness.visits_per_host": 4, "engine.give_up_after": 0.1} | changes

    async def run() -> tuple[list[dict], float]:
        async with running_with(path, settings) as live:
            began = time.monotonic()
            await check(live)
            await live.task
            return live.log(), time.monotonic() - began

    return asyncio.run(run())


async def nothing(_: Running) -> None:
    pass


@pytest.mark.slow
def test_all_visits_together_keep_to_the_ceiling(tmp_path: Path, site: str) -> None:
    speed = 200_000
    log, seconds = crawl(tmp_path / "crawl", nothing, seeds=[site], **{"fetch.max_speed": speed})
    received = sum(line["size"] for line in log)
    assert received > PAGES * SIZE
    # What has begun may exceed it by one body for each visit at once.
    assert received <= speed * seconds + 5 * SIZE
    lines = sorted(line["at"] for line in log if line["size"] == SIZE)
    assert (len(lines) - 5) * SIZE <= speed * (lines[-1] - lines[0])


def test_a_long_body_is_paused_and_arrives_whole(tmp_path: Path, site: str) -> None:
    speed = 300_000
    changes = {"fetch.max_speed": speed, "fetch.min_speed": 200_000, "fetch.idle_timeout": 0.4}
    log, seconds = crawl(tmp_path / "crawl", nothing, seeds=[f"{site}long"], **changes)
    assert [(line["status"], line["size"], line.get("truncated")) for line in log] == [(200, LONG, None)]
    assert seconds > (LONG - 200_000) / speed


def test_the_ceiling_is_lifted_while_visits_wait(tmp_path: Path, site: str) -> None:
    async def lift(live: Running) -> None:
        status = await live.until(lambda status: status["held_by"].startswith("bandwidth"))
        assert status["limits"]["fetch.max_speed"] == 2_000
        await live.ask("set", changes={"fetch.max_speed": 0})

    log, seconds = crawl(tmp_path / "crawl", lift, seeds=[site], **{"fetch.max_speed": 2_000})
    assert sum(line["status"] == 200 for line in log) == PAGES + 1
    assert seconds < PAGES * SIZE / 2_000 / 4


@pytest.mark.slow
@pytest.mark.alone
def test_a_host_rests_for_what_it_has_sent(tmp_path: Path, site: str) -> None:
    speed = 200_000
    changes = {"fetch.max_host_speed": speed, "politeness.visits_per_host": 1, "engine.give_up_after": 10}
    log, _ = crawl(tmp_path / "crawl", nothing, seeds=[site, f"{site}long"], **changes)
    at = [line["at"] for line in log]
    sizes = [line["size"] for line in log]
    # From the end of one visit to the end of the last, all that came after the first.
    assert sum(sizes[:-1]) <= speed * (at[-1] - at[0]) + SIZE + LONG
    small = [line["at"] for line in log if line["size"] == SIZE]
    gaps = [after - before for before, after in itertools.pairwise(small)]
    assert min(gaps) >= SIZE / speed * 0.9
