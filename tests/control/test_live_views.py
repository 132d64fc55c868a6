"""What may be asked of a crawl, running or stopped, agrees with what it did."""

import asyncio
import json
from collections import Counter
from pathlib import Path
from typing import Any

import msgspec
import pytest
from live_world import running

from gossamer.control.socket.protocol import LiveError
from gossamer.control.views.context import ViewContext, view_context
from gossamer.control.views.views import VIEWS, answer_view
from gossamer.inspect.inspection import inspect
from gossamer.inspect.why.sentences import Clause, in_english
from gossamer.simweb import SimulatedWeb, WorldSpec
from gossamer.web.console import drawings
from gossamer.words.catalogue import words

SPEC = WorldSpec.friendly(hosts=15, pages=300, page_bytes=800)
PAGES = 120


@pytest.fixture(scope="module")
def web():
    with SimulatedWeb(SPEC) as served:
        yield served


@pytest.fixture(scope="module")
def folder(web, tmp_path_factory) -> Path:
    """A crawl that has stopped halfway."""
    path = tmp_path_factory.mktemp("views") / "crawl"

    async def crawl() -> None:
        async with running(path, web, {"budget.max_pages": PAGES, "politeness.min_delay": 0.02}) as live:
            await live.task

    asyncio.run(crawl())
    return path


@pytest.fixture
def look(folder):
    with view_context(folder) as found:
        yield found


def every(look: ViewContext, method: str, **params: Any) -> list[dict]:
    """All entries of a list, page by page."""
    items, cursor = [], None
    while True:
        page = answer_view(look, method, params | {"cursor": cursor})
        assert len(page["items"]) <= params.get("limit", 100)
        items += page["items"]
        if (cursor := page["cursor"]) is None:
            return items


def lines(folder: Path) -> list[dict]:
    return [json.loads(line) for line in (folder / "crawl.log").read_text().splitlines()]


def test_status_of_a_stopped_crawl(look, folder):
    status = answer_view(look, "status", {})
    assert status["state"] == "stopped"
    assert status["reason"] == f"max_pages {PAGES}"
    assert status["sums"]["pages"] == PAGES
    assert status["sums"]["visits"] == len(lines(folder))
    assert sum(status["hosts_by_state"].values()) == status["sums"]["hosts"]


def test_every_host_once_in_any_order(look, folder):
    with inspect(folder) as inspection:
        known = {record.name: record for record in inspection.hosts()}
    for sort in (None, "queued", "pages", "seconds", "name"):
        found = every(look, "hosts", limit=7, **({"sort": sort} if sort else {}))
        if sort != "seconds":  # those without work take none
            assert sorted(item["name"] for item in found) == sorted(known)
        for item in found:
            record = known[item["name"]]
            assert (item["queued"], item["pages"]) == (record.queued, record.pages)
    queued = [item["queued"] + item["waiting"] for item in every(look, "hosts", sort="queued", limit=4)]
    assert queued == sorted(queued, reverse=True)
    names = [item["name"] for item in every(look, "hosts", sort="name", limit=4)]
    assert names == sorted(names)


def test_hosts_by_state_and_by_name(look):
    total = answer_view(look, "hosts", {"limit": 1})["total"]
    states = ("ready", "resting", "waiting", "parked", "empty")
    by_state = [every(look, "hosts", state=state) for state in states]
    assert sum(map(len, by_state)) == total
    name = every(look, "hosts", sort="pages")[0]["name"]
    assert [item["name"] for item in every(look, "hosts", text=name, sort="pages")] == [name]
    assert every(look, "hosts", text="no such host") == []


def test_one_host(look):
    name = answer_view(look, "hosts", {"sort": "queued", "limit": 1})["items"][0]["name"]
    host = answer_view(look, "host", {"name": name})
    assert host["name"] == name
    assert host["politeness"]["min_delay"] == 0.02
    assert host["robots"]
    assert len(host["first"]) == min(10, host["queued"])
    with pytest.raises(LiveError) as caught:
        answer_view(look, "host", {"name": "unknown.example"})
    assert caught.value.code == "not_found"
    assert answer_view(look, "robots", {"host": name})["items"] == host["robots"]


