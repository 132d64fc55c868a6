"""Hosts that move from one frontier to another: what arrives, what is left behind, what the sums say."""

import msgspec
import pytest
from frontier_world import FrontierWorld

from gossamer.frontier.arrivals import FAMILIES, Arrivals, Origin
from gossamer.frontier.departures import LEAVING, Departures
from gossamer.frontier.domains import DomainTable
from gossamer.frontier.queues.active_hosts import OWNER_LATER
from gossamer.frontier.reweighing import REWEIGH, Reweighing
from gossamer.frontier.robots_table import RobotsEntry
from gossamer.frontier.tally import Tally
from gossamer.model.disposition import Blame, Done, Parked, Retry
from gossamer.model.errors import InternalError
from gossamer.model.link import LinkKind
from gossamer.model.reasons.reason import text
from gossamer.policy import distinct
from gossamer.policy.branches.tree import BranchConfig
from gossamer.policy.ordering.opic import Opic, OpicConfig
from gossamer.policy.visits.budget import BudgetConfig
from gossamer.state.environment import Family
from gossamer.state.keys import FOREVER, later_key, split_later, ticket
from gossamer.state.records import (
    DomainRecord,
    HostRecord,
    PageRecord,
    PlaceRecord,
    QueueRecord,
    RobotsRecord,
    decode_host,
    decode_page,
    decode_robots,
    encode,
)

SECOND = 1_000_000
A, B = "http://a.example", "http://b.example"


@pytest.fixture
def make(tmp_path):
    made = []

    def world(name, **told):
        made.append(FrontierWorld(tmp_path / name, rest=told.pop("rest", 0.0), **told))
        return made[-1]

    yield world
    for each in made:
        each.close()


def hash_of(world, name="a.example"):
    return world.frontier.host_hash(name)


def move(source, target, *, shift=0, name="a.example", canonical=lambda url: url.text, families=FAMILIES):
    """Move one host with all that belongs to it; the source's frontier is told nothing."""
    arrivals = Arrivals(target.frontier, Origin(source.environment, "agent-2", shift), canonical)
    host = hash_of(source, name)
    with target.frontier.changes() as batch:
        for family in families:
            for key, value in source.environment.scan(family, prefix=host):
                arrivals.put(family, key, value, batch)
        target.save_counters(batch)
    return arrivals


def sums(world):
    counters = world.counters
    return {
        name: getattr(counters, name)
        for name in ("queued", "waiting", "again", "hosts", "hosts_parked", "admitted", "aside")
    }


def leased(world):
    found = []
    while (lease := world.frontier.lend()) is not None:
        found.append(lease.candidate.url.text)
        world.settle(lease, Done(), Tally(host_failed=False))
    return found


def test_all_that_belongs_to_a_host_arrives(make):
    source, target = make("source"), make("target")
    for number in range(4):
        source.admit(f"{A}/{number}", depth=number % 2)
    source.admit(f"{B}/")
    target.admit(f"{B}/mine")
    first = source.frontier.lend()
    while first.queue_key != "a.example":
        first = source.frontier.lend()
    source.settle(first, Retry(50, Blame.URL, text("later")), Tally(host_failed=False))
    arrivals = move(source, target)
    assert arrivals.sequence == source.counters.sequence == 5
    assert sums(target) == {
        "queued": 4,
        "waiting": 1,
        "again": 0,
        "hosts": 2,
        "hosts_parked": 0,
        "admitted": 5,
        "aside": 0,
    }
    assert not target.admit(f"{A}/3"), "it is seen"
    assert target.admit(f"{A}/new")
    assert target.counters.sequence == 6, "numbered above theirs"
    assert [url for url in leased(target) if url.startswith(A)] == [
        f"{A}/{name}" for name in (2, "new", 1, 3)
    ]
    target.micros += 50 * SECOND
    assert leased(target) == [f"{A}/0"]
    assert not any(value for name, value in sums(target).items() if name in ("queued", "waiting"))


