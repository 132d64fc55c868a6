"""What the frontier counts, releases, forgets and reorders; gifts on their way to URLs that wait."""

import pytest
from frontier_world import FrontierWorld

from gossamer.frontier import standings as standings_module
from gossamer.frontier.domains import DomainTable
from gossamer.frontier.queues import delayed as delayed_module
from gossamer.frontier.robots_table import RobotsEntry
from gossamer.frontier.standings import ORDER, ORDER_NAME, Standings
from gossamer.frontier.steering import Steering
from gossamer.frontier.tally import Tally
from gossamer.model.candidate import Candidate
from gossamer.model.disposition import Blame, Done, Dropped, Parked, Retry
from gossamer.model.link import LinkKind
from gossamer.model.reasons.reason import text
from gossamer.model.url import Url
from gossamer.policy.ordering.opic import Opic, OpicConfig
from gossamer.policy.visits.budget import BudgetConfig
from gossamer.state.environment import Family
from gossamer.state.keys import FOREVER, split_ticket
from gossamer.state.records import COUNTERS, Counters, RobotsRecord, decode

SECOND = 1_000_000
A, B = "http://a.example", "http://b.example"


@pytest.fixture
def make(tmp_path):
    made = []

    def world(**told):
        made.append(FrontierWorld(tmp_path / str(len(made)), **{"rest": 0.0, **told}))
        return made[-1]

    yield world
    for each in made:
        each.close()


def record(world, name="a.example"):
    return world.frontier.hosts.get(world.frontier.host_hash(name))


def done(world, lease, disposition=None, **tally):
    world.settle(lease, disposition or Done(), Tally(**{"host_failed": False, **tally}))


def test_each_host_is_counted_once(make):
    world = make()
    for url in (f"{A}/1", f"{B}/1", f"{A}/2"):
        world.admit(url)
    assert (world.frontier.counters.hosts, world.frontier.counters.admitted) == (2, 3)


def test_leases_out_are_counted(make):
    world = make(leases=9)
    for number in range(3):
        world.admit(f"{A}/{number}")
    leases = [world.frontier.lend() for _ in range(3)]
    assert (world.frontier.lent, world.frontier.under_way) == (3, 3)
    for left, lease in zip((2, 1, 0), leases, strict=True):
        done(world, lease)
        assert world.frontier.lent == left == world.frontier.under_way
    assert world.counters == Counters(sequence=3, admitted=3, hosts=1)


@pytest.mark.parametrize(
    ("disposition", "queued", "waiting", "due", "attempts"),
    [
        (Done(), 0, 0, 0, None),
        (Dropped(text("x")), 0, 0, 0, None),
        (Retry(7.0, Blame.HOST, text("x")), 1, 0, 7 * SECOND, 0),
        (Retry(7.0, Blame.URL, text("x")), 0, 1, 0, 1),
        (Parked(text("x")), 0, 1, 0, None),
    ],
)
def test_what_becomes_of_an_entry(make, disposition, queued, waiting, due, attempts):
    world = make()
    world.admit(f"{A}/1")
    start = world.micros
    done(world, world.frontier.lend(), disposition)
    found = record(world)
    assert (
        (found.queued, found.waiting) == (queued, waiting) == (world.counters.queued, world.counters.waiting)
    )
    assert found.due == start + due
    assert bool(found.reason) is bool(due)
    assert len([*world.environment.scan(Family.QUEUE)]) == queued
    assert len([*world.environment.scan(Family.LATER)]) == waiting
    if attempts is not None:
        world.micros += 7 * SECOND
        assert world.frontier.lend().candidate.attempts == attempts


def test_a_rest_is_counted_from_the_end_and_the_longest_is_known(make):
    world = make()
    for number in range(3):
        world.admit(f"{A}/{number}")
    for rest, longest in ((2.0, 2), (5.0, 5), (1.0, 5)):
        lease = world.frontier.lend()
        world.micros += SECOND
        done(world, lease, rest=rest)
        assert record(world).due == world.micros + int(rest * SECOND)
        assert world.frontier.longest_rest == longest * SECOND
        world.micros = record(world).due


def test_a_host_lies_still_for_the_longest_reason(make):
    world = make()
    world.admit(f"{A}/1")
    for seconds, due in ((5.0, 5), (3.0, 5), (9.0, 9)):
        with world.frontier.changes():
            world.frontier.rest("a.example", seconds, text(f"for {seconds}"))
        assert record(world).due == world.micros + due * SECOND
        assert record(world).reason == text(f"for {seconds}")
    assert world.frontier.lend() is None
    assert world.frontier.next_due() == world.micros + 9 * SECOND
    assert world.frontier.now() == world.micros / 1e6


