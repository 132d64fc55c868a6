"""Decisions of single parts of the frontier at their borders, as tables."""

import math
from types import SimpleNamespace

import msgspec
import pytest
from frontier_world import FrontierWorld
from test_again import DAY, SECOND, AgainWorld, drain

from gossamer.frontier import standings as standings_module
from gossamer.frontier.config import Session
from gossamer.frontier.domains import DOMAIN_OUT_SECONDS
from gossamer.frontier.gates.budget_gate import BudgetGate
from gossamer.frontier.gates.gate import Turn
from gossamer.frontier.gates.speculation_gate import SpeculationGate
from gossamer.frontier.queues import delayed
from gossamer.frontier.queues.active_hosts import NAME_LATER, OWNER_LATER
from gossamer.frontier.queues.again import AgainQueue, Pace
from gossamer.frontier.queues.host_queue import HostQueue, Lane
from gossamer.frontier.queues.hosts import HostTable
from gossamer.frontier.standings import Standings
from gossamer.frontier.steering import Steering
from gossamer.frontier.tally import Tally
from gossamer.model.candidate import Candidate
from gossamer.model.disposition import Done
from gossamer.model.link import LinkKind
from gossamer.model.reasons.codes import BudgetCode, HoldCode
from gossamer.model.reasons.reason import Reason, because, text
from gossamer.model.url import Url
from gossamer.policy.ordering.opic import Opic, OpicConfig
from gossamer.policy.revisit import classes
from gossamer.policy.revisit.history import unpack
from gossamer.policy.revisit.trust import Reading, Signal, Source, trust_of
from gossamer.state.environment import Family
from gossamer.state.keys import (
    FOREVER,
    Fingerprints,
    arrival_of,
    later_key,
    pack_heads,
    split_ticket,
    ticket,
)
from gossamer.state.records import HostRecord, QueueRecord, decode_queue, encode

NOW = 1_000 * SECOND
KEY = b"k" * 8
VISITED = Tally(host_failed=False)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = FrontierWorld(tmp_path_factory.mktemp("state"), max_hosts=16)
    yield made
    made.close()


@pytest.fixture
def world(folder):
    folder.begin_anew()
    return folder


# What may be spent on visits again …


def test_before_anything_is_known_nothing_comes_again_and_half_of_the_turns_would():
    assert msgspec.structs.asdict(Pace()) == {
        "on": False,
        "step": 0,
        "activity_power": 0.0,
        "fair": math.inf,
        "rate": 0.0,
        "share": 0.5,
        "saved": 4.0,
        "earned": 0.0,
        "left": 0.0,
        "late": 0.0,
        "lent": 0,
        "asked": 0.0,
        "version": 0,
    }


@pytest.mark.parametrize(
    ("rate", "fair", "saved", "now", "found"),
    [
        (1.0, 1_000.0, 0.0, 0.0, 0.0),
        (1.0, 1_000.0, 0.0, 10.0, 10.0),
        (1.0, 1_000.0, 0.0, 1e6, 120.0),  # of two minutes
        (1.0, 1e5, 0.0, 1e6, 2_000.0),  # of a fiftieth of the pages
        (1e-6, 1_000.0, 0.0, 1e9, 4.0),
        (1.0, 1_000.0, 500.0, 10.0, 500.0),  # more are not taken away
        (1.0, 1_000.0, 3.0, -10.0, 3.0),  # the clock was put back
    ],
)
def test_visits_are_saved_up_within_bounds(rate, fair, saved, now, found):
    pace = Pace(on=True, rate=rate, fair=fair, saved=saved)
    assert pace.earn(now) == pytest.approx(found)
    assert (pace.earned, pace.saved) == (now, pace.earn(now)), "once"


@pytest.mark.parametrize(
    ("rate", "saved", "free"), [(0.1, 1.0, 0.0), (0.1, 3.0, 0.0), (0.1, 0.5, 25.0), (0.0, 0.5, math.inf)]
)
def test_when_a_visit_may_be_made(rate, saved, free):
    assert Pace(on=True, rate=rate, fair=10.0, saved=saved, earned=20.0).next_free(20.0) == pytest.approx(
        free
    )


