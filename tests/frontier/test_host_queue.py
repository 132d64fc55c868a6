"""What a host's queue reads from disk when it comes into memory, and when it goes on."""

import pytest
from frontier_world import FrontierWorld

from gossamer.frontier.queues.host_queue import HostQueue
from gossamer.frontier.tally import Tally
from gossamer.model.disposition import Done

URLS = [f"http://a/{number}" for number in range(50)]


@pytest.fixture
def world(tmp_path):
    world = FrontierWorld(tmp_path / "state", buffer=16)
    for url in URLS:
        world.admit(url)
    world.reopen()
    yield world
    world.close()


def test_a_queue_is_read_in_pieces_that_double_up_to_the_buffer(world):
    key = world.fingerprint(URLS[0])[:8]
    queue = HostQueue(key, world.frontier.hosts.get(key), 1)
    read = []
    while not (queue.lanes and queue.lanes[0].complete):
        queue.fill(world.environment, world.config.buffer)
        read.append([candidate.url.text for _, candidate in queue.lanes[0].buffer])
        queue.record.head = queue.lanes[0].buffer[-1][0] + b"\0"
        queue.lanes[0].buffer.clear()
    assert [len(some) for some in read] == [4, 8, 16, 16, 6]
    assert [url for some in read for url in some] == URLS


def test_the_order_is_that_of_the_queue_however_it_is_read(world):
    lent = []
    while len(lent) < len(URLS):
        lease = world.frontier.lend()
        if lease is None:
            world.micros = world.frontier.next_due()
            continue
        lent.append(lease.candidate.url.text)
        world.settle(lease, Done(), Tally(rest=1.0, pages=1, host_failed=False))
    assert lent == URLS
