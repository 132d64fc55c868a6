"""What a visit to one of several addresses of a site does to its URL, its host and the others, as tables."""

import pytest
from engine_world import fetched, parsed, rules, visit

from gossamer.engine.admission.admission import Admission
from gossamer.engine.admission.robots_files import RobotsFiles
from gossamer.engine.observe import Observers
from gossamer.engine.settlement.judge import Judge
from gossamer.frontier.robots_table import RobotsEntry
from gossamer.model.candidate import Candidate
from gossamer.model.disposition import Blame, Done, Dropped, Parked, Retry
from gossamer.model.link import LinkKind
from gossamer.model.outcome import Failed, Fault, Refused, Rule
from gossamer.model.reasons.codes import MirrorCode, RetryCode
from gossamer.model.reasons.reason import Reason, because
from gossamer.policy.robots.access import RobotsConfig
from gossamer.policy.scope.scope import Scope, ScopeConfig
from gossamer.policy.urls.canonical import CanonicalConfig, Canonicaliser
from gossamer.policy.urls.mirrors import DOWN_AFTER, Mirrors, MirrorsConfig
from gossamer.state.records import RobotsRecord

ADDRESSES = ("http://site.example/m/", "http://b.example/", "http://c.example/x/")
MIRRORS = Mirrors([MirrorsConfig(addresses=ADDRESSES)], Canonicaliser(CanonicalConfig()))
DAY = 86_400.0


@pytest.fixture
def world(world_of):
    """One whose judge knows the mirrors."""
    world = world_of()
    world.robots = RobotsFiles(
        world.frontier,
        world.admission,
        RobotsConfig(),
        world.frontier.micros,
        sitemaps=False,
        guess_sitemap=False,
        mirrors=MIRRORS,
    )
    world.judge = Judge(
        world.frontier,
        world.robots,
        lambda _: world.retry,
        lambda *_: world.politeness,
        lambda _: 0.0,
        every_attempt=False,
        mirrors=MIRRORS,
    )
    return world


def url_of_rank(rank, host="site.example"):
    """A URL on a host that is asked at that rank."""
    folder = next(address for address in ADDRESSES if host in address)
    for number in range(1_000):
        url = parsed(f"{folder}{number}")
        if MIRRORS.all_of(url)[rank].host == host:
            return url
    raise AssertionError


def judged(world, outcome, url, failures=0, since=0.0, **candidate):
    lease = world.lease(
        url.text, **{"kind": LinkKind.NAVIGATION, "via": "http://site.example/m/"} | candidate
    )
    host = world.frontier.hosts.change(world.frontier.host_hash("site.example"), "site.example")
    host.failures, host.failing_since = failures, world.now - since
    return world.judge.judge(visit(lease, outcome, elapsed=2.0), world.now)


@pytest.mark.parametrize(
    ("outcome", "failures", "archive", "rest", "down"),
    [
        (fetched(status=404), 0, True, 0.0, 0.0),
        (fetched(status=500), 0, False, 0.0, 0.0),
        (fetched(status=503), 0, False, 0.0, 60.0),
        (fetched(status=503, retry_after="10"), 0, False, 10.0, 0.0),
        (fetched(status=503, retry_after="11"), 0, False, 0.0, 11.0),
        (fetched(status=503, retry_after="9"), 1, False, 9.0, 0.0),
        (fetched(status=503), 2, False, 0.0, 240.0),
        (fetched(status=429, retry_after="700"), 2, False, 0.0, 700.0),
        (Failed(Fault.CONNECT), 0, False, 0.0, 60.0),
        (Failed(Fault.CONNECT), 2, False, 0.0, 240.0),
        (Failed(Fault.NAME_NOT_FOUND), 0, False, 0.0, 3_600.0),
        (Failed(Fault.NAME_DEFERRED, wait=50.0), 0, False, 0.0, 50.0),
        (Failed(Fault.TIMEOUT), 0, False, 0.0, 0.0),
        (Failed(Fault.DECODING), 0, False, 0.0, 0.0),
        (Refused(Rule.ROBOTS, "Disallow: /"), 0, False, 0.0, 0.0),
        (Refused(Rule.MIRROR), 0, False, 0.0, 0.0),
    ],
)
def test_what_a_mirror_does_not_give_is_asked_of_the_next(world, outcome, failures, archive, rest, down):
    url = url_of_rank(1)
    told = judged(world, outcome, url, failures)
    assert told.elsewhere == MIRRORS.all_of(url)[2]
    assert isinstance(told.disposition, Dropped)
    assert told.disposition.reason.values == (told.why, told.elsewhere.text)
    assert told.disposition.reason.code == MirrorCode.NEXT
    assert (told.archive, told.host_rest, told.down, told.park_host) == (archive, rest, down, None)


