"""What is known of a host's branches survives a restart, and what does not fit into memory."""

import pytest
from frontier_world import FrontierWorld

from gossamer.frontier.queues import queue_table
from gossamer.frontier.tally import Tally
from gossamer.model.disposition import Done
from gossamer.policy.branches.novelty import Said
from gossamer.state.environment import Family

HOSTS = "abcdefgh"
SAID = {host: Said(pieces=tuple(range(at * 10_000, at * 10_000 + 900))) for at, host in enumerate(HOSTS, 1)}


@pytest.fixture
def world(tmp_path):
    world = FrontierWorld(tmp_path / "state", buffer=16)
    for number in range(120):
        for host in HOSTS:
            world.admit(f"http://{host}/folder-{number % 3}/page-{number}?x={number}")
    yield world
    world.close()


def key(world, host):
    return world.fingerprint(f"http://{host}/")[:8]


def say(world, host):
    with world.frontier.changes():
        return world.frontier.queues.value(key(world, host), SAID[host])


def visits(world, number):
    done = 0
    while done < number:
        lease = world.frontier.lend()
        if lease is None:
            world.micros = world.frontier.next_due()
            continue
        world.settle(lease, Done(), Tally(rest=1.0, pages=1, host_failed=False))
        done += 1


def branches(world, host):
    return queue_table.branches_of(world.environment, key(world, host))


def test_pages_that_were_said_are_known_after_a_restart(world):
    assert all(say(world, host) > 0.9 for host in HOSTS)
    before = {host: branches(world, host) for host in HOSTS}
    world.reopen()
    # A crash forgets an eighth of a filter, and a filter has 2,048 marks.
    assert all(say(world, host) in (0.0, None) for host in HOSTS)
    assert {host: branches(world, host) for host in HOSTS} == before


def test_hosts_that_were_not_used_lately_wait_on_disk_with_all_that_is_known(world, monkeypatch):
    monkeypatch.setattr(world.frontier.queues, "_memory", 40_000)
    for _ in range(3):
        values = [say(world, host) for host in HOSTS]
        assert len(world.frontier.queues._trees) < len(HOSTS)
    assert values == [0.0] * len(HOSTS)
    visits(world, 200)
    assert sum(each.queued for host in HOSTS for each in branches(world, host)) == 120 * len(HOSTS) - 200
    stored = list(world.environment.scan(Family.BRANCHES, prefix=key(world, "a")))
    assert len(stored) > len(branches(world, "a")), "the filters stand behind the branches"


def test_branches_that_leave_memory_do_not_wait_for_the_garbage_collector(world, monkeypatch):
    say(world, HOSTS[0])
    left = next(iter(world.frontier.queues._trees.values()))
    assert any(node.children for node in left.nodes.values())
    monkeypatch.setattr(world.frontier.queues, "_memory", 0)
    for host in HOSTS[1:]:
        say(world, host)
    assert all(node.parent is None and not node.children for node in left.nodes.values())
