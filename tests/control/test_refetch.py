"""Pages are visited again that somebody asks for: while the crawl runs, and when it goes on."""

import asyncio
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from in_process import gossamer
from live_world import running

from gossamer.assembly.folder import CrawlFolder
from gossamer.control.changes.refetch_requests import RefetchRequest, keep_requests, pending_requests
from gossamer.control.changes.refetching import Refetch, Refetching, _visited_since, ask_offline
from gossamer.control.socket.protocol import LiveError
from gossamer.control.views.context import seen, view_context
from gossamer.daemon.asking import Asking
from gossamer.daemon.errors import ServiceError
from gossamer.inspect.url_list import Wanted, listed
from gossamer.model.disposition import PageState
from gossamer.model.errors import StorageError
from gossamer.simweb import SimulatedWeb, WorldSpec
from gossamer.state.records import PageRecord, VisitRecord

SPEC = WorldSpec.friendly(hosts=3, pages=40, page_bytes=400)
FAST = {"politeness.min_delay": 0.0, "engine.give_up_after": 0.2}
HELD = {"politeness.min_delay": 0.02, "seeds_watch": "none"}
"""It is not over before it was asked, however long it takes to ask it: it ends when nobody watches for seeds."""


@pytest.fixture(scope="module")
def web():
    with SimulatedWeb(SPEC) as served:
        yield served


def visits(folder: Path) -> Counter[str]:
    lines = [json.loads(line) for line in (folder / "crawl.log").read_text().splitlines()]
    return Counter(line["url"] for line in lines if line.get("status") == 200 and line["kind"] != "robots")


def finished(folder: Path, web: SimulatedWeb, **changes: Any) -> Counter[str]:
    """Crawl to the end, or go on to it."""

    async def crawl() -> None:
        async with running(folder, web, FAST | changes) as live:
            await live.task

    asyncio.run(crawl())
    return visits(folder)


def some_pages(folder: Path, number: int = 3) -> list[str]:
    with view_context(folder) as look:
        found = [one.url for one in listed(look.inspection(), Wanted(type="text/html", status="200"))]
    return found[:number]


def offline(folder: Path, **asked: Any) -> Any:
    with view_context(folder) as look:
        return seen(lambda look, params: ask_offline(look, params, "tester"), look, Refetch(**asked))


@pytest.fixture
def crawled(tmp_path: Path, web: SimulatedWeb) -> Path:
    folder = tmp_path / "c"
    assert set(finished(folder, web).values()) == {1}
    return folder


@pytest.mark.parametrize(("visited", "since"), [(99.0, False), (100.0, True), (150.0, True), (151.0, False)])
def test_a_visit_that_is_yet_to_come_was_before_the_clock_was_set_back(visited, since, monkeypatch):
    monkeypatch.setattr("time.time", lambda: 150.0)
    page = PageRecord(url="http://a.test/", state=PageState.DONE, visits=(VisitRecord(visited, 0.0),))
    assert _visited_since(page, 100.0) is since


@pytest.mark.slow
def test_a_stopped_crawl_visits_again_what_was_asked_for_once(crawled: Path, web: SimulatedWeb):
    wanted = some_pages(crawled)
    told = offline(crawled, urls=[*wanted, wanted[0], "http://nowhere.test/"])
    assert (told.pages, told.unknown, told.running) == (3, ["http://nowhere.test/"], False)
    assert set(visits(crawled).values()) == {1}
    seen = finished(crawled, web)
    assert {url for url, times in seen.items() if times == 2} == set(wanted)
    assert max(seen.values()) == 2
    assert not CrawlFolder(crawled).refetches.exists()
    # And not once more.
    assert finished(crawled, web) == seen


@pytest.mark.slow
def test_filters_are_those_of_the_list(crawled: Path, web: SimulatedWeb):
    before = visits(crawled)
    hosts = Counter(url.split("/")[2].partition(":")[0] for url in before)
    [(host, _)] = hosts.most_common(1)
    told = offline(crawled, host=host, type="text/html")
    with view_context(crawled) as look:
        wanted = {
            one.url
            for one in listed(look.inspection(), Wanted(host=host, type="text/html"))
            if one.state in ("done", "dropped") and not one.url.endswith("/robots.txt")
        }
    assert told.pages == len(wanted) > 3
    seen = finished(crawled, web)
    assert {url for url in before if seen[url] == 2} == wanted