@pytest.mark.parametrize(
    ("due", "shift", "moved"),
    [(100, 50, 150), (100, -50, 50), (100, -500, 1), (FOREVER, 50, FOREVER), (FOREVER - 10, 50, FOREVER - 1)],
)
def test_times_go_from_their_clock_to_ours(make, due, shift, moved):
    source, target = make("source"), make("target")
    host = hash_of(source)
    batch = source.environment.batch()
    entry = QueueRecord(f"{A}/1", LinkKind.SEED, 0, "", "", ticket=ticket(1, 1))
    batch.put(Family.LATER, later_key(host, due, 1), encode(entry))
    batch.put(Family.ROBOTS, host + A.encode(), encode(RobotsRecord("hold", due, failures=2)))
    known = HostRecord(
        "a.example", due=due, waiting=1, later_due=due, wake=7, last_visit=due, failing_since=9.0
    )
    batch.put(Family.HOSTS, host, encode(known))
    source.environment.commit(batch)
    move(source, target, shift=shift)
    ((key, _),) = target.environment.scan(Family.LATER)
    assert split_later(key) == (moved, 1)
    ((_, robots),) = target.environment.scan(Family.ROBOTS)
    assert (decode_robots(robots).until, decode_robots(robots).failures) == (moved, 2)
    record = target.frontier.hosts.get(host)
    assert (record.later_due, record.last_visit) == (moved, moved)
    assert record.failing_since == pytest.approx(9.0 + shift / 1e6)
    assert record.due == max(moved, target.micros)
    assert record.wake == max(record.due, moved)


@pytest.mark.parametrize(
    ("rest", "last", "delay", "owed"), [(3.0, 1.0, -1.0, 3.0), (3.0, 9.0, -1.0, 9.0), (3.0, 9.0, 20.0, 20.0)]
)
def test_each_host_first_rests_its_own_rest(make, rest, last, delay, owed):
    source, target = make("source"), make("target", rest=rest)
    source.admit(f"{A}/1")
    source.admit(f"{A}/2")
    source.settle(source.frontier.lend(), Done(), Tally(rest=last, host_failed=False))
    with source.frontier.changes():
        source.frontier.hosts.change(hash_of(source), "a.example").crawl_delay = delay
    target.micros += 500 * SECOND  # the rest of its last visit is over, by the other clock
    move(source, target)
    assert target.frontier.hosts.get(hash_of(target)).due == target.micros + int(owed * SECOND)
    assert target.frontier.lend() is None
    target.micros += int(owed * SECOND)
    assert target.frontier.lend() is not None


def test_branches_come_along_with_what_is_set_aside(make):
    source, target = make("source"), make("target")
    for world in (source, target):
        world.frontier.queues._config = BranchConfig(begin=2)
    for name in "abcdef":
        source.admit(f"{A}/{name}/x")
    host = hash_of(source)
    record = source.frontier.hosts.get(host)
    tree = source.frontier.queues.tree(host, record)
    node = next(node for node in tree.nodes.values() if node.record.label == "e")
    with source.frontier.changes():
        record = source.frontier.hosts.change(host, "a.example")
        source.frontier.queues._set_aside(record, tree.set_aside(node))
    assert source.counters.aside == record.aside == 1
    move(source, target)
    assert target.counters.aside == 1 and len(leased(target)) == 5
    depart(source)
    assert sums(source) == dict.fromkeys(sums(source), 0)
    assert not source.frontier.queues._trees, "they are not kept in memory"
    assert source.frontier.queues._held == 0, "and nothing is reckoned for them"


@pytest.mark.parametrize("parked", [False, True])
def test_parked_hosts_stay_so(make, parked):
    source, target = make("source"), make("target")
    source.admit(f"{A}/1")
    if parked:
        source.frontier.park("a.example", text("dead"))
    move(source, target)
    assert target.counters.hosts_parked == parked
    assert (target.frontier.lend() is None) is parked
    assert bool(target.frontier.hosts.get(hash_of(target)).wake) is not parked