def test_the_queue_holds_what_is_counted(look):
    sums = answer_view(look, "status", {})["sums"]
    items = every(look, "queue", limit=50)
    assert len(items) == sums["queued"] + sums["waiting"]
    assert len({item["url"] for item in items}) == len(items)
    assert answer_view(look, "queue", {"limit": 1})["total"] == len(items)
    depths = Counter(item["depth"] for item in items)
    for depth, count in depths.items():
        assert len(every(look, "queue", depth=depth)) == count
    level = items[0]["level"]
    assert every(look, "queue", level=level) == [item for item in items if item["level"] == level]
    host = items[0]["host"]
    own = every(look, "queue", host=host, limit=3)
    assert own == [item for item in items if item["host"] == host]
    sizes = answer_view(look, "queue_sizes", {})
    assert sum(sizes["by_depth"].values()) == sums["queued"]
    assert sizes["by_level"]["urls"] == sums["queued"]


def test_pages_are_what_was_visited(look, folder):
    ended = {line["url"]: line for line in lines(folder) if line["became"] != "retry"}
    items = every(look, "pages", limit=40)
    assert {item["url"] for item in items} >= set(ended)
    ok = [line for line in ended.values() if line.get("status") == 200]
    assert len(every(look, "pages", status=200)) == len(ok)
    html = every(look, "pages", mime="text/html", status=200)
    assert all(item["mime"] == "text/html" and item["archive"] for item in html)
    host = html[0]["url"].split("/")[2].partition(":")[0]
    assert all(f"//{host}" in item["url"] for item in every(look, "pages", host=host))


@pytest.mark.parametrize("params", [{}, {"status": 200}, {"host": "the first"}, {"mime": "text/html"}])
def test_pages_come_in_the_order_of_their_last_visits(look, folder, params):
    visited = list(dict.fromkeys(line["url"] for line in reversed(lines(folder))))
    if "host" in params:
        params = {"host": visited[0].split("/")[2].partition(":")[0]}
    stored = {item["url"] for item in every(look, "pages", **params) if item["time"]}
    newest = [item["url"] for item in every(look, "pages", sort="newest", limit=7, **params)]
    assert newest
    assert newest == [url for url in visited if url in stored]
    assert len(newest) == len(stored)


def test_a_page_that_was_visited_again_comes_once(look, folder):
    with (folder / "crawl.log").open("r+b") as file:
        whole = file.read()
        first = json.loads(whole.partition(b"\n")[0])
        earlier = json.dumps({**first, "at": first["at"] - 60, "became": "retry"}).encode()
        try:
            file.seek(0)
            file.write(earlier + b"\n" + whole)
            file.flush()
            urls = [item["url"] for item in every(look, "pages", sort="newest")]
            assert urls.count(first["url"]) == 1
        finally:
            file.seek(0)
            file.write(whole)
            file.truncate()


@pytest.mark.parametrize("backwards", [True, False])
def test_the_log_line_by_line(look, folder, backwards, monkeypatch):
    monkeypatch.setattr("gossamer.inspect.crawl_log.PIECE", 700)  # lines straddle pieces
    items, cursor = [], None
    while True:
        page = answer_view(look, "log", {"limit": 13, "cursor": cursor, "backwards": backwards})
        items += page["items"]
        if not page["items"] or page["cursor"] is None:
            break
        cursor = page["cursor"]
    known = lines(folder)
    assert items == (known[::-1] if backwards else known)


def test_names_that_failed_are_counted(look, monkeypatch):
    inspection = look.inspection()
    inspection.names.failing["gone.test"] = (5, 2)
    monkeypatch.setattr(look, "inspection", lambda: inspection)
    found = answer_view(look, "names", {})
    assert found["failing"]["gone.test"] == 3
    assert drawings.names(found, words("en"))[-1].title == words("en")("chart.failing")


def test_the_log_with_filters_and_half_a_line(look, folder):
    known = lines(folder)
    found = answer_view(look, "log", {"status": 404, "limit": 1000})["items"]
    assert found == [line for line in known if line.get("status") == 404][::-1]
    found = answer_view(look, "log", {"kind": "robots", "limit": 1000})["items"]
    assert len(found) == sum(line["kind"] == "robots" for line in known) > 0
    host = known[-1]["url"].split("/")[2].partition(":")[0]
    found = answer_view(look, "log", {"host": host, "limit": 1000})["items"]
    assert found[0]["url"] == known[-1]["url"]
    whole = (folder / "crawl.log").read_bytes()
    (folder / "crawl.log").write_bytes(whole + b'{"at": 12')
    try:
        assert answer_view(look, "log", {"limit": 1})["items"] == [known[-1]]
        page = answer_view(look, "log", {"limit": 1000, "backwards": False})
        assert page["items"] == known
        assert page["cursor"] == f"f:{len(whole)}"
    finally:
        (folder / "crawl.log").write_bytes(whole)


