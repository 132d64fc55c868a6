"""Settings, hosts, scope and seeds of a crawl change while it runs, and change back."""

import asyncio
import json
import re
import time
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from live_world import PACED, Running, running, running_with
from small_site import small_site

from gossamer.config.config import CrawlConfig
from gossamer.config.settings import load, read_toml
from gossamer.control.socket.protocol import LiveError
from gossamer.simweb import SimulatedWeb, WorldSpec

WIDE = 40
"""Pages in each of the two folders."""


def two_folders(path: str) -> str | None:
    """A front page that links to all pages of two folders."""
    if path == "":
        return "".join(f'<a href="/{folder}/{n}">x</a>' for n in range(WIDE) for folder in "ab")
    return f"<p>{path}" if re.fullmatch(r"[abc]/\d+", path) else None


@pytest.fixture
def site() -> Iterator[str]:
    with small_site(two_folders) as address:
        yield address


def crawl(path: Path, seed: str, check: Callable[[Running], Any], **changes: Any) -> list[dict]:
    """Crawl while `check` looks on; the crawl log."""
    settings = PACED | {"seeds": [seed], "politeness.min_delay": 0.02, "scope.mode": "host"} | changes

    async def run() -> list[dict]:
        async with running_with(path, settings) as live:
            await check(live)
        return live.log()

    return asyncio.run(run())


def visited(log: list[dict], folder: str) -> set[str]:
    return {line["url"] for line in log if f"/{folder}/" in line["url"] and line.get("status") == 200}


async def some_pages(live: Running, pages: int = 5) -> None:
    await live.until(lambda status: status["sums"]["pages"] >= pages)


def name_of(site: str) -> str:
    return site.split("/")[2].partition(":")[0]


# Scope …


def test_a_scope_is_shown_then_changed_then_kept(tmp_path: Path, site: str) -> None:
    async def check(live: Running) -> None:
        await some_pages(live)
        await live.ask("pause")
        await live.until(lambda status: status["state"] == "paused")
        exclude = {"scope.exclude": ["/b/"]}
        seen = await live.ask("preview_scope", changes=exclude)
        items = (await live.ask("queue", limit=1000))["items"]
        going = [item["url"] for item in items if "/b/" in item["url"]]
        assert seen["going"] == len(going) > 5
        assert (seen["queued"], seen["complete"], seen["coming"]) == (len(items), True, None)
        assert seen["hosts"] == [{"name": name_of(site), "going": len(going), "of": len(items)}]
        assert {one["url"] for one in seen["sample"]} <= set(going)
        assert "exclude" in seen["sample"][0]["rule"]
        await live.ask("set", changes=exclude)
        story = await live.ask("why", url=going[0])
        assert story["state"] == "queued"
        assert "not in scope: matches exclude '/b/'" in story["text"]
        done = visited(live.log(), "b")
        await live.ask("unpause")
        await live.task
        assert visited(live.log(), "b") == done

    log = crawl(tmp_path / "crawl", site, check)
    assert len(visited(log, "a")) == WIDE
    dropped = [line for line in log if line.get("refused") == "scope"]
    assert {line["became"] for line in dropped} == {"dropped"}
    assert len(dropped) + len(visited(log, "b")) == WIDE
    # What it was told holds for `why`, and for the next session.
    from gossamer.inspect.inspection import inspect
    from gossamer.inspect.why.story import Storyteller

    with inspect(tmp_path / "crawl") as inspection:
        story = Storyteller(inspection).tell(dropped[0]["url"])
    assert story.state == "dropped"
    assert any("matches exclude" in fact.text for fact in story.facts)
    assert load(CrawlConfig, read_toml(tmp_path / "crawl" / "crawl.toml")).scope.exclude == ("/b/",)


