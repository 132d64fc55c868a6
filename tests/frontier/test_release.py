"""What was held for a robots file comes back once, however often its answer is heard within one commit."""

from frontier_world import FrontierWorld

from gossamer.frontier.tally import Tally
from gossamer.model.disposition import Blame, Done, Retry
from gossamer.model.reasons.reason import text
from gossamer.state.environment import Family
from gossamer.state.records import decode_host

VISITED = Tally(rest=1.0, pages=1, bytes=10, host_failed=False)


def test_two_answers_of_one_origin_in_one_commit(tmp_path):
    world = FrontierWorld(tmp_path)
    world.admit("http://a.test/1")
    world.micros += 1_000_000
    lease = world.frontier.lend()
    world.settle(lease, Retry(600.0, Blame.URL, text("held")), VISITED)
    # As an entry that was held, not tried: those that were tried wait for their own time.
    ((key, data),) = world.environment.scan(Family.LATER)
    assert b"http://a.test/1" in data
    with world.frontier.changes() as batch:
        record = world.frontier.hosts.change(key[:8], "a.test")
        for _ in range(2):
            world.frontier._later.bring_back(key[:8], record, batch)
    (record,) = [decode_host(value) for _, value in world.environment.scan(Family.HOSTS)]
    assert (record.queued, record.waiting) == (1, 0)
    assert (world.counters.queued, world.counters.waiting) == (1, 0)
    world.reopen()
    world.micros += 10_000_000
    world.settle(world.frontier.lend(), Done(), VISITED)
    assert world.frontier.lend() is None
    world.close()
