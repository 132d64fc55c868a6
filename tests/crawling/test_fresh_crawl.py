"""What a crawl that visits again tells of it: histories, what is gone, how fresh it is."""

import json
import time
from pathlib import Path

import pytest
from in_process import gossamer
from test_visited_again import DAY, Pages, end, start, until

from gossamer.cli.terminal.again import again_line
from gossamer.cli.terminal.ending import say_end
from gossamer.cli.terminal.trouble import Troubles
from gossamer.inspect.inspection import inspect
from gossamer.model.reasons.codes import EndCode
from gossamer.model.reasons.ends import INTERRUPTED
from gossamer.model.reasons.reason import because


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Pages, float]:
    """`a` changes once, `b` goes away, `c` stays; a day is a second."""
    folder, origin = tmp_path_factory.mktemp("fresh") / "crawl", time.time()
    with Pages(["", "a", "b", "c"]) as pages:
        process = start(pages, folder, origin=origin, settings=["revisit.visits=40"])
        until(lambda: all(len(pages.visits(name)) >= 2 for name in pages.versions), process)
        pages.versions["a"] = 1
        seen = len(pages.visits("a"))
        until(lambda: len(pages.visits("a")) >= seen + 2, process)
        pages.gone.add("b")
        until(lambda: sum(status == 404 for _, _, status in pages.visits("b")) >= 2, process)
        end(process)
    return folder, pages, origin


def told(crawled: tuple[Path, Pages, float], monkeypatch: pytest.MonkeyPatch, *arguments: str) -> str:
    folder, _, origin = crawled
    monkeypatch.setenv("GOSSAMER_CLOCK", f"{DAY}@{origin}")
    ran = gossamer(arguments[0], str(folder), *arguments[1:], cwd=folder.parent)
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


@pytest.mark.slow
def test_histories_stand_in_the_list_and_in_why(crawled, monkeypatch):
    _, pages, _ = crawled
    lines = told(
        crawled, monkeypatch, "list", "--json", "--columns", "url,visits,changes,changed,gone,due"
    ).splitlines()
    known = {one["url"].rpartition("/")[2]: one for one in map(json.loads, lines)}
    assert known["a"]["visits"] == len(pages.visits("a"))
    assert (known["a"]["changes"], known["c"]["changes"]) == (1, 0)
    assert known["a"]["changed"] and not known["c"]["changed"]
    assert all(one["due"] > "2026" for one in known.values() if one["url"][-4:] != ".txt")
    assert known["b"]["gone"] and not known["a"]["gone"]
    why = told(crawled, monkeypatch, "why", pages.site.address + "c")
    assert "status 304" in why and "the text was as before" in why
    assert f"found unchanged at {len(pages.visits('c')) - 1} visits" in why
    assert "is gone since" in told(crawled, monkeypatch, "why", pages.site.address + "b")


def test_captures_say_what_each_found(crawled, monkeypatch):
    _, pages, _ = crawled
    found = json.loads(told(crawled, monkeypatch, "get", pages.site.address + "a", "--captures", "--json"))
    kinds = [one["found"] for one in found]
    assert kinds[0] == "first" and kinds.count("new") == 1
    assert set(kinds[1:]) <= {"new", "unmodified", "same"}
    assert len(kinds) == len(pages.visits("a"))


def test_what_is_gone_is_listed(crawled, monkeypatch):
    lines = told(crawled, monkeypatch, "list", "--gone").splitlines()
    assert len(lines) == 1 and lines[0].startswith("gone ") and "/b since " in lines[0]


def test_how_fresh_it_is(crawled, monkeypatch):
    _, pages, _ = crawled
    fresh = json.loads(told(crawled, monkeypatch, "status", "--json"))["freshness"]
    assert (fresh["pages"], fresh["gone"]) == (3, 1)
    assert 0 < fresh["stale"] < 1
    assert fresh["unmodified"] > 0 and fresh["saved"] > 0
    # The change of `a`, and the first 404 of `b`.
    assert fresh["useful"] == 2
    assert fresh["visits"] <= sum(len(pages.visits(name)) - 1 for name in pages.versions)
    assert 0 < fresh["delay"] < 60 * DAY
    lines = told(crawled, monkeypatch, "status").splitlines()
    assert sum(line.startswith("fresh ") for line in lines) == 1
    page = told(crawled, monkeypatch, "report", "--out", str(crawled[0].parent / "report.html"))
    assert page is not None
    assert "Changes predicted and seen" in (crawled[0].parent / "report.html").read_text()


def test_closing_words_say_it_too(crawled, capsys):
    folder = crawled[0]
    with inspect(folder) as inspection:
        say_end(INTERRUPTED, json.loads((folder / "report.json").read_text()), inspection, Troubles())
    lines = [line for line in capsys.readouterr().err.splitlines() if line.startswith("  fresh: ")]
    assert len(lines) == 1 and "stale" in lines[0] and "a change is noticed after" in lines[0]


def test_closing_words_after_a_limit_say_what_is_due_next_and_how_to_go_on(crawled, capsys):
    folder = crawled[0]
    report = json.loads((folder / "report.json").read_text())
    report["revisit"] |= {"on": True, "next_due": 1_800.0}
    report |= {"queued": 0, "waiting": 0}
    used = {EndCode.MAX_TIME: 600.46}  # the start took .2 s
    with inspect(folder) as inspection:
        say_end(because(EndCode.MAX_TIME, 607.26), report, inspection, Troubles(), used)
    told = capsys.readouterr().err
    assert "next visit due in 30 min" in told
    assert told.splitlines()[-1] == (
        f"go on with: gossamer resume {folder} --max-time 7s (nothing is due before 30 min 00 s have passed)"
    )


def test_what_is_due_is_not_said_to_be_next_where_few_visits_may_be_made():
    sums = {"on": True, "visits": 4, "changed": 1, "not_modified": 0, "next_due": 0.0, "intervals": False}
    assert again_line(sums | {"visits_a_day": 15 / 7}) == (
        "4 visits, 1 found a change; pages are due; at most 2.1 visits a day (one each 11 h 12 min)"
    )
    assert again_line(sums | {"visits_a_day": 200.0}).endswith("; pages are due; at most 200 visits a day")
