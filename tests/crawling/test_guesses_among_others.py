"""Speculative links beside what else a crawl does: visits again, other scopes, sessions, links that come late."""

import asyncio
import json
import time
import tomllib
from pathlib import Path

from in_process import gossamer as command
from small_site import Site
from test_script_links import PAGES, crawled, site

import gossamer
from gossamer.inspect.inspection import inspect
from gossamer.policy.speculation.belief import Tried
from gossamer.state.environment import Family
from gossamer.state.records import PageRecord, decode_host, decode_page


def records(folder: Path) -> dict[str, PageRecord]:
    """By path, of one host."""
    with inspect(folder) as inspection:
        pages = [decode_page(data) for _, data in inspection.environment.scan(Family.PAGES)]
    return {"/" + page.url.partition("//")[2].partition("/")[2]: page for page in pages}


def tried(folder: Path) -> Tried:
    with inspect(folder) as inspection:
        (data,) = (data for _, data in inspection.environment.scan(Family.HOSTS))
    return Tried.unpacked(decode_host(data).speculation)


def crawled_and_left(served: Site, folder: Path, pages: int) -> None:
    config = {"engine": {"guess_sitemap": False, "workers": 1}, "speculation": {"follow": True}}

    async def crawl() -> None:
        async for _ in gossamer.crawl(
            served.address, folder=folder, config=config, min_delay=0, max_pages=pages
        ):
            pass

    asyncio.run(crawl())


def resumed(folder: Path, *settings: str) -> None:
    further = [each for setting in ("budget.max_pages=0", *settings) for each in ("--set", setting)]
    ran = command("resume", str(folder), "--quiet", *further, cwd=folder.parent)
    assert ran.returncode == 0, ran.stderr


def test_what_was_doubted_is_visited_once_a_link_is_found(tmp_path) -> None:
    doubted = json.dumps([f"/no/such-{number}.html" for number in range(12)] + ["/real.html"])
    pages = {
        "/": f'<script>var all = {doubted}, x = {{next: "/hub.html"}}</script>',
        "/hub.html": 'hub <a href="/real.html">x</a>',
        "/real.html": "it is there",
    }
    with site(pages) as served:
        asked = crawled(served, tmp_path / "c", first_missing=20)
    assert "/no/such-11.html" not in asked
    assert asked[-2:] == ["/hub.html", "/real.html"]
    assert records(tmp_path / "c")["/real.html"].state == "done"


def test_what_was_never_there_does_not_come_again_and_is_no_orphan(tmp_path, monkeypatch) -> None:
    strings = json.dumps(["/no/such.html", "/hidden.html"])
    pages = {"/": f"<script>var all = {strings}</script>", "/hidden.html": "one"}
    with site(pages) as served:
        asked = crawled(served, tmp_path / "c")
        assert "/no/such.html" in asked and not records(tmp_path / "c")["/hidden.html"].history
        assert command("export", "links", "c", cwd=tmp_path).returncode == 0
        orphans = command("list", "c", "--orphans", cwd=tmp_path).stdout
        assert "/hidden.html" in orphans and "/no/such.html" not in orphans
        # Visits again are switched on later.
        monkeypatch.setenv("GOSSAMER_CLOCK", f"86400@{time.time()}")
        asyncio.run(visited_again(served, tmp_path / "c"))
    found = records(tmp_path / "c")
    assert found["/hidden.html"].history and found["/"].history
    assert not found["/no/such.html"].history
    fresh = json.loads(command("status", "c", "--json", cwd=tmp_path).stdout)["freshness"]
    assert (fresh["pages"], fresh["gone"], fresh.get("never", 0)) == (2, 0, 0)


async def visited_again(served: Site, folder: Path) -> None:
    config, seen = {"revisit": {"every": {"/": "1h", "/hidden.html": "1h"}}}, set()
    pages = gossamer.crawl(served.address, folder=folder, config=config, revisit=True, min_delay=0)
    async for page in pages:
        seen.add(page.url)
        if len(seen) == 2:  # so both have come again, however slow the walk that lets them
            return


def test_a_page_that_a_link_led_to_is_not_dropped_with_its_guess(tmp_path) -> None:
    with site(PAGES) as served:
        crawled_and_left(served, tmp_path / "c", 3)
        assert records(tmp_path / "c")["/later.html"].state == "done"
        resumed(tmp_path / "c", 'scope.exclude=["/later"]')
    later = records(tmp_path / "c")["/later.html"]
    assert (later.state, later.hops) == ("done", "LL")


def test_guesses_that_wait_leave_no_trace_when_none_is_followed_any_more(tmp_path) -> None:
    with site(PAGES) as served:
        crawled_and_left(served, tmp_path / "c", 1)
        resumed(tmp_path / "c", "speculation.follow=false")
        assert sorted(path for _, path in served.asked if path != "/robots.txt") == [
            "/",
            "/later.html",
            "/linked.html",
        ]
    assert "/hidden.html" not in records(tmp_path / "c")


def test_what_is_known_by_a_guess_alone_does_not_speak_for_its_kind(tmp_path) -> None:
    script = '<script>var all = ["/no/such.html", "/hidden.html"]</script>'
    other = 'other <script>var all = ["/no/such.html"]</script>'
    with site({"/": script, "/hidden.html": other}) as served:
        crawled_and_left(served, tmp_path / "c", 1)
        resumed(tmp_path / "c")  # it remembers no links of before
    assert [(one.known, one.found, one.missing) for one in tried(tmp_path / "c").kinds.values()] == [
        (0, 1, 1)
    ]


def test_visits_by_a_policy_of_ones_own_are_of_pages_not_of_their_guesses(tmp_path) -> None:
    class Twice:
        def again(self, lease, outcome, page, visits):
            return 0.01 if page is not None and visits < 2 else None

    async def crawl(address: str) -> None:
        config = {"engine": {"guess_sitemap": False}, "speculation": {"follow": True}}
        async for _ in gossamer.crawl(
            address, folder=tmp_path / "c", config=config, min_delay=0, revisits=Twice()
        ):
            pass

    with site(PAGES) as served:
        asyncio.run(crawl(served.address))
        asked = [path for _, path in served.asked]
    assert {path: asked.count(path) for path in ("/", "/later.html", "/hidden.html")} == {
        "/": 2,
        "/later.html": 2,
        "/hidden.html": 2,
    }
    assert sum(one.found for one in tried(tmp_path / "c").kinds.values()) == 1


def test_a_folder_with_sections_of_hosts_is_resumed_with_other_settings_of_them(tmp_path) -> None:
    with site({"/": "one"}) as served:
        crawled_and_left(served, tmp_path / "c", 1)
        path = tmp_path / "c/crawl.toml"
        path.write_text(path.read_text() + '\n[host."127.0.0.1"]\nmin_delay = 5\nmax_pages = 7\n')
        resumed(tmp_path / "c", "host.127.0.0.1.min_delay=0")
        kept = tomllib.loads(path.read_text())
    assert "host" not in kept
    assert kept["place"]["127.0.0.1"] == {"politeness": {"min_delay": "0s"}, "budget": {"pages_per_host": 7}}
