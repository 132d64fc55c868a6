"""What is asked of servers when a page is visited again (RFC 9110, section 13; RFC 9111, section 4.3)."""

from itertools import pairwise

import pytest
from revisited_hosts import DATES, HOSTS, IMF, LONG_ISH_TAG, LONG_TAG, NEEDS, TAGS


def conditions(visited, host, target="/"):
    """Of each visit: If-None-Match and If-Modified-Since."""
    return [
        (s.request.get("If-None-Match"), s.request.get("If-Modified-Since")) for s in visited.of(host, target)
    ]


def raw(tag):
    return tag if isinstance(tag, bytes) else tag.encode("latin-1")


@pytest.mark.slow
def test_the_crawl_ends_when_it_is_told_to(visited):
    assert visited.ended.status == 130, visited.ended.err
    assert "Traceback" not in visited.ended.err


@pytest.mark.parametrize("host", HOSTS)
def test_every_host_was_visited_again(visited, host):
    assert len(visited.of(host)) >= NEEDS[host], [s.status for s in visited.of(host)]


def test_first_visits_have_no_condition(visited):
    first = [s for s in visited.log if s.request.number == 1]
    assert first and not [s for s in first if s.request.conditional]


@pytest.mark.parametrize("host", TAGS)
def test_an_entity_tag_comes_back_as_it_was(visited, host):
    again = conditions(visited, host)[1:]
    assert again and set(again) == {(raw(TAGS[host]), None)}
    assert {s.status for s in visited.of(host)[1:]} == {304}


@pytest.mark.parametrize("host", DATES)
def test_a_date_comes_back_byte_for_byte(visited, host):
    again = conditions(visited, host)[1:]
    assert again and set(again) == {(None, DATES[host].encode())}


def test_both_validators_are_sent(visited):
    assert set(conditions(visited, "both")[1:]) == {(b'"v1"', IMF.encode())}


def test_without_validators_there_is_no_condition(visited):
    assert set(conditions(visited, "neither")) == {(None, None)}


def test_a_tag_without_quotes_is_not_given_any(visited):
    assert set(conditions(visited, "tag_bare")[1:]) <= {(b"abc123", None), (None, None)}


def test_a_date_that_is_none_is_not_made_one(visited):
    assert set(conditions(visited, "date_nonsense")[1:]) <= {(None, b"yesterday"), (None, None)}


def test_a_condition_that_is_refused_is_no_version_and_the_page_is_asked_for_once_more_without(visited):
    statuses = [s.status for s in visited.of("refuses")]
    assert statuses[:3] == [200, 412, 200], statuses
    assert statuses.count(412) * 4 <= len(statuses)  # and it is remembered for a while
    assert 412 not in {record.status for record in visited.kept("refuses")}


def test_a_tag_too_long_to_send_does_not_cost_the_page(visited):
    seen = visited.of("tag_long")
    assert {s.status for s in seen} == {200}
    assert not [s for s in seen if len(LONG_TAG) < len(s.request.head)]


def test_a_tag_is_sent_whole_or_not(visited):
    assert {tag for tag, _ in conditions(visited, "tag_long_ish")[1:]} <= {LONG_ISH_TAG.encode(), None}


def test_validators_of_an_error_are_not_the_pages(visited):
    assert conditions(visited, "fault_with_tag")[1] == (b'"v1"', None)
    assert set(conditions(visited, "fault_with_tag")[2:]) <= {(b'"v1"', None), (None, None)}


def test_a_tag_adds_no_line_to_a_request(visited):
    for seen in visited.of("tag_injects"):
        assert not seen.request.all("X-Injected")
        assert b"\r" not in seen.request.head.replace(b"\r\n", b"")
        assert b"\n" not in seen.request.head.replace(b"\r\n", b"")
    assert {s.status for s in visited.of("tag_injects")} == {200}


def test_of_two_tags_one_or_none_is_sent(visited):
    assert {tag for tag, _ in conditions(visited, "two_tags")[1:]} <= {b'"one"', b'"two"', None}


def test_a_changed_answer_brings_the_next_condition(visited):
    """Of each visit the validators of the last 200 are sent."""
    seen = visited.of("changes_honestly")
    assert [s.status for s in seen[:6]] == [200, 304, 200, 304, 200, 304]
    tags = [tag for tag, _ in conditions(visited, "changes_honestly")[:6]]
    assert tags == [None, b'"v1"', b'"v1"', b'"v2"', b'"v2"', b'"v3"']


