"""A running crawl is paused, resized, saved and stopped."""

import asyncio
from collections.abc import Callable, Collection, Sequence
from pathlib import Path

import pytest
from live_world import running
from patience import PATIENCE

from gossamer.config.config import CrawlConfig
from gossamer.config.settings import load, read_toml
from gossamer.control import session
from gossamer.control.socket.protocol import LiveError
from gossamer.datasets.beside import Beside
from gossamer.engine.crawl import MOMENT
from gossamer.frontier.gates.shared_rests import SharedRests
from gossamer.model.errors import StorageError
from gossamer.model.events import Event, ProblemFound
from gossamer.ports import Observer
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
            assert str(await live.task) == "interrupted"
        async with running(tmp_path / "crawl", web) as live:
            assert (await live.ask("status"))["state"] == "running"

    asyncio.run(check())


def test_stop_now_drops_what_is_lent_and_loses_nothing(tmp_path: Path, web: SimulatedWeb) -> None:
    async def check() -> None:
        async with running(tmp_path / "crawl", web) as live:
            await live.until(lambda status: status["sums"]["pages"] >= 20)
            assert (await live.ask("stop", now=True))["state"] == "stopping"
            assert str(await live.task) == "interrupted"

    asyncio.run(check())


def test_stop_now_does_not_reach_what_follows_a_crawl_that_ends_at_once(
    tmp_path: Path, web: SimulatedWeb, monkeypatch: pytest.MonkeyPatch
) -> None:
    ended, end = [], Beside.end

    async def linger(self: Beside, *, interrupted: bool) -> None:
        await asyncio.sleep(3 * MOMENT)
        ended.append(interrupted)
        await end(self, interrupted=interrupted)

    monkeypatch.setattr(Beside, "end", linger)

    async def check() -> None:
        async with running(tmp_path / "crawl", web) as live:
            await live.until(lambda status: status["sums"]["pages"] >= 20)
            await live.ask("pause")
            await live.until(lambda status: status["state"] == "paused")
            await live.ask("stop", now=True)
            assert str(await live.task) == "interrupted"
            assert ended == [True]

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


async def wait_for_a_kept_host(
    path: Path, observers: Sequence[Observer] = (), once_paused: Callable[[], None] = lambda: None
) -> None:
    """Pause a crawl that keeps its only host, and be another that wants it, until it is had."""
    shared = str(path / "shared")
    changes = {"politeness.shared": shared, "politeness.min_delay": 0.02, "engine.give_up_after": 5.0}
    with SimulatedWeb(WorldSpec.plain(pages=400, hosts=1)) as web:
        async with running(path / "crawl", web, changes, observers) as live:
            await live.until(lambda status: status["sums"]["pages"] > 20)
            assert (await live.ask("pause"))["state"] in ("pausing", "paused")
            await live.until(lambda status: status["state"] == "paused")
            (host,) = {line["name"] for line in (await live.ask("hosts"))["items"]}
            once_paused()
            table = SharedRests(Path(shared))
            try:
                assert table.claim(host, 0, 0, 1) > 0, "it keeps it"
                async with asyncio.timeout(PATIENCE):
                    while table.claim(host, 0, 0, 1):  # noqa: ASYNC110
                        await asyncio.sleep(0.02)
            finally:
                table.close()


def test_a_paused_crawl_lets_others_have_the_hosts_that_it_kept(tmp_path: Path) -> None:
    asyncio.run(wait_for_a_kept_host(tmp_path))


def test_a_crawl_whose_history_has_failed_lets_others_have_its_hosts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    events: list[Event] = []
    lines: list[list[float]] = []

    def fail(_: Path, values: list[float]) -> None:
        lines.append(values)
        raise RuntimeError("no line")

    monkeypatch.setattr(session, "write_line", fail)
    asyncio.run(wait_for_a_kept_host(tmp_path, [events.append]))
    assert events.count(ProblemFound("history", "RuntimeError: no line")) == 2
    assert len(lines) == 2, "the first, and the last at the end of the crawl"


def test_a_crawl_that_could_not_write_the_shared_table_listens_on_and_says_so_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    events: list[Event] = []
    refused: list[Collection[str]] = []
    put_back = SharedRests._put_back

    def fail_twice(table: SharedRests, names: Collection[str]) -> None:
        if names and len(refused) < 2:
            refused.append(tuple(names))
            raise StorageError("no table")
        put_back(table, names)

    def once_paused() -> None:  # a crawl that is not idle claims, and may not go on without the table
        monkeypatch.setattr(SharedRests, "_put_back", fail_twice)

    asyncio.run(wait_for_a_kept_host(tmp_path, [events.append], once_paused))
    assert len(refused) == 2
    (problem,) = [event for event in events if isinstance(event, ProblemFound)]
    assert problem.where == "shared rests"
    assert problem.detail.endswith("no table")