@pytest.mark.parametrize("share", [0.25, 0.5, 0.8])
def test_of_the_turns_of_a_host_pages_that_are_due_have_their_share(share):
    queue = SimpleNamespace(credit=0.0)
    again = SimpleNamespace(pace=Pace(share=share))
    AgainQueue.gave_way(again, queue)
    assert queue.credit == pytest.approx(share / (1 - share))
    for _ in range(99):
        AgainQueue.gave_way(again, queue)
    assert queue.credit == pytest.approx(1 / (1 - share)), "they are not saved up"


def test_fixed_intervals_come_first_and_of_the_others_what_is_worth_most(tmp_path):
    world = AgainWorld(tmp_path / "state")
    for name in ("fixed", "old", "young"):
        world.admit(f"http://a/{name}")
    places = {"fixed": classes.fixed(20 * DAY)}
    for _ in range(3):
        lease = world.frontier.lend()
        world.finish(lease, place=places.get(lease.candidate.url.text.rpartition("/")[2]))
        world.micros += SECOND
    world.micros += 60 * SECOND
    assert [candidate.url.text[9:] for candidate in drain(world, 3)] == ["fixed", "old", "young"]
    world.assert_sound()
    world.close()


def test_when_a_page_was_due_counts_from_its_last_visit_and_news_of_it_from_when_they_came(tmp_path):
    world = AgainWorld(tmp_path / "state")
    world.admit("http://a/")
    drain(world, 0.5)
    pace = world.frontier.again.pace
    history = unpack(world.page("http://a/").history)
    due = classes.due(history.place, history.since, pace.step, pace.longest)
    world.micros += 30 * SECOND
    pace.asked = 0.0
    assert world.frontier.lend().candidate.again
    assert pace.asked == pytest.approx(due - history.last)
    world.close()
    world = AgainWorld(tmp_path / "told")
    world.admit("http://a/")
    drain(world, 0.5)
    world.micros += SECOND
    page = world.fingerprint("http://a/")
    assert world.frontier.told([Signal(page, world.wall, Source.PING)]) == 1
    told = unpack(world.page("http://a/").history)
    world.micros += 20 * SECOND
    pace = world.frontier.again.pace
    pace.asked = pace.late = 0.0
    assert world.frontier.lend().candidate.again
    due = classes.due(told.place, told.since, pace.step, pace.longest)
    assert told.since < told.last, "it has waited for as long as the news are worth"
    assert pace.asked == pytest.approx(max(due - told.last, told.heard * 3_600), abs=60)
    assert pace.late > 0
    world.close()


def test_a_page_that_came_back_is_of_no_budget_but_what_is_new_is(tmp_path):
    world = AgainWorld(tmp_path / "state")
    world.admit("http://a/")
    drain(world, 2.5)
    queue = next(iter(world.frontier.schedule.served.values()))
    assert not world.frontier._first_comes_again(queue), "it has nothing to lend"
    world.micros += 9 * SECOND
    with world.frontier.changes() as batch:
        world.frontier.hosts.change(queue.key, "a")
        world.frontier.again.take_due(queue, batch)
    assert world.frontier._first_comes_again(queue)
    world.close()


# Lists of dates …


@pytest.mark.parametrize(
    ("lies", "dates", "after"), [(0, [5.0] * 20, 1), (3, [5.0] * 20, 4), (3, [5.0], 0), (0, [5.0], 0)]
)
def test_whether_dates_can_be_true_is_known_of_the_host(tmp_path, lies, dates, after):
    world = FrontierWorld(tmp_path / "state")
    page, reading = Url.parse("http://a/"), Reading(100.0)
    for date in [5.0] * 20:
        reading.add(date, None)
    world.frontier.dates_read(page, Source.FEED, reading)
    assert world.frontier.hosts.get(world.frontier.host_hash("a")) is None, (
        "nothing is kept of a host of others"
    )
    world.admit("http://a/")
    for _ in range(lies):
        world.frontier.dates_read(page, Source.FEED, reading)
    reading = Reading(100.0)
    for date in dates:
        reading.add(date, None)
    world.frontier.dates_read(page, Source.FEED, reading)
    world.reopen()
    trusts = world.frontier.hosts.get(world.frontier.host_hash("a")).trusts
    assert trust_of(trusts, Source.FEED).lies == after
    assert trust_of(trusts, Source.SITEMAP).lies == 0
    world.close()