def test_codes_add_up(look, folder):
    codes = answer_view(look, "codes", {})
    visited = [line for line in lines(folder) if line["kind"] != "robots"]
    assert codes["visits"] == len(lines(folder))
    assert not codes["sampled"]
    assert sum(count for *_, count in codes["sizes"]) == sum("size" in line for line in visited)
    assert codes["depths"] == {
        str(depth): count for depth, count in sorted(Counter(line["depth"] for line in visited).items())
    }
    assert codes["statuses"] == Counter(str(line["status"]) for line in lines(folder) if "status" in line)


def test_codes_of_a_long_log_are_a_sample(folder, monkeypatch):
    monkeypatch.setattr("gossamer.control.views.log_views.WHOLE", 1000)
    with view_context(folder) as look:
        codes = answer_view(look, "codes", {})
    assert codes["sampled"]
    assert sum(codes["depths"].values()) == pytest.approx(codes["visits"], rel=0.1)


def test_the_story_of_a_url(look, folder):
    # Whichever was visited last may be a page that is not there.
    url = next(line["url"] for line in reversed(lines(folder)) if line["became"] == "done")
    story = answer_view(look, "why", {"url": url})
    assert story["state"] == "done"
    assert url in story["text"]
    assert {"about", "text", "clauses"} == set(story["facts"][0])
    for fact in story["facts"]:
        assert in_english([msgspec.convert(one, Clause) for one in fact["clauses"]]) == fact["text"]
    with pytest.raises(LiveError) as caught:
        answer_view(look, "why", {"url": "no scheme://"})
    assert caught.value.code == "invalid"


def test_settings_say_what_can_change_and_keep_secrets(look):
    answer = answer_view(look, "settings", {})
    assert answer["settings"]["budget"]["max_pages"] == PAGES
    assert answer["described"]["engine.workers"]["live"]
    assert not answer["described"]["engine.order"]["live"]
    assert set(answer["live"]) >= {"scope.exclude", "politeness.min_delay", "place.NAME.politeness.min_delay"}
    assert "politeness.shared" not in answer["live"]


def test_settings_at_a_url_are_told_with_the_place_that_says_so(look):
    asked = {"url": "a.test/x", "type": "Image/PNG", "hour": "03:10"}
    answer = answer_view(look, "settings_for", asked)
    assert answer["url"] == "http://a.test/x"
    told = {one["path"]: one["value"] for one in answer["settings"]}
    config = look.inspection().config
    assert float(told["politeness.factor"]) == config.politeness.factor
    assert {"path", "value", "place", "beaten"} == set(answer["settings"][0])
    for name, wrong in {"url": "http://[", "address": "home", "hour": "24:00"}.items():
        with pytest.raises(LiveError) as caught:
            answer_view(look, "settings_for", {**asked, name: wrong})
        assert caught.value.code == "invalid"


@pytest.mark.parametrize("method", sorted(VIEWS))
def test_parameters_that_nobody_knows_are_an_error(look, method):
    with pytest.raises(LiveError) as caught:
        answer_view(look, method, {"surprise": 1})
    assert caught.value.code == "invalid"


CURSORS = ["", "x", "k", "k:zz", "n:-1", "n:1e3", "b:99999999999999999999", "q:" + "00" * 50]


@pytest.mark.parametrize("cursor", CURSORS)
@pytest.mark.parametrize("method", ["hosts", "queue", "pages", "list", "log", "traps", "changes"])
def test_cursors_of_others_do_no_harm(look, method, cursor):
    try:
        answer_view(look, method, {"cursor": cursor})
    except LiveError as error:
        assert error.code == "invalid"


@pytest.mark.slow
def test_a_running_crawl_answers_every_view(tmp_path, web):
    async def check() -> None:
        async with running(tmp_path / "crawl", web) as live:
            await live.until(lambda status: status["sums"]["pages"] >= 30)
            of_urls = ("why", "page", "captures", "calendar", "settings_for")
            given = {method: {"url": web.seeds[0]} for method in of_urls}
            given |= {"host": {"name": "x"}, "robots": {"host": "x"}}
            hosts = await live.ask("hosts", sort="pages")
            for method in ("host", "robots"):
                given[method] = dict.fromkeys(given[method], hosts["items"][0]["name"])
            for method in VIEWS:
                assert await live.ask(method, **given.get(method, {})) is not None
            history = await live.ask("history")
            assert len(history["rows"][0]) == len(history["columns"])
            left = await live.ask("forecast")
            assert left["seconds_left"] > 0
            assert left["what_if"][0]["seconds_left"] <= left["seconds_left"]

    asyncio.run(check())
