"""No host, and no number of new hosts, keeps those that have rested waiting."""

import pytest
from frontier_world import FrontierWorld
from test_frontier import VISITED

from gossamer.model.disposition import Done

STEP = 10_000
"""Microseconds between visits: at a rest of a second, a hundred hosts keep us busy."""


@pytest.mark.parametrize("discovered", [1, 2])
@pytest.mark.parametrize("depth", [0, 1])
def test_hosts_on_disk_have_their_turn_however_many_new_ones_are_found(tmp_path, discovered, depth):
    world = FrontierWorld(tmp_path / "state", max_hosts=160, buffer=8)
    old = {f"http://old{host}.test/{page}" for host in range(120) for page in range(3)}
    for url in sorted(old):
        world.admit(url)
    found = visits = 0
    while old and visits < 4_000:
        lease = world.frontier.lend()
        world.micros += STEP
        if lease is None:
            continue
        visits += 1
        old.discard(lease.candidate.url.text)
        with world.frontier.changes():
            world.settle(lease, Done(), VISITED)
            for _ in range(discovered):
                found += 1
                world.admit(f"http://new{found}.test/", depth)
        assert len(world.frontier.schedule.served) <= world.config.max_hosts
    world.close()
    # Alone they take 360 visits; by arrival each turn comes after those of the hosts found before it.
    assert not old
    assert visits < 3_000


def test_a_huge_host_takes_its_turns_and_no_more(tmp_path):
    world = FrontierWorld(tmp_path / "state", max_hosts=16, buffer=8)
    for page in range(2_000):
        world.admit(f"http://huge.test/{page}")
    for host in range(50):
        for page in range(4):
            world.admit(f"http://small{host}.test/{page}", 1)
    small = huge = 0
    start = world.micros
    while small < 200:
        lease = world.frontier.lend()
        world.micros += STEP
        if lease is not None:
            small += lease.queue_key != "huge.test"
            huge += lease.queue_key == "huge.test"
            world.settle(lease, Done(), VISITED)
    seconds = (world.micros - start) / 1e6
    world.close()
    assert huge <= seconds + 1, "one page a second"
    assert seconds < 2 * 4, "four pages take four seconds alone"
