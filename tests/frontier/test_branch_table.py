"""The branches of hosts between memory and disk: planted, learned, stored, pushed out, read again."""

from types import SimpleNamespace

import pytest
from examples import examples
from frontier_world import SMALL, FrontierWorld
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gossamer.frontier.queues.hosts import HostTable
from gossamer.frontier.queues.queue_table import QueueTable, branch_key, branches_of
from gossamer.frontier.tally import Tally
from gossamer.model.candidate import Candidate
from gossamer.model.disposition import Blame, Done, Retry
from gossamer.model.link import LinkKind
from gossamer.model.reasons.reason import text
from gossamer.model.url import Url
from gossamer.policy.branches import tree as tree_module
from gossamer.policy.branches.met import Filter
from gossamer.policy.branches.novelty import Said
from gossamer.policy.branches.tree import BranchConfig
from gossamer.policy.ordering.ordering import ROBOTS_LEVEL
from gossamer.state.environment import Environment, Family
from gossamer.state.keys import again_ticket, branch_of, order_of, ticket
from gossamer.state.records import Counters, HostRecord, decode_queue

A = "http://a.example"
WORDS = Said(tuple(range(1, 9)))


@pytest.fixture
def make(tmp_path):
    made = []

    def world(begin=3, share=True, **told):
        made.append(FrontierWorld(tmp_path / str(len(made)), rest=0.0, leases=9, **told))
        made[-1].frontier.queues._config = BranchConfig(begin=begin, share=share)
        return made[-1]

    yield world
    for each in made:
        each.close()


@pytest.fixture
def tables(tmp_path):
    environment = Environment.open(tmp_path / "state", SMALL)
    yield environment, b"h" * 8
    environment.close()


def key(world, name="a.example"):
    return world.frontier.host_hash(name)


def record(world, name="a.example"):
    return world.frontier.hosts.get(key(world, name))


def tree_of(world, name="a.example"):
    return world.frontier.queues.tree(key(world, name), record(world, name))


def fill(world, number, host=A):
    for at in range(number):
        world.admit(f"{host}/{'abcdefgh'[at]}/page")


@pytest.mark.parametrize(
    ("begin", "share", "urls", "pages", "branched"),
    [
        (3, True, 3, 0, False),
        (3, True, 4, 0, True),
        (3, False, 9, 0, False),
        (3, True, 2, 3, True),
        (3, True, 2, 2, False),
    ],
)
def test_a_site_is_seen_as_branches_from_some_size_on(make, begin, share, urls, pages, branched):
    world = make(begin, share)
    fill(world, urls - 1)
    if pages:
        record(world).pages = pages
    world.admit(f"{A}/last/page")
    assert record(world).branched is branched
    assert (tree_of(world) is not None) is branched
    assert (world.frontier.queues.value(key(world), WORDS) is not None) is branched


def test_what_is_lent_when_a_site_becomes_branches_can_come_back(make):
    world = make()
    fill(world, 3)
    leases = [world.frontier.lend() for _ in range(2)]
    world.admit(f"{A}/last/page")
    tree = tree_of(world)
    assert (tree.root.record.queued, tree.root.own, tree.root.waiting) == (3, 1, 2)
    for lease in leases:
        world.settle(lease, Done(), Tally(host_failed=False))
    assert (tree.root.record.queued, tree.root.own) == (1, 1)
    assert {branch_of(lease.ticket) for lease in leases} == {0}


def test_robots_files_stand_before_all_branches(make):
    world = make()
    fill(world, 5)
    world.frontier.admit_robots(Candidate(Url.parse(f"{A}/robots.txt"), LinkKind.ROBOTS, origin=A))
    lease = world.frontier.lend()
    assert lease.candidate.kind is LinkKind.ROBOTS and branch_of(lease.ticket) == 0


def test_what_is_learned_is_stored_with_the_queue(make):
    world = make()
    fill(world, 6)
    for _ in range(3):
        world.settle(world.frontier.lend(), Done(), Tally(host_failed=False))
    lease = world.frontier.lend()
    assert branch_of(lease.ticket)
    queues = world.frontier.queues
    with world.frontier.changes():
        assert queues.value(key(world), WORDS) == pytest.approx(8 / 10)
        queues.learn(key(world), lease.ticket, 0.5)
        queues.learn(key(world), lease.ticket, None)
        queues.learn(b"nobody00", lease.ticket, 0.5)
    stored = {branch.number: branch for branch in branches_of(world.environment, key(world))}
    assert set(stored) == set(tree_of(world).nodes)
    branch = stored[branch_of(lease.ticket)]
    assert (branch.visits, branch.judged, branch.brought) == (2, 1, 1)
    assert stored[0].visits == 2
    world.reopen()
    world.frontier.queues._config = BranchConfig(begin=3)
    again = tree_of(world)
    assert {node.record.number: node.record.visits for node in again.nodes.values()} == {
        number: branch.visits for number, branch in stored.items()
    }
    assert sum(node.own for node in again.nodes.values()) == record(world).queued == 3
    assert branch_key(b"h" * 8, 258) == b"h" * 8 + b"\x01\x02"