@pytest.mark.parametrize("served", [False, True])
def test_what_was_held_for_a_robots_file_is_released(make, served):
    world = make(leases=9, obey=True)
    held = RobotsEntry(RobotsRecord("hold", world.micros + 500 * SECOND))
    host = world.frontier.host_hash("a.example")
    with world.frontier.changes() as batch:
        world.frontier.robots.put(host, A, held, batch)
        world.frontier.robots.put(host, "https://a.example", held, batch)
    for url in (f"{A}/1", "https://a.example/2", f"{A}/3"):
        world.admit(url)
    if served:
        world.frontier.robots.put(
            host, "http://a.example:81", RobotsEntry(RobotsRecord("open", FOREVER)), world.environment.batch()
        )
        world.admit("http://a.example:81/4")
        world.admit("http://a.example:81/5")
        assert world.frontier.lend().candidate.url.port == 81
    else:
        assert world.frontier.lend() is None
    assert record(world).waiting == 3
    known = RobotsEntry(RobotsRecord("open", FOREVER))
    with world.frontier.changes() as batch:
        world.frontier.robots.put(host, A, known, batch)
        world.frontier.release("a.example", A)
        world.frontier.release("a.example", A)
    assert (record(world).waiting, world.counters.waiting) == (1, 1)
    got = []
    world.micros += SECOND
    while (lease := world.frontier.lend()) is not None:
        got.append(lease.candidate.url.text)
    later = ["http://a.example:81/5"] if served else []
    assert got == [f"{A}/1", f"{A}/3", *later], "before what was found after them"


def test_of_very_many_that_were_held_some_are_released_at_once(make, monkeypatch):
    monkeypatch.setattr(delayed_module, "PROMOTED_AT_ONCE", 2)
    world = make(leases=9, obey=True)
    held = RobotsEntry(RobotsRecord("hold", world.micros + 500 * SECOND))
    host = world.frontier.host_hash("a.example")
    with world.frontier.changes() as batch:
        world.frontier.robots.put(host, A, held, batch)
    for number in range(5):
        world.admit(f"{A}/{number}")
    assert world.frontier.lend() is None
    world.frontier.release("a.example", A)
    assert (record(world).waiting, record(world).queued) == (3, 2)


def test_what_was_tried_before_waits_on_when_a_robots_file_comes(make):
    world = make()
    world.admit(f"{A}/1")
    done(world, world.frontier.lend(), Retry(500, Blame.URL, text("x")))
    with world.frontier.changes():
        world.frontier.release("a.example", A)
    assert record(world).waiting == 1 and world.frontier.lend() is None


def test_after_a_failure_nothing_is_committed_any_more(make):
    world = make()
    world.admit(f"{A}/1")
    with pytest.raises(RuntimeError, match="disk"), world.frontier.changes():
        world.counters.pages = 99
        raise RuntimeError("disk")
    with pytest.raises(RuntimeError, match="disk"), world.frontier.changes():
        pass
    assert decode(world.environment.get(Family.META, COUNTERS), Counters).pages == 0


def test_changes_within_changes_are_one(make):
    world = make()
    with world.frontier.changes() as outer:
        with world.frontier.changes() as inner:
            assert inner is outer
        inner.put(Family.META, b"x", b"1")
        assert world.environment.get(Family.META, b"x") is None
    assert world.environment.get(Family.META, b"x") == b"1"


def test_the_census(make):
    world = make(leases=9)
    assert world.frontier.census().largest_name == ""
    for number in range(3):
        world.admit(f"{A}/{number}")
    for number in range(2):
        world.admit(f"{B}/{number}")
    leases = [world.frontier.lend() for _ in range(2)]
    with world.frontier.changes():
        world.frontier.rest("b.example", 50.0, text("x"))
    census = world.frontier.census()
    assert (census.lent, census.largest_name, census.largest_queue, census.resting) == (2, "a.example", 3, 1)
    done(world, next(lease for lease in leases if lease.queue_key == "a.example"), rest=4.0)
    assert world.frontier.census().largest_rest in (4.0, 0.0)