@pytest.mark.slow
def test_a_dry_run_only_counts(crawled: Path, web: SimulatedWeb):
    assert offline(crawled, status="200", dry_run=True).pages > 10
    assert offline(crawled, status="200", older_than="1h", dry_run=True).pages == 0
    assert not CrawlFolder(crawled).refetches.exists()
    assert set(finished(crawled, web).values()) == {1}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("asked", "path"),
    [
        ({}, "urls"),
        ({"status": "boo"}, ""),
        ({"status": "0000"}, ""),
        ({"match": "re:("}, ""),
        ({"older_than": "soon"}, "older_than"),
    ],
)
def test_what_cannot_be_is_said(crawled: Path, asked: dict[str, str], path: str):
    with pytest.raises(LiveError) as caught:
        offline(crawled, **asked)
    assert caught.value.code == "invalid"
    assert [one.path for one in caught.value.details] == [path]


@pytest.mark.slow
def test_a_running_crawl_visits_them_at_once_and_notes_who_asked(tmp_path: Path, web: SimulatedWeb):
    async def check() -> None:
        async with running(tmp_path / "c", web, HELD) as live:
            await live.until(lambda status: status["sums"]["pages"] >= 20)
            done = [one["url"] for one in (await live.ask("list", status="200"))["items"]]
            robots = [url for url in done if url.endswith("/robots.txt")]
            asked = [url for url in done if url not in robots][:4]
            told = await live.ask("refetch", "alice", urls=robots, dry_run=True)
            assert (told["pages"], sorted(told["unknown"])) == (0, sorted(robots))
            told = await live.ask("refetch", "alice", urls=asked, dry_run=True)
            assert (told["pages"], told["running"], told["dry_run"]) == (4, True, True)
            told = await live.ask("refetch", "alice", urls=asked)
            assert (told["pages"], told["unknown"], told["dry_run"]) == (4, [], False)
            await live.until(lambda _: all(visits(live.folder.path)[url] == 2 for url in asked))
            change = (await live.ask("changes"))["items"][0]
            assert (change["path"], change["who"], change["new"]) == ("refetch", "alice", "4 pages")
            with pytest.raises(LiveError) as caught:
                await live.ask("undo", id=change["id"])
            assert caught.value.code == "conflict"
            await live.ask("set", changes={"seeds_watch": ""})
            await live.task
        seen = visits(tmp_path / "c")
        assert {url for url, times in seen.items() if times == 2} == set(asked)

    asyncio.run(check())


@pytest.mark.slow
def test_a_filter_runs_beside_the_crawl_and_is_done_before_it_ends(tmp_path: Path, web: SimulatedWeb):
    async def check() -> None:
        async with running(tmp_path / "c", web, HELD) as live:
            await live.until(lambda status: status["sums"]["pages"] >= 30)
            told = await live.ask("refetch", match="*", type="text/html")
            assert told["pages"] >= 25
            await live.ask("set", changes={"seeds_watch": ""})
            await live.task
        again = [url for url, times in visits(tmp_path / "c").items() if times > 1]
        assert len(again) >= told["pages"]
        assert max(visits(tmp_path / "c").values()) == 2
        assert not pending_requests(tmp_path / "c")

    asyncio.run(check())


@pytest.mark.slow
def test_a_request_that_was_cut_off_does_not_visit_what_was_visited_for_it(crawled: Path, web: SimulatedWeb):
    """As after a kill: the request is still there, and some of its pages were visited since."""
    first, second, *_ = wanted = some_pages(crawled)
    offline(crawled, urls=[first])
    kept = pending_requests(crawled)[0]
    finished(crawled, web)
    keep_requests(crawled, [RefetchRequest(kept.when, "alice", [first, second])])
    seen = finished(crawled, web)
    assert (seen[first], seen[second], seen[wanted[2]]) == (2, 2, 1)


