"""What the commands say of pages with several versions."""

import json
import sys
from collections import Counter
from datetime import UTC, datetime

import pytest
from changing_web import page, version_of

from gossamer.cli import main


@pytest.fixture
def say(capsysbinary, monkeypatch):
    """Standard output of a command, run in this process, and its exit status."""

    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["gossamer", *map(str, arguments)])
        capsysbinary.readouterr()
        try:
            main()
            code = 0
        except SystemExit as ended:
            code = int(ended.code or 0)
        return code, capsysbinary.readouterr().out

    return run


def moment(seconds):
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")


@pytest.mark.parametrize("host", ["changes_honestly", "there_and_back"])
def test_each_time_has_its_version(say, visited, host):
    """`get --at` gives at the time of each visit what the server's page was then, 304 or not."""
    current = b""
    seen, kept = visited.of(host), visited.kept(host)
    seconds = Counter(int(record.at) for record in kept)  # the index tells no finer
    for answer, record in list(zip(seen, kept, strict=False))[:6]:
        current = answer.body if answer.status == 200 else current
        if seconds[int(record.at)] > 1:
            continue
        code, out = say("get", visited.folder, visited.url(host), "--at", moment(record.at))
        assert (code, out) == (0, current), (record.date, answer.status)


@pytest.mark.parametrize(
    ("host", "body"),
    [
        ("changes_honestly", None),
        ("there_and_back", 1),
        ("same_tag_again", 1),
        ("breaks_off", page("It is long. " * 200)),
        ("down_for_a_while", 2),
        ("fails_long", 2),
        ("body_in_304", page("The true one.")),
        ("unasked_304", 1),
        ("other_type", b"plain text now"),
        ("tag_long", page("A long tag.")),
    ],
)
def test_the_last_version_is_what_get_gives(say, visited, host, body):
    if isinstance(body, int):
        body = version_of(visited.addresses[host], "/", body)
    elif body is None:
        body = [r.payload for r in visited.kept(host) if r.kind == "response"][-1]
    assert say("get", visited.folder, visited.url(host)) == (0, body)


def test_all_captures_are_listed(say, visited):
    code, out = say("get", visited.folder, visited.url("changes_honestly"), "--captures", "--json")
    assert code == 0
    assert out.count(b"\n") >= len(visited.kept("changes_honestly")) or len(json.loads(out)) == len(
        visited.kept("changes_honestly")
    )


def test_why_tells_each_visit(say, visited):
    code, out = say("why", visited.folder, visited.url("changes_honestly"))
    text = out.decode()
    assert code == 0
    assert "304" in text and "200" in text
    assert "again" in text or "revisit" in text


def test_why_tells_what_was_never_there(say, visited):
    code, out = say("why", visited.folder, visited.url("answers_410"))
    assert code == 0 and b"never seen" in out and b"410" in out


def test_why_is_machine_readable(say, visited):
    for host in ("changes_honestly", "tag_injects", "tag_long", "two_tags", "answers_410", "unasked_304"):
        code, out = say("why", visited.folder, visited.url(host), "--json")
        assert code == 0 and json.loads(out)["url"] == visited.url(host)


def test_a_page_that_is_visited_often_is_one_line_of_the_list(say, visited):
    code, out = say("list", visited.folder, "--json")
    urls = [json.loads(line)["url"] for line in out.splitlines()]
    assert code == 0 and len(urls) == len(set(urls))
    assert urls.count(visited.url("changes_honestly")) == 1


def test_a_failed_visit_leaves_the_page_in_the_list(say, visited):
    code, out = say("list", visited.folder, "--json")
    rows = {row["url"]: row for row in map(json.loads, out.splitlines())}
    assert code == 0
    for host in ("breaks_off", "fails_long", "down_for_a_while"):
        assert rows[visited.url(host)]["state"] == "done", rows[visited.url(host)]


def test_the_report_counts_all_visits(visited):
    report = json.loads((visited.folder / "report.json").read_text())
    assert report["visits"] == len((visited.folder / "crawl.log").read_text().splitlines())
