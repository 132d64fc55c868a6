"""Single URLs are answered from the archive or by a visit, as who asks for them would have it."""

import asyncio
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from live_world import PACED, Running, running_with
from small_site import Answer, Site

from gossamer.control.socket.client import ask
from gossamer.control.socket.protocol import LiveError
from gossamer.daemon.asking import Asking
from gossamer.daemon.errors import ServiceError
from gossamer.inspect.inspection import inspect

HTML = {"Content-Type": "text/html"}
PAGES = 30
ALONE = PACED | {
    "demand.stay": True,
    "scope.mode": "host",
    "scope.demands": "any",
    "politeness.min_delay": 0.0,
    "retry.url_waits": [],
}


def answer_of(_: str, path: str, asked: Counter[tuple[str, str]]) -> Answer:
    if path == "/robots.txt":
        return 200, {"Content-Type": "text/plain"}, "User-agent: *\nDisallow: /private"
    if path == "/":
        return 200, HTML, "".join(f'<a href="/page/{number}">x</a>' for number in range(PAGES))
    if path == "/moved":
        return 302, {"Location": "http://elsewhere.invalid/"}, ""
    return (
        (404, HTML, "none") if path == "/none" else (200, HTML, f"<p>{path} {asked[_, path]}<a href=/a>a</a>")
    )


@pytest.fixture
def site() -> Iterator[Site]:
    with Site(answer_of) as served:
        yield served


def times(site: Site, path: str) -> int:
    return sum(asked == path for _, asked in site.asked)


def crawl(path: Path, settings: dict[str, Any], check: Callable[[Running], Awaitable[None]]) -> None:
    async def run() -> None:
        async with running_with(path, settings) as live:
            await check(live)

    asyncio.run(run())


def test_what_is_asked_for_is_fetched_once_and_then_given_from_the_archive(site: Site, tmp_path: Path):
    async def check(live: Running) -> None:
        url = f"{site.address}page"
        first = await live.ask("fetch", url=url)
        assert (first["state"], first["status"], first["capture"]["url"]) == ("fetched", 200, url)
        again = await live.ask("fetch", url=url)
        assert (again["state"], again["capture"]) == ("archive", first["capture"])
        assert times(site, "/page") == 1
        anew = await live.ask("fetch", url=url, fresh="0s")
        assert anew["state"] == "fetched"
        assert times(site, "/page") == 2
        # Its links, and where one leads, are another matter.
        moved = await live.ask("fetch", url=f"{site.address}moved")
        assert (moved["state"], moved["status"]) == ("fetched", 302)
        none = await live.ask("fetch", url=f"{site.address}none")
        assert (none["state"], none["status"], none["capture"]["status"]) == ("fetched", 404, 404)
        assert times(site, "/a") == 0
        assert times(site, "/robots.txt") == 1

    crawl(tmp_path / "c", ALONE, check)
    with inspect(tmp_path / "c") as inspection:
        assert inspection.counters.pages == 1  # though it was visited twice


def test_manners_hold_for_what_is_asked_for(site: Site, tmp_path: Path):
    async def check(live: Running) -> None:
        denied = await live.ask("fetch", url=f"{site.address}private/x")
        assert (denied["state"], denied["why"][0]) == ("refused", "robots")
        assert times(site, "/private/x") == 0
        dead = await live.ask("fetch", url="http://127.0.0.1:1/", wait="0.2s")
        assert dead["state"] in ("failed", "waits")
        for wrong in ({"url": "no url"}, {"url": "x.test", "fresh": "soon"}, {"url": "http://a:b@x.test/"}):
            with pytest.raises(LiveError) as told:
                await live.ask("fetch", **wrong)
            assert told.value.code == "invalid"

    crawl(tmp_path / "c", ALONE, check)


@pytest.mark.parametrize("budget", ["pages_per_host", "pages_per_domain"])
def test_a_budget_holds_and_says_so(site: Site, tmp_path: Path, budget: str):
    async def check(live: Running) -> None:
        assert (await live.ask("fetch", url=f"{site.address}page"))["state"] == "fetched"
        told = await live.ask("fetch", url=f"{site.address}other", wait="0.2s")
        assert (told["state"], told["why"][0]) == ("waits", f"budget.{budget}")
        assert times(site, "/other") == 0

    crawl(tmp_path / "c", ALONE | {f"budget.{budget}": 1}, check)