@pytest.mark.parametrize(
    ("waiting", "due"),
    [(Parked(text("x")), FOREVER), (Retry(40, Blame.URL, text("x")), 40 * SECOND), (Done(), 0)],
)
def test_who_only_waits_is_woken_then(make, waiting, due):
    source, target = make("source"), make("target")
    source.admit(f"{A}/1")
    source.settle(source.frontier.lend(), waiting, Tally(host_failed=False))
    move(source, target)
    expected = min(due, FOREVER) if due in (0, FOREVER) else source.micros + due
    assert target.frontier.hosts.get(hash_of(target)).wake == expected


def test_what_is_owned_by_nobody_yet_is_looked_at_later(make):
    source, target = make("source"), make("target")
    source.admit(f"{A}/1")
    target.frontier.policy = msgspec.structs.replace(target.frontier.policy, owns=lambda _: True)
    move(source, target)
    assert target.frontier.hosts.get(hash_of(target)).wake == target.micros + OWNER_LATER
    assert OWNER_LATER == 30 * SECOND


@pytest.mark.parametrize(
    ("file", "moved"), [("x.warc.gz", "agent-2/x.warc.gz"), ("agent-3/x.warc.gz", "agent-3/x.warc.gz")]
)
def test_pages_say_in_whose_archive_they_stand(make, file, moved):
    source, target = make("source"), make("target")
    with source.frontier.changes() as batch:
        page = PageRecord(f"{A}/1", "done", place=PlaceRecord(file, 5, 7), title="t")
        batch.put(Family.PAGES, source.fingerprint(f"{A}/1"), encode(page))
        batch.put(Family.PAGES, source.fingerprint(f"{A}/2"), encode(PageRecord(f"{A}/2", "rejected")))
    move(source, target)
    page = decode_page(target.environment.get(Family.PAGES, target.fingerprint(f"{A}/1")))
    assert (page.place.file, page.place.offset, page.place.length, page.title) == (moved, 5, 7, "t")
    other = decode_page(target.environment.get(Family.PAGES, target.fingerprint(f"{A}/2")))
    assert (other.place, other.state) == (None, "rejected")
    assert target.counters.admitted == 0


BLOOM = {"visited": "bloom", "bloom_urls": 1_000}


@pytest.mark.parametrize("from_filter", [False, True])
@pytest.mark.parametrize("to_filter", [False, True])
def test_what_was_admitted_is_known_whatever_table_keeps_it(make, from_filter, to_filter):
    """A Bloom filter does not know what it holds: what was admitted is queued, waits, or has a page."""
    source = make("source", **(BLOOM if from_filter else {}))
    target = make("target", **(BLOOM if to_filter else {}))
    for number in range(3):
        source.admit(f"{A}/{number}")
    settled = source.frontier.lend()
    source.settle(settled, Done(), Tally(host_failed=False))
    waits = source.frontier.lend()
    source.settle(waits, Retry(50, Blame.URL, text("later")), Tally(host_failed=False))
    with source.frontier.changes() as batch:
        for url, state in ((f"{A}/0", "done"), (f"{A}/rejected", "rejected")):
            batch.put(Family.PAGES, source.fingerprint(url), encode(PageRecord(url, state)))
    with source.frontier.changes():
        pass
    move(source, target)
    assert [
        f"{A}/{number}" for number in range(3) if target.fingerprint(f"{A}/{number}") in target.frontier.seen
    ] == [f"{A}/{number}" for number in range(3)]
    assert target.fingerprint(f"{A}/rejected") not in target.frontier.seen
    assert target.counters.admitted == 3
    target.reopen()
    assert all(target.fingerprint(f"{A}/{number}") in target.frontier.seen for number in range(3))
    assert not target.admit(f"{A}/1")


def test_a_filter_goes_by_canonical_forms(make):
    source, target = make("source", **BLOOM), make("target")
    source.admit(f"{A}/1?b")
    move(source, target, canonical=lambda url: url.text.removesuffix("?b"))
    assert target.fingerprint(f"{A}/1") in target.frontier.seen
    assert target.fingerprint(f"{A}/1?b") not in target.frontier.seen