def test_robots_files_go_ahead_and_are_never_seen(make):
    world = make(leases=9)
    world.admit(f"{A}/1")
    robots = Candidate(Url.parse(f"{A}/robots.txt"), LinkKind.ROBOTS, origin=A)
    world.frontier.admit_robots(robots)
    world.frontier.admit_robots(robots)
    got = [world.frontier.lend().candidate.kind for _ in range(3)]
    assert got == [LinkKind.ROBOTS, LinkKind.ROBOTS, LinkKind.SEED]


@pytest.mark.parametrize(("pages", "size"), [(1, 0), (0, 5), (0, 0), (2, 9)])
def test_accounts_of_domains(make, pages, size):
    world = make()
    domains = DomainTable(world.environment, lambda name: name.encode().ljust(8)[:8], BudgetConfig(star=True))
    candidate = Candidate(Url.parse("http://www.a.example/1"), LinkKind.NAVIGATION, 1, "L")
    assert domains.get("a.example") is None and domains.spent("www.a.example") is None
    domains.admitted(candidate)
    domains.lend("www.a.example")
    domains.lend("b.a.example")
    assert domains.lent("a.example") == domains.lent("www.a.example") == 2
    domains.settle("www.a.example", Tally(pages=pages, bytes=size))
    assert domains.lent("a.example") == 1
    found = domains.get("a.example")
    assert (found.pages, found.bytes, found.admitted, found.seeded) == (pages, size, 1, False)
    domains.settle("b.a.example", Tally())
    assert domains.lent("a.example") == 0 and not domains._lent


@pytest.mark.parametrize(
    ("kind", "hops", "seeded"),
    [
        (LinkKind.SEED, "", True),
        (LinkKind.REDIRECT, "RR", True),
        (LinkKind.REDIRECT, "LR", False),
        (LinkKind.NAVIGATION, "L", False),
        (LinkKind.SITEMAP, "", False),
    ],
)
def test_seeded_domains(make, kind, hops, seeded):
    world = make()
    domains = DomainTable(world.environment, lambda name: name.encode().ljust(8)[:8], BudgetConfig(star=True))
    domains.admitted(Candidate(Url.parse(f"{A}/1"), kind, hops=hops))
    assert domains.get("a.example").seeded is seeded
    domains.linked(["b.a.example", "other.example"], "c.a.example")
    assert domains.get("a.example").linkers == b"", "its own links count for nothing"
    domains.linked(["b.a.example", "www.a.example"], "other.example")
    assert domains.get("a.example").linkers != b"" and domains.get("other.example") is None


# Gifts …


def opic_world(make, **told):
    return make(ordering=lambda: Opic(OpicConfig()), **told)


def level(world, url):
    return split_ticket(world.frontier.standings.find(world.fingerprint(url))[0])[0]


def give(world, finder, *urls):
    with world.frontier.changes():
        source = Candidate(Url.parse(finder))
        gift = world.frontier.gift(world.fingerprint(finder), source, len(urls), 0)
        for url in urls:
            world.frontier.admit(
                Candidate(Url.parse(url), LinkKind.NAVIGATION, 1, "L", finder), world.fingerprint(url), gift
            )


def test_a_gift_moves_a_url_that_waits(make):
    world = opic_world(make)
    for number in range(3):
        world.admit(f"{B}/{number}")
    give(world, f"{B}/0", f"{A}/x", f"{A}/y")
    before = level(world, f"{A}/y")
    assert level(world, f"{A}/x") == before
    give(world, f"{B}/1", f"{A}/y")
    assert level(world, f"{A}/y") == before, "it is on its way"
    assert world.frontier.standings.due
    leases = [world.frontier.lend() for _ in range(3)]
    assert level(world, f"{A}/y") < before
    assert not world.frontier.standings.due
    assert any(lease and lease.candidate.url.text == f"{A}/y" for lease in leases)
    ledger = world.frontier.ordering.ledger
    assert ledger.moving == 0


def test_gifts_are_given_after_a_while_though_they_are_few(make):
    world = opic_world(make)
    for number in range(200):
        world.admit(f"{B}/{number}")
    give(world, f"{B}/0", f"{A}/x")
    standings = world.frontier.standings
    standings._givers, standings._next_drain = 100, 150
    give(world, f"{B}/1", f"{A}/x")
    assert not standings.due
    world.micros += standings_module.DRAIN_EVERY - 1
    assert not standings.due
    world.micros += 1
    assert standings.due and standings_module.DRAIN_EVERY == SECOND


