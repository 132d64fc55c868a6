"""What is gone, by the command line, `why`, and the views: pages one by one, hosts that left in one line."""

import json
import time
from pathlib import Path

import pytest
from in_process import gossamer
from revisited_state import HOUR, RevisitedState

from gossamer.control.views.context import view_context
from gossamer.control.views.views import answer_view
from gossamer.model.outcome import Fault
from gossamer.model.reasons.reason import because
from gossamer.policy.revisit.gone import Presence

GONE_AT = 1_790_000_000


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    state = RevisitedState(tmp_path / "c")
    for number in range(5):
        state.page("a.test", number, same=number, changed=1, changed_at=GONE_AT - 5 * int(HOUR))
    state.page("a.test", 90, presence=Presence.GONE, gone=GONE_AT, via="http://a.test/1")
    state.page("a.test", 91, presence=Presence.MISSED)
    state.page("a.test", 92, presence=Presence.NEVER, same=3)
    for number in range(300):
        state.page("old.test", number, presence=Presence.GONE, gone=GONE_AT + number)
    for number in range(7):
        state.page("lost.test", number)
    state.host("lost.test", parked=because(Fault.NAME_NOT_FOUND))
    state.page("never.test", 1, history=False)
    state.close()
    return tmp_path / "c"


def test_pages_that_are_gone_and_hosts_that_left_are_listed(folder: Path):
    lines = gossamer("list", str(folder), "--gone", cwd=folder).stdout.splitlines()
    assert sorted(lines) == [
        "gone     http://a.test/90 since 2026-09-21T14:13:20Z  found on http://a.test/1",
        "left     lost.test: 7 pages, its name does not resolve any more",
        "left     old.test: 300 pages, all of them are gone since 2026-09-21 14:18 UTC",
    ]


def test_programs_get_every_page_and_its_history(folder: Path):
    lines = gossamer(
        "list", str(folder), "--gone", "--json", "--columns", "url,gone,visits", cwd=folder
    ).stdout.splitlines()
    assert len(lines) == 301
    told = [json.loads(line) for line in lines]
    assert {"url": "http://a.test/90", "gone": "2026-09-21T14:13:20Z", "visits": 1} in told
    out = gossamer("list", str(folder), "--host", "a.test", "--json", cwd=folder).stdout
    known = {one["url"]: one for one in map(json.loads, out.splitlines())}
    four = known["http://a.test/4"]
    assert (four["visits"], four["changes"], four["changed"], four["gone"]) == (
        6,
        1,
        "2026-09-21T09:13:20Z",
        "",
    )
    assert known["http://a.test/91"]["gone"] == ""
    assert known["http://a.test/92"]["gone"] == ""
    assert [known[f"http://a.test/{n}"]["presence"] for n in (4, 90, 91, 92)] == [
        "here", "gone", "missed", "never",
    ]  # fmt: skip


def test_views_say_the_same(folder: Path):
    with view_context(folder) as look:
        page = answer_view(look, "list", {"gone": True, "columns": "url,gone", "host": "a.test"})
        left = answer_view(look, "left", {})
        fresh = answer_view(look, "freshness", {})
        known = answer_view(look, "page", {"url": "http://a.test/90"})
    assert page["items"] == [{"url": "http://a.test/90", "gone": "2026-09-21T14:13:20Z"}]
    site = next(one for one in fresh["sites"] if one["host"] == "a.test")
    assert (fresh["gone"], fresh["never"], site["pages"], site["gone"], site["never"]) == (301, 1, 6, 1, 1)
    assert left["total"] == 2
    assert {one["host"]: (one["lacks"], one["pages"]) for one in left["items"]} == {
        "old.test": ("pages", 300),
        "lost.test": ("name", 7),
    }
    assert known["listed"]["gone"] == "2026-09-21T14:13:20Z"


def test_why_tells_visits_changes_and_since_when_it_is_gone(folder: Path):
    told = gossamer("why", str(folder), "http://a.test/90", cwd=folder).stdout
    assert "is gone since 2026-09-21 14:13:20 UTC" in told
    told = gossamer("why", str(folder), "http://a.test/91", cwd=folder).stdout
    assert "was missing once" in told
    told = gossamer("why", str(folder), "http://a.test/92", cwd=folder).stdout
    assert "was never seen" in told and "is gone" not in told
    told = gossamer("why", str(folder), "http://a.test/4", cwd=folder).stdout
    assert "found unchanged at 4 visits, 4 d 0 h in all, and changed at 1" in told
    assert "was last found changed on 2026-09-21 09:13:20 UTC" in told


def test_orphans_need_the_graph(folder: Path):
    ran = gossamer("list", str(folder), "--orphans", cwd=folder)
    assert ran.returncode == 2 and "gossamer export links" in ran.stderr


def test_a_host_with_a_page_that_is_there_has_not_left(tmp_path: Path):
    state = RevisitedState(tmp_path / "c")
    state.page("a.test", 1, presence=Presence.GONE, gone=int(time.time()))
    state.page("a.test", 2)
    state.close()
    with view_context(tmp_path / "c") as look:
        assert answer_view(look, "left", {}) == {"items": [], "total": 0}


def test_a_page_that_answers_what_missing_ones_do_is_a_soft_404(tmp_path: Path):
    state = RevisitedState(tmp_path / "c")
    nothing, other = b"n" * 32, b"o" * 32
    state.page("a.test", 1, changed=1, changed_at=GONE_AT, payload=nothing)
    state.page("a.test", 2, changed=1, changed_at=GONE_AT, payload=other)
    state.page("a.test", 3, payload=nothing)  # it never said anything else
    state.page("a.test", 4, presence=Presence.MISSED, history=False, payload=nothing)
    state.page("b.test", 1, changed=1, changed_at=GONE_AT, payload=nothing)  # another host
    state.close()
    lines = gossamer("list", str(tmp_path / "c"), "--gone", cwd=tmp_path).stdout.splitlines()
    assert lines == ["soft 404 http://a.test/1 since 2026-09-21T14:13:20Z"]
    told = gossamer("why", str(tmp_path / "c"), "http://a.test/1", cwd=tmp_path).stdout
    assert "probably gone, though the server says 200" in told
    assert "probably" not in gossamer("why", str(tmp_path / "c"), "http://a.test/2", cwd=tmp_path).stdout
