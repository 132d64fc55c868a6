"""What visits leave in the archive (WARC 1.1, section 6.7 and the revisit profiles of its annex)."""

import json

import archived
import pytest
from archived import IDENTICAL, NOT_MODIFIED
from changing_web import version_of
from revisited_hosts import HOSTS, RETRY_AFTER, TAGS, TRUNCATED


def version(visited, host, number):
    return version_of(visited.addresses[host], "/", number)


def kinds(visited, host, target="/"):
    return [(r.kind, r.status) for r in visited.kept(host, target)]


def test_the_archive_keeps_to_the_rules_of_revisits(visited):
    assert archived.wrong(visited.folder) == []


def test_the_crawl_finds_its_archive_whole(visited, crawl_of):
    crawl = crawl_of()
    crawl.folder = visited.folder
    crawl.check()


@pytest.mark.parametrize("host", TAGS)
def test_a_304_is_a_revisit_of_what_the_server_sent(visited, host):
    kept = visited.kept(host)
    assert [r.kind for r in kept] == ["response"] + ["revisit"] * (len(kept) - 1)
    assert {(r.profile, r.status) for r in kept[1:]} == {(NOT_MODIFIED, 304)}
    assert {(r.refers_url, r.refers_date) for r in kept[1:]} == {(kept[0].url, kept[0].date)}


@pytest.mark.parametrize(
    "host",
    sorted(
        set(HOSTS)
        - {"breaks_off", "tag_injects", "unasked_304", "fails_long", "down_for_a_while", "fault_with_tag"}
    ),
)
def test_each_visit_is_in_the_archive_once(visited, host):
    """One record for each answer; of the last one it may be that the end of the crawl came before it. Where a condition
    was refused, that was no visit: it is asked for once more without."""
    seen = [
        answer
        for answer in visited.of(host)
        if answer.status not in {412, 416} or b"\r\nIf-" not in answer.request.head
    ]
    kept = visited.kept(host)
    assert len(seen) - 1 <= len(kept) <= len(seen)
    for answer, record in zip(seen, kept, strict=False):
        assert record.status == answer.status
        assert -1 < record.at - answer.request.at < 2


@pytest.mark.parametrize("host", ["neither", "always_200", "tag_moves", "varies", "sets_cookie"])
def test_a_version_is_kept_once(visited, host):
    kept = visited.kept(host)
    assert len(kept) > 2
    assert [r.kind for r in kept].count("response") == 1


def test_equal_bytes_are_a_revisit_by_their_digest(visited):
    for record in visited.kept("neither")[1:] + visited.kept("always_200")[1:]:
        assert (record.kind, record.profile, record.status) == ("revisit", IDENTICAL, 200)


def test_each_changed_version_is_a_response(visited):
    versions = [r for r in visited.kept("changes_honestly") if r.kind == "response"]
    assert [r.payload for r in versions[:3]] == [version(visited, "changes_honestly", n) for n in (1, 2, 3)]
    assert len(versions) == len({r.digest for r in versions})


def test_304s_refer_to_the_version_that_was_there(visited):
    """Between two changes: to the newer of them, not to the first one ever."""
    kept = visited.kept("changes_honestly")[:6]
    assert [r.kind for r in kept] == ["response", "revisit"] * 3
    for version, again in zip(kept[::2], kept[1::2], strict=True):
        assert (again.refers_url, again.refers_date, again.digest) == (
            version.url,
            version.date,
            version.digest,
        )


def test_a_version_that_comes_back_is_a_revisit_of_its_first_time(visited):
    """A, B, A by bytes, and then 304: these stand for A, not for B."""
    kept = visited.kept("there_and_back")
    assert [(r.kind, r.status) for r in kept[:4]] == [
        ("response", 200), ("response", 200), ("revisit", 200), ("revisit", 304),
    ]  # fmt: skip
    assert {(r.refers_date, r.digest) for r in kept[2:]} == {(kept[0].date, kept[0].digest)}


def test_a_304_after_a_redirect_stands_for_the_page(visited):
    """A, a redirect, A again with the tag of before."""
    kept = visited.kept("same_tag_again")
    assert [r.status for r in kept[:2]] == [200, 302]
    assert kept[2].kind == "revisit"
    for record in kept[2:]:
        assert (record.refers_date, record.digest) == (kept[0].date, kept[0].digest)


