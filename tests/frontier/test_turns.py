"""Whose turn it is: the rota, the wake index, the gates, and which hosts are in memory."""

import pytest
from frontier_world import FrontierWorld
from test_rota import Clock, queue_of

from gossamer.frontier.gates.budget_gate import BudgetGate
from gossamer.frontier.gates.gate import Turn
from gossamer.frontier.gates.robots_gate import HELD_AT_ONCE
from gossamer.frontier.queues import active_hosts as active_hosts_module
from gossamer.frontier.queues.active_hosts import FEW, LOOK_EVERY, NAME_LATER, OWNER_LATER
from gossamer.frontier.queues.host_queue import FIRST_FILL, LANE, MOST_LANES, HostQueue, Lane
from gossamer.frontier.queues.host_schedule import FAIR_TURN, NEVER, SPARE, HostSchedule
from gossamer.frontier.queues.hosts import HostTable
from gossamer.frontier.queues.wake import WakeIndex
from gossamer.frontier.robots_table import RobotsEntry, RobotsTable
from gossamer.frontier.tally import Tally
from gossamer.model.candidate import Candidate
from gossamer.model.disposition import Blame, Done, Parked, Retry
from gossamer.model.errors import StorageError
from gossamer.model.link import LinkKind
from gossamer.model.reasons.codes import BudgetCode
from gossamer.model.reasons.reason import because, text
from gossamer.model.url import Url
from gossamer.policy.branches.tree import BranchConfig
from gossamer.policy.robots.file import parse_robots
from gossamer.state.environment import Environment, Family
from gossamer.state.keys import FOREVER, ticket
from gossamer.state.records import HostRecord, RobotsRecord, decode_host, encode

SECOND = 1_000_000
A = "http://a.example"


@pytest.fixture
def make(tmp_path):
    made = []

    def world(**told):
        made.append(FrontierWorld(tmp_path / str(len(made)), **told))
        return made[-1]

    yield world
    for each in made:
        each.close()


def record(world, name="a.example"):
    return world.frontier.hosts.get(world.frontier.host_hash(name))


def done(world, lease, rest=0.0, disposition=None):
    world.settle(lease, disposition or Done(), Tally(rest=rest, host_failed=False))


def names(world):
    return {queue.record.name for queue in world.frontier.schedule.served.values()}


# Rota …


def turns(schedule, number):
    got = []
    for _ in range(number):
        queue = schedule.pop_ready()
        got.append(None if queue is None else queue.record.name)
        if queue is not None:
            schedule.gave_turn(queue)
            schedule.place(queue)
    return got


def test_ready_hosts_take_turns():
    schedule = HostSchedule(Clock())
    for number in range(3):
        queue = queue_of(number, level=5 - number)
        schedule.add(queue)
        schedule.place(queue)
    assert turns(schedule, 6) == ["host2", "host1", "host0"] * 2


def test_by_order_the_best_goes_first_but_for_every_eighth_turn():
    schedule = HostSchedule(Clock(), by_order=True)
    for number in range(3):
        queue = queue_of(number, level=5 - number)
        schedule.add(queue)
        schedule.place(queue)
    assert FAIR_TURN == 8
    assert turns(schedule, 24) == [*["host2"] * 7, "host1", *["host2"] * 7, "host0", *["host2"] * 7, "host1"]


def test_hosts_of_one_domain_share_its_turns():
    schedule = HostSchedule(Clock(), domain=lambda name: "one" if name in ("host0", "host1") else name)
    queues = [queue_of(number, level=1) for number in range(3)]
    for queue in queues:
        schedule.add(queue)
        schedule.place(queue)
    assert turns(schedule, 40).count("host2") == 20
    schedule.remove(queues[0])
    assert turns(schedule, 40).count("host2") == 20
    assert turns(schedule, 40).count("host1") == 20
    schedule.remove(queues[1])
    schedule.remove(queues[2])
    assert not schedule.served and not schedule._domains


