"""The crawl log: one line for each settled visit, cut to what was committed."""

import json

import pytest
from engine_world import SITE, fetched, page, parsed

from gossamer.engine.settlement import visit_log
from gossamer.engine.settlement.visit_log import LONGEST_LINE, LONGEST_LOCATION, VisitLog
from gossamer.model.candidate import Candidate
from gossamer.model.disposition import Done, Dropped
from gossamer.model.errors import StorageError
from gossamer.model.events import Visited
from gossamer.model.exchange import Truncation
from gossamer.model.lease import Lease
from gossamer.model.link import LinkKind
from gossamer.model.outcome import Failed, Fault, Refused, Rule
from gossamer.model.reasons.reason import text

LEASE = Lease(
    Candidate(parsed(f"{SITE}/"), LinkKind.NAVIGATION, 3, "LLL", "v", attempts=2), "site.example", b"t"
)


def line_of(tmp_path, outcome, disposition=None, **told):
    log = VisitLog(tmp_path / "log", 0)
    length = log.write([Visited(12.34567, LEASE, outcome, disposition or Done(), **told)])
    log.close()
    data = (tmp_path / "log").read_bytes()
    assert data.endswith(b"\n") and data.count(b"\n") == 1 and len(data) == length == log.length
    return json.loads(data)


WHY = {"became": "dropped", "reason": "r", "why": ["text.text", ["r"]]}
COMMON = {
    "at": 12.346,
    "url": f"{SITE}/",
    "kind": "navigation",
    "depth": 3,
    "hops": "LLL",
    "via": "v",
    "attempt": 3,
}


@pytest.mark.parametrize(
    ("outcome", "disposition", "told", "said"),
    [
        (
            Failed(Fault.RESET, "d"),
            Dropped(text("r")),
            {},
            {
                "became": "dropped",
                "reason": "r",
                "why": ["text.text", ["r"]],
                "fault": "reset",
                "detail": "d",
            },
        ),
        (
            Refused(Rule.ROBOTS, "d"),
            Dropped(text("r")),
            {},
            {
                "became": "dropped",
                "reason": "r",
                "why": ["text.text", ["r"]],
                "refused": "robots",
                "detail": "d",
            },
        ),
        (fetched(), Done(), {}, {"became": "done", "type": ""}),
        (fetched(), Done(), {"page": page()}, {"became": "done", "type": "text/html"}),
        (
            fetched(),
            Done(),
            {"page": page(problems=("p",))},
            {"became": "done", "type": "text/html", "problems": ["p"]},
        ),
        (fetched(), Done(), {"twin": "t"}, {"became": "done", "type": "", "twin": "t"}),
        (fetched(), Done(), {"place": ("f", 7, 9)}, {"became": "done", "type": "", "file": "f", "offset": 7}),
        (fetched(truncated=Truncation.TIME), Done(), {}, {"became": "done", "type": "", "truncated": "time"}),
    ],
)
def test_lines(tmp_path, outcome, disposition, told, said):
    response = {"status": 200, "size": 5, "started": 1_700_000_000.0, "seconds": 0.5, "address": ""}
    expected = COMMON | said | (response if hasattr(outcome, "exchange") else {})
    assert line_of(tmp_path, outcome, disposition, **told) == expected


def test_where_a_redirect_leads_is_cut(tmp_path):
    line = line_of(tmp_path, fetched(status=301, location="/" + "x" * 9_000))
    assert len(line["location"]) == LONGEST_LOCATION == 4_096


def test_no_location_without_a_redirect(tmp_path):
    assert "location" not in line_of(tmp_path, fetched(status=200, location="/x"))


def test_what_a_page_says_cannot_break_a_line(tmp_path):
    assert line_of(tmp_path, Failed(Fault.RESET, "a\nb\x00\u2028"))["detail"] == "a\nb\x00\u2028"


@pytest.mark.parametrize(
    ("kept", "committed", "left"),
    [
        (b"", 0, b""),
        (b"a\nb\n", 4, b"a\nb\n"),
        (b"a\nb\nnot committed\n", 4, b"a\nb\n"),
        (b"a\nb", 3, b"a\n"),  # a power failure left a part of a line
        (b"a\nb", 99, b"a\n"),
        (b"never a line", 12, b""),
        (b"a\n" + b"x" * LONGEST_LINE, LONGEST_LINE + 2, None),
    ],
)
def test_what_stands_behind_the_committed_length_is_cut_off(tmp_path, kept, committed, left):
    path = tmp_path / "log"
    path.write_bytes(kept)
    log = VisitLog(path, committed)
    data = path.read_bytes()
    assert log.length == len(data)
    if left is not None:
        assert data == left
    log.write([Visited(1.0, LEASE, Refused(Rule.ROBOTS), Done())])
    log.close()
    assert path.read_bytes().startswith(data)


def test_a_long_last_line_is_looked_at_as_far_as_lines_go(tmp_path):
    path = tmp_path / "log"
    path.write_bytes(b"a\n" + b"x" * (LONGEST_LINE - 1))
    VisitLog(path, 1 << 30).close()
    assert path.read_bytes() == b"a\n"


def test_a_disk_that_refuses(tmp_path, monkeypatch):
    with pytest.raises(StorageError, match="opened"):
        VisitLog(tmp_path / "no" / "log", 0)
    log = VisitLog(tmp_path / "log", 0)
    pieces = []

    def write(descriptor, lines):
        if len(pieces) == 3:
            raise OSError(28, "No space left on device")
        pieces.append(bytes(lines[:5]))
        return 5

    monkeypatch.setattr(visit_log.os, "write", write)
    with pytest.raises(StorageError, match="No space left"):
        log.write([Visited(1.0, LEASE, Refused(Rule.ROBOTS), Done())])
    assert b"".join(pieces).startswith(b'{"at":1.0,"url"') and log.length == 15
    monkeypatch.undo()
    log.close()
