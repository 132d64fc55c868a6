"""The laws of a crawl, on whole crawls of the simulated web: what must be fetched is, politely, once."""

import asyncio
import dataclasses
from itertools import pairwise

import pytest
from whole_crawl import crawl

import gossamer
from gossamer.assembly.extensions import Extensions
from gossamer.engine.settlement import long_pages, settlement
from gossamer.inspect.checks.crawl_check import check
from gossamer.inspect.inspection import inspect
from gossamer.inspect.why.story import Storyteller
from gossamer.model.events import Visited
from gossamer.simweb import CrawlRules, SimulatedWeb, WorldSpec, truth

SMALL = WorldSpec.friendly(hosts=8, pages=60, page_bytes=2_000, slow_seconds=0.05)
RULES = CrawlRules(scope="any", sitemaps=True)


@pytest.fixture(scope="module")
def web():
    with SimulatedWeb(SMALL) as web:
        yield web


@pytest.mark.parametrize(
    "workers", [pytest.param(1, marks=pytest.mark.slow), pytest.param(4, marks=pytest.mark.slow), 50]
)
def test_every_url_of_the_truth_once_whatever_the_number_of_workers(tmp_path, workers):
    with SimulatedWeb(SMALL) as web:
        crawled = crawl(web, tmp_path / "crawl", engine__workers=workers)
        true = truth(SMALL, web.seeds, RULES)
    assert str(crawled.reason) == "finished"
    differences = true.compare(crawled.final)
    assert not differences.missing
    assert not differences.forbidden
    assert not differences.wrong
    assert {url for url, times in crawled.settled.items() if times > 1} == set()
    with inspect(tmp_path / "crawl") as inspection:
        result = check(inspection)
    assert result.problems == []
    assert result.captures >= len(true.fetched)


@pytest.mark.slow
@pytest.mark.parametrize(
    "spec",
    [
        WorldSpec.friendly(copies=0.3, pages=400),
        WorldSpec.friendly(hosts=60, pages=600, copies=0.1, leaves=0.4, missing=0.2),
        WorldSpec.wide(hosts=400),
    ],
    ids=["many copies", "many hosts", "hosts of one page"],
)
def test_no_two_sites_are_taken_for_one(tmp_path, spec):
    with SimulatedWeb(spec) as web:
        crawled = crawl(web, tmp_path / "crawl", engine__twins="skip")
        true = truth(spec, web.seeds, RULES)
    assert crawled.report["twins"] == []
    differences = true.compare(crawled.final)
    assert not (differences.missing or differences.forbidden or differences.wrong)


@pytest.mark.slow
def test_links_admitted_in_steps_lead_to_the_same_crawl(tmp_path, monkeypatch):
    monkeypatch.setattr(settlement, "LINKS_AT_ONCE", 4)
    monkeypatch.setattr(long_pages, "SLICE", 2)
    with SimulatedWeb(SMALL) as web:
        crawled = crawl(web, tmp_path / "crawl")
        true = truth(SMALL, web.seeds, RULES)
    differences = true.compare(crawled.final)
    assert not (differences.missing or differences.forbidden or differences.wrong)
    with inspect(tmp_path / "crawl") as inspection:
        assert check(inspection).problems == []


def test_politeness_as_measured_at_the_server(tmp_path):
    rest = 0.12
    spec = WorldSpec.friendly(hosts=6, pages=12, page_bytes=1_000, slow_seconds=0.12)
    others = tuple(
        each for each in spec.misbehaviours if each != "charsets"
    )  # of which a host has eighty pages
    with SimulatedWeb(dataclasses.replace(spec, misbehaviours=others)) as web:
        crawl(web, tmp_path / "crawl", politeness__min_delay=rest, politeness__factor=2.0)
        visits = web.log()
    by_host = {}
    for visit in sorted(visits, key=lambda visit: visit.started):
        by_host.setdefault(visit.host, []).append(visit)
    assert len(by_host) > 6
    gaps = 0
    for host, seen in by_host.items():
        for before, after in pairwise(seen):
            gaps += 1
            assert after.started >= before.ended, f"two visits at once to {host}"
            owed = max(rest, min(2.0 * (before.ended - before.started), 30.0))
            # On a busy machine the server writes down the end of a visit some time after we have seen it.
            assert after.started - before.ended >= owed - 0.08, f"{host}: {before} then {after}"
    assert gaps > 30


def test_the_scope_holds_for_redirects_too(tmp_path):
    with SimulatedWeb(SMALL) as web:
        crawled = crawl(web, tmp_path / "crawl", scope__mode="host")
        true = truth(SMALL, web.seeds, CrawlRules(scope="host", sitemaps=True))
    differences = true.compare(crawled.final)
    assert not differences.missing and not differences.forbidden and not differences.wrong


def test_a_rule_that_raises_admits_nothing(web, tmp_path):
    def broken(candidate):
        raise RuntimeError("no idea")

    crawled = crawl(web, tmp_path / "crawl", Extensions(scope_rules=[broken]))
    assert crawled.lines == []
    with inspect(tmp_path / "crawl") as inspection:
        story = Storyteller(inspection).tell(web.seeds[0])
    assert story.state == "rejected"
    assert any("raised RuntimeError" in fact.text for fact in story.facts)