@pytest.mark.parametrize("how", ["hosts", "robots"])
def test_where_no_mirror_is_well_the_first_failures_rest_it_as_any_host(world, how):
    """Our own network may have failed, and then all of them fail once."""
    for name in ("b.example", "c.example"):
        if how == "hosts":
            world.frontier.hosts.change(world.frontier.host_hash(name), name).failures = 1
        else:
            hold = RobotsEntry(RobotsRecord("hold", 1 << 60, b"", 1, reason=Reason(Fault.CONNECT)))
            world.robots.keep(f"http://{name}", parsed(f"http://{name}/"), hold)
    url = url_of_rank(0)
    for failures, rest, down in ((0, 60.0, 0.0), (1, 120.0, 0.0), (2, 0.0, 240.0)):
        told = judged(world, Failed(Fault.CONNECT), url, failures)
        assert (told.host_rest, told.down) == (rest, down)
    world.frontier.hosts.change(world.frontier.host_hash("c.example"), "c.example").failures = 0
    told = judged(world, Failed(Fault.CONNECT), url)
    assert (told.host_rest, told.down) == ((0.0, 60.0) if how == "hosts" else (60.0, 0.0))


@pytest.mark.parametrize(
    ("outcome", "candidate", "became"),
    [
        (fetched(), {}, Done),
        (fetched(status=301, location="/x"), {}, Done),
        (Refused(Rule.SCOPE), {}, Dropped),
        (Refused(Rule.BUDGET), {}, Parked),
        (Refused(Rule.LOGIN), {}, Parked),
        (fetched(status=404), {"kind": LinkKind.SPECULATIVE}, Dropped),
        (fetched(status=404), {"kind": LinkKind.FOLDER}, Dropped),
        (Failed(Fault.TIMEOUT), {"again": True}, Retry),
        (Failed(Fault.PROXY_DOWN, wait=1.0), {}, Retry),
    ],
)
def test_what_is_asked_of_no_other(world, outcome, candidate, became):
    told = judged(world, outcome, url_of_rank(0), **candidate)
    assert (type(told.disposition), told.elsewhere) == (became, None)


@pytest.mark.parametrize(
    ("outcome", "candidate"),
    [
        (Failed(Fault.CONNECT), {"kind": LinkKind.FOLDER}),
        (fetched(status=404), {"kind": LinkKind.SEED, "via": ""}),
        (fetched(status=404), {"again": True}),
        (fetched(status=410), {"kind": LinkKind.MIRROR}),
    ],
)
def test_what_is_asked_of_others_all_the_same(world, outcome, candidate):
    assert judged(world, outcome, url_of_rank(1), **candidate).elsewhere is not None


@pytest.mark.parametrize("url", [url_of_rank(2), parsed("http://site.example/other")])
@pytest.mark.parametrize(("attempts", "wait"), [(0, 30.0), (2, 1_800.0), (3, None)])
def test_where_there_is_no_other_the_url_waits_and_its_host_does_not(world, url, attempts, wait):
    for failures, since, rest, down in ((0, 0.0, 0.0, 60.0), (2, 9.0, 0.0, 240.0), (9, 2 * DAY, 0.0, DAY)):
        told = judged(world, Failed(Fault.CONNECT), url, failures, since, attempts=attempts)
        assert told.disposition.reason.has(Fault.CONNECT)
        assert told.disposition.blame is Blame.URL
        assert getattr(told.disposition, "wait", None) == wait
        assert (told.elsewhere, told.host_rest, told.down, told.park_host) == (None, rest, down, None)
    assert isinstance(judged(world, fetched(status=404), url).disposition, Dropped)
    refused = judged(world, Refused(Rule.MIRROR), url, attempts=attempts)
    assert type(refused.disposition) is (Parked if wait is None else Retry)


def test_a_mirror_that_takes_requests_and_does_not_answer_is_down_after_some_in_a_row(world):
    url = url_of_rank(0)
    outcomes = [Failed(Fault.TIMEOUT)] * 2 + [fetched()] + [Failed(Fault.RESET)] * 4
    down = [judged(world, outcome, url).down for outcome in outcomes]
    assert DOWN_AFTER == 3
    assert down == [0.0] * 5 + [60.0, 120.0]