def test_an_unasked_304_stands_for_nothing(visited):
    """It can refer to nothing, so it is no revisit; the page that comes then is a response."""
    kept = visited.kept("unasked_304")
    assert not [r for r in kept if r.kind == "revisit" and not r.refers_date]
    assert ("response", 200) in [(r.kind, r.status) for r in kept]
    assert next(r for r in kept if r.kind == "response" and r.status == 200).payload == version(
        visited, "unasked_304", 1
    )


def test_the_head_of_a_304_is_kept(visited):
    """Its fields are news: a revisit record has the head of the answer (WARC 1.1, annex C.3)."""
    again = [r for r in visited.kept("later_date_in_304") if r.status == 304]
    assert again
    assert [r.get("X-Visit") for r in again] == [str(number) for number in range(2, len(again) + 2)]


def test_bytes_after_a_304_are_nobodys_answer(visited):
    records = [r for r in visited.records if r.tells and visited.addresses["body_in_304"] in r.url]
    assert not [r for r in records if b"evil" in r.payload]
    assert {r.status for r in visited.kept("body_in_304")} <= {200, 304}


def test_a_moved_redirect_is_kept_with_both_targets(visited):
    """Its body is the same and its digest too; what it says is in the head."""
    targets = [r.get("Location") for r in visited.kept("redirect_moves")]
    assert targets[:2] == ["/one", "/one"] and set(targets[2:]) == {"/two"}
    assert [r.status for r in visited.kept("redirect_moves", "/two")][:1] == [200]


def test_a_page_that_became_a_redirect_is_kept_as_both(visited):
    assert kinds(visited, "becomes_redirect")[:2] == [("response", 200), ("response", 301)]
    assert kinds(visited, "becomes_redirect", "/new")[0] == ("response", 200)


def test_a_fragment_is_no_version(visited):
    """The connection broke: what came is not a changed page, and no record passes for one."""
    kept = visited.kept("breaks_off")
    whole = [r for r in kept if not r.truncated]
    assert [r.kind for r in whole].count("response") == 1
    assert len(visited.of("breaks_off")) > TRUNCATED
    fragments = [r for r in kept if r.truncated]
    assert all(r.kind == "response" for r in fragments)


def test_a_busy_server_is_no_version(visited):
    kept = visited.kept("down_for_a_while")
    assert [r.payload for r in kept if r.kind == "response" and r.status == 200] == [
        version(visited, "down_for_a_while", 1), version(visited, "down_for_a_while", 2),
    ]  # fmt: skip
    assert RETRY_AFTER


def test_the_page_after_a_long_failure_is_kept(visited):
    versions = [r.payload for r in visited.kept("fails_long") if r.kind == "response" and r.status == 200]
    assert versions == [version(visited, "fails_long", 1), version(visited, "fails_long", 2)]


def test_what_is_gone_is_kept_as_gone(visited):
    assert [r.status for r in visited.kept("gone_and_back")[:4]] == [200, 404, 404, 200]
    assert [r.status for r in visited.kept("answers_410")[:3]] == [200, 410, 410]


def test_another_type_is_another_version(visited):
    kept = visited.kept("other_type")
    assert [r.get("Content-Type") for r in kept[:2]] == ["text/html; charset=utf-8", "text/plain"]
    lines = (visited.folder / "index.cdxj").read_text().splitlines()
    entries = [json.loads(line[line.index("{") :]) for line in lines]
    url = visited.url("other_type")
    assert {e["mime"] for e in entries if e["url"] == url} == {"text/html", "text/plain", "warc/revisit"}


def test_twins_refer_to_one_original(visited):
    """The second page of equal bytes is a revisit of the first, and so are the 304s of both."""
    kept = visited.kept("twins", "/a") + visited.kept("twins", "/b")
    responses = [r for r in kept if r.kind == "response"]
    assert len(responses) == 1
    assert {(r.refers_url, r.refers_date) for r in kept if r.kind == "revisit"} == {
        (responses[0].url, responses[0].date)
    }


def test_the_request_of_a_revisit_is_kept_as_it_was_sent(visited):
    requests = [r for r in visited.records if r.kind == "request" and r.url == visited.url("tag_weak")]
    assert len(requests) == len(visited.kept("tag_weak"))
    assert [r.get("If-None-Match") for r in sorted(requests, key=lambda r: r.at)] == [
        "", *['W/"abc-123"'] * (len(requests) - 1)
    ]  # fmt: skip