def test_who_was_away_is_owed_no_turns():
    clock = Clock()
    schedule = HostSchedule(clock)
    here, away = queue_of(0, level=1), queue_of(1, level=1, due=5_000)
    for queue in (here, away):
        schedule.add(queue)
        schedule.place(queue)
    assert turns(schedule, 5) == ["host0"] * 5
    clock.micros = 5_000
    assert schedule.pop_rested() is away and schedule.pop_rested() is None
    schedule.place(away)
    assert turns(schedule, 4).count("host1") == 2


@pytest.mark.parametrize(
    ("change", "placed"),
    [
        ({}, True),
        ({"parked": "x"}, False),
        ({"queued": 0}, False),
        ({"queued": 0, "waiting": 1, "later_due": 900}, True),
        ({"queued": 1, "aside": 1}, False),
    ],
)
def test_who_has_a_turn(change, placed):
    queue = queue_of(1, level=1)
    for name, value in change.items():
        setattr(queue.record, name, value)
    schedule = HostSchedule(Clock())
    schedule.add(queue)
    schedule.place(queue)
    assert (queue.placed is not None) is placed
    assert (schedule.pop_ready() is queue) is placed
    queue.awaits = "name"
    schedule.place(queue)
    assert schedule.pop_ready() is None


@pytest.mark.parametrize(
    ("lent", "limit", "ready"), [(0, 1, True), (1, 1, False), (1, 2, True), (2, 2, False)]
)
def test_as_many_leases_as_the_host_allows(lent, limit, ready):
    queue = queue_of(1, level=1)
    queue.limit, queue.record.queued = limit, 9
    queue.lent = {bytes([number]): None for number in range(lent)}
    schedule = HostSchedule(Clock())
    schedule.add(queue)
    schedule.place(queue)
    assert (schedule.pop_ready() is queue) is ready


def test_when_the_next_falls_due():
    clock = Clock()
    schedule = HostSchedule(clock)
    assert schedule.next_due() == NEVER and schedule.short
    late, soon, ready = queue_of(0, level=1, due=9_000), queue_of(1, level=1, due=2_000), queue_of(2, level=1)
    for queue in (late, soon):
        schedule.add(queue)
        schedule.place(queue)
    assert schedule.next_due() == 2_000
    schedule.remove(soon)
    assert schedule.next_due() in (2_000, 9_000), "a void entry may be met once"
    schedule.add(ready)
    schedule.place(ready)
    assert schedule.next_due() == 9_000, "who is ready does not fall due"
    assert SPARE == 256


# Lanes and queues …


def entry(number):
    return ticket(1, number), Candidate(Url.parse(f"{A}/{number}"))


@pytest.mark.parametrize(
    ("complete", "held", "new", "after"),
    [
        (True, [], 5, [5]),
        (False, [], 5, []),
        (True, [1, 3], 2, [1, 2, 3]),
        (False, [1, 3], 2, [1, 2, 3]),
        (True, [1, 3], 4, [1, 3, 4]),
        (False, [1, 3], 4, [1, 3]),
        (False, [1, 3], 0, [0, 1, 3]),
    ],
)
def test_what_a_lane_keeps(complete, held, new, after):
    lane = Lane(complete=complete)
    lane.buffer = [entry(number) for number in held]
    lane.insert(*entry(new), 10)
    assert lane.buffer == [entry(number) for number in after]
    assert lane.complete is complete


@pytest.mark.parametrize(("entries", "kept", "complete"), [(4, 4, True), (5, 2, False)])
def test_a_lane_is_bounded(entries, kept, complete):
    lane = Lane(complete=True)
    for number in range(entries):
        lane.insert(*entry(number), 2)
    assert lane.buffer == [entry(number) for number in range(kept)]
    assert lane.complete is complete
    lane.remove(ticket(1, 1))
    lane.remove(ticket(1, 99))
    assert lane.buffer == [entry(number) for number in range(kept) if number != 1]


