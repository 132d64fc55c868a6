"""Shards moved from one frontier to another: the union is what it was, nothing twice, the sums exact."""

import asyncio
import shutil
import tempfile
from collections import defaultdict
from contextlib import contextmanager
from pathlib import Path

import msgspec
import pytest
from frontier_world import SMALL, FrontierWorld
from hypothesis import given, settings
from hypothesis import strategies as st

from gossamer.cluster.agent import transfer as moving
from gossamer.cluster.agent.digest_table import SHARED
from gossamer.cluster.agent.outbox import inbox_key, inbox_prefix
from gossamer.cluster.agent.transfer import ShardImport, Transfer
from gossamer.cluster.ranges import shard_of, spans
from gossamer.engine.admission.rejudging import Rejudging
from gossamer.engine.settlement.drop_one import TESTS
from gossamer.frontier.tally import Tally
from gossamer.model.disposition import Blame, Done, Parked, Retry, page_state
from gossamer.model.errors import InternalError
from gossamer.model.outcome import Rule
from gossamer.model.reasons.codes import RetryCode
from gossamer.model.reasons.reason import because, text
from gossamer.model.url import Url
from gossamer.policy.branches.tree import BranchConfig
from gossamer.policy.ordering.opic import Opic, OpicConfig
from gossamer.policy.scope.scope import Scope, ScopeConfig
from gossamer.policy.scope.url_traps import TrapConfig
from gossamer.policy.visits.budget import BudgetConfig
from gossamer.state.environment import Environment, Family
from gossamer.state.keys import FOREVER, Fingerprints, split_later
from gossamer.state.records import (
    CLOCK,
    ClockRecord,
    PageRecord,
    PlaceRecord,
    RobotsRecord,
    SharedDigestRecord,
    decode,
    decode_domain,
    decode_host,
    decode_page,
    decode_robots,
    encode,
)


def positions_of(environment, shard):
    """Position by sender of a shard, as on disk."""
    prefix = inbox_prefix(shard)
    rows = environment.scan(Family.OUTBOX, prefix=prefix)
    return {key[len(prefix) :].decode(): int.from_bytes(data) for key, data in rows}


BITS = 3
KEYS = Fingerprints(b"k" * 16)
SHARDS = range(1 << BITS)
HOSTS = [f"host-{number}.test" for number in range(24)]
MOVED = Tally(rest=2.0, pages=1, bytes=100, host_failed=False)
HOST_FAMILIES = (
    Family.QUEUE, Family.LATER, Family.SEEN, Family.PAGES, Family.HOSTS, Family.ROBOTS, Family.STANDINGS,
    Family.BRANCHES,
)  # fmt: skip


class KilledError(Exception):
    """As a kill would end it."""


def transfer_of(world: FrontierWorld, bits: int = BITS, arrived=()) -> Transfer:
    return Transfer(
        world.frontier,
        world.environment,
        asyncio.Lock(),
        bits=bits,
        canonical=lambda url: url.text,
        arrived=arrived,
    )


def take_in(world: FrontierWorld, source: Environment, shards, *, snapshot: int = 1) -> None:
    take = ShardImport("a-1", snapshot, tuple(shards))
    asyncio.run(transfer_of(world).take_in(source, take))


def drop(world: FrontierWorld, shards) -> None:
    asyncio.run(transfer_of(world).drop(shards))