@pytest.mark.slow
def test_many_urls_are_asked_for_a_piece_at_a_time(crawled: Path):
    wanted = some_pages(crawled, 5)
    offline(crawled, urls=wanted)
    pieces: list[list[bytes]] = []

    class Asked:
        def refetch(self, pages: list[bytes]) -> None:
            pieces.append(pages)

    with view_context(crawled) as look:
        config = look.inspection().config
        refetching = Refetching(crawled, look.environment, Asked(), lambda: config)  # type: ignore[arg-type]
        while refetching.pending:
            refetching.step(lambda: True)
    assert [len(pages) for pages in pieces] == [1] * 5
    assert len({page for pages in pieces for page in pages}) == 5


@pytest.mark.slow
def test_a_damaged_request_says_what_to_do(crawled: Path):
    CrawlFolder(crawled).refetches.write_text("{")
    with pytest.raises(StorageError, match="Remove it"):
        pending_requests(crawled)


@pytest.mark.slow
def test_the_daemon_writes_it_down_for_a_job_that_does_not_run(crawled: Path, web: SimulatedWeb):
    url = some_pages(crawled)[0]

    async def ask_it() -> None:
        asking = Asking()
        try:
            counted = await asking.any(crawled, "refetch", {"status": "200", "dry_run": True}, "bob")
            assert counted["pages"] > 10 and not counted["running"]
            told = await asking.any(crawled, "refetch", {"urls": [url]}, "bob")
            assert told == {"pages": 1, "unknown": [], "parked": [], "running": False, "dry_run": False}
            with pytest.raises(ServiceError) as caught:
                await asking.any(crawled, "refetch", {}, "bob")
            assert caught.value.code == "invalid"
        finally:
            await asking.close()

    asyncio.run(ask_it())
    assert [request.who for request in pending_requests(crawled)] == ["bob"]
    assert finished(crawled, web)[url] == 2


@pytest.mark.slow
def test_the_command_says_how_many_and_what_happens_next(crawled: Path, tmp_path: Path):
    url = some_pages(crawled)[0]
    ran = gossamer("refetch", str(crawled), url, "http://nowhere.test/", "--dry-run", cwd=tmp_path)
    assert ran.stdout.splitlines() == [
        "1 page would be visited again",
        "no page that was visited, so not again: http://nowhere.test/",
    ]
    ran = gossamer("refetch", str(crawled), "--status", "2xx", "--json", "--dry-run", cwd=tmp_path)
    assert json.loads(ran.stdout)["pages"] > 10
    ran = gossamer("refetch", str(crawled), url, cwd=tmp_path)
    assert ran.stdout == (
        f"1 page will be visited again, without condition, when it goes on: gossamer resume {crawled}\n"
    )
    assert (
        gossamer("refetch", str(crawled), "--status", "999", cwd=tmp_path).stdout
        == "no page is visited again\n"
    )
    ran = gossamer("refetch", str(crawled), cwd=tmp_path)
    assert ran.returncode == 2 and "say which pages" in ran.stderr
    ran = gossamer("refetch", str(tmp_path), "--status", "404", cwd=tmp_path)
    assert ran.returncode == 2 and "holds no crawl" in ran.stderr


@pytest.mark.slow
def test_a_request_of_an_older_version_keeps_its_expression(crawled: Path):
    old = [{"when": 5.0, "who": "alice", "urls": [], "wanted": {"match": "/old/\\d"}}]
    CrawlFolder(crawled).refetches.write_text(json.dumps(old))
    [request] = pending_requests(crawled)
    assert request.wanted == Wanted(match="re:/old/\\d")
    keep_requests(crawled, [request])
    assert pending_requests(crawled) == [request]


@pytest.mark.slow
def test_what_cannot_be_a_status_is_refused_with_what_can(crawled: Path, tmp_path: Path):
    ran = gossamer("refetch", str(crawled), "--status", "9xx", cwd=tmp_path)
    assert ran.returncode == 2 and "a class from 1xx to 5xx" in ran.stderr
    ran = gossamer("refetch", str(crawled), "--match", "/nowhere", cwd=tmp_path)
    assert "--match '*/nowhere*'" in ran.stderr