@pytest.mark.parametrize(
    ("told", "lent", "has", "due"),
    [
        ({"queued": 1, "due": 5}, 0, True, 5),
        ({"queued": 1, "due": 5}, 1, False, NEVER),
        ({"queued": 2, "due": 5}, 1, True, 5),
        ({"queued": 2, "due": 5, "aside": 1}, 1, False, NEVER),
        ({"waiting": 1, "due": 5, "later_due": 9}, 0, False, 9),
        ({"waiting": 1, "due": 5, "later_due": 3}, 0, False, 5),
        ({}, 0, False, NEVER),
    ],
)
def test_when_a_host_may_be_visited(told, lent, has, due):
    queue = HostQueue(b"k" * 8, HostRecord("a", **told), 1)
    queue.lent = {bytes([number]): None for number in range(lent)}
    assert (queue.has_entry, queue.due) == (has, due)


def test_a_state_that_counts_what_is_not_there_is_an_error(make):
    world = make()
    queue = HostQueue(b"k" * 8, HostRecord("a", queued=3), 1)
    with pytest.raises(StorageError, match="contradicts itself"):
        queue.fill(world.environment, 8)
    assert (FIRST_FILL, LANE, MOST_LANES) == (4, 8, 24)


# Waking …


@pytest.fixture
def waking(make):
    world = make()
    index = WakeIndex(world.environment)
    records = {name: HostRecord(name) for name in "abc"}

    def set_(name, due):
        batch = world.environment.batch()
        index.set(name.encode() * 8, records[name], due, batch)
        world.environment.commit(batch)

    def clear(name):
        batch = world.environment.batch()
        index.clear(name.encode() * 8, records[name], batch)
        world.environment.commit(batch)

    def due(now, served=()):
        return [key[:1].decode() for key in index.due(now, served)]

    world.index, world.set, world.clear, world.due, world.records = index, set_, clear, due, records
    return world


def test_hosts_wake_in_order(waking):
    waking.set("a", 30)
    waking.set("b", 10)
    waking.set("c", 20)
    assert waking.index.next_due == 0
    assert waking.due(9) == []
    assert waking.index.next_due == 10
    assert waking.due(20) == ["b", "c"]
    assert waking.index.next_due == 30
    assert waking.due(30, [b"c" * 8]) == ["a"]
    waking.clear("a")
    assert waking.records["a"].wake == 0
    assert len([*waking.environment.scan(Family.WAKE)]) == 2


def test_a_host_has_one_entry(waking):
    for due in (30, 10, 10, 0, 20):
        waking.set("a", due)
    assert waking.records["a"].wake == 20
    assert len([*waking.environment.scan(Family.WAKE)]) == 1
    waking.set("a", 0)
    assert waking.records["a"].wake == 1, "0 stands for no entry"


def test_an_earlier_entry_is_found_after_a_scan(waking):
    waking.set("a", 30)
    waking.set("b", 50)
    assert waking.due(40) == ["a"]
    waking.set("a", 60)
    waking.set("c", 20)
    assert waking.index.next_due == 20
    assert waking.due(40) == ["c"]


def test_the_moment_itself(waking):
    waking.set("a", 10)
    waking.set("b", 20)
    waking.due(5)
    waking.clear("a")
    assert waking.index.next_due == 10, "a bound"
    waking.index.sharpen([])
    assert waking.index.next_due == 20
    waking.index.sharpen([b"b" * 8])
    assert waking.index.next_due == 20, "nothing has changed since"
    waking.set("c", 30)
    waking.index.sharpen([b"b" * 8])
    assert waking.index.next_due == 30
    waking.clear("c")
    waking.index.sharpen([b"b" * 8])
    assert waking.index.next_due == NEVER


# Host records …


