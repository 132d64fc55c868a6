"""Whole crawls of the simulated web with a Bloom filter as visited table, and with path-ascending."""

import random

import pytest
from fastwarc.warc import ArchiveIterator
from whole_crawl import Crawled, crawl

from gossamer.cli.look import show_status
from gossamer.frontier.seen.bloom import BloomTable
from gossamer.inspect.checks.crawl_check import check
from gossamer.inspect.inspection import inspect
from gossamer.inspect.status import status_of
from gossamer.inspect.url_places import UrlPlaces, fingerprints_of
from gossamer.inspect.why.story import Storyteller
from gossamer.model.url import Url
from gossamer.policy.scope.ascending import folders_above
from gossamer.simweb import CrawlRules, SimulatedWeb, WorldSpec, truth

SMALL = WorldSpec.friendly(hosts=6, pages=60, page_bytes=1_000, slow_seconds=0.05)
RULES = CrawlRules(scope="any", sitemaps=True)


@pytest.mark.slow
def test_with_a_bloom_filter_the_crawl_is_the_same(tmp_path, capsys):
    with SimulatedWeb(SMALL) as web:
        crawled = crawl(web, tmp_path / "crawl", frontier__visited="bloom", frontier__bloom_error=1e-9)
        true = truth(SMALL, web.seeds, RULES)
    differences = true.compare(crawled.final)
    assert not (differences.missing or differences.forbidden or differences.wrong)
    assert {url for url, times in crawled.settled.items() if times > 1} == set()
    sums = crawled.report["visited"]
    assert (sums["table"], sums["stated_rate"], sums["false_positives"]) == ("bloom", 1e-9, 0)
    assert sums["urls"] > 60
    assert sums["probes"] == sums["urls"] // 4
    assert 0 < sums["expected_rate"] < 1e-9
    with inspect(tmp_path / "crawl") as inspection:
        assert check(inspection).problems == []
        assert status_of(inspection).sums.visited == sums
    show_status(tmp_path / "crawl", json=False)
    assert "false positives: stated 1e-09, expected now" in capsys.readouterr().out


@pytest.mark.slow
def test_an_exact_table_says_so(tmp_path, capsys):
    with SimulatedWeb(WorldSpec.friendly(hosts=1, pages=3, page_bytes=500)) as web:
        crawled = crawl(web, tmp_path / "crawl")
    assert crawled.report["visited"] == {"table": "exact"}
    show_status(tmp_path / "crawl", json=False)
    assert "false positives" not in capsys.readouterr().out


@pytest.fixture(scope="module")
def cut_short(tmp_path_factory) -> Crawled:
    """A crawl that ended at a limit, with a filter that is wrong for one URL in twenty."""
    with SimulatedWeb(SMALL) as web:
        return crawl(
            web,
            tmp_path_factory.mktemp("crawls") / "crawl",
            frontier__visited="bloom",
            frontier__bloom_urls=1_000,
            frontier__bloom_error=0.5,
            budget__max_pages=25,
        )


def test_why_finds_what_is_queued_without_a_table_of_places(cut_short):
    with inspect(cut_short.folder.path) as inspection:
        queued = [host for host in inspection.hosts() if host.queued]
        assert queued
        tell = Storyteller(inspection)
        done = next(iter(cut_short.final))
        assert tell.tell(done).state == "done"
        states = {tell.tell(text).state for text in links_on(cut_short) - set(cut_short.final)}
    assert "queued" in states


def links_on(crawled: Crawled) -> set[str]:
    """Addresses in the archived pages."""
    found = set()
    for path in crawled.folder.archive.glob("*.warc.gz"):
        with path.open("rb") as file:
            for record in ArchiveIterator(file):
                address = record.headers.get("WARC-Target-URI")
                body = record.reader.read().decode("latin-1")
                for piece in body.split('href="')[1:]:
                    url = Url.parse(piece.partition('"')[0], address)
                    if url is not None:
                        found.add(url.text)
    return found


def test_why_owns_up_to_a_false_positive(cut_short):
    with inspect(cut_short.folder.path) as inspection:
        teller = Storyteller(inspection)
        table = BloomTable(inspection.environment, 1_000, 0.5, lambda _: None)
        places = UrlPlaces(inspection.environment, fingerprints_of(inspection.environment), inspection.config)
        dice = random.Random(4)
        never = (f"http://never.example/{dice.random()}" for _ in range(5_000))

        taken, free = None, None
        for text in never:
            if places.fingerprint(Url.parse(text)) in table:
                taken = taken or text
            else:
                free = free or text
        told = {fact.about: fact.text for fact in teller.tell(taken).facts}
        assert "takes it for visited though it was never admitted" in told["visited table"]
        assert "visited table" not in {fact.about for fact in teller.tell(free).facts}


@pytest.mark.slow
def test_path_ascending_tries_every_folder_above_every_page_once(tmp_path):
    with SimulatedWeb(SMALL) as web:
        plain = crawl(web, tmp_path / "plain")
        crawled = crawl(web, tmp_path / "ascending", scope__path_ascending=True)
    pages = [line for line in crawled.lines if line["kind"] not in ("robots", "sitemap", "requisite")]
    tried = {line["url"] for line in crawled.lines}
    above = {folder.text for line in pages for folder in folders_above(Url.parse(line["url"]))}
    assert above and above <= tried
    assert above - {line["url"] for line in plain.lines}, "it finds what a plain crawl does not ask for"
    inferred = [line for line in crawled.lines if line["kind"] == "folder"]
    assert inferred
    assert {url for url, times in crawled.settled.items() if times > 1} == set()
    assert set(plain.final) <= set(crawled.final)
    with inspect(tmp_path / "ascending") as inspection:
        record = Storyteller(inspection).tell(inferred[0]["url"]).record
        assert record.hops.endswith("I")
        assert record.via.startswith(record.url)
        assert check(inspection).problems == []


def test_path_ascending_stays_in_scope(tmp_path):
    with SimulatedWeb(SMALL) as web:
        crawled = crawl(web, tmp_path / "crawl", scope__path_ascending=True, scope__max_depth=0)
    # The folders above a seed are a step away from it.
    assert {line["kind"] for line in crawled.lines} <= {"seed", "robots", "redirect"}