@contextmanager
def snapshot_of(world: FrontierWorld):
    """The state of a world, read-only, as a snapshot of it would be."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "state"
        batch = world.environment.batch()
        batch.put(Family.META, CLOCK, encode(ClockRecord(world.micros / 1e6, "boot", 0.0)))
        world.environment.commit(batch)
        world.environment.checkpoint(place)
        source = Environment.open_read_only(place, SMALL)
        try:
            yield source
        finally:
            source.close()


def rows(environment: Environment) -> dict[tuple[Family, bytes], bytes]:
    return {(family, key): value for family in HOST_FAMILIES for key, value in environment.scan(family)}


def in_shards(row: tuple[Family, bytes], shards) -> bool:
    return shard_of(row[1], BITS) in shards


def sums(world: FrontierWorld) -> tuple[int, ...]:
    counters = world.counters
    return counters.queued, counters.waiting, counters.hosts, counters.hosts_parked, counters.admitted


def counted(world: FrontierWorld) -> tuple[int, ...]:
    """The same, by what there is."""
    number = {family: sum(1 for _ in world.environment.scan(family)) for family in Family}
    parked = sum(bool(decode_host(value).parked) for _, value in world.environment.scan(Family.HOSTS))
    return number[Family.QUEUE], number[Family.LATER], number[Family.HOSTS], parked, number[Family.SEEN]


def check_consistent(world: FrontierWorld) -> None:
    """The invariants of host records, queues and wake entries."""
    assert sums(world) == counted(world)
    wake = defaultdict(list)
    for key, _ in world.environment.scan(Family.WAKE):
        wake[key[8:]].append(int.from_bytes(key[:8], "big"))
    for key, value in world.environment.scan(Family.HOSTS):
        record = decode_host(value)
        assert record.queued == sum(1 for _ in world.environment.scan(Family.QUEUE, prefix=key))
        dues = [split_later(each)[0] for each, _ in world.environment.scan(Family.LATER, prefix=key)]
        assert record.waiting == len(dues)
        assert not dues or record.later_due <= min(dues)
        has_work = (record.queued or record.waiting) and not record.parked
        assert wake.pop(key, []) == ([record.wake] if has_work else [])
    assert not wake


def visit(world: FrontierWorld, what: str) -> None:
    """One visit of what is due next, ended in one of the ways a visit ends."""
    lease = world.frontier.lend()
    if lease is None:
        due = world.frontier.next_due()
        if due < 1 << 62:
            world.micros = max(world.micros + 1, due)
            lease = world.frontier.lend()
    if lease is None:
        return
    ends = {
        "done": Done(),
        "retry": Retry(30.0, Blame.URL, text("time-out")),
        "host": Retry(60.0, Blame.HOST, because(RetryCode.STATUS, 429)),
        "parked": Parked(text("held")),
    }
    world.settle(lease, ends[what], MOVED)
    url = lease.candidate.url.text
    page = PageRecord(url, page_state(ends[what]), place=PlaceRecord("F.warc.gz", 7, 9), visits=())
    with world.frontier.changes() as batch:
        batch.put(Family.PAGES, world.fingerprint(url), encode(page))
        if world.frontier.standings is not None:
            world.frontier.close(world.fingerprint(url), batch)


def robots(world: FrontierWorld, host: str, until: int) -> None:
    key = world.frontier.host_key(_url(host))[0] + f"http://{host}".encode()
    with world.frontier.changes() as batch:
        batch.put(Family.ROBOTS, key, encode(RobotsRecord("open", until)))


def _url(host: str) -> Url:
    return Url.parse(f"http://{host}/")


STEP = st.one_of(
    st.tuples(st.just("admit"), st.sampled_from(HOSTS), st.integers(0, 30)),
    st.tuples(st.just("visit"), st.sampled_from(["done", "done", "retry", "host", "parked"])),
    st.tuples(st.just("park"), st.sampled_from(HOSTS)),
    st.tuples(st.just("robots"), st.sampled_from(HOSTS), st.sampled_from([0, 5, 10**12, FOREVER])),
)


def live(world: FrontierWorld, steps, shards) -> None:
    """Do `steps`, as far as they concern hosts in `shards`."""
    for name, *what in steps:
        if name == "visit":
            visit(world, *what)
            continue
        if shard_of(world.frontier.host_key(_url(what[0]))[0], BITS) not in shards:
            continue
        if name == "admit":
            world.admit(f"http://{what[0]}/{what[1]}", depth=what[1] % 4)
        elif name == "park" and world.frontier.hosts.get(world.frontier.host_key(_url(what[0]))[0]):
            world.frontier.park(what[0], text("by the operator"))
        elif name == "robots":
            robots(world, *what)


@contextmanager
def two_worlds(**options):
    folder = Path(tempfile.mkdtemp())
    worlds = [FrontierWorld(folder / name, **options) for name in ("a", "b")]
    try:
        yield worlds
    finally:
        for world in worlds:
            world.close()
        shutil.rmtree(folder)


@pytest.mark.slow
@settings(max_examples=12, deadline=None)
@given(
    ours=st.lists(STEP, max_size=40),
    theirs=st.lists(STEP, max_size=80),
    moved=st.sets(st.sampled_from(SHARDS)),
    shift=st.integers(-(10**9), 10**9),
)
def test_union_is_what_it_was(ours, theirs, moved, shift):
    with two_worlds() as (a, b):
        live(a, theirs, SHARDS)
        b.micros += 10**9 + shift
        live(b, ours, set(SHARDS) - moved)
        before, had = rows(a.environment), rows(b.environment)
        sums_before = [one + other for one, other in zip(sums(a), sums(b), strict=True)]
        with snapshot_of(a) as source:
            take_in(b, source, moved)
        drop(a, moved)
        after, has = rows(a.environment), rows(b.environment)
        assert after == {row: value for row, value in before.items() if not in_shards(row, moved)}
        came = {row for row in before if in_shards(row, moved)}
        late = [row for row in came if row[0] is Family.LATER]
        there = {row for row in has if in_shards(row, moved)}
        assert {row for row in there if row[0] is not Family.LATER} == came - set(late)
        assert sum(row[0] is Family.LATER for row in there) == len(late)
        # Nothing of what was here before is touched.
        assert {row: value for row, value in has.items() if not in_shards(row, moved)} == had
        assert [one + other for one, other in zip(sums(a), sums(b), strict=True)] == sums_before
        check_consistent(a)
        check_consistent(b)
        assert b.counters.sequence >= (a.counters.sequence if came else 0)
        for world in (a, b):
            world.reopen()
            check_consistent(world)


def test_shared_digests_go_with_the_shard_of_their_mark_and_own_ones_stay():
    marks = [bytes([first]) + bytes(7) for first in range(0, 256, 16)]
    own = {b"c" + bytes(8): b"http://host-1.test/", b"p" + bytes(32): b"...", b"n" + b"host-1.test": b"1"}
    shared = {SHARED + mark: encode(SharedDigestRecord(mark.hex())) for mark in marks}
    moved = {0, 3, (1 << BITS) - 1}
    with two_worlds() as (a, b):
        for world, entries in ((a, own | shared), (b, {SHARED + marks[0]: b"from before"})):
            batch = world.environment.batch()
            for key, value in entries.items():
                batch.put(Family.DIGESTS, key, value)
            world.environment.commit(batch)
        with snapshot_of(a) as source:
            take_in(b, source, moved)
        drop(a, moved)
        theirs = {key: value for key, value in shared.items() if shard_of(key[1:], BITS) in moved}
        assert dict(b.environment.scan(Family.DIGESTS)) == theirs
        left = {key: value for key, value in shared.items() if key not in theirs}
        assert dict(a.environment.scan(Family.DIGESTS)) == own | left
        assert {len(theirs), len(left)} == {6, 10}


def test_times_move_to_our_clock_and_hosts_rest():
    with two_worlds() as (a, b):
        b.micros = a.micros * 3
        a.admit("http://host-1.test/1")
        a.admit("http://host-1.test/2")
        a.settle(a.frontier.lend(), Retry(30.0, Blame.URL, text("time-out")), MOVED)
        robots(a, "host-1.test", a.micros + 5_000_000)
        robots(a, "host-2.test", FOREVER)
        a.admit("http://host-3.test/1")
        a.settle(_lend(a), Parked(text("held")), Tally(rest=50.0, pages=1, bytes=1, host_failed=False))
        then = a.micros
        with snapshot_of(a) as source:
            take_in(b, source, SHARDS)
        hosts = {decode_host(value).name: decode_host(value) for _, value in b.environment.scan(Family.HOSTS)}
        waits = [split_later(key)[0] for key, _ in b.environment.scan(Family.LATER)]
        assert FOREVER in waits
        assert b.micros + 30_000_000 - (a.micros - then) in waits
        assert hosts["host-1.test"].due == b.micros + 2_000_000
        assert hosts["host-3.test"].due == b.micros + 50_000_000, "its own rest, from now"
        until = {decode_robots(value).until for _, value in b.environment.scan(Family.ROBOTS)}
        assert until == {b.micros + 5_000_000, FOREVER}
        assert b.frontier.lend() is None
        b.micros += 2_000_000
        assert b.frontier.lend().candidate.url.text == "http://host-1.test/2"


def _lend(world: FrontierWorld):
    while (lease := world.frontier.lend()) is None:
        due = world.frontier.next_due()
        assert world.micros < due < FOREVER, "nothing will ever be lent"
        world.micros = due
    return lease


def test_tickets_stay_and_new_ones_come_behind():
    with two_worlds() as (a, b):
        for number in range(5):
            a.admit(f"http://host-1.test/{number}", depth=1)
        with snapshot_of(a) as source:
            take_in(b, source, SHARDS)
        b.admit("http://host-1.test/new", depth=1)
        order = []
        while len(order) < 6:
            lease = _lend(b)
            order.append(lease.candidate.url.target)
            b.settle(lease, Done(), MOVED)
        assert order == ["/0", "/1", "/2", "/3", "/4", "/new"]
        assert not b.admit("http://host-1.test/3"), "what was seen there is seen here"


def test_pages_say_whose_archive_they_stand_in():
    with two_worlds() as (a, b):
        a.admit("http://host-1.test/1")
        visit(a, "done")
        with snapshot_of(a) as source:
            take_in(b, source, SHARDS)
        (page,) = [decode_page(value) for _, value in b.environment.scan(Family.PAGES)]
        assert page.place == PlaceRecord("a-1/F.warc.gz", 7, 9)
        with snapshot_of(b) as source:
            take_in(a, source, SHARDS, snapshot=2)
        (page,) = [decode_page(value) for _, value in a.environment.scan(Family.PAGES)]
        assert page.place == PlaceRecord("a-1/F.warc.gz", 7, 9), "as it was, over a second move"


def kill_at(monkeypatch, point: str, nth: int) -> None:
    left = [nth]

    def die(name: str) -> None:
        if name == point:
            left[0] -= 1
            if left[0] == 0:
                raise KilledError

    monkeypatch.setattr(moving, "fault_point", die)


def filled(world: FrontierWorld) -> None:
    for number in range(150):
        world.admit(f"http://{HOSTS[number % len(HOSTS)]}/{number}", depth=number % 3)
    for end in ("done", "retry", "done", "parked", "host", "done", "retry") * 3:
        visit(world, end)
    robots(world, HOSTS[0], 10**12)
    batch = world.environment.batch()
    for number in range(8):
        batch.put(Family.OUTBOX, inbox_key(number, "a-7"), (100 + number).to_bytes(8, "big"))
        host = world.frontier.host_key(_url(HOSTS[number]))[0]
        batch.put(Family.META, TESTS + host, b"tests")
    world.environment.commit(batch)


@pytest.mark.parametrize("point", ["import.begun", "import.slice", "import.complete"])
def test_killed_at_every_point_it_comes_out_the_same(point, monkeypatch):
    monkeypatch.setattr(moving, "SLICE", 20)
    shards = [1, 2, 5, 7]
    with two_worlds() as (a, b):
        filled(a)
        b.admit("http://elsewhere.test/")
        filled_here = [f"http://{host}/stale" for host in HOSTS]
        for url in filled_here:  # left over from an earlier time
            b.admit(url)
        with snapshot_of(a) as source:
            for nth in range(1, 200):
                kill_at(monkeypatch, point, nth)
                died = False
                try:
                    take_in(b, source, shards)
                except KilledError:
                    died = True
                b.reopen()
                check_consistent(b)
                if not died:
                    break
            else:
                pytest.fail("never came to an end")
            take_in(b, source, shards)  # complete: nothing happens
        came = {row for row in rows(a.environment) if in_shards(row, shards) and row[0] is not Family.LATER}
        assert {r for r in rows(b.environment) if in_shards(r, shards) and r[0] is not Family.LATER} == came
        assert positions_of(b.environment, 5) == {"a-7": 105}
        assert positions_of(b.environment, 3) == {}
        tests = [key[len(TESTS) :] for key, _ in b.environment.scan(Family.META, prefix=TESTS)]
        assert tests
        assert all(shard_of(host, BITS) in shards for host in tests)
        (done,) = transfer_of(b).imports()
        assert done.complete
        asyncio.run(transfer_of(b).wake_up(shards))
        assert transfer_of(b).imports() == []
        check_consistent(b)


@pytest.mark.slow
def test_killed_while_dropping_it_goes_on(monkeypatch):
    monkeypatch.setattr(moving, "SLICE", 20)
    shards = [1, 2, 5, 7]
    with two_worlds() as (a, _):
        filled(a)
        for nth in range(1, 200):
            kill_at(monkeypatch, "drop.slice", nth)
            try:
                drop(a, shards)
            except KilledError:
                a.reopen()
                assert sums(a) == counted(a)
            else:
                break
        check_consistent(a)
        assert not [row for row in rows(a.environment) if in_shards(row, shards)]
        assert positions_of(a.environment, 5) == {}
        assert positions_of(a.environment, 3) == {"a-7": 103}


def test_an_import_that_was_given_up_leaves_nothing(monkeypatch):
    monkeypatch.setattr(moving, "SLICE", 7)
    with two_worlds() as (a, b):
        filled(a)
        with snapshot_of(a) as source:
            kill_at(monkeypatch, "import.slice", 8)
            with pytest.raises(KilledError):
                take_in(b, source, SHARDS)
            monkeypatch.setattr(moving, "fault_point", lambda _: None)
            b.reopen()
            assert not transfer_of(b).imports()[0].complete
            drop(b, [3])
        assert rows(b.environment) == {}
        assert sums(b) == (0, 0, 0, 0, 0)
        assert transfer_of(b).imports() == []


def test_a_visited_host_is_not_given_away():
    with two_worlds() as (a, _):
        a.admit("http://host-1.test/1")
        lease = _lend(a)
        before = rows(a.environment)
        with pytest.raises(InternalError, match=r"host-1\.test"):
            drop(a, SHARDS)
        assert rows(a.environment) == before
        a.settle(lease, Done(), MOVED)
        drop(a, SHARDS)
        assert rows(a.environment) == {}


def test_hosts_in_memory_are_let_go_of():
    with two_worlds(max_hosts=8) as (a, _):
        filled(a)
        moved = [0, 3, 4]
        assert any(shard_of(key, BITS) in moved for key in a.frontier.serving.schedule.served)
        there = {shard_of(key, BITS) for key, _ in a.environment.scan(Family.QUEUE)}
        drop(a, moved)
        visited = set()
        for _ in range(400):
            lease = a.frontier.lend()
            if lease is None:
                if a.frontier.next_due() >= 1 << 62:
                    break
                a.micros = max(a.micros + 1, a.frontier.next_due())
                continue
            visited.add(shard_of(a.frontier.host_key(lease.candidate.url)[0], BITS))
            a.settle(lease, Done(), MOVED)
        assert visited == there - set(moved)
        check_consistent(a)


def test_hosts_wake_when_they_are_granted():
    granted = [False]
    with two_worlds() as (a, b):
        b.policy = msgspec.structs.replace(b.policy, owns=lambda _: granted[0])
        b.reopen()
        for host in HOSTS:
            a.admit(f"http://{host}/")
        with snapshot_of(a) as source:
            take_in(b, source, SHARDS)
        b.micros += 500_000
        granted[0] = True
        assert b.frontier.lend() is None
        asyncio.run(transfer_of(b).wake_up(SHARDS))
        assert b.frontier.next_due() == b.micros + 500_000, "its own rest, from when it came"
        assert b.frontier.lend() is None
        b.micros += 500_000
        assert b.frontier.lend() is not None


def test_what_comes_back_is_newer_than_what_was_in_memory():
    host = HOSTS[3]
    with two_worlds() as (a, b):
        key = KEYS.host(host)
        for world in (a, b):
            world.policy = msgspec.structs.replace(world.policy, branches=BranchConfig(begin=2))
            world.reopen()
        for page in range(4):
            a.admit(f"http://{host}/list?page={page}", depth=1, hops="L")
        robots(a, host, 10**13)
        origin = f"http://{host}"
        here = {"robots": a.frontier.robots.latest(key, origin), "found": _placed(a, key)}
        assert here["robots"].record.until == 10**13
        assert here["found"] == 2
        with snapshot_of(a) as source:
            take_in(b, source, SHARDS)
        drop(a, SHARDS)
        assert a.frontier.robots.latest(key, origin) is None
        assert a.frontier.hosts.get(key) is None
        assert not list(a.environment.scan(Family.BRANCHES, prefix=key))
        b.admit(f"http://{host}/list?page=9", depth=1, hops="L")
        robots(b, host, 2 * 10**13)
        with snapshot_of(b) as source:
            take_in(a, source, SHARDS, snapshot=2)
        assert a.frontier.robots.latest(key, origin).record.until == 2 * 10**13
        assert a.frontier.hosts.get(key).queued == 5
        assert _placed(a, key) == 3


def _placed(world: FrontierWorld, host: bytes) -> int:
    """URLs in branches, as in memory; all of them are on disk too."""
    record = world.frontier.hosts.get(host)
    tree = world.frontier.queues.tree(host, record)
    assert sum(node.record.queued for node in tree.nodes.values()) == record.queued
    return sum(node.record.found for node in tree.nodes.values())


def test_credit_moves_with_its_pages():
    with two_worlds(ordering=lambda: Opic(OpicConfig())) as (a, b):
        filled(a)
        b.admit(f"http://{_host_in(range(5, 8))}/")
        total = [_ledger(world).total for world in (a, b)]
        known = [_ledger(world).known for world in (a, b)]
        with snapshot_of(a) as source:
            take_in(b, source, SHARDS[:5])
        drop(a, SHARDS[:5])
        assert sum(_ledger(world).total for world in (a, b)) == sum(total)
        assert sum(_ledger(world).known for world in (a, b)) == sum(known)
        for world in (a, b):
            ordering = world.frontier.standings.ordering
            held = 0
            for _, value in world.environment.scan(Family.STANDINGS):
                held += ordering._credit(world.frontier.standings._decode(value[10:]))
            assert held + ordering.ledger.bank + ordering.ledger.moving == ordering.ledger.total


def _host_in(shards) -> str:
    return next(host for host in HOSTS if shard_of(KEYS.host(host), BITS) in shards)


def _ledger(world: FrontierWorld):
    return world.frontier.standings.ordering.ledger


def test_domains_go_with_the_host_of_their_name():
    with two_worlds() as (a, b):
        for world in (a, b):
            world.policy = msgspec.structs.replace(
                world.policy, domain_budget=BudgetConfig(pages_per_domain=100)
            )
            world.reopen()
        for number in range(20):
            a.admit(f"http://site-{number}.com/{number}")
            a.admit(f"http://www.site-{number}.com/{number}")
        b.admit("http://x.site-3.com/")
        names = {decode_domain(value).name for _, value in a.environment.scan(Family.DOMAINS)}
        with snapshot_of(a) as source:
            take_in(b, source, [0, 1, 2, 3])
        drop(a, [0, 1, 2, 3])
        left = {decode_domain(value).name for _, value in a.environment.scan(Family.DOMAINS)}
        came = {
            decode_domain(value).name: decode_domain(value).admitted
            for _, value in b.environment.scan(Family.DOMAINS)
        }
        assert left | came.keys() == names
        assert left & came.keys() <= {"site-3.com"}
        expected = {f"site-{number}.com": 2 for number in range(20)}
        expected["site-3.com"] = 3 if "site-3.com" not in left else 1
        assert came == {name: expected[name] for name in came}


@pytest.mark.parametrize(("first", "second"), [("bloom", "bloom"), ("exact", "bloom"), ("bloom", "exact")])
def test_what_was_seen_is_seen_with_either_table(first, second, tmp_path):
    a = FrontierWorld(tmp_path / "a", visited=first, bloom_urls=10_000)
    b = FrontierWorld(tmp_path / "b", visited=second, bloom_urls=10_000)
    filled(a)
    b.admit("http://own-1.test/")
    with snapshot_of(a) as source:
        take_in(b, source, [0, 1, 2])
    b.reopen()
    assert (
        decode(b.environment.get(Family.META, b"counters"), type(b.counters)).admitted == b.counters.admitted
    )
    here = 1
    for number in range(150):
        url = f"http://{HOSTS[number % len(HOSTS)]}/{number}"
        theirs = shard_of(b.frontier.host_key(_url(HOSTS[number % len(HOSTS)]))[0], BITS) in (0, 1, 2)
        here += theirs
        assert (b.fingerprint(url) in b.frontier.seen) == theirs, url
    assert b.counters.admitted == here
    drop(b, [0, 1, 2])
    assert b.fingerprint("http://own-1.test/") in b.frontier.seen
    b.reopen()
    assert b.fingerprint("http://own-1.test/") in b.frontier.seen
    a.close()
    b.close()


@given(bits=st.integers(1, 16), data=st.data())
def test_spans_hold_exactly_their_shards(bits, data):
    shards = data.draw(st.sets(st.integers(0, (1 << bits) - 1), max_size=20))
    found = spans(shards, bits)
    for host in data.draw(st.lists(st.binary(min_size=8, max_size=8), max_size=30)):
        assert any(host in span for span in found) == (shard_of(host, bits) in shards)
    for shard in shards:
        first = (shard << (64 - bits)).to_bytes(8, "big")
        assert shard_of(first, bits) == shard
        assert sum(first in span for span in found) == 1
    assert found == sorted(found)


def test_a_shard_that_does_not_exist_is_refused():
    with pytest.raises(ValueError, match="shard 8 is none of 8"):
        spans([8], 3)


def test_what_was_admitted_under_another_scope_is_judged_again():
    old, new = ScopeConfig(mode="any"), ScopeConfig(mode="any", exclude=("/private/",))
    with two_worlds() as (a, b):
        a.admit("http://host-1.test/private/1")
        for world, config in ((a, old), (b, new)):
            judging = Rejudging(world.environment, Scope(config, ()), (config, TrapConfig()))
            with world.frontier.changes() as batch:
                judging.begin(world.counters.sequence, batch)
        assert not judging.active
        with snapshot_of(a) as source:
            transfer = transfer_of(b, arrived=(judging.doubt,))
            asyncio.run(transfer.take_in(source, ShardImport("a-1", 1, tuple(SHARDS))))
        b.micros += 10**7
        refused = judging.refusal(_lend(b))
        assert refused is not None
        assert refused.rule == Rule.SCOPE
        again = Rejudging(b.environment, Scope(new, ()), (new, TrapConfig()))
        assert again.active
        b.admit("http://host-1.test/2")
        assert b.counters.sequence == again._before, "what came later is not asked about"
