"""Addresses in scripts are visited after all links, and nonsense ends soon."""

import asyncio
import json

import pytest
from in_process import gossamer as command
from small_site import Site

import gossamer
from gossamer.inspect.inspection import inspect
from gossamer.inspect.why.story import Storyteller
from gossamer.policy.speculation.config import SpeculationConfig

INDEX = """<a href="/linked.html">1</a> <a rel="nofollow" href="/private.html">2</a>
<script>var u = {next: "/hidden.html", no: "/private.html", shut: "/shut/x.html", seen: "/linked.html",
 api: "/api/" + id, both: "/later.html"};</script>"""
PAGES = {
    "/": INDEX,
    "/linked.html": 'one <a href="/later.html">x</a>',
    "/later.html": "two",
    "/hidden.html": 'three <a href="/from-hidden.html">x</a>',
    "/from-hidden.html": "four",
    "/private.html": "five",
    "/shut/x.html": "six",
}


def site(pages: dict[str, str]) -> Site:
    def answer(_: str, path: str, __: object) -> tuple[int, dict[str, str], str]:
        if path == "/robots.txt":
            return 200, {"Content-Type": "text/plain"}, "User-agent: *\nDisallow: /shut/"
        return (200 if path in pages else 404), {"Content-Type": "text/html"}, pages.get(path, "not here")

    return Site(answer)


def crawled(served: Site, folder, *, order: str = "bfs", **speculation: object) -> list[str]:
    async def crawl() -> None:
        config = {
            "engine": {"guess_sitemap": False, "order": order},
            "speculation": {"follow": True, **speculation},
        }
        async for _ in gossamer.crawl(served.address, folder=folder, config=config, min_delay=0):
            pass

    asyncio.run(crawl())
    return [path for _, path in served.asked if path != "/robots.txt"]


@pytest.mark.parametrize("order", ["bfs", "best"])
def test_what_nobody_links_to_comes_last_and_keeps_to_all_rules(tmp_path, order: str) -> None:
    with site(PAGES) as served:
        asked = crawled(served, tmp_path / "c", order=order)
        assert asked == ["/", "/linked.html", "/later.html", "/hidden.html", "/from-hidden.html"]
        report = json.loads((tmp_path / "c/report.json").read_text())
        assert report["speculative"] == {"script: root named": [1, 0]}
        with inspect(tmp_path / "c") as inspection:
            tell = Storyteller(inspection).tell
            story = {
                url: tell(f"{served.address}{url}") for url in ("hidden.html", "later.html", "shut/x.html")
            }
    assert story["hidden.html"].record.hops == "X"
    assert any("nobody links to it" in fact.text for fact in story["hidden.html"].facts)
    assert story["later.html"].record.hops == "LL"  # a link came before its turn: it has the link's story
    assert story["shut/x.html"].state == "dropped"
    assert command("check", "c", cwd=tmp_path).returncode == 0
    assert (
        "Led nowhere" in (command("report", "c", cwd=tmp_path), next(tmp_path.rglob("*.html")).read_text())[1]
    )


def test_without_the_setting_none_is_visited(tmp_path) -> None:
    with site(PAGES) as served:
        assert "/hidden.html" not in crawled(served, tmp_path / "c", follow=False)


def test_nonsense_ends_soon(tmp_path) -> None:
    strings = json.dumps([f"/no/such-{number}.html" for number in range(100)])
    with site({"/": f"<script>var all = {strings}</script>"}) as served:
        assert len(crawled(served, tmp_path / "c")) == 1 + SpeculationConfig().first_missing


def test_a_page_that_stands_for_all_is_nothing_new(tmp_path) -> None:
    strings = json.dumps([f"/soft/{number}" for number in range(60)])
    pages = {f"/soft/{number}": "we do not know this page" for number in range(60)}
    with site({"/": f"<script>var all = {strings}</script>", **pages}) as served:
        # The first of them says something.
        assert len(crawled(served, tmp_path / "c")) == 1 + 1 + SpeculationConfig().first_missing


def test_what_was_learned_outlives_the_process(tmp_path) -> None:
    strings = json.dumps([f"/no/such-{number}.html" for number in range(40)])
    pages = {"/": f"<script>var all = {strings}</script>"}
    settings = ["--set", "speculation.follow=true", "--set", "politeness.min_delay=0", "--quiet"]
    with site(pages) as served:
        command(
            "crawl",
            served.address,
            "--dir",
            "c",
            *settings,
            "--set",
            "engine.guess_sitemap=false",
            cwd=tmp_path,
        )
        assert sum("such" in path for _, path in served.asked) == 3
        # Nothing that the scope of then has kept out is asked for either: it is doubted, not forgotten.
        assert command("resume", "c", "--quiet", cwd=tmp_path).returncode == 0
        assert sum("such" in path for _, path in served.asked) == 3
        story = json.loads(
            command("why", "c", f"{served.address}no/such-30.html", "--json", cwd=tmp_path).stdout
        )
    assert story["state"] in ("dropped", "rejected")