def test_what_was_asked_for_is_fetched_by_the_next_session(site: Site, tmp_path: Path):
    url = f"{site.address}page"

    async def ask_and_stop(live: Running) -> None:
        await live.ask("pause")
        assert (await live.ask("fetch", url=url, wait="0s"))["state"] == "waits"

    crawl(tmp_path / "c", ALONE, ask_and_stop)
    assert site.asked == []

    async def again(live: Running) -> None:
        assert (await live.ask("fetch", url=url))["state"] in ("archive", "fetched")

    crawl(tmp_path / "c", ALONE, again)
    assert times(site, "/page") == 1


def test_only_the_operator_widens_the_scope(site: Site, tmp_path: Path):
    async def check(live: Running) -> None:
        url = "http://localhost:1/"
        refused = await live.ask("fetch", url=url)
        assert (refused["state"], refused["why"][0]) == ("refused", "scope")
        await live.ask("set", changes={"scope.demands": "any"})
        assert (await live.ask("fetch", url=url, wait="0s"))["state"] != "refused"
        await live.ask("set", changes={"scope.block": ["localhost"]})
        assert (await live.ask("fetch", url=url))["state"] == "refused"

    crawl(tmp_path / "c", ALONE | {"seeds": [site.address], "scope.demands": "scope"}, check)


@pytest.mark.parametrize("order", ["bfs", "opic"])
def test_what_waits_in_a_queue_goes_ahead_and_is_visited_once(site: Site, tmp_path: Path, order: str):
    async def check(live: Running) -> None:
        await live.until(lambda status: status["sums"]["queued"] > PAGES // 2)
        wanted = f"{site.address}page/{PAGES - 1}"
        before = len(site.asked)
        found = await live.ask("fetch", url=wanted)
        assert (found["state"], found["status"]) == ("fetched", 200)
        assert len(site.asked) - before < PAGES // 2
        await live.ask("set", changes={"politeness.min_delay": 0.0})
        await live.task

    settings = {"seeds": [site.address], "scope.mode": "host", "engine.order": order}
    crawl(tmp_path / "c", PACED | settings, check)
    assert set(Counter(site.asked).values()) == {1}


def test_who_does_not_wait_asks_again_for_the_same_visit(site: Site, tmp_path: Path):
    async def check(live: Running) -> None:
        url = f"{site.address}page"
        told = await live.ask("fetch", url=url, fresh="0s", wait="0s")
        assert (told["state"], told["waits"]) == ("waits", True)
        # Many at once wait for one visit, and those who would be too many are told to come again.
        asked = [ask(tmp_path / "c", "fetch", {"url": url, "since": told["since"]}) for _ in range(24)]
        states = {found["state"] for found in await asyncio.gather(*asked)}
        assert states <= {"fetched", "archive", "waits"}
        while (await live.ask("fetch", url=url, since=told["since"]))["state"] == "waits":
            pass
        assert times(site, "/page") == 1

    crawl(tmp_path / "c", ALONE, check)


def test_a_crawl_that_does_not_run_gives_what_is_fresh_enough(site: Site, tmp_path: Path):
    url = f"{site.address}page"

    async def check(live: Running) -> None:
        await live.ask("fetch", url=url)

    crawl(tmp_path / "c", ALONE, check)

    async def look() -> None:
        asking = Asking()
        found = await asking.any(tmp_path / "c", "fetch", {"url": url}, "tester")
        assert (found["state"], found["capture"]["url"]) == ("archive", url)
        for params in ({"url": url, "since": time.time()}, {"url": f"{site.address}other"}):
            with pytest.raises(ServiceError) as told:
                await asking.any(tmp_path / "c", "fetch", params, "tester")
            assert told.value.code == "conflict"
        await asking.close()

    asyncio.run(look())
