"""What a host's queue in memory says when entries come, move, leave."""

import pytest
from frontier_world import FrontierWorld

from gossamer.frontier.queues.host_queue import LANE, MOST_LANES, HostQueue, Lane
from gossamer.frontier.robots_table import RobotsEntry, RobotsTable
from gossamer.model.candidate import Candidate
from gossamer.model.url import Url
from gossamer.policy.branches.tree import Branch, BranchConfig, BranchTree
from gossamer.state.environment import Family
from gossamer.state.keys import order_of, ticket
from gossamer.state.records import HostRecord, QueueRecord, RobotsRecord, encode

KEY = b"hosthost"


def entry(number, branch=0):
    return ticket(number, number, branch), Candidate(Url.parse(f"http://a.example/{number}"))


@pytest.fixture
def world(tmp_path):
    made = FrontierWorld(tmp_path / "state")
    yield made
    made.close()


def store(world, *entries):
    batch = world.environment.batch()
    for place, candidate in entries:
        batch.put(Family.QUEUE, KEY + place, encode(QueueRecord.of(candidate)))
    world.environment.commit(batch)


def plain(queued=3, **told):
    return HostQueue(KEY, HostRecord("a.example", queued=queued, **told), 1)


def test_an_entry_may_be_the_first(world):
    queue = plain(queued=1)
    assert queue.insert(*entry(5), 9), "there is nothing else"
    queue.record.queued = 3
    assert queue.insert(*entry(3), 9)
    assert not queue.insert(*entry(4), 9)
    assert [place for place, _ in queue.lanes[0].buffer] == [ticket(3, 3), ticket(4, 4), ticket(5, 5)]
    assert queue.first == entry(3) and queue.first_order == order_of(ticket(3, 3))
    assert queue.take() == entry(3) and queue.first == entry(4)


def test_of_a_queue_that_is_on_disk_nothing_is_known():
    queue = plain(queued=2, head=ticket(1, 1))
    assert not queue.insert(*entry(5), 9)
    assert queue.lanes == {} and queue.first is None
    assert queue.first_order == order_of(ticket(1, 1))


def test_the_front_is_read_in_order_without_what_is_lent(world):
    entries = [entry(number) for number in range(6)]
    store(world, *entries)
    queue = plain(queued=6)
    queue.lent[entries[1][0]] = entries[1][1]
    assert queue.fill(world.environment, 3) == entries[0]
    lane = queue.lanes[0]
    assert lane.buffer == [entries[0], entries[2], entries[3]] and not lane.complete
    queue = plain(queued=6)
    queue.filled = 20
    queue.fill(world.environment, 6)
    assert len(queue.lanes[0].buffer) == 6 and queue.lanes[0].complete
    queue = plain(queued=6, head=entries[4][0])
    assert queue.fill(world.environment, 9) == entries[4], "nothing stands before the head"


@pytest.mark.parametrize(
    ("old", "new", "turns"), [(5, 1, True), (5, 4, False), (3, 6, True), (3, 2, True), (5, 9, False)]
)
def test_a_move_may_change_whose_turn_it_is(old, new, turns):
    queue = plain(queued=1)
    for number in (3, 5, 7):
        queue.insert(*entry(number), 9)
    assert queue.move(ticket(old, old), ticket(new, new), entry(new)[1], 9) is turns
    expected = sorted({3, 5, 7} - {old} | {new})
    assert [place for place, _ in queue.lanes[0].buffer] == [ticket(number, number) for number in expected]


def test_a_move_in_a_branch_that_is_not_in_memory():
    queue = plain()
    assert queue.move(ticket(5, 5), ticket(1, 1), entry(1)[1], 9) is False
    queue.lanes[0] = Lane(complete=False)
    assert queue.move(ticket(5, 5), ticket(1, 1), entry(1)[1], 9) is True, "nobody knows what is first now"


@pytest.mark.parametrize(
    ("buffer", "complete", "lent", "head"),
    [
        ([4, 5], False, [], 4),
        ([4, 5], False, [2], 2),
        ([4, 5], True, [6], 4),
        ([], True, [2], 2),
        ([], True, [], 3),
        ([], False, [2], 1),  # a better entry may have come while this one was out
    ],
)
def test_where_the_next_scan_begins(buffer, complete, lent, head):
    queue = plain(head=ticket(1, 1))
    lane = queue._lane()
    lane.buffer, lane.complete = [entry(number) for number in buffer], complete
    queue.lent = dict(entry(number) for number in lent)
    queue.lent[ticket(9, 9, 4)] = None  # of another branch
    queue.set_head(ticket(3, 3))
    assert queue.record.head == ticket(head, head)
    queue.set_head(ticket(3, 3, 7))
    assert queue.record.head == ticket(head, head), "that branch is not in memory"


