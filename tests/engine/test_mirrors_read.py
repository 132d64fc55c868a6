"""What a crawl of a site with several addresses is read as afterwards: one site, whichever of them a URL names."""

import asyncio
import gzip
from contextlib import closing

import in_process
import pytest
from live_world import PACED, running_with
from mirror_site import MISSING, MirrorSite
from test_robots_flow import crawl

from gossamer.audit.standing import Standing
from gossamer.audit.store import AuditStore
from gossamer.inspect.archive.link_graph import export_links
from gossamer.inspect.archive.lookup import captures_of
from gossamer.inspect.archive.reference_counts import references
from gossamer.inspect.inspection import inspect
from gossamer.inspect.url_places import UrlPlaces, fingerprints_of
from gossamer.model.url import Url
from gossamer.replay.archive import Archive

PAGES = 14
LAGGING = "6"
"""A page that only the last address has."""
MOVED = {"10", "11", "12"}
"""Pages for which the others send to the last address."""


@pytest.fixture(scope="module")
def crawled(tmp_path_factory):
    def answer(name, path):
        if path.endswith(f"/{LAGGING}") and name != "127.0.0.4":
            return MISSING
        page = path.rpartition("/")[2]
        if page in MOVED and name != "127.0.0.4":
            return 302, {"Location": site.url("127.0.0.4", page)}, ""
        if path == f"/{name}/13":  # with whole addresses of another mirror
            other = next(one for one in site.names if one != name)
            return 200, {"Content-Type": "text/html"}, f'<a href="{site.url(other, "9")}">9</a> other words'
        return None

    folder = tmp_path_factory.mktemp("mirrors") / "c"
    with MirrorSite(PAGES, answer) as site:
        mirrors = [{"addresses": site.addresses}]
        crawl(folder, [site.addresses[0]], mirrors=mirrors, politeness__min_delay=0.0)
        site.had = {page: next(n for n in site.names if site.asked(n)[page]) for page in ("", "2", "9")}
        yield folder, site


@pytest.fixture
def looked_at(crawled):
    folder, site = crawled
    with inspect(folder) as inspection:
        yield inspection, site


@pytest.mark.parametrize("page", ["", "2", "9", LAGGING])
def test_an_audit_knows_what_the_crawl_had_from_whichever_address(looked_at, page, tmp_path):
    inspection, site = looked_at
    with closing(AuditStore(tmp_path)) as store:
        standing = Standing(inspection, store, lambda _: True)
        kept = [standing.of(site.url(name, page)) for name in site.names]
    assert [one and one.status for one in kept] == [200] * len(site.names)


@pytest.mark.parametrize("page", ["", "2", "9", LAGGING])
def test_a_capture_is_found_by_the_url_at_any_address(looked_at, page):
    inspection, site = looked_at
    found = [captures_of(inspection, Url.parse(site.url(name, page))) for name in site.names]
    assert {tuple((one.url, one.status) for one in captures) for captures in found} == {
        ((site.url(site.had.get(page, "127.0.0.4"), page), 200),)
    }


def test_a_replayed_link_leads_to_what_another_address_gave(crawled):
    folder, site = crawled
    archive = Archive(folder)
    try:
        for name in site.names:
            shown = archive.read(archive.find(Url.parse(site.url(name, LAGGING))))
            assert (shown.status, shown.url.text) == (200, site.url("127.0.0.4", LAGGING))
        assert archive.find(Url.parse(site.url("127.0.0.1", "none"))) is None
    finally:
        archive.close()


def test_a_link_graph_counts_a_page_once(looked_at, crawled):
    inspection, site = looked_at
    export_links(inspection)
    with gzip.open(inspection.links / "urls.tsv.gz", "rt") as lines:
        named = [line.split("\t")[1] for line in lines]
    assert sorted(named) == sorted(
        [*site.addresses[:1], *(site.url("127.0.0.1", str(n)) for n in range(1, PAGES))]
    )
    pages = [
        references(inspection.links, inspection.config.document_name(Url.parse(site.url(name, "9")))).pages
        for name in site.names
    ]
    assert pages == [2] * 4


def test_a_page_is_known_where_it_was_had(looked_at):
    inspection, site = looked_at
    places = UrlPlaces(inspection.environment, fingerprints_of(inspection.environment), inspection.config)
    for page, had in {**site.had, LAGGING: "127.0.0.4"}.items():
        assert {places.where(Url.parse(site.url(name, page))).host for name in site.names} == {had}
    elsewhere = Url.parse("http://elsewhere.example/")
    assert places.where(elsewhere) is elsewhere


def test_files_to_take_along_link_to_each_other(crawled, tmp_path):
    folder, _ = crawled
    ran = in_process.gossamer("mirror", str(folder), str(tmp_path / "out"), cwd=tmp_path)
    assert ran.returncode == 0, ran.stderr
    pages = {path: path.read_text() for path in (tmp_path / "out").rglob("*.html")}
    assert len(pages) == PAGES + 1, "and that which leads to the first"
    assert not [path for path, text in pages.items() if path.parent != tmp_path / "out" and "http://" in text]


def test_a_page_is_fetched_again_by_the_url_at_any_address(crawled, tmp_path):
    folder, site = crawled
    for name in site.names:
        ran = in_process.gossamer("refetch", str(folder), site.url(name, LAGGING), "--dry-run", cwd=tmp_path)
        assert ran.returncode == 0, ran.stderr


@pytest.mark.parametrize("mentioned", range(4))
def test_a_url_that_somebody_asks_for_is_answered_by_the_mirror_that_has_it(tmp_path, mentioned):
    def answer(name, path):
        return MISSING if name != "127.0.0.4" and path != "/robots.txt" else None

    async def asked():
        settings = {"demand.stay": True, "scope.demands": "any", "politeness.min_delay": 0.0}
        mirrors = {"mirrors": [{"addresses": site.addresses}], "engine.guess_sitemap": False}
        async with running_with(tmp_path / "c", PACED | settings | mirrors) as live:
            url = site.url(site.names[mentioned], "5")
            return [await live.ask("fetch", url=url, fresh=fresh) for fresh in ("1h", "1h", "0s")]

    with MirrorSite(PAGES, answer) as site:
        answers = asyncio.run(asked())
        assert site.every["5"] <= 5
    had = site.url("127.0.0.4", "5")
    assert [(one["url"], one["state"], one["status"]) for one in answers] == [
        (had, "fetched", 200),
        (had, "archive", 200),
        (had, "fetched", 200),
    ]