def test_what_a_page_said_survives_in_time(make):
    world = make()
    fill(world, 6)
    queues = world.frontier.queues
    many = Said(tuple(range(1, 400)))
    with world.frontier.changes():
        assert queues.value(key(world), many) > 0.9
    world.reopen()
    world.frontier.queues._config = BranchConfig(begin=3)
    with world.frontier.changes():
        assert world.frontier.queues.value(key(world), many) < 0.1


def test_branches_are_pushed_out_of_memory_and_read_again(make):
    world = make(branches_memory=1)
    hosts = [f"http://h{number}.example" for number in range(3)]
    for host in hosts:
        fill(world, 5, host)
    queues = world.frontier.queues
    assert len(queues._trees) == 1, "the one that is worked on stays"
    with world.frontier.changes():
        queues.value(key(world, "h0.example"), WORDS)
    assert list(queues._trees) == [key(world, "h0.example")]
    with world.frontier.changes():
        assert queues.value(key(world, "h1.example"), WORDS) == pytest.approx(0.8)
        assert queues.value(key(world, "h0.example"), WORDS) == 0.0, "it was stored as it left"
    got = []
    while (lease := world.frontier.lend()) is not None:
        got.append(lease.candidate.url.text)
        world.settle(lease, Done(), Tally(host_failed=False))
    assert len(got) == 15 and world.counters.queued == 0
    assert queues._held == sum(queues._sizes.values())


@pytest.mark.parametrize(("room", "used", "gone"), [(0, "h1", "h0"), (0, "h0", "h1"), (1, "h1", "")])
def test_as_many_as_fit_stay_and_those_used_last(make, room, used, gone):
    world = make()
    fill(world, 5, "http://h0.example")
    size = tree_of(world, "h0.example").size
    world.frontier.queues._memory = 2 * size + room * size + size // 2
    fill(world, 5, "http://h1.example")
    world.admit(f"http://{used}.example/a/page-2")
    fill(world, 5, "http://h2.example")
    names = ("h0", "h1", "h2")
    left = [name for name in names if key(world, f"{name}.example") not in world.frontier.queues._trees]
    assert left == ([gone] if gone else [])


def test_branches_that_come_back_know_what_is_lent(make):
    world = make(branches_memory=1)
    for host in ("http://h0.example", "http://h1.example"):
        fill(world, 5, host)
    leases = [world.frontier.lend() for _ in range(4)]
    fill(world, 6, "http://h1.example")  # the others are pushed out
    name = "h0.example"
    out = sum(lease.queue_key == name for lease in leases)
    assert out and key(world, name) not in world.frontier.queues._trees
    assert tree_of(world, name).root.waiting == record(world, name).queued - out == 5 - out
    while (lease := world.frontier.lend()) is not None:
        leases.append(lease)
    assert len({lease.candidate.url.text for lease in leases}) == len(leases) == 11
    for lease in leases:
        world.settle(lease, Done(), Tally(host_failed=False))
    assert world.counters.queued == 0


def test_a_branch_that_is_shown_to_be_endless_is_set_aside(make, monkeypatch):
    monkeypatch.setattr(tree_module, "_DRY", 1)
    world = make()
    world.frontier.queues._config = BranchConfig(begin=3, patience=1)
    fill(world, 4)
    for number in "klmnop":
        world.admit(f"{A}/endless/{number}")
    lease = None
    while lease is None or "/endless/" not in lease.candidate.url.text:
        lease = world.frontier.lend()
    tree = tree_of(world)
    for node in tree.nodes.values():
        node.record.bred, node.record.dry = 2.0, 50
    with world.frontier.changes():
        for number in "qr":
            world.admit(f"{A}/endless/{number}")
        world.frontier.queues.learn(key(world), lease.ticket, 0.0)
    assert record(world).aside == world.counters.aside > 0
    aside = record(world).aside
    world.settle(lease, Retry(0, Blame.HOST, text("busy")), Tally(host_failed=False))
    assert record(world).aside == world.counters.aside == aside + 1, "what was lent before comes back to them"
    asides = [node for node in tree.nodes.values() if node.record.state == tree_module.ASIDE]
    assert [node.record.label for node in asides] == ["endless"]
    while (lease := world.frontier.lend()) is not None:
        assert "/endless/" not in lease.candidate.url.text
    with world.frontier.changes():
        world.admit(f"{A}/endless/s")
    assert record(world).aside == world.counters.aside == aside + 2, "what is new there stands aside, too"
    assert world.frontier.queues.is_doubtful(key(world), lease_of(asides[0])) is asides[0].doubtful
    with world.frontier.changes():
        world.frontier.queues.release(key(world), "a.example", asides[0].record.number)
    assert record(world).aside == world.counters.aside == 0
    world.reopen()
    states = {branch.label: branch.state for branch in branches_of(world.environment, key(world))}
    assert states["endless"] == asides[0].record.state != tree_module.ASIDE, "for good"


def lease_of(node):
    """A ticket of a branch."""
    return ticket(1, 1, node.record.number)


