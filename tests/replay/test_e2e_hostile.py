"""A hostile archive in Chromium: none of its pages reaches the list, other servers, another crawl or the network."""

import contextlib
import socket
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from benchmarks.replay_looks import closed_chromium, crawl_whole, viewed
from console_browser import needs_chromium
from free_ports import free_port
from hostile_replay import PAYLOADS, hostile_page
from small_site import Answer, Site, small_site

needs_chromium()

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore::ResourceWarning")]


class World:
    """A browser, the archive shown to it, and what must not be reached."""

    def __init__(self, browser: Any, shown: Any, site: str, api: Site, udp: socket.socket) -> None:
        self.browser, self.shown, self.site, self.api, self.udp = browser, shown, site, api, udp


def _nothing(_: str, __: str, ___: Counter[tuple[str, str]]) -> Answer:
    return 200, {"Access-Control-Allow-Origin": "*"}, "reached"


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    folder: Path = tmp_path_factory.mktemp("hostile") / "crawl"
    with closed_chromium() as browser, Site(_nothing) as api, contextlib.ExitStack() as stack:
        udp = stack.enter_context(socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
        udp.bind(("127.0.0.1", 0))
        udp.settimeout(0.05)
        list_port = free_port()
        values = {
            "api": api.address,
            "list": f"http://127.0.0.1:{list_port}",
            "port": str(udp.getsockname()[1]),
        }

        def page(path: str) -> str | Answer | None:
            if path == "sw.js":
                return (
                    200,
                    {"Content-Type": "text/javascript"},
                    "self.onfetch=e=>e.respondWith(new Response('mine'))",
                )
            if not path:
                return "".join(f"<a href='/{name}'>x</a>" for name in [*PAYLOADS, "sw.js"])
            return (
                hostile_page(path, {**values, "other": "http://other.example/"}) if path in PAYLOADS else None
            )

        with small_site(page) as site:
            crawl_whole(folder, site)
        with viewed(folder, port=list_port) as shown:
            api.asked.clear()
            yield World(browser, shown, site, api, udp)


def titled(page: Any) -> str:
    """The page's title; empty while it is led elsewhere."""
    with contextlib.suppress(Exception):
        return str(page.title())
    return ""


BATCHES = [tuple(PAYLOADS)[at : at + 8] for at in range(0, len(PAYLOADS), 8)]


@pytest.mark.parametrize("names", BATCHES, ids=" ".join)
def test_hostile_pages_stay_within(world: World, names: tuple[str, ...]) -> None:
    """Several at once, because each is given time: whom they reach, the address says."""
    context = world.browser.new_context()
    context.on("dialog", lambda dialog: dialog.dismiss())
    try:
        lists = context.new_page()
        lists.goto(f"{world.shown.home}/")
        pages = {name: context.new_page() for name in names}
        for name, page in pages.items():
            with contextlib.suppress(Exception):  # of a page that leads itself away the load may never end
                page.goto(world.shown.address(f"{world.site}{name}"), wait_until="commit", timeout=10_000)
        lists.wait_for_timeout(1_000)
        assert {
            name: title for name, page in pages.items() if (title := titled(page)).startswith("GOT")
        } == {}
        outside = {name: page.url for name, page in pages.items() if not within(page.url)}
        assert outside == {}
        assert lists.url == f"{world.shown.home}/"
        assert lists.title() == "Archived pages"
        assert context.cookies(world.shown.home) == []
        assert len(context.pages) == 1 + len(pages)
        assert world.api.asked == []
        with pytest.raises(TimeoutError):
            world.udp.recvfrom(100)
    finally:
        world.api.asked.clear()
        context.close()


def within(address: str) -> bool:
    """Whether a page is where nothing but the archive is."""
    return ".localhost:" in address or address.startswith(("about:", "chrome-error:"))


def test_the_list_shows_what_strangers_wrote_as_text(world: World) -> None:
    context = world.browser.new_context()
    try:
        page = context.new_page()
        page.goto(f"{world.shown.home}/?q=javascript")
        assert page.locator("li").count() > len(PAYLOADS) // 2
        assert "<img src=x" in page.inner_text("li >> nth=0")
        targets = page.eval_on_selector_all("a", "links => links.map(link => link.href)")
        assert all(target.startswith(world.shown.home) for target in targets)
        assert page.title() == "Archived pages"
    finally:
        context.close()
