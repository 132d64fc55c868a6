"""Weights of an ordering change while URLs wait, and these move; a trap is released while the crawl runs."""

import asyncio
from pathlib import Path
from typing import Any

from live_world import PACED, Running, running_with
from patience import PATIENCE
from small_site import small_site

from gossamer.inspect.inspection import inspect
from gossamer.inspect.traps import branch_lines

WIDE = 30


def two_folders(path: str) -> str | None:
    """A front page that links to all pages of two folders."""
    if path == "":
        return "".join(f'<a href="/{folder}/{n}.html">x</a>' for n in range(WIDE) for folder in "ab")
    return f"<p>{path}" if path[:2] in ("a/", "b/") else None


def feature(folder: str) -> dict[str, Any]:
    return {"where": "path", "words": [folder], "value": 4.0}


def test_what_waits_moves_by_new_weights(tmp_path: Path) -> None:
    with small_site(two_folders) as site:
        settings = PACED | {
            "seeds": [site],
            "scope.mode": "host",
            "engine.order": "best",
            "order.best.features": [feature("a")],
            "politeness.min_delay": 0.02,
        }

        async def run() -> tuple[int, list[dict]]:
            async with running_with(tmp_path / "crawl", settings) as live:
                await live.until(lambda status: status["sums"]["pages"] >= 5)
                await live.ask("pause")
                await live.until(lambda status: status["state"] == "paused" and not status["lent"])
                before = (await live.ask("status"))["sums"]["pages"]
                [entry] = await live.ask("set", changes={"order.best.features": [feature("b")]})
                assert entry["old"] == [feature("a")]
                await moved(live)
                await live.ask("unpause")
                await live.task
                return before, live.log()

        before, log = asyncio.run(run())
    order = [line["url"].rsplit("/", 2)[1] for line in log if ".html" in line["url"]]
    first = order.index("b")
    assert set(order[:first]) == {"a"}
    assert first <= before, "the front page is no part of the order, so one may come in between"
    # One that was lent when the weights changed may come in between.
    assert order[first : first + WIDE].count("b") >= WIDE - 1
    assert sorted(order) == ["a"] * WIDE + ["b"] * WIDE


async def moved(live: Running) -> None:
    """Wait until the first of the queue is in the other folder, in the views and on disk."""
    async with asyncio.timeout(PATIENCE):
        while True:
            items = (await live.ask("queue", limit=20))["items"]
            if all("/b/" in item["url"] for item in items):
                break
            await asyncio.sleep(0.02)
    assert [item["level"] for item in items] == sorted(item["level"] for item in items)


def endless(path: str) -> str | None:
    """A calendar without end, whose pages say nothing."""
    if path == "":
        return '<a href="/day/1">x</a>' + "".join(f'<a href="/good/{n}">{n}</a>' for n in range(5))
    if path.startswith("day/"):
        return f'<p>nothing<a href="/day/{int(path[4:]) + 1}">next</a>'
    return f"<p>{path * 50}" if path.startswith("good/") else None


def test_a_trap_is_released_while_the_crawl_runs(tmp_path: Path) -> None:
    with small_site(endless) as site:
        settings = PACED | {
            "seeds": [site],
            "scope.mode": "host",
            "branches.patience": 40,
            "politeness.min_delay": 0,
            "seeds_watch": "none",
            "budget.max_pages": 2_000,
        }

        async def run() -> None:
            async with running_with(tmp_path / "crawl", settings) as live:
                lines = await quarantined(live)
                before = (await live.ask("status"))["sums"]["pages"]
                branch = lines[0]["branch"]
                answer = await live.ask("traps_release", branch=branch)
                assert answer["hosts"] == ["127.0.0.1"]
                await live.until(lambda status: status["sums"]["pages"] > before + 50)
                [change] = (await live.ask("changes"))["items"]
                assert (change["path"], change["subject"], change["final"]) == (
                    "traps.release",
                    branch,
                    True,
                )

        asyncio.run(run())
    with inspect(tmp_path / "crawl") as inspection:
        assert any(line.state == "released" for line in branch_lines(inspection))


async def quarantined(live: Running) -> list[dict]:
    async with asyncio.timeout(PATIENCE):
        while True:
            lines = [line for line in (await live.ask("traps"))["items"] if line["state"] == "aside"]
            status = await live.ask("status")
            if lines and not status["lent"]:
                return lines
            await asyncio.sleep(0.05)
