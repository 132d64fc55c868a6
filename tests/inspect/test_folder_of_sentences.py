"""A folder of before reasons were values: it opens, tells the same, and is decided on rightly.

`data/folder-of-sentences.tar.xz` was written by the version of November 2026, which kept them as sentences.
"""

import asyncio
import tarfile
import time
from pathlib import Path

import pytest

from gossamer.assembly.build import build
from gossamer.assembly.extensions import Extensions
from gossamer.assembly.folder import CrawlFolder
from gossamer.assembly.storage import opened
from gossamer.crawling.run import reopen
from gossamer.engine.admission.reclaim import kept_out, turned_away
from gossamer.inspect.checks.crawl_check import check
from gossamer.inspect.inspection import inspect
from gossamer.inspect.status import status_of
from gossamer.inspect.why.story import Storyteller
from gossamer.model.outcome import Rule
from gossamer.model.reasons.codes import EndCode
from gossamer.model.reasons.reason import Reason
from gossamer.policy.visits.retry import asked_for_rest
from gossamer.state.environment import Family
from gossamer.state.records import decode_page

STORED = Path(__file__).with_name("data") / "folder-of-sentences.tar.xz"
SITE = "http://127.0.0.1:40649"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    with tarfile.open(STORED) as stored:
        stored.extractall(tmp_path, filter="data")
    return tmp_path / "crawl"


def test_it_tells_what_it_told(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        time, "time", lambda: 0.0
    )  # the moment it was left, before what rests there may go on
    told = {}
    with inspect(folder) as inspection:
        storyteller = Storyteller(inspection)
        for path in ("/busy", "/shut/x", "/no", "/gone", "/moved"):
            story = storyteller.tell(SITE + path)
            told[path] = [
                fact.text for fact in story.facts if fact.about in ("outcome", "admission", "visit")
            ]
        status = status_of(inspection)
    assert told["/busy"][-1] == "retry: 429"
    assert told["/shut/x"][-1] == "dropped: robots: Disallow: /shut/"
    assert told["/no"] == ["turned away: directive: rel=nofollow"]
    assert told["/gone"][-1] == "dropped: 404"
    assert any(one.endswith("(leads nowhere: mailto:x)") for one in told["/moved"])
    assert (status.hosts[0].state, status.hosts[0].reason) == ("resting", "429")
    assert status.why == Reason(EndCode.FINISHED)


def test_it_is_whole(folder: Path) -> None:
    with inspect(folder) as inspection:
        found = check(inspection)
    assert not found.problems and found.captures == 6


def test_what_is_decided_goes_by_the_sentences_of_then(folder: Path) -> None:
    with inspect(folder) as inspection:
        pages = [decode_page(data) for _, data in inspection.environment.scan(Family.PAGES)]
        host = next(inspection.hosts())
    by_url = {page.url: page for page in pages}
    outside = by_url["http://elsewhere.test/"]
    assert outside.reason is not None and outside.reason.code == Rule.SCOPE
    assert kept_out(outside) and turned_away(outside) is not None
    assert not kept_out(by_url[f"{SITE}/shut/x"]), "a robots file is no matter of scope"
    assert host.reason is not None and asked_for_rest(host.reason)


def test_a_rest_that_the_host_asked_for_is_kept_when_the_crawl_goes_on(folder: Path) -> None:
    place = CrawlFolder(folder)

    config = reopen(place)

    async def go_on() -> int:
        with opened(place, config) as storage:
            built = build(storage, config, Extensions(), resumed=True)
            try:
                return built.crawl.take_up()
            finally:
                await built.aclose()

    assert asyncio.run(go_on()) == 0
    place.release()