# Who may go …

SPENT = because(BudgetCode.PAGES_PER_HOST, 1)
LINK = Candidate(Url.parse("http://a/"))
GUESS = Candidate(Url.parse("http://a/"), LinkKind.SPECULATIVE)


@pytest.mark.parametrize(
    ("lent", "again", "credit", "rests", "after"),
    [
        (0, None, 0.0, None, 0.0),
        (0, 0.0, 0.0, 0.0, 1.0),
        (0, 7.5, 1.4, 7.5, 1.4),
        (1, 7.5, 0.0, None, 0.0),  # that is decided when all is home
    ],
)
def test_a_host_that_has_spent_its_budget_is_parked_unless_pages_of_it_come_again(
    lent, again, credit, rests, after
):
    queue = HostQueue(KEY, HostRecord("a", pages=1), 2)
    queue.credit, queue.lent = credit, dict.fromkeys([b"t"] * lent)
    rested, parked = [], []
    policy = SimpleNamespace(budget_spent=lambda *_: SPENT)
    gate = BudgetGate(
        policy, None, lambda *why: rested.append(why), lambda *why: parked.append(why), lambda _: again
    )
    assert gate.judge(queue) is Turn.WAIT
    assert rested == ([] if rests is None else [("a", rests, SPENT)])
    assert parked == ([] if lent or rests is not None else [("a", SPENT)])
    assert queue.credit == after


@pytest.mark.parametrize(
    ("lent", "out", "spent", "turn", "rests", "parked"),
    [
        (0, 2, False, Turn.GO, False, False),
        (0, 2, True, Turn.WAIT, True, False),
        (0, 0, True, Turn.WAIT, False, True),
        (1, 2, True, Turn.WAIT, False, False),
    ],
)
def test_a_host_rests_while_what_its_domain_may_still_have_is_out(lent, out, spent, turn, rests, parked):
    queue = HostQueue(KEY, HostRecord("a"), 2)
    queue.lent = dict.fromkeys([b"t"] * lent)
    did = []
    policy = SimpleNamespace(budget_spent=lambda *_: None)
    domains = SimpleNamespace(spent=lambda _: SPENT if spent else None, lent=lambda _: out)
    gate = BudgetGate(policy, domains, lambda *why: did.append(why), lambda *why: did.append(why))
    assert gate.judge(queue) is turn
    assert did == [("a", DOMAIN_OUT_SECONDS, SPENT)] * rests + [("a", SPENT)] * parked


@pytest.mark.parametrize(
    ("lent", "first", "turn"),
    [
        (True, GUESS, Turn.WAIT),
        (False, GUESS, Turn.GO),
        (True, LINK, Turn.GO),
        (True, None, Turn.GO),
        (True, msgspec.structs.replace(GUESS, again=True), Turn.GO),
    ],
)
def test_nobody_guesses_while_a_visit_to_the_host_is_under_way(lent, first, turn):
    queue = HostQueue(KEY, HostRecord("a", queued=2), 2)
    queue.lent = dict.fromkeys([b"t"] * lent)
    queue.lanes[0] = Lane(complete=True)
    if first is not None:
        queue.lanes[0].insert(ticket(1, 1), first, 4)
    assert SpeculationGate().judge(queue) is turn


@pytest.mark.parametrize(
    ("queued", "credit", "now", "may"),
    [
        (0, 0.0, NOW, True),
        (0, 0.0, NOW - 1, False),
        (1, 0.9, NOW, False),
        (1, 1.0, NOW, True),
        (1, 1.0, NOW - 1, False),
    ],
)
def test_a_page_comes_again_when_it_is_due_and_new_urls_owe_it_a_turn(queued, credit, now, may):
    class DueThen(AgainQueue):
        def __init__(self):
            """Nothing else is asked."""

        def due_of(self, _):
            return NOW

    queue = HostQueue(KEY, HostRecord("a", queued=queued), 1)
    queue.credit = credit
    assert DueThen().may_take(queue, now) is may