def test_a_moving_tag_is_always_the_latest(visited):
    tags = [tag for tag, _ in conditions(visited, "tag_moves")]
    assert tags == [None, *(f'"{number}"'.encode() for number in range(1, len(tags)))]


def test_a_tag_that_is_not_given_any_more_is_not_sent_any_more(visited):
    assert conditions(visited, "tag_disappears")[1][0] == b'"first"'
    assert set(conditions(visited, "tag_disappears")[2:]) == {(None, None)}


def test_304_to_no_question_is_no_page(visited):
    """The server never sent it: the next visit asks for all of it."""
    first, second = visited.of("unasked_304")[:2]
    assert (first.status, second.request.conditional, second.status) == (304, False, 200)


def test_304_with_another_strong_tag_updates_nothing(visited):
    assert b'"v2"' not in [tag for tag, _ in conditions(visited, "other_tag_in_304")[:3]]
    assert 200 in {s.status for s in visited.of("other_tag_in_304")[2:]}


def test_what_a_server_chooses_by_stays_the_same(visited):
    for host in ("varies", "gzip_and_not"):
        for name in ("Accept-Encoding", "User-Agent", "Accept", "Accept-Language"):
            assert len({s.request.get(name) for s in visited.of(host)}) == 1, name


def test_cookies_are_not_kept_for_the_next_visit(visited):
    assert not [s for s in visited.of("sets_cookie") if s.request.all("Cookie")]


def test_nothing_but_whole_pages_is_asked_for(visited):
    for seen in visited.log:
        assert seen.request.head.startswith(b"GET ")
        assert not any(
            seen.request.all(name) for name in ("Range", "If-Match", "If-Unmodified-Since", "If-Range")
        )


def test_one_visit_of_a_host_at_a_time(visited):
    assert {s.open for s in visited.log} == {1}


def test_an_interval_is_kept(visited):
    """A second is asked for: never sooner, hardly later. Times are kept in whole seconds."""
    for host in ("tag_strong", "neither", "always_200", "max_age"):
        apart = [b.began - a.began for a, b in pairwise(visited.of(host))]
        assert min(apart) > 0.9, (host, apart)
        assert sorted(apart)[len(apart) // 2] < 5, (host, apart)  # of a machine that serves sixty hosts


def test_a_redirect_and_its_target_are_visited_each_by_itself(visited):
    assert {s.status for s in visited.of("redirects")} == {301}
    assert {tag for tag, _ in conditions(visited, "redirects", "/target")[1:]} == {b'"v1"'}
    assert len(visited.of("redirects", "/target")) >= 3
    assert b'"v1"' not in {tag for tag, _ in conditions(visited, "redirects")}


def test_the_page_behind_a_new_redirect_is_asked_without_the_old_validators(visited):
    first = visited.of("becomes_redirect", "/new")[0]
    assert not first.request.conditional and first.status == 200


def test_a_refused_condition_is_not_insisted_on(visited):
    """412 or 416 to a conditional request: the page is asked for without."""
    for host in ("answers_412", "answers_416"):
        statuses = [s.status for s in visited.of(host)]
        assert statuses[0] == 200 and 200 in statuses[1:], (host, statuses)


def test_robots_that_forbid_later_are_obeyed(visited):
    """A page that was allowed is not visited once its robots file, read again, forbids it."""
    robots = [s for s in visited.of("no_robots_later", "/robots.txt") if b"Disallow: /" in s.body]
    assert robots
    after = [s for s in visited.of("no_robots_later") if s.began > robots[0].ended]
    assert not after


def test_retry_after_is_obeyed_and_the_page_comes_back(visited):
    seen = visited.of("down_for_a_while")
    assert [s.status for s in seen[:3]] == [200, 503, 200]
    assert seen[2].began - seen[1].ended >= 3


def test_failures_do_not_end_the_visits(visited):
    statuses = [s.status for s in visited.of("fails_long")]
    assert statuses[:6] == [200, 500, 500, 500, 500, 200]


@pytest.mark.parametrize("host", ["gone_once", "gone_and_back", "answers_410"])
def test_what_is_not_there_is_looked_for_again(visited, host):
    assert len(visited.of(host)) >= NEEDS[host]


def test_a_new_link_of_a_hub_is_followed(visited):
    new = visited.of("new_link", "/new")
    assert new and new[0].status == 200
    assert new[0].began > visited.of("new_link")[2].began