def test_a_change_of_scope_that_is_taken_back_loses_nothing(tmp_path: Path, site: str) -> None:
    async def check(live: Running) -> None:
        await some_pages(live)
        [entry] = await live.ask("set", changes={"scope.exclude": ["/b/"]})
        await live.until(lambda status: status["sums"]["dropped"] >= 5)
        await live.ask("undo", id=entry["id"])
        await live.task

    log = crawl(tmp_path / "crawl", site, check, **{"politeness.min_delay": 0.01})
    assert any(line.get("refused") == "scope" for line in log)
    assert len(visited(log, "a")) == len(visited(log, "b")) == WIDE
    counted = Counter(line["url"] for line in log if line.get("status") == 200)
    assert set(counted.values()) == {1}
    told = json.loads((tmp_path / "crawl" / "report.json").read_bytes())
    assert (told["faults"], told["refused"], told["dropped"]) == ({}, 0, 0), "nothing is left out any more"


def test_a_wider_scope_takes_in_what_was_turned_away(tmp_path: Path, site: str) -> None:
    async def check(live: Running) -> None:
        await some_pages(live)
        wider = {"scope.exclude": []}
        seen = await live.ask("preview_scope", changes=wider)
        assert (seen["going"], seen["coming"]) == (0, WIDE)
        await live.ask("set", changes=wider)
        await live.task

    log = crawl(tmp_path / "crawl", site, check, **{"scope.exclude": ["/b/"]})
    assert len(visited(log, "a")) == len(visited(log, "b")) == WIDE


def test_a_scope_changed_between_two_sessions_holds_for_what_is_queued(tmp_path: Path, site: str) -> None:
    from gossamer.state.whole_files import write_whole

    crawl(tmp_path / "crawl", site, some_pages)
    path = tmp_path / "crawl" / "crawl.toml"
    text = path.read_text()
    assert "exclude = []" in text
    write_whole(path, text.replace("exclude = []", 'exclude = ["/b/"]'))

    async def finish(live: Running) -> None:
        await live.task

    before = visited([*map(dict, crawl_log(tmp_path))], "b")
    log = crawl(tmp_path / "crawl", site, finish)
    assert visited(log, "b") == before
    assert len(visited(log, "a")) == WIDE


def crawl_log(tmp_path: Path) -> list[dict]:
    import json

    return [json.loads(line) for line in (tmp_path / "crawl" / "crawl.log").read_text().splitlines()]


def test_a_blocked_host_is_not_visited_and_comes_back_when_unblocked(tmp_path: Path, site: str) -> None:
    name = name_of(site)

    async def check(live: Running) -> None:
        await some_pages(live)
        assert (await live.ask("host_block", name=name))["name"] == name
        assert (await live.ask("host", name=name))["blocked"]
        await live.until(lambda status: status["sums"]["queued"] == 0)
        assert len(visited(live.log(), "a")) + len(visited(live.log(), "b")) < 2 * WIDE
        await live.ask("host_unblock", name=name)
        await live.ask("set", changes={"seeds_watch": ""})
        await live.task

    log = crawl(tmp_path / "crawl", site, check, **{"seeds_watch": "none", "politeness.min_delay": 0.01})
    assert len(visited(log, "a")) == len(visited(log, "b")) == WIDE


# Hosts …


def test_a_host_rests_parks_and_revives(tmp_path: Path, site: str) -> None:
    name = name_of(site)

    async def check(live: Running) -> None:
        await some_pages(live)
        item = await live.ask("host_rest", name=name, seconds=300)
        assert item["state"] == "resting"
        assert 290 < item["seconds"] <= 300
        await live.until(lambda status: status["lent"] == 0)
        visits = (await live.ask("status"))["sums"]["visits"]
        await live.ask("undo", id=1)
        await live.until(lambda status: status["sums"]["visits"] > visits + 2)
        assert (await live.ask("host_park", name=name))["state"] == "parked"
        status = await live.until(lambda status: status["lent"] == 0)
        assert status["sums"]["hosts_parked"] == 1
        item = await live.ask("host_revive", name=name)
        assert item["state"] in ("resting", "ready")
        paths = [change["path"] for change in (await live.ask("changes"))["items"]]
        assert paths == ["host.revive", "host.park", "host.rest", "host.rest"]
        with pytest.raises(LiveError) as caught:
            await live.ask("host_park", name="unknown.example")
        assert caught.value.code == "not_found"
        await live.ask("set", changes={"seeds_watch": ""})
        await live.task

    log = crawl(tmp_path / "crawl", site, check, **{"engine.give_up_after": 600, "seeds_watch": "none"})
    assert len(visited(log, "a")) == len(visited(log, "b")) == WIDE


