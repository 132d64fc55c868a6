"""Decisions of single parts of the frontier at their borders, as tables."""

import math
from types import SimpleNamespace

import msgspec
import pytest
from frontier_world import FrontierWorld
from test_again import DAY, SECOND, AgainWorld, drain

from gossamer.frontier.queues import delayed
from gossamer.frontier.queues.again import AgainQueue, Pace
from gossamer.frontier.queues.host_queue import HostQueue
from gossamer.frontier.steering import Steering
from gossamer.frontier.tally import Tally
from gossamer.model.candidate import Candidate
from gossamer.model.disposition import Done
from gossamer.model.url import Url
from gossamer.policy.ordering.opic import Opic, OpicConfig
from gossamer.policy.revisit import classes
from gossamer.policy.revisit.history import unpack
from gossamer.policy.revisit.trust import Reading, Signal, Source, trust_of
from gossamer.state.environment import Family
from gossamer.state.keys import FOREVER, later_key, pack_heads, ticket
from gossamer.state.records import HostRecord, QueueRecord, decode_queue, encode

NOW = 1_000 * SECOND
VISITED = Tally(host_failed=False)


# What may be spent on visits again …


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
    assert HostQueue(b"k" * 8, record, 1, again=lambda _: due).look_at(NOW) == look
    without = msgspec.structs.replace(record, heads=b"", waiting=1, later_due=NOW + 1_000 * SECOND)
    if not queued:
        assert HostQueue(b"k" * 8, without, 1).look_at(NOW) == NOW + 1_000 * SECOND, "that does not move"


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