def test_standings_come_along_and_credit_is_conserved(make):
    make_opic = lambda: Opic(OpicConfig())  # noqa: E731
    source, target = make("source", ordering=make_opic), make("target", ordering=make_opic)
    source.admit(f"{A}/1")
    target.admit(f"{B}/1")
    ours, theirs = (world.frontier.ordering.ledger.total for world in (target, source))
    arrivals = move(source, target)
    assert arrivals.sequence == 1
    assert target.frontier.ordering.ledger.total == ours + theirs
    fingerprint = source.fingerprint(f"{A}/1")
    assert target.frontier.standings.find(fingerprint)[0] == source.frontier.standings.find(fingerprint)[0]
    other = make("other")
    move(source, other)
    assert other.environment.get(Family.STANDINGS, fingerprint) is None


def test_domains_are_added_up(make):
    source, target = make("source"), make("target")
    arrivals = Arrivals(target.frontier, Origin(source.environment, "x", 0), lambda url: url.text)
    theirs = DomainRecord("a.example", 5, b"", True, 2, 100)
    arrivals.put_domain(encode(theirs))

    def table(environment):
        return DomainTable(environment, lambda name: name.encode().ljust(8)[:8], BudgetConfig(star=True))

    domains = target.frontier.domains = table(target.environment)
    linker = distinct.add(b"", b"l" * distinct.HASH_BYTES)
    arrivals.put_domain(encode(DomainRecord("a.example", 5, linker, False, 2, 100)))
    assert domains.get("a.example") == DomainRecord("a.example", 5, linker, False, 2, 100)
    arrivals.put_domain(encode(theirs))
    assert domains.get("a.example") == DomainRecord("a.example", 10, linker, True, 4, 200)
    batch = target.environment.batch()
    domains.flush(batch)
    target.environment.commit(batch)
    assert table(target.environment).get("a.example").admitted == 10
    with target.frontier.changes() as batch:
        Departures(target.frontier).delete_domain("a.example", batch)
    assert domains.get("a.example") is None
    target.frontier.domains = None
    with target.frontier.changes() as batch:
        Departures(target.frontier).delete_domain("a.example", batch)


# Leaving …


def depart(world, name="a.example"):
    host = hash_of(world, name)
    departures = Departures(world.frontier)
    departures.begin(lambda key: key[:8] == host)
    with world.frontier.changes() as batch:
        for family in LEAVING:
            for key, value in world.environment.scan(family, prefix=host):
                departures.delete(family, key, value, batch)
        world.save_counters(batch)


@pytest.mark.parametrize("parked", [False, True])
def test_nothing_is_left_of_a_host_that_leaves(make, parked):
    world = make("one")
    for number in range(3):
        world.admit(f"{A}/{number}")
    world.admit(f"{B}/")
    lease = world.frontier.lend()
    world.settle(lease, Retry(40, Blame.URL, text("x")), Tally(host_failed=False))
    while (lease := world.frontier.lend()) and lease.queue_key != "a.example":
        world.settle(lease, Retry(40, Blame.URL, text("x")), Tally(host_failed=False))
    if lease:
        world.settle(lease, Done(), Tally(host_failed=False))
    if parked:
        world.frontier.park("a.example", text("dead"))
    with world.frontier.changes() as batch:
        world.frontier.robots.put(hash_of(world), A, RobotsEntry(RobotsRecord("open", FOREVER)), batch)
    depart(world)
    host = hash_of(world)
    assert all(not [*world.environment.scan(family, prefix=host)] for family in FAMILIES)
    found = sums(world)
    assert (found["hosts"], found["hosts_parked"], found["admitted"]) == (1, 0, 1)
    assert found["queued"] + found["waiting"] == 1
    assert world.frontier.hosts.get(host) is None
    assert world.frontier.robots.latest(host, A) is None
    world.micros += 100 * SECOND
    assert {url.split("/")[2] for url in leased(world)} == {"b.example"}
    assert world.admit(f"{A}/new")
    assert f"{A}/new" in leased(world)