def test_only_of_a_site_with_branches_it_is_known_whether_one_is_doubtful(make):
    world = make()
    queues = world.frontier.queues
    assert queues.is_doubtful(b"nobody00", ticket(1, 1, 0)) is None
    fill(world, 1)
    assert queues.is_doubtful(key(world), ticket(1, 1, 0)) is None
    fill(world, 8)
    for node in tree_of(world).nodes.values():
        assert queues.is_doubtful(key(world), lease_of(node)) is node.doubtful


@settings(max_examples=examples(40), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.sampled_from([1, 3]),
    st.lists(
        st.tuples(st.sampled_from(["add", "put", "take", "move", "robots"]), st.integers(0, 7)),
        min_size=5,
        max_size=25,
    ),
)
def test_the_queue_of_a_host_is_what_went_in_and_not_out(tables, begin, steps):
    """Entries, counts and heads, of the host and of its branches; as committed and as read anew."""
    environment, host = tables
    clear = environment.batch()
    for family in (Family.QUEUE, Family.BRANCHES):
        clear.delete_all(family)
    environment.commit(clear)
    hosts, counters, lent = HostTable(environment), Counters(), []
    config = BranchConfig(begin=begin)
    queues = QueueTable(environment, hosts, counters, config, lambda _: lent)
    record, inside = HostRecord("a"), {}
    hosts.put(host, record)
    for step, number in steps:
        batch = environment.batch()
        candidate = Candidate(Url.parse(f"{A}/{'abcdefgh'[number]}/page-{len(inside)}"))
        first = min(inside, default=None)
        if step in ("add", "robots"):
            level = ROBOTS_LEVEL if step == "robots" else 1 + number % 3
            inside[queues.add(host, record, candidate, level, batch)] = candidate
        elif step == "put":
            place = again_ticket(ROBOTS_LEVEL, 1_000_000 + len(inside) * 10 + number)
            if place not in inside:
                queues.put(host, record, place, candidate, batch)
                inside[place] = candidate
        elif inside:
            place = sorted(inside)[number % len(inside)]
            tree = queues.tree(host, record)
            if step == "take":
                if tree is not None:
                    tree.taken(tree.node(branch_of(place)), order_of(place))
                queues.delete(host, record, place, batch)
                del inside[place]
            else:
                counters.sequence += 1
                better = ticket(0, counters.sequence, branch_of(place))
                inside[better] = inside.pop(place)
                queues.move(host, place, better, inside[better], batch)
        if not first and inside:
            assert record.head == min(inside), "the only one"
        queues.flush(batch)
        environment.commit(batch)
        assert record.queued == counters.queued == len(inside)
        assert not inside or record.head <= min(inside)
        found = {key[8:]: decode_queue(data).url for key, data in environment.scan(Family.QUEUE, prefix=host)}
        assert found == {place: candidate.url.text for place, candidate in inside.items()}
        for tables_of in (
            queues,
            QueueTable(environment, hosts, Counters(), config, lambda _: lent),
        ):
            if (tree := tables_of.tree(host, record)) is not None:
                assert sum(node.own for node in tree.nodes.values()) == len(inside)
                for node in tree.nodes.values():
                    mine = [place for place in inside if branch_of(place) == node.record.number]
                    assert node.own == len(mine)
                    if node.record.number and mine:
                        assert node.record.head <= min(mine)


def met(*, worth_storing, slot=3):
    """What was met on a host, of which `slot` is the last filter; nothing may have been met yet."""
    stored = None if slot is None else (slot, Filter(0, 0, b""))
    return SimpleNamespace(worth_storing=worth_storing, to_store=lambda: stored)


@pytest.mark.parametrize(
    ("worth", "slot", "pushed_out", "stored"),
    [(True, 0, False, True), (True, 3, False, True), (False, 3, False, False), (False, 3, True, True),
     (True, None, True, False)],
)  # fmt: skip
def test_filters_stand_behind_the_branches_and_are_stored_now_and_then_and_at_the_last(
    tables, worth, slot, pushed_out, stored
):
    environment, host = tables
    memory = 0 if pushed_out else 100
    queues = QueueTable(environment, HostTable(environment), Counters(), BranchConfig(), lambda _: (), memory)
    for name in (host, b"i" * 8):
        tree = SimpleNamespace(changed=set(), nodes={}, size=50)
        tree.mets = [met(worth_storing=worth, slot=slot), met(worth_storing=False, slot=None)] * 2
        queues._trees[name] = tree
        queues._weigh(name, tree.size)
    queues._changed.add(b"i" * 8 if pushed_out else host)
    batch = environment.batch()
    batch.delete_all(Family.BRANCHES)
    queues.flush(batch)
    environment.commit(batch)
    found = [int.from_bytes(key[8:], "big") for key, _ in environment.scan(Family.BRANCHES, prefix=host)]
    assert found == ([4_096 + slot, 3 * 4_096 + slot] if stored else [])
    assert (host in queues._trees) is not pushed_out and b"i" * 8 in queues._trees
