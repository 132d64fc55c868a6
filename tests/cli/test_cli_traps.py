"""The traps command: what it lists, what it refuses; and how a crawl goes on after a trap."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from cli_run import Gossamer
from small_site import small_site

from gossamer.assembly.folder import CrawlFolder

QUICK = ("--min-delay", "0", "--quiet", "--set", "branches.patience=40")


def _page(path: str) -> str | None:
    if not path:
        links = (f'<a href="/good/{chr(97 + n % 26)}{n // 26}x">x</a>' for n in range(80))
        return '<a href="/day/1">today</a>' + "".join(links)
    if path.startswith("day/"):
        return f'<p>Nothing happens today.</p><a href="/day/{int(path[4:]) + 1}">tomorrow</a>'
    return f"<p>{' '.join(path + chr(97 + n) for n in range(20))}</p>"


@pytest.fixture
def calendar() -> Iterator[str]:
    with small_site(_page) as address:
        yield address


def status_of(gossamer: Gossamer) -> dict[str, Any]:
    told = json.loads(gossamer("status", "c", "--json").out)
    return told.get("sums", told)


def test_without_a_trap_one_line_says_so(gossamer: Gossamer, site: str) -> None:
    assert gossamer("crawl", site, "--dir", "c", *QUICK).code == 0
    shown = gossamer("traps", "c")
    assert (shown.code, shown.out) == (0, "no trap: nothing is set aside\n")


@pytest.mark.slow
def test_a_trap_is_told_at_the_end_listed_and_released(gossamer: Gossamer, calendar: str) -> None:
    ended = gossamer("crawl", calendar, "--dir", "c", *QUICK)
    assert ended.code == 0
    shown = gossamer("traps", "c")
    assert " set aside, " in shown.out.partition("\n")[0]
    assert "'gossamer resume c --release'" in shown.out
    assert "/day/" in shown.out
    status = status_of(gossamer)
    assert status["queued"] == 0 and status["aside"] > 0
    assert f" {status['aside']:,} set aside, " in gossamer("status", "c").out
    again = gossamer("resume", "c", "--quiet")
    assert again.code == 0 and status_of(gossamer)["aside"] == status["aside"]
    pages = status["pages"]
    went_on = gossamer("resume", "c", "--quiet", "--release", "--set", f"budget.max_pages={pages + 30}")
    assert went_on.code == 0
    status = status_of(gossamer)
    assert (status["pages"], status["aside"]) == (pages + 30, 0)
    assert "released" in gossamer("traps", "c").out
    assert gossamer("check", "c").code == 0


def test_a_branch_that_is_not_set_aside_is_refused(gossamer: Gossamer, site: str) -> None:
    gossamer("crawl", site, "--dir", "c", *QUICK)
    refused = gossamer("traps", "c", "--release", "/nothing/")
    assert refused.code == 2
    assert "no branch '/nothing/' is set aside" in refused.err


def test_a_running_crawl_must_be_stopped_first(gossamer: Gossamer, site: str) -> None:
    gossamer("crawl", site, "--dir", "c", *QUICK)
    running = CrawlFolder(Path("c"))
    running.reopen()
    try:
        refused = gossamer("traps", "c", "--release", "/x/")
    finally:
        running.release()
    assert refused.code == 2
    assert "the crawl is running. Stop it" in refused.err


def test_a_crawl_with_the_queue_of_an_earlier_version_is_refused_and_left_as_it_is(
    gossamer: Gossamer, site: str, tmp_path: Path
) -> None:
    assert gossamer("crawl", site, "--dir", "c", "--max-pages", "1", *QUICK).code == 0
    config = CrawlFolder(tmp_path / "c").config
    config.write_text(config.read_text() + "\n[trap_learner]\nlearn = true\n")
    before = config.read_bytes()
    refused = gossamer("resume", "c")
    assert refused.code == 2 and "begin anew in another folder" in refused.err
    assert config.read_bytes() == before