def branched(*queued, **told):
    """A queue whose site has branches that hold so many each."""
    holding = (Branch(at, 0, f"b{at}", queued=n, head=ticket(1, 0, at)) for at, n in enumerate(queued, 1))
    tree = BranchTree(BranchConfig(), [Branch(0, -1, ""), *holding], order_of)
    queue = HostQueue(
        KEY, HostRecord("a.example", queued=sum(queued), branched=True, **told), 1, lambda: tree
    )
    return queue, tree


def test_each_branch_has_a_lane(world):
    queue, tree = branched(20, 20)
    store(world, *(entry_of(branch, number) for branch in (1, 2) for number in range(20)))
    first = queue.fill(world.environment, 32)
    assert first[0] == ticket(1, 0, 1) and len(queue.lanes[1].buffer) == 4
    for _ in range(3):
        queue.lanes[1].buffer.clear()
        queue.fill(world.environment, 32)
    assert len(queue.lanes[1].buffer) == LANE
    place, _ = queue.take()
    assert place == ticket(1, 0, 1) and tree.nodes[1].own == 19
    assert tree.nodes[1].first == order_of(ticket(1, 1, 1))
    queue.gave_turn()
    assert tree.nodes[1].own_passed > 0 and queue._number == -1
    tree.set_aside(tree.nodes[1])
    assert queue.first is None and queue._number == 2
    assert queue.first_order == order_of(ticket(1, 0, 2))
    assert queue.fill(world.environment, 32)[0] == ticket(1, 0, 2)


def entry_of(branch, number):
    return ticket(1, number, branch), Candidate(Url.parse(f"http://a.example/{branch}/{number}"))


def test_the_turn_stays_until_it_is_taken_but_not_before_the_whole_sites_own(world):
    queue, tree = branched(5, 5)
    store(world, *(entry_of(branch, number) for branch in (1, 2) for number in range(5)))
    queue.fill(world.environment, 32)
    tree.nodes[2].first = tree.nodes[2].front = 0
    assert queue.first[0] == ticket(1, 0, 1)
    tree.root.own = 1
    assert queue.first is None and queue._number == 0
    tree.root.own = 0
    assert queue.first is None and queue._number == 2


def test_an_entry_of_a_branch_may_be_the_first():
    queue, tree = branched(1, 2)
    assert queue.insert(*entry_of(1, 0), 9) is False, "it is not the turn of its branch"
    assert list(queue.lanes) == [1] and queue.lanes[1].complete
    queue._number = 1
    assert queue.insert(ticket(0, 1, 1), entry(1)[1], 9) is True
    assert queue.insert(ticket(0, 2, 1), entry(2)[1], 9) is False
    assert queue.insert(ticket(0, 3, 2), entry(2)[1], 9) is False and 2 not in queue.lanes
    for number in range(4, 30):
        queue.insert(ticket(2, number, 1), entry(number)[1], 99)
    assert len(queue.lanes[1].buffer) <= 2 * LANE
    queue.set_head(ticket(0, 0, 1))
    assert tree.nodes[1].record.head == ticket(0, 1, 1) and queue.record.head == b""


def test_lanes_are_bounded():
    queue, tree = branched(*[1] * (MOST_LANES + 1))
    for number in range(1, MOST_LANES + 2):
        queue._number = number
        queue._lane()
        assert len(queue.lanes) == (number if number <= MOST_LANES else 1)
    assert tree.root.own == 0


def test_memory_of_rules_is_counted(world):
    table = RobotsTable(world.environment, 10_000, lambda: 0)
    batch = world.environment.batch()
    for _ in range(3):
        table.put(KEY, "http://a.example", RobotsEntry(RobotsRecord("open", 9, rules=b"x" * 100)), batch)
        assert table._used == 500 + 8 * 100
    table.get(KEY, "http://never.example")
    assert table._used == 500 + 800 + 500
    table.forget(lambda key: True)
    assert table._used == 0