@pytest.mark.parametrize(
    ("due", "seconds"),
    [(FOREVER, None), (FOREVER - 1, math.inf), (NOW, 0.0), (NOW - SECOND, 0.0), (NOW + 3 * SECOND, 3.0)],
)
def test_in_how_many_seconds_a_page_of_a_host_comes_again(world, monkeypatch, due, seconds):
    monkeypatch.setattr(AgainQueue, "due_of", lambda *_: due)
    world.micros = NOW
    found = world.frontier._seconds_to_again(HostQueue(KEY, HostRecord("a"), 1))
    assert found == (seconds if seconds != math.inf else (FOREVER - 1 - NOW) / 1e6)


@pytest.mark.parametrize(
    ("giving", "gathering", "givers", "passed", "due"),
    [
        (1, 0, 0, 0, True),
        (0, 0, 9, 9 * SECOND, False),
        (0, 3, 0, 0, True),
        (0, 2, 4, 0, False),
        (0, 2, 5, 0, True),
        (0, 2, 4, standings_module.DRAIN_EVERY, True),
        (0, 2, 4, standings_module.DRAIN_EVERY - 1, False),
    ],
)
def test_when_gifts_are_given(world, monkeypatch, giving, gathering, givers, passed, due):
    monkeypatch.setattr(standings_module, "GATHERED", 3)
    session = Session(Fingerprints(b"k" * 16), world.now, resumed=False, warn=world.warnings.append)
    standings = Standings(world.environment, Opic(OpicConfig()), session)
    standings._giving, standings._gathering = (
        dict.fromkeys(range(some), 1.0) for some in (giving, gathering)
    )
    standings._givers, standings._next_drain = givers, 4
    world.micros += passed
    assert standings.due is due


# When a host on disk is looked at …