def test_a_record_is_one_while_it_is_changed(make):
    world = make()
    table = HostTable(world.environment)
    assert table.get(b"k" * 8) is None and table.made == 0
    found = table.change(b"k" * 8, "a")
    assert table.made == 1 and table.get(b"k" * 8) is found
    table.hold(b"k" * 8, found)
    batch = world.environment.batch()
    table.flush(batch)
    world.environment.commit(batch)
    assert table.change(b"k" * 8, "other") is found and found.name == "a" and table.made == 1
    assert [key for key, each in table.scan() if each is found] == [b"k" * 8]
    table.release(b"k" * 8)
    assert table.get(b"k" * 8) is found, "a change is under way"
    found.pages = 7
    batch = world.environment.batch()
    table.flush(batch)
    world.environment.commit(batch)
    table.get(b"other000")
    assert table.get(b"k" * 8) == found
    assert decode_host(world.environment.get(Family.HOSTS, b"k" * 8)).pages == 7
    table.put(b"k" * 8, HostRecord("b"))
    assert table.get(b"k" * 8).name == "b"
    table.forget(b"k" * 8)
    assert table.get(b"k" * 8).name == "a"


# Robots …


def rules_of(text="User-agent: *\nDisallow: /x", until=10):
    said = parse_robots(text.encode(), "gossamer")
    return RobotsEntry(RobotsRecord("rules", until, encode(said)), said)


@pytest.mark.parametrize(("now", "fresh"), [(9, True), (10, False), (11, False)])
def test_rules_last_until_they_expire(make, now, fresh):
    world, clock = make(), [now]
    table = RobotsTable(world.environment, 1 << 20, lambda: clock[0])
    batch = world.environment.batch()
    table.put(b"k" * 8, A, rules_of(), batch)
    world.environment.commit(batch)
    assert (table.get(b"k" * 8, A) is not None) is fresh
    assert table.latest(b"k" * 8, A) is not None
    assert table.get(b"o" * 8, A) is None
    again = RobotsTable(world.environment, 1 << 20, lambda: clock[0])
    assert again.latest(b"k" * 8, A).rules.allows("/x")[0] is False
    assert again.latest(b"k" * 8, A) is again.latest(b"k" * 8, A), "it stays in memory"


def test_rules_in_memory_are_bounded(make):
    world = make()
    table = RobotsTable(world.environment, 3 * 500 + 24 * len(rules_of().record.rules), lambda: 0)
    batch = world.environment.batch()
    kept = {}
    for name in "abcd":
        kept[name] = rules_of()
        table.put(name.encode() * 8, A, kept[name], batch)
    world.environment.commit(batch)
    assert len(table._cache) <= 4 and table._used <= 4 * (500 + 8 * len(rules_of().record.rules))
    assert table.latest(b"d" * 8, A) is kept["d"]
    assert table.latest(b"a" * 8, A) is not kept["a"], "the oldest went first"
    assert table.latest(b"a" * 8, A).rules == kept["a"].rules
    before = table._used
    table.forget(lambda key: key[:1] in b"ad")
    assert table._used < before and table.latest(b"d" * 8, A) is not kept["d"]


def asking(make, state=None, until=50 * SECOND, **told):
    world = make(obey=True, **told)
    if state:
        with world.frontier.changes() as batch:
            found = RobotsEntry(RobotsRecord(state, world.micros + until, reason=text("why")))
            world.frontier.robots.put(world.frontier.host_hash("a.example"), A, found, batch)
    return world


def test_the_robots_file_is_asked_for_first(make):
    world = asking(make, leases=2)
    world.admit(f"{A}/x", depth=2, hops="LL")
    first = world.frontier.lend()
    asked = first.candidate
    assert (asked.url.text, asked.kind, asked.origin) == (f"{A}/robots.txt", LinkKind.ROBOTS, A)
    assert (asked.depth, asked.hops, asked.via) == (2, "LLP", f"{A}/x")
    assert world.frontier.lend() is None, "until it has come"
    world.micros += 1
    assert world.counters.queued == 2


