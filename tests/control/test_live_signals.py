"""A crawl that visits pages again is told of changes: by whoever may change it, by sites that prove themselves."""

import asyncio
import json
import sys
import time
from collections import Counter
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from live_world import PACED, Running, running_with
from patience import PATIENCE
from small_site import Answer, Site

from gossamer.control.socket.client import ask
from gossamer.control.socket.protocol import LiveError

KEY = "0123456789abcdef"
PAGES = 12


class Pages:
    """A front page that links to all others; what is at other paths can be set."""

    def __init__(self) -> None:
        self.more: dict[str, Answer] = {}
        self.times: list[float] = []

    def __call__(self, _host: str, path: str, _asked: Counter[tuple[str, str]]) -> Answer:
        self.times.append(time.monotonic())
        if path in self.more:
            return self.more[path]
        if path == "/":
            links = "".join(f'<a href="/{number}">x</a>' for number in range(PAGES))
            return 200, {"Content-Type": "text/html"}, links
        if path[1:].isdigit() and int(path[1:]) < PAGES + 5:
            return 200, {"Content-Type": "text/html"}, f"<p>Page {path}"
        return 404, {"Content-Type": "text/plain"}, "no"


def crawl(
    path: Path, check: Callable[[Running, Site, Pages], Any], pages: int = PAGES + 1, **changes: Any
) -> None:
    """Crawl a small site while `check` looks on; nothing is due by itself for days."""

    async def run() -> None:
        found = Pages()
        with Site(found) as site:
            settings = PACED | {"seeds": [site.address], "scope.mode": "host", "politeness.min_delay": 0.01}
            async with running_with(path, settings | {"revisit.enabled": True} | changes) as live:
                await live.until(lambda status: status["sums"]["pages"] >= pages)
                await check(live, site, found)

    asyncio.run(run())


async def asked(site: Site, path: str, times: int) -> None:
    deadline = time.monotonic() + PATIENCE
    while sum(asked == path for _, asked in site.asked) < times:
        assert time.monotonic() < deadline, Counter(site.asked)
        await asyncio.sleep(0.02)


def test_a_page_that_is_said_to_have_changed_is_visited_again_and_no_other(tmp_path: Path) -> None:
    async def check(live: Running, site: Site, _: Pages) -> None:
        address = site.address
        heard = await live.ask("changed", urls=[f"{address}3", f"{address}3#part", f"{address}77", "no url"])
        assert heard == {"due": 1, "known": 1, "new": 0, "unknown": 1, "held": 0, "wrong": 1}
        await asked(site, "/3", 2)
        assert Counter(path for _, path in site.asked)["/4"] == 1
        await live.until(lambda _: sum(line["url"] == f"{address}3" for line in live.log()) == 2)

    crawl(tmp_path / "c", check)


def test_what_is_new_comes_in_only_if_it_is_wanted_and_in_scope(tmp_path: Path) -> None:
    async def check(live: Running, site: Site, _: Pages) -> None:
        new = f"{site.address}{PAGES + 1}"
        assert (await live.ask("changed", urls=[new]))["unknown"] == 1
        other = "http://other.example/"
        heard = await live.ask("changed", urls=[new, other], new=True)
        assert (heard["new"], heard["unknown"]) == (1, 1)
        await asked(site, f"/{PAGES + 1}", 1)

    crawl(tmp_path / "c", check)


def test_pings_are_no_way_past_the_rest_of_a_host(tmp_path: Path) -> None:
    async def check(live: Running, site: Site, pages: Pages) -> None:
        urls = [f"{site.address}{number}" for number in range(PAGES)]
        await live.ask("set", changes={"politeness.min_delay": 0.3})
        pages.times.clear()
        for _ in range(20):
            await live.ask("changed", urls=urls)
        await live.until(lambda _: len(pages.times) >= 6)
        # The first two may have been lent under the old delay.
        assert min(after - before for before, after in pairwise(pages.times[2:])) > 0.29

    crawl(tmp_path / "c", check, **{"revisit.visits": 1e6})


def test_a_crawl_that_visits_nothing_again_says_so(tmp_path: Path) -> None:
    async def check(live: Running, site: Site, _: Pages) -> None:
        with pytest.raises(LiveError, match="does not visit pages again"):
            await live.ask("changed", urls=[site.address])

    slow = {"politeness.min_delay": 1.0}
    crawl(tmp_path / "c", check, pages=2, **slow, **{"revisit.enabled": False})


def test_hubs_that_pages_name_are_remembered(tmp_path: Path) -> None:
    async def check(live: Running, site: Site, pages: Pages) -> None:
        address = site.address
        feed = (
            f'<feed><link rel="hub" href="https://hub.test/"/><link rel="self" href="{address}feed"/></feed>'
        )
        pages.more["/feed"] = 200, {"Content-Type": "application/atom+xml"}, feed
        # Nobody tells of the pages of others.
        theirs = feed.replace(f"{address}feed", "https://other.example/feed")
        pages.more["/theirs"] = 200, {"Content-Type": "application/atom+xml"}, theirs
        await live.ask("changed", urls=[f"{address}feed", f"{address}theirs"], new=True)
        await asked(site, "/feed", 1)
        await asked(site, "/theirs", 1)
        await live.until(lambda status: status["sums"]["queued"] == 0)
        assert (await live.ask("hubs"))["items"] == [{"topic": f"{address}feed", "hub": "https://hub.test/"}]

    crawl(tmp_path / "c", check)