@pytest.mark.parametrize(
    ("due", "queued", "look"),
    [
        (NOW - 5, 0, NOW - 5),
        (NOW + 60 * SECOND, 0, NOW + 60 * SECOND),
        (NOW + 61 * SECOND, 0, NOW + 61 * SECOND * 3 // 4),
        (NOW + 1_000 * SECOND, 0, NOW + 750 * SECOND),
        (FOREVER, 0, FOREVER),
        (1 << 63, 0, FOREVER),
        (NOW + 1_000 * SECOND, 1, 0),  # something may be lent
    ],
)
def test_what_is_due_by_worth_is_looked_at_after_most_of_the_time(due, queued, look):
    record = HostRecord("a", queued=queued, enrolled=1, heads=pack_heads([(1, 1)]))

    class DueThen(AgainQueue):
        def __init__(self):
            """Nothing else is asked."""

        def due_of(self, _):
            return due

    assert HostQueue(KEY, record, 1, again=DueThen()).look_at(NOW) == look
    without = msgspec.structs.replace(record, heads=b"", waiting=1, later_due=NOW + 1_000 * SECOND)
    if not queued:
        assert HostQueue(KEY, without, 1).look_at(NOW) == NOW + 1_000 * SECOND, "that does not move"


# Who is in memory …


def test_hosts_that_are_visited_now_are_known(tmp_path):
    world = FrontierWorld(tmp_path / "state")
    for host in "abc":
        world.admit(f"http://{host}/")
    leases = [world.frontier.lend(), world.frontier.lend()]
    visited = {world.frontier.host_hash(lease.queue_key) for lease in leases}
    assert set(world.frontier.serving.visited_now()) == visited
    world.settle(leases[0], Done(), VISITED)
    assert list(world.frontier.serving.visited_now()) == [world.frontier.host_hash(leases[1].queue_key)]
    world.close()


def test_a_host_that_rests_goes_to_the_disk_only_where_memory_is_short(tmp_path):
    world = FrontierWorld(tmp_path / "state", max_hosts=8, rest=5.0)
    served = world.frontier.schedule.served
    for hosts, stays in ((4, True), (5, False)):
        for number in range(9):
            world.admit(f"http://h{hosts}-{number % hosts}/{number}")
        while len(served) < hosts:
            world.micros += SECOND
        lease = world.frontier.lend()
        world.settle(lease, Done(), Tally(rest=5.0, host_failed=False))
        assert (world.frontier.host_hash(lease.queue_key) in served) == stays
        while (lease := world.frontier.lend()) is not None or served:
            if lease is not None:
                world.settle(lease, Done(), Tally(rest=0.0, host_failed=False))
            world.micros += 6 * SECOND
            if not world.counters.queued:
                break
    world.close()


LATER = 5 * SECOND


def crowded(world, hosts):
    """So many hosts are in memory."""
    for number in range(hosts - len(world.frontier.schedule.served)):
        key = number.to_bytes(8, "big")
        world.frontier.schedule.served[key] = HostQueue(key, HostRecord(f"other{number}"), 1)


@pytest.mark.parametrize(
    ("told", "lent", "owned", "hosts", "stays", "wake"),
    [
        ({"queued": 1}, 0, True, 9, True, 0),  # it may be visited now
        ({"queued": 1, "due": LATER}, 0, True, 9, False, LATER),
        ({"queued": 1, "due": LATER}, 0, True, 8, True, 0),
        ({"queued": 1, "due": LATER, "parked": text("x")}, 1, True, 9, True, 0),
        ({"queued": 1, "parked": text("x")}, 0, True, 1, False, 0),
        ({}, 0, True, 1, False, 0),
        ({"waiting": 1, "later_due": FOREVER}, 0, True, 1, False, FOREVER),
        ({"waiting": 1, "later_due": LATER}, 0, True, 1, True, 0),
        ({"queued": 1}, 0, False, 1, False, OWNER_LATER),
        ({}, 0, False, 1, False, 0),
    ],
)
def test_who_stays_in_memory_after_a_visit(world, told, lent, owned, hosts, stays, wake):
    """`due` and `wake` are counted from now, but for ever."""
    serving, now = world.frontier.serving, world.micros
    serving._owns = lambda _: owned
    due = {name: value + now if 0 < value < FOREVER else value
           for name, value in told.items() if name in ("due", "later_due")}  # fmt: skip
    with world.frontier.changes() as batch:
        record = world.frontier.hosts.change(KEY, "a")
        for name, value in (told | {"due": now} | due).items():
            setattr(record, name, value)
        queue = serving._serve(KEY, record)
        queue.lent = dict.fromkeys([b"t"] * lent)
        crowded(world, hosts)
        serving.seat(queue, now, batch)
    assert (KEY in world.frontier.schedule.served) is stays
    assert record.wake == (wake + now if 0 < wake < FOREVER else wake)
    assert queue.placed is None or stays


@pytest.mark.parametrize(
    ("due", "lent", "owned", "shared", "hosts", "leaves"),
    [
        (FOREVER, 0, True, False, 16, True),
        (LATER, 0, True, False, 16, False),
        (LATER, 0, True, True, 8, False),
        (FOREVER, 0, True, True, 8, True),
        (LATER, 0, True, True, 9, True),
        (0, 0, True, True, 9, False),
        (FOREVER, 1, True, True, 9, False),
        (0, 0, False, False, 1, True),
        (0, 1, False, False, 1, False),
    ],
)
def test_who_leaves_memory_after_a_turn_in_vain(world, due, lent, owned, shared, hosts, leaves):
    serving = world.frontier.serving
    serving._owns = lambda _: owned
    serving._shared = object() if shared else None
    queue = HostQueue(KEY, HostRecord("a", queued=2, due=due if due == FOREVER else world.micros + due), 1)
    assert not serving.must_leave(queue), "it is not there"
    world.frontier.schedule.served[KEY] = queue
    queue.lent = dict.fromkeys([b"t"] * lent)
    crowded(world, hosts)
    assert serving.must_leave(queue) is leaves


@pytest.mark.parametrize(
    ("told", "hosts", "served"),
    [
        ({"queued": 1}, 0, True),
        ({"queued": 1}, 14, True),
        ({"queued": 1}, 15, False),  # the others have rested
        ({"queued": 2}, 0, False),
        ({"queued": 1, "waiting": 1}, 0, False),
        ({"queued": 1, "heads": pack_heads([(1, 1)])}, 0, False),
    ],
)
def test_a_host_that_has_got_work_is_served_if_it_has_nothing_else_and_there_is_room(
    world, told, hosts, served
):
    crowded(world, hosts)
    wakes = []
    with world.frontier.changes() as batch:
        for key, wake in ((KEY, 0), (b"l" * 8, 0), (b"m" * 8, 5), (b"n" * 8, 1 << 60)):
            record = world.frontier.hosts.change(key, key.decode())
            for name, value in (told | {"wake": wake}).items():
                setattr(record, name, value)
            queue = world.frontier.serving.arrived(key, record, batch)
            assert (queue is not None) is (world.frontier.schedule.served.get(key) is not None)
            if key == KEY:
                assert (queue is not None) is served
            wakes.append(record.wake)
    now = world.micros
    assert wakes == [now, now + 1, 5, now + 3], "in the order in which they came, and not later than before"


@pytest.mark.parametrize(
    ("others", "owned", "served", "later"),
    [
        (0, "abc", "abc", ""),
        (14, "abc", "ab", ""),
        (16, "abc", "", ""),
        (0, "c", "c", "ab"),
        (15, "c", "c", "ab"),
    ],
)
def test_hosts_on_disk_that_are_due_come_into_memory_while_there_is_room(world, others, owned, served, later):
    """`later`: those of another agent are looked at then."""
    serving, now = world.frontier.serving, world.micros
    serving._owns = lambda key: chr(key[0]) in owned
    hosts = {name: name.encode() * 8 for name in "abcd"}
    with world.frontier.changes() as batch:
        for at, (name, key) in enumerate(hosts.items()):
            record = world.frontier.hosts.change(key, name)
            world.frontier.queues.put(key, record, ticket(1, 1), LINK, batch)
            serving.wake.set(key, record, now + (1 if name == "d" else at - 9), batch)
    crowded(world, others)
    with world.frontier.changes() as batch:
        serving.refill(now, batch)
    found = [name for name, key in hosts.items() if key in world.frontier.schedule.served]
    assert found == list(served)
    wakes = {name: world.frontier.hosts.get(key).wake for name, key in hosts.items()}
    assert [name for name, wake in wakes.items() if wake == now + OWNER_LATER] == list(later)


@pytest.mark.parametrize(
    ("told", "due"),
    [
        ({}, 1),  # by the configuration
        ({"rest": 8 * SECOND}, 8),
        ({"rest": 8 * SECOND, "crawl_delay": 9.0}, 9),
        ({"rest": 8 * SECOND, "due": 1_020 * SECOND}, 20),
    ],
)
def test_after_a_start_a_host_rests_its_own_rest_from_then_on(world, told, due):
    world.frontier.serving._rest_from = NOW
    record = HostRecord("a", queued=1, **told)
    queue = world.frontier.serving._serve(KEY, record)
    assert queue.due == NOW + due * SECOND
    assert world.frontier.hosts.get(KEY) is record
    world.frontier.serving.unserve(queue)
    assert world.frontier.hosts.get(KEY) is None, "what is on disk counts again"


@pytest.mark.parametrize(("hosts", "due"), [(15, 3), (16, 7)])
def test_who_is_on_disk_falls_due_only_where_there_is_room(world, hosts, due):
    serving, now = world.frontier.serving, world.micros
    with world.frontier.changes() as batch:
        serving.wake.set(KEY, world.frontier.hosts.change(KEY, "a"), now + 3 * SECOND, batch)
    crowded(world, hosts)
    resting = HostQueue(b"l" * 8, HostRecord("l", queued=1, due=now + 7 * SECOND), 1)
    serving.schedule.place(resting)
    assert serving.next_due == now + due * SECOND


@pytest.mark.parametrize(
    ("wake", "due", "parked", "after"),
    [(0, LATER, False, LATER), (LATER, 3, False, 3), (3, LATER, False, 3), (0, LATER, True, 0)],
)
def test_a_page_that_comes_again_wakes_its_host_no_later_than_it_would_be(world, wake, due, parked, after):
    with world.frontier.changes() as batch:
        record = world.frontier.hosts.change(KEY, "a")
        record.queued, record.due, record.wake = 1, due, wake
        record.parked = text("x") if parked else None
        world.frontier.serving.enrolled(KEY, record, batch)
    assert record.wake == after
    queue = world.frontier.serving._serve(KEY, record)
    world.frontier.serving.enrolled(KEY, record, world.environment.batch())
    assert (queue.placed is not None) is not parked, "who is in memory has a turn"


@pytest.mark.parametrize(
    ("told", "served"), [({"queued": 1}, True), ({}, False), ({"queued": 1, "parked": text("x")}, False)]
)
def test_of_hosts_whose_names_have_landed_those_are_served_that_have_work(world, told, served):
    serving = world.frontier.serving
    with world.frontier.changes() as batch:
        record = world.frontier.hosts.change(KEY, "a")
        if served:
            world.frontier.queues.put(KEY, record, ticket(1, 1), LINK, batch)
        for name, value in told.items():
            setattr(record, name, value)
    with world.frontier.changes() as batch:
        serving._named = [KEY]
        serving.refill(world.micros, batch)
    assert (KEY in world.frontier.schedule.served) is served and not serving._named
    assert NAME_LATER == OWNER_LATER == 30 * SECOND


@pytest.mark.parametrize(
    "left",
    [
        HostRecord("nothing to do", failures=1),
        HostRecord("by hand", queued=1, parked=Reason(HoldCode.OPERATOR)),
        HostRecord("well", queued=1),
        HostRecord("soon", waiting=1, later_due=1),
    ],
    ids=lambda record: record.name,
)
def test_who_needs_no_help_stands_in_nobodys_way(world, left):
    batch = world.environment.batch()
    for key, record in ((b"\0" * 8, left), (b"\xff" * 8, HostRecord("given up", queued=1, parked=text("x")))):
        batch.put(Family.HOSTS, key, encode(record))
    world.counters.hosts_parked = 1
    world.environment.commit(batch)
    assert world.frontier.take_up() == 1
    taken = world.frontier.hosts.get(b"\xff" * 8)
    assert taken.parked is None and taken.wake and not world.counters.hosts_parked
    assert world.frontier.hosts.get(b"\0" * 8) == left


@pytest.mark.parametrize(
    ("told", "wake"),
    [
        ({"queued": 1, "due": 5}, 5),
        ({"queued": 1, "due": 5, "again": 1}, 5),
        ({"heads": pack_heads([(1, 1)]), "due": 5, "again": 1}, 5),
        ({"due": 5, "again": 1}, 9),
        ({"due": 12, "again": 1}, 12),
        ({}, 0),
    ],
)
def test_when_a_host_is_looked_at_that_is_taken_up(world, told, wake):
    """What is due again waits until 9."""
    record = HostRecord("a", waiting=1, **told)
    with world.frontier.changes() as batch:
        if record.again:
            entry = QueueRecord.of(Candidate(Url.parse("http://a/")), ticket=ticket(1, 1), again=True)
            batch.put(Family.LATER, later_key(KEY, 9, 1), encode(entry))
    batch = world.environment.batch()
    world.frontier._revival._return_waiting(KEY, record, batch)
    assert record.wake == wake


def test_what_is_known_of_a_host_that_leaves_memory_is_what_was_written(world):
    table = HostTable(world.environment)
    assert table.get(KEY) is None
    table.hold(KEY, HostRecord("a", visits=2))
    table.change(KEY, "a").visits = 3
    batch = world.environment.batch()
    table.flush(batch)
    world.environment.commit(batch)
    table.release(KEY)
    assert table.get(KEY).visits == 3
    table.put(KEY, HostRecord("a", visits=9))
    assert table.get(KEY).visits == 9


# What waits …


@pytest.mark.parametrize(("most", "back"), [(2, 2), (4, 4), (9, 4)])
def test_what_was_held_for_a_robots_file_comes_back_so_much_at_once(tmp_path, monkeypatch, most, back):
    monkeypatch.setattr(delayed, "PROMOTED_AT_ONCE", most)
    world = FrontierWorld(tmp_path / "state", rest=0.0)
    world.admit("http://a/first")
    key = world.frontier.host_hash("a")
    waiting = [*((f"http://a/{number}", 0, False) for number in range(4)), ("http://a/tried", 1, False),
               ("https://a/", 0, False), ("http://a/again", 0, True)]  # fmt: skip
    with world.frontier.changes() as batch:
        record = world.frontier.hosts.change(key, "a")
        for number, (url, attempts, again) in enumerate(waiting, 10):
            entry = QueueRecord.of(
                Candidate(Url.parse(url), attempts=attempts, again=again),
                ticket=ticket(1, number),
                again=again,
            )
            batch.put(Family.LATER, later_key(key, FOREVER - 1, number), encode(entry))
        record.waiting, record.again, record.later_due = 6, 1, FOREVER - 1
        world.counters.waiting, world.counters.again = 6, 1
    with world.frontier.changes() as batch:
        record = world.frontier.hosts.change(key, "a")
        queue = world.frontier.schedule.served.get(key)
        world.frontier._later.release(key, record, queue, "http://a", batch)
    buffered = [candidate.url.text for _, candidate in queue.lanes[0].buffer]
    assert buffered == ["http://a/first", *(f"http://a/{number}" for number in range(back))][: len(buffered)]
    assert len(buffered) > 1, "what comes back is in memory at once"
    queued = [decode_queue(data).url for _, data in world.environment.scan(Family.QUEUE)]
    assert queued == ["http://a/first", *(f"http://a/{number}" for number in range(back))]
    assert (record.waiting, record.again, record.queued) == (6 - back, 1, 1 + back)
    assert (world.counters.waiting, world.counters.again, world.counters.queued) == (6 - back, 1, 1 + back)
    lent = []
    while (lease := world.frontier.lend()) is not None:
        lent.append(lease.candidate.url.text)
        world.settle(lease, Done(), VISITED)
    assert lent == queued, "in memory, too"
    world.close()


@pytest.mark.parametrize(("again", "due"), [([], 0), ([NOW + 9, NOW + 5], NOW + 5)])
def test_everything_that_waits_comes_back_and_what_is_due_again_stays_until_then(tmp_path, again, due):
    world = FrontierWorld(tmp_path / "state", rest=0.0)
    world.admit("http://a/first")
    key = world.frontier.host_hash("a")
    with world.frontier.changes() as batch:
        record = world.frontier.hosts.change(key, "a")
        for number, (moment, is_again) in enumerate(
            [(NOW + 7, False), *((moment, True) for moment in again)], 10
        ):
            entry = QueueRecord.of(
                Candidate(Url.parse(f"http://a/{number}")), ticket=ticket(1, number), again=is_again
            )
            batch.put(Family.LATER, later_key(key, moment, number), encode(entry))
        record.waiting, record.again, record.later_due = 1, len(again), NOW + 1
        world.counters.waiting, world.counters.again = 1, len(again)
    with world.frontier.changes() as batch:
        record = world.frontier.hosts.change(key, "a")
        world.frontier._later.bring_back(key, record, batch)
    assert (record.later_due, record.waiting, record.again, record.queued) == (due, 0, len(again), 2)
    world.close()


@pytest.mark.parametrize(("rest", "woken"), [(5 * SECOND, 5 * SECOND), (-5 * SECOND, 0)])
def test_a_host_whose_entries_come_back_is_woken_when_its_rest_is_over(world, rest, woken):
    now = world.micros
    record = HostRecord("h", queued=1, due=now + rest)
    with world.frontier.changes() as batch:
        world.frontier.serving.returned(KEY, record, batch)
    assert record.wake == now + woken


def test_a_url_that_is_queued_again_stands_at_the_level_that_it_had(tmp_path):
    world = FrontierWorld(tmp_path / "state", rest=0.0)
    world.admit("http://h/a", depth=1)
    before = world.frontier.lend()
    world.settle(before, Done(), VISITED)
    with world.frontier.changes():
        Steering(world.frontier).readmit(before.candidate, world.fingerprint("http://h/a"))
    after = world.frontier.lend()
    assert split_ticket(after.ticket)[0] == split_ticket(before.ticket)[0]
    assert arrival_of(after.ticket) > arrival_of(before.ticket)
    world.close()


def test_readmitting_counts_nothing_twice_and_keeps_its_place_in_the_order(tmp_path):
    world = FrontierWorld(tmp_path / "state", rest=0.0, ordering=lambda: Opic(OpicConfig()))
    for name in ("a", "b"):
        world.admit(f"http://h/{name}")
    while (lease := world.frontier.lend()) is not None:
        world.settle(lease, Done(), VISITED)
    admitted, credit = world.counters.admitted, world.frontier.ordering.ledger.total
    url = Url.parse("http://h/a")
    with world.frontier.changes() as batch:
        Steering(world.frontier).readmit(Candidate(url), world.fingerprint(url.text))
        world.save_counters(batch)
    assert (world.counters.admitted, world.frontier.ordering.ledger.total) == (admitted, credit)
    world.reopen()
    world.micros += SECOND
    assert world.frontier.lend().candidate.url == url
    world.close()