def test_who_is_being_visited_may_not_leave(make):
    world = make("one")
    world.admit(f"{A}/1")
    world.frontier.lend()
    with pytest.raises(InternalError, match=r"a\.example"):
        Departures(world.frontier).begin(lambda _: True)
    Departures(world.frontier).begin(lambda _: False)


def test_credit_leaves_with_its_pages(make):
    make_opic = lambda: Opic(OpicConfig())  # noqa: E731
    world = make("one", ordering=make_opic)
    world.admit(f"{A}/1")
    alone = world.frontier.ordering.ledger.total
    world.admit(f"{B}/1")
    assert world.frontier.ordering.ledger.total == 2 * alone
    depart(world)
    assert world.frontier.ordering.ledger.total == alone
    assert world.environment.get(Family.STANDINGS, world.fingerprint(f"{A}/1")) is None


def test_there_and_back(make):
    one, two = make("one"), make("two")
    for number in range(3):
        one.admit(f"{A}/{number}")
    one.settle(one.frontier.lend(), Done(again=50.0), Tally(host_failed=False))
    before = sums(one)
    assert (before["queued"], before["waiting"], before["again"]) == (2, 0, 1)
    record = decode_host(one.environment.get(Family.HOSTS, hash_of(one)))
    move(one, two)
    depart(one)
    assert sums(one) == dict.fromkeys(before, 0)
    move(two, one)
    depart(two)
    assert sums(one) == before and sums(two) == dict.fromkeys(before, 0)
    again = one.frontier.hosts.get(hash_of(one))
    assert (again.queued, again.head, again.name) == (record.queued, record.head, record.name)
    assert leased(one) == [f"{A}/1", f"{A}/2"]
    one.micros += 50 * SECOND
    assert leased(one) == [f"{A}/0"], "it is due again by the clock of who has it"
    assert one.counters.again == 0


# Other weights …


class Weighed(Opic):
    """Places URLs by a number that the operator may change."""

    weight = 5

    def waiting_level(self, candidate, worth):
        return 1 + (self.weight if candidate.url.text.endswith("heavy") else 7)

    def reweighed(self, candidate, worth):
        return worth


def reweighing(world):
    return Reweighing(world.environment, world.frontier, world.frontier.ordering)


def test_what_waits_moves_to_its_place_under_other_weights(make):
    world = make("one", ordering=lambda: Weighed(OpicConfig()))
    for name in ("light", "heavy"):
        world.admit(f"{A}/{name}")
    world.frontier.ordering.weight = 9
    walk = reweighing(world)
    assert not walk.pending
    walk.begin()
    assert walk.pending and reweighing(world).pending
    walk.step(lambda: True)
    assert world.environment.get(Family.META, REWEIGH), "it goes on there after a crash"
    walk = reweighing(world)
    while walk.pending:
        walk.step(lambda: True)
    assert world.environment.get(Family.META, REWEIGH) is None
    levels = [
        world.frontier.standings.find(world.fingerprint(f"{A}/{name}"))[0] for name in ("light", "heavy")
    ]
    assert [int.from_bytes(place, "big") >> 40 & 0xFF for place in levels] == [8, 10]
    assert leased(world) == [f"{A}/light", f"{A}/heavy"]


def test_what_is_lent_stays_where_it_is(make):
    world = make("one", ordering=lambda: Weighed(OpicConfig()))
    world.admit(f"{A}/heavy")
    lease = world.frontier.lend()
    world.frontier.ordering.weight = 9
    walk = reweighing(world)
    walk.begin()
    walk.step(lambda: False)
    assert not walk.pending
    assert world.environment.get(Family.QUEUE, hash_of(world) + lease.ticket) is not None
    world.settle(lease, Done(), Tally(host_failed=False))
    assert world.counters.queued == 0


def test_orderings_without_weights_are_not_walked(make):
    for ordering in (None, lambda: Opic(OpicConfig())):
        world = make(f"o{ordering is None}", **({} if ordering is None else {"ordering": ordering}))
        walk = reweighing(world)
        walk.begin()
        assert not walk.pending
