"""The branches of hosts between memory and disk: planted, learned, stored, pushed out, read again."""

import pytest
from frontier_world import FrontierWorld

from gossamer.frontier.queues.queue_table import branch_key, branches_of
from gossamer.frontier.tally import Tally
from gossamer.model.candidate import Candidate
from gossamer.model.disposition import Blame, Done, Retry
from gossamer.model.link import LinkKind
from gossamer.model.reasons.reason import text
from gossamer.model.url import Url
from gossamer.policy.branches import tree as tree_module
from gossamer.policy.branches.novelty import Said
from gossamer.policy.branches.tree import BranchConfig
from gossamer.state.keys import branch_of

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
        world.frontier.queues.release(key(world), "a.example", asides[0].record.number)
    assert record(world).aside == 0
