"""A page with very many links holds up nobody else, and loses none of them."""

import asyncio
import json
import threading
from types import SimpleNamespace

import pytest
from small_site import small_site

from gossamer.assembly.extensions import Extensions
from gossamer.assembly.folder import CrawlFolder
from gossamer.config.config import CrawlConfig
from gossamer.config.settings import load, merge
from gossamer.crawling.run import run, start
from gossamer.engine.settlement import long_pages, spare_time
from gossamer.engine.settlement.spare_time import LEAST, OTHERS, SpareTime
from gossamer.engine.visiting.reading import Reading, has_many_links
from gossamer.extract.config import ExtractConfig
from gossamer.extract.reader import Reader
from gossamer.fetch.body import SpooledBody
from gossamer.fetch.config import FetchConfig
from gossamer.model.events import Visited
from gossamer.model.exchange import Exchange, Headers
from gossamer.model.url import Url
from gossamer.policy.robots.access import RobotsConfig

LINKS = 2_500
LONGEST_WAIT = 30.0


def long_page(links=LINKS):
    return "".join(f"<a href='/d/{number}'>x</a>\n" for number in range(links))


def crawl(path, seeds, observer, **changes):
    settings = {
        "engine.guess_sitemap": False,
        "politeness.min_delay": 0.0,
        "politeness.factor": 0.0,
        "fetch.forbidden_networks": [],
        "engine.checkpoint_every": 0.0,
        **{name.replace("__", "."): value for name, value in changes.items()},
    }
    folder = CrawlFolder(path)
    config = start(folder, load(CrawlConfig, merge({"seeds": seeds}, settings)))
    asyncio.run(run(folder, config, Extensions(observers=[observer]), resumed=False))
    return json.loads(folder.report.read_text())


@pytest.mark.parametrize("order", ["bfs", "opic", "focused"])
def test_visits_of_others_are_settled_between_the_links_of_a_long_page(tmp_path, monkeypatch, order):
    begun, others, settled = threading.Event(), asyncio.Event(), []

    def neighbour(path):
        assert not path.startswith("p/") or begun.wait(LONGEST_WAIT), "no link was admitted"
        return f"<a href='/p/{len(path)}{path}'>next</a>" if len(path) < 12 else "the end"

    def hear(event):
        if isinstance(event, Visited):
            settled.append(event.lease.candidate.url.text)
            if len([url for url in settled if "/p/" in url]) >= 2:
                others.set()

    async def until_others_were_settled(_spare, _worked):
        begun.set()
        async with asyncio.timeout(LONGEST_WAIT):
            await others.wait()

    monkeypatch.setattr(spare_time.SpareTime, "rest", until_others_were_settled)
    monkeypatch.setattr(long_pages, "PAGES", 1)
    with (
        small_site(lambda path: long_page() if path == "long" else None) as one,
        small_site(neighbour, host="127.0.0.2") as other,
    ):
        report = crawl(
            tmp_path / "crawl",
            [one + "long", other + "p/"],
            hear,
            engine__order=order,
            order__focus__query="x",
            budget__max_pages=4,
        )
    before = settled[: settled.index(one + "long")]
    assert len([url for url in before if "/p/" in url]) >= 2
    assert report["queued"] >= LINKS - 4, "every link is in the queue"


def test_a_crawl_that_ends_follows_long_pages_to_their_end(tmp_path, monkeypatch):
    """More of them than may be under way, and a limit that is reached by the first."""
    monkeypatch.setattr(long_pages, "PAGES", 2)
    hosts = [f"127.0.0.{number}" for number in range(1, 6)]
    settled = []

    def hear(event):
        if isinstance(event, Visited) and event.page is not None and event.page.links:
            settled.append(event.admitted)

    sites = [small_site(lambda path: long_page() if path == "long" else None, host) for host in hosts]
    seeds = [site.__enter__() + "long" for site in sites]
    try:
        report = crawl(tmp_path / "crawl", seeds, hear, budget__max_pages=5)
    finally:
        for site in sites:
            site.__exit__(None, None, None)
    assert settled == [LINKS] * 5
    assert report["queued"] == 5 * LINKS


def exchange(content, media_type="text/html"):
    url = Url.parse("http://host.example/sitemap.xml")
    headers = Headers([("Content-Type", media_type)])
    return Exchange(url, 0.0, b"", 200, b"", headers, SpooledBody(content))


SITEMAP = "<urlset xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'>" + "".join(
    f"<url><loc>http://host.example/{number}</loc></url>" for number in range(LINKS)
)


@pytest.mark.parametrize(
    ("content", "media_type"), [(long_page(), "text/html"), (SITEMAP, "application/xml")]
)
def test_what_is_read_with_pauses_is_the_same(monkeypatch, content, media_type):
    rested = []
    monkeypatch.setattr(spare_time, "PIECE", 0.0)
    monkeypatch.setattr(SpareTime, "_sleep", lambda self, seconds: rested.append(threading.get_ident()))
    config = ExtractConfig(offload_above=1 << 10)
    reader = Reader(config, "gossamer")
    reading = Reading(reader, FetchConfig(), config, RobotsConfig(), "gossamer")
    data = content.encode()
    assert has_many_links(data)
    page, _ = asyncio.run(reading.page(exchange(data, media_type), listed=True))
    assert len(page.links) == LINKS
    assert page == reader.read(exchange(data, media_type), data, listed=True)
    assert len(rested) > LINKS // 100 and threading.get_ident() not in rested


def test_pages_as_people_write_them_are_read_at_one_go():
    assert not has_many_links(long_page(200).encode() + b"<p class='a'>" * 20_000)


@pytest.mark.parametrize(("busy", "rest"), [(0.0, LEAST), (0.5, 0.5 * OTHERS), (1.0, OTHERS)])
def test_the_rest_is_as_long_as_the_event_loop_was_busy(monkeypatch, busy, rest):
    clock, slept = [0.0], []

    async def sleep(seconds):
        slept.append(seconds)
        clock[0] += seconds

    fake = SimpleNamespace(
        monotonic=lambda: clock[0],
        clock_gettime=lambda _: clock[0] * busy,
        pthread_getcpuclockid=lambda _: 0,
    )
    monkeypatch.setattr(spare_time, "time", fake)
    monkeypatch.setattr(spare_time, "asyncio", SimpleNamespace(sleep=sleep))

    async def work():
        spare = SpareTime()
        for _ in range(1_000):
            await spare.rest(0.002)
        spare.hurry = True
        await spare.rest(0.002)

    asyncio.run(work())
    assert slept[0] == pytest.approx(0.002 * OTHERS), "nothing is known yet"
    assert slept[-2] == pytest.approx(0.002 * rest, rel=0.01)
    assert slept[-1] == 0