@pytest.mark.parametrize(
    ("state", "lent"), [("open", True), ("closed", True), ("hold", False), ("pending", False)]
)
def test_what_may_go(make, state, lent):
    world = asking(make, state)
    world.admit(f"{A}/x")
    lease = world.frontier.lend()
    assert (lease is not None) is lent
    if not lent:
        found = record(world)
        assert (found.waiting, found.queued, found.later_due) == (1, 0, world.micros + 50 * SECOND)
        world.micros += 50 * SECOND
        assert world.frontier.lend().candidate.kind is LinkKind.ROBOTS, "the hold is over: ask again"


@pytest.mark.parametrize("extra", [-1, 0, 5])
def test_very_many_are_not_held_one_by_one(make, extra):
    world = asking(make, "hold", buffer=200)
    for number in range(HELD_AT_ONCE + extra):
        world.admit(f"{A}/{number}")
    assert world.frontier.lend() is None
    found = record(world)
    if extra < 0:
        assert (found.queued, found.waiting) == (0, HELD_AT_ONCE - 1)
    else:
        assert (found.waiting, found.queued) == (HELD_AT_ONCE - 1, extra + 1)
        assert (found.due, found.reason) == (world.micros + 50 * SECOND, text("why"))
    assert Turn.GO is not Turn.WAIT


# Budgets …

SPENT = because(BudgetCode.PAGES_PER_HOST, 1)


@pytest.mark.parametrize(
    ("pages", "lent", "parked", "passes"),
    [(1, 0, False, True), (2, 0, True, False), (1, 1, False, False), (0, 1, False, True)],
)
def test_budgets_park_a_host_when_all_is_home(pages, lent, parked, passes):
    queue = HostQueue(b"k" * 8, HostRecord("a", pages=pages, bytes=9), 1)
    queue.lent = {bytes([number]): None for number in range(lent)}
    told = []
    policy = type(
        "Policy", (), {"budget_spent": staticmethod(lambda name, pages, size: SPENT if pages > 1 else None)}
    )
    gate = BudgetGate(policy, None, None, lambda *why: told.append(why))
    assert (gate.judge(queue) is Turn.GO) is passes
    assert told == ([("a", SPENT)] if parked else [])


# In memory …


def test_few_hosts_are_in_memory_and_all_have_their_turn(make):
    world = make(max_hosts=8, rest=0.0)
    hosts = [f"h{number:02}.example" for number in range(40)]
    for name in hosts:
        world.admit(f"http://{name}/")
    visited = []
    while (due := world.frontier.next_due()) < NEVER or world.frontier.schedule.served:
        while (lease := world.frontier.lend()) is not None:
            assert len(names(world)) <= 8
            visited.append(lease.queue_key)
            done(world, lease)
        world.micros = max(world.micros, min(due, world.micros + SECOND))
    assert sorted(visited) == hosts
    assert not names(world) and not [*world.environment.scan(Family.WAKE)]


@pytest.mark.parametrize(("hosts", "stays"), [(4, True), (5, False)])
def test_memory_is_for_hosts_that_can_be_visited(make, hosts, stays):
    """Of eight places half may be taken by hosts that rest."""
    world = make(max_hosts=8)
    for number in range(hosts):
        world.admit(f"http://h{number}.example/1")
        world.admit(f"http://h{number}.example/2")
    leases = [world.frontier.lend() for _ in range(hosts)]
    done(world, leases[0], rest=60.0)
    assert (leases[0].queue_key in names(world)) is stays
    found = record(world, leases[0].queue_key)
    assert found.wake and (found.wake == found.due) is not stays
    world.micros += 60 * SECOND
    for lease in leases[1:]:
        done(world, lease)
    got = []
    while (lease := world.frontier.lend()) is not None:
        got.append(lease.queue_key)
        done(world, lease)
    assert leases[0].queue_key in got