def test_another_host_is_judged_as_ever(world):
    told = judged(world, Failed(Fault.CONNECT), parsed("http://other.example/"))
    assert (type(told.disposition), told.disposition.blame, told.elsewhere) == (Retry, Blame.HOST, None)


def test_the_robots_file_of_a_mirror_neither_rests_nor_parks_its_host(world):
    for outcome in (Failed(Fault.NAME_NOT_FOUND), fetched(status=503)):
        told = world.judge.judge(visit(world.robots_lease(), outcome), world.now)
        assert (told.host_rest, told.park_host, told.tally.host_failed) == (0.0, None, False)


def test_a_mirror_is_left_alone_until_its_time_is_over(world):
    url = url_of_rank(0)
    lease = world.lease(url.text, kind=LinkKind.NAVIGATION)
    world.robots.take_down(url, 100.0, Reason(Fault.CONNECT))
    world.pass_time(99.0)
    refused = world.robots.refusal(lease)
    assert isinstance(refused, Refused) and refused.rule is Rule.MIRROR
    assert "connect" in str(refused.detail)
    world.pass_time(2.0)
    assert world.robots.refusal(lease) is None


@pytest.mark.parametrize(
    ("why", "left_alone"), [(Reason(Fault.CONNECT), False), (because(RetryCode.STATUS, 503), True)]
)
def test_the_next_session_tries_a_mirror_that_was_down_unless_it_asked_for_rest(world, why, left_alone):
    url = url_of_rank(0)
    lease = world.lease(url.text, kind=LinkKind.NAVIGATION)
    world.robots.take_down(url, DAY, why)
    world.frontier.take_up()
    world.frontier.robots.forget(lambda _: True)  # as in a new process
    assert (world.robots.refusal(lease) is not None) is left_alone


@pytest.mark.parametrize(
    ("others", "waits"), [(0, ["down", "down", "down", "down"]), (1, ["hold", "hold", "down", "down"])]
)
def test_a_robots_file_that_cannot_be_had_takes_a_mirror_down(world, others, waits):
    """At once if another is well."""
    for name in ("b.example", "c.example"):
        world.frontier.hosts.change(world.frontier.host_hash(name), name).failures = others
    states = []
    for _ in range(4):
        lease = world.robots_lease()
        world.robots.settle(visit(lease, Failed(Fault.CONNECT)))
        entry = world.frontier.robots.latest(world.frontier.host_hash("site.example"), "http://site.example")
        states.append((entry.record.state, (entry.record.until - world.frontier.micros()) / 1e6))
    assert states == list(zip(waits, [60.0, 120.0, 240.0, 480.0], strict=True))


def test_where_robots_files_are_not_obeyed_only_what_is_down_is_left_alone(world):
    own = RobotsFiles(
        world.frontier,
        world.admission,
        RobotsConfig(obey=False),
        world.frontier.micros,
        sitemaps=False,
        guess_sitemap=False,
        mirrors=MIRRORS,
    )
    url = url_of_rank(0)
    lease = world.lease(url.text, kind=LinkKind.NAVIGATION)
    forbidden = RobotsEntry(RobotsRecord("rules", 1 << 60), rules("User-agent: *\nDisallow: /"))
    own.keep(url.origin, url, forbidden)
    assert isinstance(world.robots.refusal(lease), Refused)
    assert own.refusal(lease) is None
    own.take_down(url, 100.0, Reason(Fault.CONNECT))
    refused = own.refusal(lease)
    assert isinstance(refused, Refused) and refused.rule is Rule.MIRROR


def test_what_is_wanted_by_force_is_asked_for_where_it_is(world_of):
    world = world_of(scope=ScopeConfig(mode="any"))
    shared = Admission(
        world.frontier,
        world.identity,
        Scope(ScopeConfig(mode="any"), ()),
        world.counters,
        Observers([]),
        record_rejected=True,
        mirrors=MIRRORS,
    )
    url = next(
        url for number in range(99) if MIRRORS.address(url := parsed(f"http://b.example/{number}")) is not url
    )
    assert shared.admit(Candidate(url, LinkKind.NAVIGATION, forced=True))
    assert shared.admit(Candidate(url, LinkKind.NAVIGATION))
    assert not shared.admit(Candidate(MIRRORS.address(url), LinkKind.NAVIGATION))
    waiting = {
        host: world.frontier.hosts.get(world.frontier.host_hash(host))
        for host in ("b.example", MIRRORS.address(url).host)
    }
    assert [record.queued for record in waiting.values()] == [1, 1]