def test_an_observer_that_raises_is_removed_and_named(web, tmp_path):
    heard = []

    def broken(event):
        raise RuntimeError("no ears")

    crawled = crawl(
        web, tmp_path / "crawl", Extensions(observers=[broken, heard.append]), budget__max_pages=3
    )
    assert crawled.report["pages"] == 3
    assert any("no ears" in getattr(event, "detail", "") for event in heard)
    assert sum(isinstance(event, Visited) for event in heard) == len(crawled.lines)


def test_why_tells_the_planted_reason_for_every_url_that_was_not_fetched(tmp_path):
    with SimulatedWeb(SMALL) as web:
        crawl(web, tmp_path / "crawl", scope__mode="host")
        true = truth(SMALL, web.seeds, CrawlRules(scope="host", sitemaps=True))
    words = {"scope": "scope", "robots": "robots", "nofollow": "nofollow"}
    told = 0
    with inspect(tmp_path / "crawl") as inspection:
        teller = Storyteller(inspection)
        for url, reason in true.refused.items():
            if reason in words:
                story = teller.tell(url)
                said = " ".join(fact.text for fact in story.facts)
                assert story.state in ("rejected", "dropped"), (url, reason, story)
                assert words[reason] in said, (url, reason, story)
                assert any(fact.about == "found" and " on http" in fact.text for fact in story.facts), story
                told += 1
        for url in true.fetched:
            assert teller.tell(url).state in ("done", "dropped")
    assert told >= 5


@pytest.mark.parametrize(("setting", "value"), [("budget__max_pages", 7), ("budget__max_bytes", 5_000)])
def test_limits_end_the_crawl_and_leave_the_rest_queued(web, tmp_path, setting, value):
    crawled = crawl(web, tmp_path / "crawl", **{setting: value})
    assert str(crawled.reason).startswith(setting.removeprefix("budget__"))
    assert crawled.report["queued"] > 0
    if setting == "budget__max_pages":
        assert crawled.report["pages"] == value, "exact, with many workers"


def test_pages_per_host(tmp_path):
    with SimulatedWeb(SMALL) as web:
        crawled = crawl(web, tmp_path / "crawl", budget__pages_per_host=2)
    by_host = {}
    for line in crawled.lines:
        if line["kind"] != "robots" and line.get("status") == 200:
            host = line["url"].split("/")[2]
            by_host[host] = by_host.get(host, 0) + 1
    assert max(by_host.values()) == 2
    assert crawled.report["hosts_parked"] > 0


def test_pages_as_an_asynchronous_iterator(web, tmp_path):
    folder = tmp_path / "crawl"
    config = {
        "dns": {"nameservers": [web.nameserver]},
        "fetch": {"allow_private": True},
        "engine": {"give_up_after": 0.5},
    }

    async def first_pages(count):
        pages = []
        async for page in gossamer.crawl(*web.seeds, folder=folder, config=config, min_delay=0, scope="any"):
            pages.append(page)
            if len(pages) == count:
                break
        return pages

    pages = asyncio.run(first_pages(5))
    assert [page.status for page in pages] == [200] * 5
    assert pages[0].page.title and pages[0].page.links and "<" in pages[0].text
    more = asyncio.run(first_pages(3))
    assert not {page.url for page in pages} & {page.url for page in more}, "the second run resumed the first"


@pytest.fixture
def two_seeds():
    with SimulatedWeb(WorldSpec(hosts=2, pages=20, seeds=2)) as web:
        yield web


def test_a_call_on_a_crawl_that_exists_goes_as_far_as_it_says(two_seeds, tmp_path):
    web = two_seeds
    folder = tmp_path / "crawl"
    config = {"dns": {"nameservers": [web.nameserver]}, "fetch": {"allow_private": True}}

    async def pages(*seeds, **options):
        found = gossamer.crawl(*seeds, folder=folder, config=config, min_delay=0, **options)
        return [page.url async for page in found]

    first, second = web.seeds
    asyncio.run(pages(first, max_pages=1))
    assert asyncio.run(pages(first, max_pages=1)) == [], "the same call goes on, to the same limit"
    assert len(asyncio.run(pages(first, max_pages=3))) == 2
    assert second in asyncio.run(pages(second, max_pages=30, order="dfs")), "a further seed is visited"
    with inspect(folder) as inspection:
        assert (inspection.config.seeds, inspection.config.engine.order) == ((first, second), "dfs")
    with pytest.raises(gossamer.ConfigError, match=r"engine\.workers"):
        asyncio.run(pages(first, workers=0))
    assert asyncio.run(pages(max_pages=1)) == [], "it was left as it was, and nobody holds it"


def test_what_must_be_a_plain_function_is_one():
    async def rule(candidate):
        return False

    async def run():
        async for _ in gossamer.crawl("http://a.test/", scope_rules=[rule], observers=[print, rule]):
            pass

    with pytest.raises(gossamer.ConfigError) as raised:
        asyncio.run(run())
    assert [problem.partition(":")[0] for problem in raised.value.problems] == [
        "scope_rules[0]",
        "observers[1]",
    ]


def test_bad_options_of_the_interface_are_one_clear_error():
    async def run():
        async for _ in gossamer.crawl("http://a.test/", speed=3):
            pass

    with pytest.raises(gossamer.ConfigError, match="speed: no such option"):
        asyncio.run(run())