def test_very_many_gifts_are_given_in_steps(make, monkeypatch):
    monkeypatch.setattr(standings_module, "GIVEN_AT_ONCE", 2)
    world = opic_world(make)
    world.admit(f"{B}/0")
    world.admit(f"{B}/1")
    urls = [f"{A}/{number}" for number in range(5)]
    give(world, f"{B}/0", *urls)
    give(world, f"{B}/1", *urls)
    moved = []
    while world.frontier.standings.due:
        with world.frontier.changes() as batch:
            world.frontier.reordering.run(batch)
        moved.append(sum(world.frontier.standings.find(world.fingerprint(url))[1].voice > 0 for url in urls))
        assert len(moved) < 9
    assert len(moved) == 3 and world.frontier.ordering.ledger.moving == 0


def test_what_nobody_receives_is_lost_and_counted(make):
    world = opic_world(make)
    world.admit(f"{B}/0")
    give(world, f"{B}/0", f"{A}/x")
    ledger = world.frontier.ordering.ledger
    standings = world.frontier.standings
    with world.frontier.changes():
        gift = world.frontier.gift(world.fingerprint(f"{A}/x"), Candidate(Url.parse(f"{A}/x")), 1, 0)
    standings.mention(b"never admitted00", gift)
    assert ledger.moving > 0
    standings.forget(lambda key: key == b"never admitted00")
    assert ledger.moving == 0
    assert world.frontier.gift(world.fingerprint(f"{B}/0"), Candidate(Url.parse(f"{B}/0")), 0, 0) is None


def test_a_url_that_is_settled_gives_up_what_it_holds(make):
    world = opic_world(make)
    world.admit(f"{A}/x")
    ledger = world.frontier.ordering.ledger
    assert ledger.bank == 0
    with world.frontier.changes() as batch:
        world.frontier.close(world.fingerprint(f"{A}/x"), batch)
        world.frontier.close(world.fingerprint(f"{A}/unknown"), batch)
    assert ledger.bank == ledger.total > 0
    assert world.frontier.standings.find(world.fingerprint(f"{A}/x"))[0] == b""


@pytest.mark.parametrize("by_hand", [False, True])
def test_what_is_queued_again_keeps_its_standing(make, by_hand):
    world = opic_world(make)
    world.admit(f"{A}/x")
    voice = world.frontier.standings.find(world.fingerprint(f"{A}/x"))[1].voice
    known = world.frontier.ordering.ledger.known
    if by_hand:
        Steering(world.frontier).readmit(Candidate(Url.parse(f"{A}/x")), world.fingerprint(f"{A}/x"))
    else:
        world.admit(f"{A}/x", forced=True)
    assert world.frontier.ordering.ledger.known == known
    assert world.frontier.standings.find(world.fingerprint(f"{A}/x"))[1].voice == voice


class Other(Opic):
    name = "other"


@pytest.mark.parametrize(("ordering", "kept"), [(Opic, True), (Other, False)])
def test_another_order_begins_anew(make, ordering, kept):
    world = opic_world(make)
    world.admit(f"{A}/x")
    total = world.frontier.ordering.ledger.total
    world.ordering = lambda: ordering(OpicConfig())
    world.reopen()
    assert (world.frontier.standings.find(world.fingerprint(f"{A}/x")) is not None) is kept
    assert world.frontier.ordering.ledger.total == (total if kept else 0)
    assert len(world.warnings) == (not kept)
    assert world.environment.get(Family.META, ORDER_NAME) == ordering.name.encode()
    assert world.frontier.order_figures()["name"] == ordering.name
    assert world.frontier.lend().candidate.url.text == f"{A}/x", "what waits stays"


@pytest.mark.parametrize(("order", "kept"), [(None, True), (b"nonsense", False)])
def test_a_state_that_does_not_say_whose_it_is(make, order, kept):
    world = opic_world(make)
    world.admit(f"{A}/x")
    batch = world.environment.batch()
    batch.delete(Family.META, ORDER_NAME)
    if order is not None:
        batch.put(Family.META, ORDER, order)
    world.environment.commit(batch)
    world.reopen()
    assert (world.frontier.standings.find(world.fingerprint(f"{A}/x")) is not None) is kept
    assert isinstance(world.frontier.standings, Standings)


def test_without_such_an_order_there_are_no_gifts(make):
    world = make()
    world.admit(f"{A}/x")
    assert world.frontier.gift(b"f", Candidate(Url.parse(f"{A}/x")), 3, 0) is None
    assert world.frontier.appraise(b"f", Candidate(Url.parse(f"{A}/x")), None) is None
    assert world.frontier.order_figures() == {"name": "bfs"}
