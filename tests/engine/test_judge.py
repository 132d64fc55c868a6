"""What a visit does to its URL and its host, as tables."""

import msgspec
import pytest
from engine_world import SITE, fetched, page, rules, visit

from gossamer.frontier.robots_table import RobotsEntry
from gossamer.model.disposition import Blame, Done, Dropped, Parked, Retry
from gossamer.model.exchange import Result, StatusAction, Truncation
from gossamer.model.outcome import Failed, Fault, Fetched, Refused, Rule
from gossamer.policy.robots.access import RobotsConfig
from gossamer.policy.visits.politeness import PolitenessConfig
from gossamer.policy.visits.retry import RetryConfig
from gossamer.state.records import RobotsRecord, encode

DAY = 86_400.0


def judged(world, outcome, **candidate):
    return world.judge.judge(visit(world.lease(**candidate), outcome, elapsed=2.0), world.now)


def kind_of(disposition):
    match disposition:
        case Retry(wait=wait, blame=blame):
            return Retry, blame, wait
    return type(disposition), None, None


def asking(action):
    """An answer whose protocol's own table asks that of us."""
    exchange = msgspec.structs.replace(fetched(status=0).exchange, result=Result("451", action))
    return Fetched(exchange)


URL, HOST = Blame.URL, Blame.HOST


@pytest.mark.parametrize(
    ("outcome", "attempts", "became", "host_rest", "archive", "pages", "host_failed"),
    [
        (fetched(), 0, (Done, None, None), 0.0, True, 1, False),
        (fetched(status=204, body=b""), 0, (Done, None, None), 0.0, True, 0, False),
        (fetched(status=304, body=b""), 0, (Done, None, None), 0.0, True, 0, False),
        (fetched(status=301, location="/x"), 0, (Done, None, None), 0.0, True, 0, False),
        (fetched(status=404), 0, (Dropped, None, None), 0.0, True, 0, False),
        (fetched(status=500), 0, (Retry, URL, 30.0), 0.0, False, 0, False),
        (fetched(status=500), 1, (Retry, URL, 300.0), 0.0, False, 0, False),
        (fetched(status=500), 2, (Retry, URL, 1_800.0), 0.0, False, 0, False),
        (fetched(status=500), 3, (Dropped, None, None), 0.0, True, 0, False),
        (fetched(status=503), 0, (Retry, HOST, 60.0), 60.0, False, 0, True),
        (fetched(status=429, retry_after="7"), 0, (Retry, HOST, 7.0), 7.0, False, 0, True),
        (fetched(truncated=Truncation.TIME), 0, (Retry, URL, 30.0), 0.0, False, 0, False),
        (fetched(truncated=Truncation.TIME), 3, (Done, None, None), 0.0, True, 1, False),
        (fetched(truncated=Truncation.LENGTH), 0, (Done, None, None), 0.0, True, 1, False),
        (asking(StatusAction.PARK), 0, (Parked, None, None), 0.0, False, 0, False),
        (Failed(Fault.TIMEOUT), 0, (Retry, URL, 30.0), 0.0, False, 0, False),
        (Failed(Fault.TIMEOUT), 3, (Dropped, None, None), 0.0, False, 0, False),
        (Failed(Fault.DECODING), 0, (Dropped, None, None), 0.0, False, 0, False),
        (Failed(Fault.CONNECT), 0, (Retry, HOST, 60.0), 60.0, False, 0, True),
        (Failed(Fault.TLS), 9, (Retry, HOST, 60.0), 60.0, False, 0, True),
        (Failed(Fault.NAME_NOT_FOUND), 0, (Retry, HOST, 3_600.0), 3_600.0, False, 0, True),
        (Failed(Fault.NAME_DEFERRED, wait=17.0), 0, (Retry, HOST, 17.0), 17.0, False, 0, None),
        (Failed(Fault.PROXY_DOWN, wait=1.0), 9, (Retry, HOST, 1.0), 1.0, False, 0, None),
        (Refused(Rule.ROBOTS), 0, (Dropped, None, None), 0.0, False, 0, None),
        (Refused(Rule.BUDGET), 0, (Parked, None, None), 0.0, False, 0, None),
    ],
)
def test_what_a_visit_does(world, outcome, attempts, became, host_rest, archive, pages, host_failed):
    judgement = judged(world, outcome, attempts=attempts)
    assert kind_of(judgement.disposition) == became
    assert judgement.host_rest == host_rest
    assert judgement.archive is archive
    assert judgement.park_host is None
    assert judgement.tally.pages == pages
    assert judgement.tally.host_failed is host_failed


