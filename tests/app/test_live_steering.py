"""A running crawl is paused, resized, saved and stopped."""

import asyncio
from pathlib import Path

import pytest
from live_world import running

from gossamer.app.config import CrawlConfig
from gossamer.app.live.protocol import LiveError
from gossamer.app.settings import load, read_toml
from gossamer.frontier.shared_rests import SharedRests
from gossamer.simweb import SimulatedWeb, WorldSpec

SPEC = WorldSpec.friendly(hosts=12, pages=400, page_bytes=500)


@pytest.fixture(scope="module")
def web():
    with SimulatedWeb(SPEC) as served:
        yield served


def test_nothing_is_lent_during_a_pause_and_all_goes_on_after(tmp_path: Path, web: SimulatedWeb) -> None:
    async def check() -> None:
        async with running(tmp_path / "crawl", web, {"engine.give_up_after": 0.1}) as live:
            await live.until(lambda status: status["sums"]["pages"] >= 20)
            assert (await live.ask("pause", "alice"))["state"] in ("pausing", "paused")
            status = await live.until(lambda status: status["state"] == "paused")
            assert status["reason"] == "paused by alice"
            visits, seconds = status["sums"]["visits"], status["seconds"]
            await asyncio.sleep(0.4)  # longer than rests, and than the crawl waits before it gives up
            status = await live.ask("status")
            assert status["sums"]["visits"] == visits
            assert status["lent"] == 0
            assert status["seconds"] == pytest.approx(seconds, abs=0.05)
            assert (await live.ask("unpause"))["state"] == "running"
            await live.until(lambda status: status["sums"]["visits"] > visits + 10)

    asyncio.run(check())


def test_a_paused_crawl_can_be_stopped(tmp_path: Path, web: SimulatedWeb) -> None:
    async def check() -> None:
        async with running(tmp_path / "crawl", web) as live:
            await live.ask("pause")
            await live.ask("stop")
            assert await live.task == "interrupted"
        async with running(tmp_path / "crawl", web) as live:
            assert (await live.ask("status"))["state"] == "running"

    asyncio.run(check())


def test_stop_now_drops_what_is_lent_and_loses_nothing(tmp_path: Path, web: SimulatedWeb) -> None:
    async def check() -> None:
        async with running(tmp_path / "crawl", web) as live:
            await live.until(lambda status: status["sums"]["pages"] >= 20)
            assert (await live.ask("stop", now=True))["state"] == "stopping"
            assert await live.task == "interrupted"

    asyncio.run(check())


def test_workers_change_and_are_written_down(tmp_path: Path, web: SimulatedWeb) -> None:
    async def check() -> None:
        async with running(tmp_path / "crawl", web, {"politeness.min_delay": 0.02}) as live:
            [entry] = await live.ask("set", "alice", changes={"engine.workers": 2})
            assert entry["path"] == "engine.workers"
            assert (entry["old"], entry["new"], entry["who"]) == (8, 2, "alice")
            status = await live.until(lambda status: status["workers"]["busy"] <= 2)
            assert status["workers"]["wanted"] == 2
            for _ in range(20):
                assert (await live.ask("status"))["workers"]["busy"] <= 2
            await live.ask("set", changes={"engine.workers": 12})
            await live.until(lambda status: status["workers"]["busy"] > 2)
            assert load(CrawlConfig, read_toml(live.folder.config)).engine.workers == 12
            undone = await live.ask("undo", id=2)
            assert (undone[0]["old"], undone[0]["new"], undone[0]["undoes"]) == (12, 2, 2)
            changes = (await live.ask("changes"))["items"]
            assert [(change["id"], change["undone"]) for change in changes] == [(3, 0), (2, 3), (1, 0)]
            with pytest.raises(LiveError, match="changed again"):
                await live.ask("set", changes={"engine.workers": 5})
                await live.ask("undo", id=3)
        async with running(tmp_path / "crawl", web) as live:
            assert (await live.ask("status"))["workers"]["wanted"] == 5
            assert (await live.ask("changes"))["total"] == 5

    asyncio.run(check())


def test_all_that_is_wrong_is_said_and_nothing_changes(tmp_path: Path, web: SimulatedWeb) -> None:
    async def check() -> None:
        async with running(tmp_path / "crawl", web) as live:
            before = live.folder.config.read_text()
            wrong = {"engine.workers": 0, "politeness.min_delay": "soon", "engine.order": "dfs", "x.y": 1}
            with pytest.raises(LiveError) as caught:
                await live.ask("set", changes=wrong | {"politeness.factor": 3.0})
            assert caught.value.code == "invalid"
            assert {problem.path for problem in caught.value.details} == set(wrong)
            assert live.folder.config.read_text() == before
            assert (await live.ask("changes"))["total"] == 0

    asyncio.run(check())


def test_a_checkpoint_on_demand(tmp_path: Path, web: SimulatedWeb) -> None:
    async def check() -> None:
        async with running(tmp_path / "crawl", web) as live:
            await live.until(lambda status: status["sums"]["pages"] >= 5)
            one, other = await asyncio.gather(live.ask("checkpoint"), live.ask("checkpoint"))
            assert one != other
            assert (live.folder.checkpoints / other["checkpoint"]).is_dir()
            assert live.folder.index.stat().st_size > 0

    asyncio.run(check())


def test_a_paused_crawl_lets_others_have_the_hosts_that_it_kept(tmp_path: Path) -> None:
    async def check() -> None:
        shared = str(tmp_path / "shared")
        changes = {"politeness.shared": shared, "politeness.min_delay": 0.02, "engine.give_up_after": 5.0}
        with SimulatedWeb(WorldSpec.plain(pages=400, hosts=1)) as web:
            async with running(tmp_path / "crawl", web, changes) as live:
                await live.until(lambda status: status["sums"]["pages"] > 20)
                assert (await live.ask("pause"))["state"] in ("pausing", "paused")
                await live.until(lambda status: status["state"] == "paused")
                (host,) = {line["name"] for line in (await live.ask("hosts"))["items"]}
                table = SharedRests(Path(shared))
                try:
                    assert table.claim(host, 0, 0, 1) > 0, "it keeps it"
                    for _ in range(500):
                        if not table.claim(host, 0, 0, 1):
                            return
                        await asyncio.sleep(0.02)
                finally:
                    table.close()
                raise AssertionError("it never let go")

    asyncio.run(check())