def submission(site: Site, *paths: str, key: str = KEY, **more: Any) -> dict[str, Any]:
    location = f"{site.address}{key}.txt"
    return {
        "urls": [site.address + path for path in paths], "by": "indexnow", "key": key, "key_location": location, **more
    }  # fmt: skip


@pytest.mark.parametrize("content", [KEY, f"\ufeff{KEY}\r\n"])
def test_a_key_that_the_host_shows_is_believed_for_a_while(tmp_path: Path, content: str) -> None:
    async def check(live: Running, site: Site, pages: Pages) -> None:
        pages.more[f"/{KEY}.txt"] = 200, {"Content-Type": "text/plain"}, content
        heard = await live.ask("changed", **submission(site, "3", "77"))
        assert (heard["held"], heard["unknown"], heard["due"]) == (1, 1, 0)
        await asked(site, f"/{KEY}.txt", 1)
        await asked(site, "/3", 2)
        assert (await live.ask("changed", **submission(site, "4")))["due"] == 1
        await asked(site, "/4", 2)
        heard = await live.ask("changed", **submission(site, str(PAGES + 2), new=True))
        assert heard["new"] == 1
        assert Counter(path for _, path in site.asked)[f"/{KEY}.txt"] == 1

    crawl(tmp_path / "c", check)


@pytest.mark.parametrize(
    "answer",
    [
        (404, {"Content-Type": "text/plain"}, KEY),
        (200, {"Content-Type": "text/html"}, f"<p>{KEY}</p>"),
        (200, {"Content-Type": "text/plain"}, KEY + "x" * 5_000),
        (301, {"Location": "/3"}, ""),
    ],
)
def test_a_key_that_the_host_does_not_show_is_not(tmp_path: Path, answer: Answer) -> None:
    async def check(live: Running, site: Site, pages: Pages) -> None:
        pages.more[f"/{KEY}.txt"] = answer
        assert (await live.ask("changed", **submission(site, "3")))["held"] == 1
        await live.until(lambda _: any(KEY in line["url"] for line in live.log()))
        await live.until(lambda status: status["sums"]["queued"] == 0)
        # Nor is it looked for again for a while, whatever the key.
        heard = await live.ask("changed", **submission(site, "3", key="another-key"))
        assert (heard["held"], heard["known"]) == (0, 1)
        assert Counter(path for _, path in site.asked)["/3"] == 1

    crawl(tmp_path / "c", check)


def test_nothing_is_asked_of_hosts_that_are_not_crawled(tmp_path: Path) -> None:
    async def check(live: Running, site: Site, _: Pages) -> None:
        theirs = {"by": "indexnow", "key": KEY, "key_location": f"http://other.example/{KEY}.txt"}
        heard = await live.ask("changed", urls=["http://other.example/a"], new=True, **theirs)
        assert heard == {"due": 0, "known": 0, "new": 0, "unknown": 1, "held": 0, "wrong": 0}
        heard = await live.ask("changed", urls=[f"{site.address}3"], **theirs)
        assert heard["wrong"] == 1

    crawl(tmp_path / "c", check)


async def commanded(*arguments: str | Path) -> tuple[int, str, str]:
    """Status, output and errors of the program."""
    command = [sys.executable, "-m", "gossamer", *map(str, arguments)]
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(*command, stdout=pipe, stderr=pipe)
    out, errors = await process.communicate()
    return process.returncode or 0, out.decode(), errors.decode()


@pytest.mark.slow
def test_the_command(tmp_path: Path) -> None:
    async def check(live: Running, site: Site, _: Pages) -> None:
        folder, address = live.folder.path, site.address
        status, out, errors = await commanded("changed", folder, f"{address}3", f"{address}77")
        assert (status, out, errors) == (
            0,
            "1 due sooner than before; 1 not known to the crawl, or outside its scope\n",
            "",
        )
        await asked(site, "/3", 2)
        status, out, _errors = await commanded("changed", folder, "--new", "--json", f"{address}{PAGES + 1}")
        assert (status, json.loads(out)["new"]) == (0, 1)
        await asked(site, f"/{PAGES + 1}", 1)

    crawl(tmp_path / "c", check)
    status, _, errors = asyncio.run(commanded("changed", tmp_path / "c", "http://x.example/"))
    assert status == 2
    assert "no crawl runs there" in errors
    status, out, errors = asyncio.run(commanded("check", tmp_path / "c"))
    assert status == 0, out + errors


def test_ten_thousand_at_once_hold_nobody_up(tmp_path: Path) -> None:
    async def check(live: Running, site: Site, _: Pages) -> None:
        urls = [f"{site.address}{PAGES + number}" for number in range(10_000)]
        asking = asyncio.create_task(ask(live.folder.path, "changed", {"urls": urls}))
        answers = 0
        while not asking.done():
            await live.ask("status")
            answers += 1
        assert (await asking)["unknown"] == 10_000
        assert answers > 5

    crawl(tmp_path / "c", check)