@pytest.mark.parametrize(
    ("faults", "seconds", "parked"),
    [(5, DAY, True), (5, DAY - 1, False), (4, DAY, False), (6, DAY + 1, True), (1, 2 * DAY, False)],
)
def test_a_host_that_fails_long_enough_is_parked(world, faults, seconds, parked):
    """A dead host: so many faults in a row, the first of them so long ago."""
    lease = world.lease()
    host = world.frontier.hosts.change(world.frontier.host_hash("site.example"), "site.example")
    host.failures, host.failing_since = faults - 1, world.now - seconds
    judgement = world.judge.judge(visit(lease, Failed(Fault.CONNECT)), world.now)
    assert bool(judgement.park_host) is parked
    # The host is given up, not the URL: it stays first in line for when the host is revived.
    assert isinstance(judgement.disposition, Retry)
    assert judgement.disposition.blame is HOST
    assert (judgement.disposition.wait == 0.0) is parked
    assert (judgement.host_rest == 0.0) is parked
    assert judgement.archive is False


@pytest.mark.parametrize("kind", ["page", "robots"])
@pytest.mark.parametrize(("pages", "given_up"), [(1, False), (0, True)])
def test_a_host_whose_pages_come_again_is_asked_now_and_then(world, kind, pages, given_up):
    """A crawl that never ends has no next session that would try again."""
    lease = world.lease() if kind == "page" else world.robots_lease()
    world.frontier.again.pace.on = True
    host = world.frontier.hosts.change(world.frontier.host_hash("site.example"), "site.example")
    host.failures, host.failing_since, host.pages = 9, world.now - 9 * DAY, pages
    judgement = world.judge.judge(visit(lease, Failed(Fault.NAME_FAILED)), world.now)
    assert bool(judgement.park_host) is given_up
    assert judgement.host_rest == (0.0 if given_up else DAY)


def test_a_proxy_that_is_down_ends_no_rest_that_a_host_has_asked_for(world):
    """Neither its row of failures grows nor does it begin anew; the URL has as many tries as before."""
    lease = world.lease()
    for times in range(1, 4):
        world.settle(visit(lease, fetched(status=429)))
        world.pass_time(DAY)
        for _ in range(3):
            lease = world.frontier.lend()
            assert lease is not None and lease.candidate.attempts == 0
            world.settle(visit(lease, Failed(Fault.PROXY_DOWN, wait=1.0)))
            assert world.frontier.lend() is None
            world.pass_time(1.0)
        assert (world.host().failures, world.host().parked) == (times, None)
        lease = world.frontier.lend()
        assert lease is not None


@pytest.mark.parametrize("outcome", [asking(StatusAction.PARK), Refused(Rule.BUDGET)])
def test_a_url_that_is_parked_alone_waits_for_the_next_session(world, outcome):
    world.frontier.hosts.change(world.frontier.host_hash("site.example"), "site.example").failures = 9
    world.settle(visit(world.lease(), outcome))
    assert world.record(f"{SITE}/").state == "parked"
    assert (world.host().parked, world.counters.hosts_parked, world.counters.waiting) == (None, 0, 1)
    world.pass_time(10 * DAY)
    assert world.frontier.lend() is None
    assert world.frontier.take_up() == 1
    world.pass_time(10)
    again = world.frontier.lend()
    assert again is not None and (again.candidate.url.text, again.candidate.attempts) == (f"{SITE}/", 0)


def test_parking_is_carried_out_by_settlement(world_of):
    world = world_of(retry=RetryConfig(host_attempts=2, park_after=10.0))
    world.settle(visit(world.lease(), Failed(Fault.CONNECT)))
    assert (world.host().failures, world.host().parked) == (1, None)
    world.pass_time(60)
    again = world.frontier.lend()
    assert again is not None and again.candidate.attempts == 0, "the host is to blame"
    world.settle(visit(again, Failed(Fault.CONNECT)))
    assert world.host().parked
    assert world.counters.hosts_parked == 1
    world.pass_time(10 * DAY)
    assert world.frontier.lend() is None
    assert world.queued() == [f"{SITE}/"]


@pytest.mark.parametrize(
    ("outcome", "became", "rest", "host_failed", "archive"),
    [
        (fetched(), Done, 0.0, False, True),
        (fetched(status=404), Done, 0.0, False, True),
        (fetched(status=500), Done, 0.0, False, True),
        (fetched(status=503), Done, 60.0, True, True),
        # A dead port says nothing about the host's other origins …
        (Failed(Fault.CONNECT), Dropped, 0.0, False, False),
        (Failed(Fault.CONNECT_TIMEOUT), Dropped, 0.0, False, False),
        (Failed(Fault.TLS), Dropped, 0.0, False, False),
        (Failed(Fault.PROXY), Dropped, 0.0, False, False),
        # … and a dead proxy nothing of the host, a missing name does.
        (Failed(Fault.PROXY_DOWN, wait=9.0), Dropped, 9.0, None, False),
        (Failed(Fault.NAME_NOT_FOUND), Dropped, 3_600.0, True, False),
        (Failed(Fault.NAME_FAILED), Dropped, 60.0, True, False),
        (Failed(Fault.TIMEOUT), Dropped, 0.0, False, False),
    ],
)
def test_a_robots_file_is_never_retried_by_itself(world, outcome, became, rest, host_failed, archive):
    judgement = world.judge.judge(visit(world.robots_lease(), outcome), world.now)
    assert type(judgement.disposition) is became
    assert (judgement.host_rest, judgement.park_host) == (rest, None)
    assert judgement.tally.host_failed is host_failed
    assert judgement.tally.pages == 0
    assert judgement.archive is archive


