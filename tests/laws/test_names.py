"""The laws of names: each host's name in the archive once, and again only when its addresses change."""

import dataclasses
import gzip
import re

import pytest
from whole_crawl import crawl

from gossamer.assembly.extensions import Extensions
from gossamer.engine.settlement.archivist import Archivist
from gossamer.model.events import NameAnswered
from gossamer.simweb import CrawlRules, SimulatedWeb, WorldSpec, truth

SMALL = WorldSpec.friendly(hosts=12, pages=40, page_bytes=1_000, slow_seconds=0.05)


def archived_names(folder):
    found = []
    for path in sorted(folder.archive.glob("*.warc.gz*")):
        found += re.findall(rb"WARC-Target-URI: dns:(\S+)\r\n", gzip.decompress(path.read_bytes()))
    return sorted(name.decode() for name in found)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("cache", "prefetch"),
    [
        ("compact", True),
        pytest.param("compact", False, marks=pytest.mark.slow),
        pytest.param("zoned", True, marks=pytest.mark.slow),
        pytest.param("plain", False, marks=pytest.mark.slow),
    ],
)
def test_every_cache_leads_to_the_same_crawl_and_names_are_archived_once(tmp_path, cache, prefetch):
    names = []

    def note(event):
        if isinstance(event, NameAnswered):
            names.append(event.name)

    with SimulatedWeb(SMALL) as web:
        crawled = crawl(
            web, tmp_path / "crawl", Extensions(observers=[note]), dns__cache=cache, dns__prefetch=prefetch
        )
        true = truth(SMALL, web.seeds, CrawlRules(scope="any", sitemaps=True))
    differences = true.compare(crawled.final)
    assert not (differences.missing or differences.forbidden or differences.wrong)
    found = archived_names(crawled.folder)
    assert len(found) == len(set(found)) >= 12
    assert set(found) <= set(names)
    assert crawled.report["names"]["resolutions"] == len(names)


def test_an_answer_is_archived_again_only_if_its_addresses_are_others():
    class Kept:
        def __init__(self):
            self.names = []

        def append_dns(self, answer):
            self.names.append(answer.addresses)

        def get(self, family, key):
            return None

    kept = Kept()
    archivist = Archivist(kept, None, kept, None)
    for addresses in (
        ("192.0.2.1", "192.0.2.2"),
        ("192.0.2.2", "192.0.2.1"),
        ("192.0.2.3",),
        ("192.0.2.3",),
        (),
    ):
        archivist.note_name(NameAnswered("a.example", addresses, 60, "192.0.2.53", 0.1, 1.0))
    archivist.write_names()
    assert kept.names == [("192.0.2.1", "192.0.2.2"), ("192.0.2.3",)]


def test_slow_names_are_asked_for_once_and_failing_ones_once_a_visit(tmp_path):
    """A question of each family, over a whole crawl that resolves ahead and follows links to them."""
    failing = "dns-servfail.sim.test"
    spec = WorldSpec.plain(hosts=12, pages=60, page_bytes=1_000)
    spec = dataclasses.replace(spec, name_delay=1.2, misbehaviours=("dns-servfail",), cross_links=0.5)
    with SimulatedWeb(spec) as web:
        crawled = crawl(
            web,
            tmp_path / "crawl",
            retry__host_first=0.5,
            dns__failure_ttl=0.5,
            robots__hold_first=0.5,
            engine__give_up_after=1.5,
        )
        asked = [question.name for question in web.questions()]
    names = set(asked) - {failing}
    assert len(names) == 12
    assert len(asked) - asked.count(failing) <= 1.1 * 2 * len(names)
    visits = sum(failing in line["url"] for line in crawled.lines)
    assert visits >= 2
    assert asked.count(failing) == 2 * visits


def test_a_name_server_that_is_dead_for_a_while_loses_nothing(tmp_path):
    spec = WorldSpec.plain(pages=60, hosts=12, page_bytes=1_000)
    spec = dataclasses.replace(spec, name_outage=(0.0, 1.5))
    with SimulatedWeb(spec) as web:
        crawled = crawl(
            web,
            tmp_path / "crawl",
            dns__total=0.6,
            dns__first_wait=0.2,
            dns__failure_ttl=0.3,
            engine__give_up_after=30.0,
            retry__host_longest=0.4,
            retry__not_found_first=0.3,
            robots__hold_longest=0.4,
        )
        true = truth(spec, web.seeds, CrawlRules(scope="any", sitemaps=True))
    differences = true.compare(crawled.final)
    assert not (differences.missing or differences.forbidden or differences.wrong)
    assert crawled.report["names"]["failed"] > 0, "it was noticed"
    assert not [line for line in crawled.lines if line["kind"] != "robots" and line["became"] == "dropped"]
