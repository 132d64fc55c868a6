"""What gates refuse, and who leaves memory for it; the bounds that the documentation states."""

import pytest
from frontier_world import FrontierWorld
from test_rota import Clock, queue_of

from gossamer.frontier.config import FrontierConfig
from gossamer.frontier.gates.gate import Turn
from gossamer.frontier.gates.name_gate import AT_HAND, NameGate
from gossamer.frontier.gates.shared_gate import SHARED, SharedGate
from gossamer.frontier.queues.host_queue import HostQueue, Lane
from gossamer.frontier.queues.host_schedule import HostSchedule
from gossamer.frontier.robots_table import RobotsEntry
from gossamer.frontier.steering import Steering
from gossamer.frontier.tally import Tally
from gossamer.model.candidate import Candidate
from gossamer.model.disposition import Done
from gossamer.model.outcome import Fault
from gossamer.model.reasons.reason import Reason
from gossamer.model.url import Url
from gossamer.policy.branches.tree import BranchConfig
from gossamer.policy.visits.politeness import PolitenessConfig
from gossamer.state.keys import FOREVER
from gossamer.state.records import HostRecord, RobotsRecord

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


class Table:
    """The table of several crawls, of which a test says what it answers."""

    def __init__(self):
        self.wait = 0
        self.claimed, self.returned, self.listened = [], [], 0

    def claim(self, name, rest, owed, limit):
        self.claimed.append((name, rest, owed, limit))
        return self.wait

    def give_back(self, returns):
        self.returned += returns

    def listen(self):
        self.listened += 1


class Policy:
    """Rests of two seconds."""

    politeness_at = None

    @staticmethod
    def rest(name):
        return 2.0


@pytest.mark.parametrize(
    ("last", "delay", "rest", "owed"), [(0, -1.0, 2, 2), (9, -1.0, 2, 9), (1, 5.0, 5, 5), (9, 5.0, 5, 9)]
)
def test_a_visit_is_claimed_for_as_long_as_it_will_rest(last, delay, rest, owed):
    table, clock, placed = Table(), Clock(), []
    gate = SharedGate(table, Policy, clock, placed.append)
    queue = HostQueue(b"k" * 8, HostRecord("a", rest=last * SECOND, crawl_delay=delay, reason=SHARED), 3)
    assert gate.judge(queue) is Turn.GO and not placed
    assert table.claimed == [("a", rest * SECOND, owed * SECOND, 3)]
    assert (queue.record.reason, gate.refused) == (None, 0)


@pytest.mark.parametrize(("due", "reason"), [(0, None), (10**9, None), (0, Reason(Fault.THROTTLED))])
def test_who_is_refused_rests_here(due, reason):
    table, clock, placed = Table(), Clock(), []
    table.wait = 500
    gate = SharedGate(table, Policy, clock, placed.append)
    queue = HostQueue(b"k" * 8, HostRecord("a", due=due, reason=reason), 1)
    assert [gate.judge(queue) for _ in range(2)] == [Turn.WAIT] * 2
    assert gate.refused == 2 and placed == [queue, queue]
    assert queue.record.due == max(due, clock.micros + 500)
    assert queue.record.reason == (reason or SHARED)


def test_visits_are_given_back_after_the_commit():
    table, clock = Table(), Clock()
    gate = SharedGate(table, Policy, clock, lambda _: None)
    queue = HostQueue(b"k" * 8, HostRecord("a", due=5_000, last_visit=1_000), 1)
    gate.after_visit(queue, 1_000, "")
    gate.after_visit(queue, 900, "")
    assert table.returned == []
    clock.micros = 1_200
    queue.record.due = 6_000
    gate.committed()
    assert [(each.name, each.wait, each.visited, each.ago) for each in table.returned] == [
        ("a", 4_800, True, 200),
        ("a", 4_800, False, 300),
    ]
    gate.committed()
    assert len(table.returned) == 2
    gate.listen()
    assert table.listened == 1


def test_the_order_of_resting_hosts():
    clock = Clock()
    schedule = HostSchedule(clock)
    queue = queue_of(1, level=1, due=2_000)
    schedule.add(queue)
    schedule.place(queue)
    assert not schedule.has_ready
    clock.micros = 1_999
    assert schedule.pop_rested() is None
    clock.micros = 2_000
    assert schedule.pop_rested() is queue and queue.placed is None
    schedule.place(queue)
    assert schedule.has_ready and schedule.short
    other = queue_of(2, level=1)
    schedule.add(other)
    schedule.place(other)
    assert not schedule.short
    queue.placed = other.placed = None
    assert not schedule.has_ready and schedule.short