@pytest.mark.parametrize(("fault", "parked"), [(Fault.NAME_FAILED, True), (Fault.CONNECT, False)])
def test_a_robots_file_may_end_its_host_but_not_for_a_dead_port(world, fault, parked):
    lease = world.robots_lease()
    host = world.frontier.hosts.change(world.frontier.host_hash("site.example"), "site.example")
    host.failures, host.failing_since = 4, world.now - DAY
    judgement = world.judge.judge(visit(lease, Failed(fault)), world.now)
    assert bool(judgement.park_host) is parked
    assert judgement.host_rest == 0.0


@pytest.mark.parametrize(
    ("politeness", "speed", "seconds", "size", "delay", "rest"),
    [
        ({}, 0, 0.1, 100, None, 1.0),  # the shortest
        ({}, 0, 0.5, 100, None, 2.5),  # five times the answer
        ({}, 0, 60.0, 100, None, 30.0),  # and no more than that
        ({}, 0, 0.1, 100, 12.0, 12.0),  # crawl-delay
        ({}, 0, 4.0, 100, 12.0, 20.0),
        ({"min_delay": 0.0}, 0, 4.0, 100, None, 0.0),
        ({"min_delay": 0.0}, 0, 4.0, 100, 3.0, 3.0),
        # A visit and its rest together keep to a speed, counted with the head.
        ({"min_delay": 0.0}, 100.0, 0.5, 1_000, None, 9.5),
        ({"min_delay": 0.0}, 100.0, 60.0, 1_000, None, 0.0),
        ({}, 1e6, 0.1, 1_000, None, 1.0),
    ],
)
def test_how_long_a_host_rests(world_of, politeness, speed, seconds, size, delay, rest):
    world = world_of(politeness=PolitenessConfig(**politeness), speed=speed)
    if delay is not None:
        keep_rules(world, f"User-agent: *\nCrawl-delay: {delay}")
    outcome = fetched(seconds=seconds)
    # Head and body together make the size.
    head = len(outcome.exchange.response_head)
    outcome = fetched(seconds=seconds, body=b"x" * (size - head))
    tally = world.judge.judge(visit(world.lease(), outcome, elapsed=1e6), world.now).tally
    assert tally.rest == pytest.approx(max(rest, 0.0))
    assert tally.bytes == size - head


def keep_rules(world, text):
    said = rules(text)
    host, _ = world.frontier.host_key(world.seeds[0])
    with world.frontier.changes() as batch:
        entry = RobotsEntry(RobotsRecord("rules", world.micros + 10**12, encode(said)), said)
        world.frontier.robots.put(host, SITE, entry, batch)


def test_the_crawl_delay_is_cut_to_its_maximum(world_of):
    world = world_of(robots=RobotsConfig(max_crawl_delay=40.0))
    keep_rules(world, "User-agent: *\nCrawl-delay: 4000")
    assert judged(world, fetched()).tally.rest == 40.0


def test_without_a_response_the_visit_itself_is_measured(world):
    tally = judged(world, Failed(Fault.TIMEOUT)).tally
    assert (tally.rest, tally.bytes) == (10.0, 0)


def test_what_was_not_visited_owes_no_rest(world):
    tally = judged(world, Refused(Rule.ROBOTS)).tally
    assert (tally.rest, tally.pages, tally.bytes, tally.host_failed) == (0.0, 0, 0, None)


@pytest.mark.parametrize("every_attempt", [False, True])
def test_attempts_are_archived_where_that_is_asked_for(world_of, every_attempt):
    world = world_of(every_attempt=every_attempt)
    assert judged(world, fetched(status=500)).archive is every_attempt
    assert judged(world, fetched(status=503)).archive is every_attempt
    assert judged(world, Failed(Fault.TIMEOUT)).archive is False


def test_a_host_without_a_record_has_not_failed(world):
    assert judged(world, Failed(Fault.CONNECT)).host_rest == 60.0


def test_pages_are_whole_answers_that_are_no_robots_files(world):
    assert judged(world, fetched(), attempts=0).tally.pages == 1
    robots = world.judge.judge(visit(world.robots_lease(), fetched(), page()), world.now)
    assert robots.tally.pages == 0
