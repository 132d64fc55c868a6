"""A URL that was visited may be due again: by the same road, settled with the visit, and not left over."""

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter

import pytest
import revisiting_crawl
from patience import PATIENCE
from small_site import small_site

import gossamer
from gossamer.archive.verify import RecordSummary, verify_file
from gossamer.inspect.checks.crawl_check import check
from gossamer.inspect.inspection import inspect
from gossamer.inspect.status import status_of
from gossamer.inspect.why.story import Storyteller
from gossamer.state.environment import Family
from gossamer.state.records import decode_page, decode_queue

pytestmark = pytest.mark.slow

PAGES = {"": "<a href=a>a</a> <a href=b>b</a>", "a": "the same at each visit", "b": "another"}


def captured(folder):
    """How often each page stands in the archive, by kind of record."""
    items = [item for path in (folder / "archive").iterdir() for item in verify_file(path)]
    assert all(isinstance(item, RecordSummary) for item in items), items
    return Counter(
        (item.kind, item.target_uri.rpartition("/")[2])
        for item in items
        if item.kind in ("response", "revisit") and not item.target_uri.endswith("robots.txt")
    )


def report(folder):
    return json.loads((folder / "report.json").read_text())


def assert_sound(folder):
    with inspect(folder) as inspection:
        assert check(inspection).problems == []


def run(site, folder, visits, seconds, give_up_after="5", die_at=""):
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "GOSSAMER_DIE_AT": die_at}
    program = [sys.executable, revisiting_crawl.__file__]
    command = [*program, site, str(folder), str(visits), str(seconds), give_up_after]
    ended = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert ended.returncode == (-signal.SIGKILL if die_at else 0), ended.stderr
    return ended


def test_every_page_three_times(tmp_path):
    folder = tmp_path / "crawl"
    with small_site(PAGES.get) as site:
        pages = asyncio.run(revisiting_crawl.main(site, folder, 3, 1))
    assert captured(folder) == {
        **{("response", name): 1 for name in PAGES},
        **{("revisit", name): 2 for name in PAGES},
    }
    assert len(pages) == 9
    told = report(folder)
    assert (told["ended"], told["queued"], told["waiting"], told["duplicates"]) == ("finished", 0, 0, 0)
    with inspect(folder) as inspection:
        for _, data in inspection.environment.scan(Family.PAGES):
            record = decode_page(data)
            if not record.url.endswith("robots.txt"):
                assert (record.state, record.visits_made, len(record.visits)) == ("done", 3, 3)
                gaps = [b.at - a.at for a, b in zip(record.visits, record.visits[1:], strict=False)]
                assert all(gap >= 1 for gap in gaps), gaps
    assert_sound(folder)


def test_what_changed_is_captured_anew(tmp_path):
    folder, served = tmp_path / "crawl", Counter()

    def page(path):
        served[path] += 1
        return f"visit {served[path]}" if path == "" else None

    with small_site(page) as site:
        asyncio.run(revisiting_crawl.main(site, folder, 3, 0.1))
    assert captured(folder) == {("response", ""): 3}


@pytest.mark.parametrize(
    "deaths",
    [
        ("settlement.appended:2", "settlement.applying:4", "settlement.committed:3"),
        ("settlement.logged:3", "settlement.committed:5", "settlement.applying:1"),
    ],
)
def test_nothing_is_lost_or_doubled_over_kills(tmp_path, deaths):
    folder = tmp_path / "crawl"
    with small_site(PAGES.get) as site:
        for death in deaths:
            run(site, folder, 3, 0.3, die_at=death)
        run(site, folder, 3, 0.3)
    found = captured(folder)
    visits = {name: found["response", name] + found["revisit", name] for name in PAGES}
    assert visits == dict.fromkeys(PAGES, 3)
    assert_sound(folder)


def test_what_is_due_later_is_not_left_over_and_comes_when_it_is_due(tmp_path):
    folder = tmp_path / "crawl"
    with small_site(PAGES.get) as site:
        begun = time.monotonic()
        asyncio.run(revisiting_crawl.main(site, folder, 2, 3, "0"))
        assert captured(folder) == {("response", name): 1 for name in PAGES}
        told = report(folder)
        assert (told["ended"], told["queued"], told["waiting"], told["again"]) == ("finished", 0, 0, 3)
        with inspect(folder) as inspection:
            story = Storyteller(inspection).tell(site + "a")
            assert story.state == "done"
            assert any("due again in" in fact.text for fact in story.facts)
            assert "empty" in status_of(inspection).hosts_by_state
            entries = [decode_queue(data) for _, data in inspection.environment.scan(Family.LATER)]
            assert len(entries) == 3 and all(entry.again for entry in entries)
        assert_sound(folder)
        asyncio.run(revisiting_crawl.main(site, folder, 2, 3, "0"))
        if time.monotonic() < begun + 3:  # else the machine has slept
            assert sum(captured(folder).values()) == 3, "taking it up makes nothing due"
        while sum(captured(folder).values()) < 6:
            assert time.monotonic() < begun + PATIENCE
            asyncio.run(revisiting_crawl.main(site, folder, 2, 3, "0"))
    assert report(folder)["again"] == 0
    assert_sound(folder)


def test_a_policy_that_raises_says_no(tmp_path):
    class Broken:
        def again(self, lease, outcome, page, visits):
            raise KeyError("rates")

    async def crawl(site):
        options = {"min_delay": 0, "revisits": Broken()}
        return [page.url async for page in gossamer.crawl(site, **options)]

    with small_site(PAGES.get) as site, pytest.warns(gossamer.PluginWarning, match="revisit policy .*rates"):
        assert len(asyncio.run(crawl(site))) == 3


def test_two_cannot_say_when_a_page_comes_again(tmp_path):
    async def crawl(site):
        policy = revisiting_crawl.Thrice(2, 1)
        return [page async for page in gossamer.crawl(site, min_delay=0, revisits=policy, revisit=True)]

    with (
        small_site(PAGES.get) as site,
        pytest.raises(gossamer.ConfigError, match=r"revisit\.enabled: a revisit"),
    ):
        asyncio.run(crawl(site))


def test_without_a_policy_nothing_is_due_again(tmp_path):
    async def crawl(site):
        options = {"folder": tmp_path / "c", "min_delay": 0}
        return [page.url async for page in gossamer.crawl(site, **options)]

    with small_site(PAGES.get) as site:
        assert len(asyncio.run(crawl(site))) == 3
    assert report(tmp_path / "c")["again"] == 0