def test_names_that_were_answered_are_at_hand_for_a_while():
    class Names:
        asked = []

        def known(self, host):
            return False

        def offer(self, host, *, first=False):
            self.asked.append((host, first))
            return True

    clock = Clock()
    gate = NameGate(Names(), clock)
    queue = queue_of(1, level=1)

    def judged(host, gate=gate):
        queue.awaits = ""
        queue.lanes[0] = Lane(complete=True)
        queue.lanes[0].buffer.append((b"", Candidate(Url.parse(f"http://{host}/"))))
        return gate.judge(queue)

    assert judged("a") is Turn.WAIT and queue.awaits == "a" and gate.waiting == 1
    assert gate.landed("b") == [] and gate.landed("a") == [queue]
    assert (queue.awaits, gate.waiting) == ("", 0)
    clock.micros += AT_HAND - 1
    assert judged("a") is Turn.GO and judged("other") is Turn.WAIT
    clock.micros += 1
    assert judged("a") is Turn.WAIT
    assert AT_HAND == 10 * SECOND and not gate.known("a")
    gate.look_ahead("z")
    assert Names.asked[-1] == ("z", False)
    free = NameGate(None, clock)
    assert judged("x", free) is Turn.GO and free.known("x")


def test_who_waits_for_ever_leaves_memory(make):
    world = make(obey=True)
    held = RobotsEntry(RobotsRecord("hold", FOREVER))
    with world.frontier.changes() as batch:
        world.frontier.robots.put(world.frontier.host_hash("a.example"), A, held, batch)
    world.admit(f"{A}/1")
    assert world.frontier.lend() is None
    assert not world.frontier.schedule.served
    assert world.frontier.hosts.get(world.frontier.host_hash("a.example")).wake == FOREVER


def test_who_only_waits_a_while_stays(make):
    world = make(obey=True)
    held = RobotsEntry(RobotsRecord("hold", world.micros + SECOND))
    with world.frontier.changes() as batch:
        world.frontier.robots.put(world.frontier.host_hash("a.example"), A, held, batch)
    world.admit(f"{A}/1")
    assert world.frontier.lend() is None
    assert len(world.frontier.schedule.served) == 1
    assert world.frontier.next_due() == world.micros + SECOND


def test_a_branch_that_is_let_out_has_its_turn(make):
    world = make(rest=0.0)
    world.frontier.queues._config = BranchConfig(begin=2)
    for name in "abcde":
        world.admit(f"{A}/{name}/x")
    host = world.frontier.host_hash("a.example")
    record = world.frontier.hosts.get(host)
    tree = world.frontier.queues.tree(host, record)
    node = next(node for node in tree.nodes.values() if node.record.label == "e")
    with world.frontier.changes():
        world.frontier.queues._set_aside(record, tree.set_aside(node))
    got = []
    while (lease := world.frontier.lend()) is not None:
        got.append(lease.candidate.url.text)
        world.settle(lease, Done(), Tally(host_failed=False))
    assert f"{A}/e/x" not in got and len(got) == 4
    Steering(world.frontier).release_branch(host, "a.example", node.record.number)
    world.micros += SECOND
    assert world.frontier.lend().candidate.url.text == f"{A}/e/x"


def test_reviving_and_new_delays_give_turns_at_once(make):
    world = make(leases=2, rest=0.0)
    for number in range(4):
        world.admit(f"{A}/{number}")
    lease = world.frontier.lend()
    Steering(world.frontier).rest("a.example", 900)
    assert world.frontier.lend() is None
    Steering(world.frontier).revive("a.example")
    assert world.frontier.lend() is not None, "its visit is under way, and there is room for one more"
    world.settle(lease, Done(), Tally(host_failed=False, rest=50.0))
    Steering(world.frontier).repolite(lambda _: PolitenessConfig(min_delay=50.0))
    assert world.frontier.lend() is None, "what is out will earn its host a rest by the new delays"


def test_bounds_that_the_documentation_states():
    config = FrontierConfig()
    assert (config.max_hosts, config.buffer, config.recent_links, config.seen_cache) == (
        2_000, 32, 131_072, 131_072,
    )  # fmt: skip
    assert (config.visited, config.bloom_urls, config.bloom_error) == ("exact", 10_000_000, 1e-6)
    assert (config.branches_memory, config.robots_cache) == (24 << 20, 6 << 20)