@pytest.mark.parametrize(
    ("disposition", "kept"),
    [(Done(), False), (Parked(text("x")), False), (Retry(5, Blame.URL, text("x")), True)],
)
def test_who_has_nothing_more_leaves(make, disposition, kept):
    world = make()
    world.admit(f"{A}/1")
    done(world, world.frontier.lend(), disposition=disposition)
    assert ("a.example" in names(world)) is kept
    found = record(world)
    if isinstance(disposition, Done):
        assert found.wake == 0
    if isinstance(disposition, Parked):
        assert found.wake == FOREVER == world.frontier.next_due()


def test_when_anything_falls_due(make):
    world = make(max_hosts=8)
    assert world.frontier.next_due() == NEVER
    world.admit(f"{A}/1")
    world.admit(f"{A}/2")
    done(world, world.frontier.lend(), rest=9.0)
    assert world.frontier.next_due() == world.micros + 9 * SECOND
    assert FEW == 16


def test_after_a_start_each_host_first_rests(make):
    world = make(rest=3.0)
    for name, rest, delay in (("a.example", 1.0, -1.0), ("b.example", 8.0, -1.0), ("c.example", 1.0, 20.0)):
        world.admit(f"http://{name}/1")
        world.admit(f"http://{name}/2")
        lease = world.frontier.lend()
        done(world, lease, rest=rest)
        with world.frontier.changes():
            world.frontier.hosts.change(world.frontier.host_hash(name), name).crawl_delay = delay
    world.reopen()
    start = world.micros
    due = {}
    for seconds in range(25):
        world.micros = start + seconds * SECOND
        while (lease := world.frontier.lend()) is not None:
            due[lease.queue_key] = seconds
            done(world, lease, rest=100.0)
    assert due == {"a.example": 3, "b.example": 8, "c.example": 20}


class Names:
    """Names that are known when a test says so."""

    def __init__(self, known=(), room=True):
        self.names = set(known)
        self.room = room
        self.offered = []

    def known(self, host):
        return host in self.names

    def offer(self, host, *, first=False):
        self.offered.append((host, first))
        return self.room


def test_hosts_wait_for_their_names_on_disk(make):
    asked = Names()
    world = make(max_hosts=8, names=asked, rest=0.0)
    for number in range(6):
        world.admit(f"http://h{number}.example/")
    # A quarter of the memory may wait for names.
    world.micros += 100
    assert world.frontier.lend() is None
    assert len(names(world)) == 2 and world.frontier.under_way == 2
    landed = min({f"h{number}.example" for number in range(6)} - names(world))
    asked.names.add(landed)
    world.frontier.name_landed(landed)
    assert world.frontier.lend().queue_key == landed
    first = sorted(names(world) - {landed})[0]
    asked.names.add(first)
    world.frontier.name_landed(first)
    assert world.frontier.lend().queue_key == first


def test_a_name_without_room_is_asked_for_by_the_worker(make):
    world = make(names=Names(room=False))
    world.admit(f"{A}/")
    assert world.frontier.lend() is not None


def test_a_name_that_never_lands_is_looked_at_again(make):
    asked = Names()
    world = make(max_hosts=8, names=asked, rest=0.0)
    for number in range(4):
        world.admit(f"http://h{number}.example/")
    world.micros += 100
    world.frontier.lend()
    waiting = [name for name in (f"h{number}.example" for number in range(4)) if name not in names(world)]
    found = record(world, waiting[0])
    assert found.wake == world.micros + NAME_LATER == world.micros + 30 * SECOND
    asked.names |= {f"h{number}.example" for number in range(4)}
    world.micros += NAME_LATER
    got = set()
    while (lease := world.frontier.lend()) is not None:
        got.add(lease.queue_key)
    assert set(waiting) <= got