def test_what_the_operator_parked_stays_so_over_a_resume(tmp_path: Path, site: str) -> None:
    name = name_of(site)

    async def park(live: Running) -> None:
        await some_pages(live)
        assert (await live.ask("refetch", host=name, dry_run=True))["parked"] == []
        await live.ask("host_park", name=name)
        told = await live.ask("refetch", host=name, dry_run=True)
        assert (told["parked"], told["pages"] > 0) == ([name], True)
        assert str(await live.task) == "finished"

    visits = len(crawl(tmp_path / "crawl", site, park))

    async def look(live: Running) -> None:
        assert str(await live.task) == "finished"

    assert len(crawl(tmp_path / "crawl", site, look)) == visits


# Politeness, budgets …


def test_delays_change_at_once_for_all_and_for_one(tmp_path: Path, site: str) -> None:
    name = name_of(site)

    async def check(live: Running) -> None:
        await live.until(lambda status: status["sums"]["visits"] == 1)
        item = await live.ask("host", name=name)
        assert item["delay"] == 60.0
        await live.ask("set", changes={"politeness.min_delay": "10ms"})
        await live.until(lambda status: status["sums"]["pages"] >= 10)
        await live.ask("set", changes={f"host.{name}.min_delay": 50})
        status = await live.until(lambda status: status["lent"] == 0 and "politeness" in status["held_by"])
        assert (await live.ask("host", name=name))["politeness"]["min_delay"] == 50
        item = await live.ask("host", name=name)
        assert 45 < item["seconds"] <= 50
        visits = status["sums"]["visits"]
        await live.ask("undo", id=2)
        await live.until(lambda status: status["sums"]["visits"] > visits + 5)

    crawl(tmp_path / "crawl", site, check, **{"politeness.min_delay": 60, "engine.give_up_after": 600})


def test_visits_at_once_to_a_host_grow(tmp_path: Path, site: str) -> None:
    async def check(live: Running) -> None:
        await some_pages(live, 1)
        await live.ask("set", changes={"politeness.visits_per_host": 4})
        await live.until(lambda status: status["lent"] > 1)

    crawl(tmp_path / "crawl", site, check, **{"politeness.min_delay": 0})


@pytest.mark.slow
def test_a_larger_budget_revives_hosts(tmp_path: Path, site: str) -> None:
    async def check(live: Running) -> None:
        await live.until(lambda status: status["sums"]["hosts_parked"] == 1)
        assert (await live.ask("status"))["sums"]["pages"] == 10
        await live.ask("set", changes={"budget.pages_per_host": 30})
        status = await live.until(lambda status: status["sums"]["pages"] == 30)
        await live.ask("set", changes={"budget.pages_per_host": 0, "budget.max_pages": 50})
        assert str(await live.task) == "max_pages 50"
        assert status["sums"]["hosts"] == 1

    crawl(tmp_path / "crawl", site, check, **{"budget.pages_per_host": 10, "seeds_watch": "more"})


def test_ceilings_hold_the_crawl_down_and_bound_what_may_be_set(tmp_path: Path, site: str) -> None:
    async def check(live: Running) -> None:
        answer = await live.ask("limits", connections=2, bandwidth=50_000)
        assert (answer["workers"], answer["max_speed"]) == (2, 50_000)
        status = await live.ask("status")
        assert status["workers"]["wanted"] == 2
        assert status["ceilings"]["connections"] == 2
        for changes in ({"engine.workers": 9}, {"fetch.max_speed": 60_000}):
            with pytest.raises(LiveError) as caught:
                await live.ask("set", changes=changes)
            assert caught.value.code == "conflict"
        await live.ask("set", changes={"fetch.max_speed": 40_000, "engine.workers": 1})
        assert (await live.ask("limits"))["workers"] == 1
        assert (await live.ask("status"))["limits"]["fetch.max_speed"] == 40_000
        assert load(CrawlConfig, read_toml(live.folder.config)).engine.workers == 1

    crawl(tmp_path / "crawl", site, check)