@pytest.mark.parametrize("at", ["lend", "arrive", "settle"])
def test_a_host_of_another_agent_is_left_on_disk(make, at):
    mine = [True]
    world = make(owns=lambda key: mine[0])
    world.admit(f"{A}/1")
    world.admit(f"{A}/2")
    if at == "settle":
        lease = world.frontier.lend()
        mine[0] = False
        done(world, lease)
    else:
        mine[0] = False
        assert world.frontier.lend() is None
    assert "a.example" not in names(world)
    assert record(world).wake == world.micros + OWNER_LATER
    mine[0] = True
    world.micros += OWNER_LATER
    assert world.frontier.lend() is not None


def test_hosts_on_disk_are_looked_for_now_and_then(make):
    world = make(max_hosts=8, rest=0.0)
    serving = world.frontier.serving
    for number in range(12):
        world.admit(f"http://h{number:02}.example/")
    now = world.micros
    with world.frontier.changes() as batch:
        serving.refill(now, batch)
    assert len(names(world)) == 8 and not serving.wants_more(now)
    lease = world.frontier.lend()
    done(world, lease)
    assert not serving.wants_more(now + LOOK_EVERY - 1)
    assert serving.wants_more(now + LOOK_EVERY)
    assert (LOOK_EVERY, active_hosts_module.WOKEN_AT_ONCE, active_hosts_module.LOOKED_AT_ONCE) == (
        100_000,
        64,
        256,
    )


# Branches on disk …


def test_branches_are_counted_with_the_queue(make):
    world = make(rest=0.0)
    world.frontier.queues._config = BranchConfig(begin=3)
    for number in range(6):
        world.admit(f"{A}/{'ab'[number % 2]}/{'cdefgh'[number]}")
    found = record(world)
    assert found.branched and found.queued == 6
    host = world.frontier.host_hash("a.example")
    tree = world.frontier.queues.tree(host, found)
    assert sum(node.record.queued for node in tree.nodes.values()) == 6
    lease = world.frontier.lend()
    assert sum(node.own for node in tree.nodes.values()) == 5
    done(world, lease, disposition=Retry(0.0, Blame.HOST, text("again")))
    assert sum(node.own for node in tree.nodes.values()) == 6
    done(world, world.frontier.lend())
    assert found.queued == 5 == sum(node.record.queued for node in tree.nodes.values())
    assert world.frontier.queues.is_doubtful(host, lease.ticket) is False
    assert world.frontier.queues.is_doubtful(b"nobody00", lease.ticket) is None
    node = next(node for node in tree.nodes.values() if node.record.label == "a")
    with world.frontier.changes():
        world.frontier.queues._set_aside(found, tree.set_aside(node))
    assert (
        found.aside
        == world.counters.aside
        == node.record.queued + sum(below.record.queued for below in node.below() if below is not node)
    )
    aside = found.aside
    world.admit(f"{A}/a/new")
    assert found.aside == aside + 1
    world.reopen()
    world.frontier.queues._config = BranchConfig(begin=3)
    got = []
    while (lease := world.frontier.lend()) is not None:
        got.append(lease.candidate.url.text)
        done(world, lease)
    assert len(got) == 6 - found.aside
    with world.frontier.changes():
        world.frontier.queues.release(host, "a.example", node.record.number)
    assert world.counters.aside == 0 == record(world).aside
    with world.frontier.changes() as batch:
        world.frontier.serving.returned(host, record(world), batch)
    while (lease := world.frontier.lend()) is not None:
        got.append(lease.candidate.url.text)
        done(world, lease)
    assert len(got) == 6 and world.counters.queued == 0


def test_a_new_state_has_nobody(tmp_path):
    environment = Environment.open(tmp_path / "state", FrontierWorld.__init__.__kwdefaults__["state"])
    try:
        assert [*HostTable(environment).scan()] == []
    finally:
        environment.close()