# Seeds …


def test_seeds_by_request_and_out_again(tmp_path: Path, site: str) -> None:
    async def check(live: Running) -> None:
        await some_pages(live, 3)
        answer = await live.ask("seeds", urls=[f"{site}c/1", f"{site}c/2", f"{site}a/1"])
        assert (answer["given"], answer["new"]) == (3, 2)
        with pytest.raises(LiveError) as caught:
            await live.ask("seeds", urls=["gopher://x.org/", "http://user:secret@x.org/"])
        assert "secret" not in str(caught.value.details)
        assert len(caught.value.details) == 2
        await live.task

    log = crawl(tmp_path / "crawl", site, check)
    assert len(visited(log, "c")) == 2
    config = load(CrawlConfig, read_toml(tmp_path / "crawl" / "crawl.toml"))
    assert config.seeds_file == "seeds.txt"
    assert f"{site}c/1\n" in (tmp_path / "crawl" / "seeds.txt").read_text()


@pytest.mark.slow
def test_a_seed_on_another_host_joins_the_scope_and_leaves_it(tmp_path: Path, site: str) -> None:
    other = site.replace("127.0.0.1", "localhost")

    async def check(live: Running) -> None:
        await some_pages(live, 3)
        await live.ask("seeds", urls=[other])
        await live.until(lambda status: status["sums"]["hosts"] == 2 and status["sums"]["queued"] > WIDE)
        await live.ask("pause")
        await live.until(lambda status: status["state"] == "paused")
        [change] = [one for one in (await live.ask("changes"))["items"] if one["path"] == "seeds"]
        await live.ask("undo", id=change["id"])
        await live.ask("unpause")
        await live.task

    log = crawl(tmp_path / "crawl", site, check)
    refused = [line["url"] for line in log if line.get("refused") == "scope"]
    assert refused
    assert all(url.startswith(other) for url in refused)
    assert len([url for url in visited(log, "a") if url.startswith(site)]) == WIDE


@pytest.mark.slow
def test_a_watched_file(tmp_path: Path, site: str) -> None:
    watched = tmp_path / "more.txt"
    watched.write_text(f"\ufeff# comment\n{site}c/1\n", encoding="utf-8")

    async def check(live: Running) -> None:
        await live.until(lambda _: len(visited(live.log(), "c")) == 1)
        await live.until(lambda status: status["sums"]["queued"] == 0)
        with watched.open("a") as out:
            out.write(f"{site}c/2\n{site}c/")  # and half a line
        await live.until(lambda _: len(visited(live.log(), "c")) == 2)
        assert not live.task.done()
        await live.ask("set", changes={"seeds_watch": ""})
        assert str(await live.task) == "finished"
        whos = {change["who"] for change in (await_changes(live))}
        assert f"the file {watched}" in whos

    crawl(tmp_path / "crawl", site, check, **{"seeds_watch": str(watched), "politeness.min_delay": 0})


def await_changes(live: Running) -> list[dict]:
    import json

    return [json.loads(line) for line in (live.folder.path / "changes.jsonl").read_text().splitlines()]


def test_the_rest_of_a_server_changes_at_once(tmp_path: Path) -> None:
    rest = 0.08
    settings = {
        "politeness.min_delay": 0,
        "politeness.server_by": ["cname"],
        "politeness.address_delay": 0.02,
    }

    async def run() -> float:
        async with running(tmp_path / "crawl", web, settings) as live:
            await some_pages(live, 1)
            await live.ask("set", changes={"politeness.address_delay": rest})
            changed = time.monotonic()
            seen = (await live.ask("status"))["sums"]["visits"]
            await live.until(lambda status: status["sums"]["visits"] > seen + 3)
            return changed

    with SimulatedWeb(WorldSpec(hosts=2, pages=120, seeds=2, addresses=3, backends=1, page_bytes=500)) as web:
        changed = asyncio.run(run())
        starts = sorted(visit.started for visit in web.log() if visit.started > changed)
    gaps = [after - before for before, after in pairwise(starts)]
    assert len(gaps) >= 2 and min(gaps[1:]) >= rest, "the visit under way was claimed before"
