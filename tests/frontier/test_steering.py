"""The operator's hand on single hosts, and what a session takes up that another has left."""

import msgspec
import pytest
from frontier_world import FrontierWorld

from gossamer.frontier.queues import delayed as delayed_module
from gossamer.frontier.queues.delayed import PROMOTED_AT_ONCE
from gossamer.frontier.robots_table import RobotsEntry
from gossamer.frontier.steering import Steering
from gossamer.frontier.tally import Tally
from gossamer.model.candidate import Candidate
from gossamer.model.disposition import Blame, Done, Dropped, Parked, Retry
from gossamer.model.reasons.codes import BudgetCode
from gossamer.model.reasons.earlier import told_before
from gossamer.model.reasons.reason import because, text
from gossamer.model.url import Url
from gossamer.policy.visits.politeness import PolitenessConfig
from gossamer.state.environment import Family
from gossamer.state.keys import FOREVER
from gossamer.state.records import HostRecord, RobotsRecord, encode

SECOND = 1_000_000
A = "http://a.example"


@pytest.fixture
def world(tmp_path):
    made = FrontierWorld(tmp_path / "state")
    yield made
    made.close()


def lend(world):
    lease = world.frontier.lend()
    assert lease is not None
    return lease


def record(world, name="a.example"):
    return world.frontier.hosts.get(world.frontier.host_hash(name))


def pass_time(world, seconds):
    world.micros += int(seconds * SECOND)


# Accounts …


@pytest.mark.parametrize(
    ("tally", "before", "after"),
    [
        (Tally(), {}, {}),
        (Tally(pages=2, bytes=30), {"pages": 1, "bytes": 5}, {"pages": 3, "bytes": 35}),
        (Tally(rest=2.0, host_failed=False), {"failures": 3, "reason": text("x")},
         {"visits": 1, "last_visit": 1_000, "rest": 2 * SECOND, "due": 2 * SECOND + 1_000}),
        (Tally(rest=2.0, host_failed=False), {"due": 9 * SECOND, "reason": text("x")},
         {"visits": 1, "last_visit": 1_000, "rest": 2 * SECOND, "due": 9 * SECOND, "reason": text("x")}),
        (Tally(rest=2.0, host_failed=True), {},
         {"visits": 1, "last_visit": 1_000, "rest": 2 * SECOND, "due": 2 * SECOND + 1_000, "failures": 1,
          "failing_since": 0.001}),
        (Tally(rest=2.0, host_failed=True), {"visits": 4, "failures": 2, "failing_since": 0.5, "reason": text("x")},
         {"visits": 5, "last_visit": 1_000, "rest": 2 * SECOND, "due": 2 * SECOND + 1_000, "failures": 3,
          "failing_since": 0.5, "reason": text("x")}),
    ],
)  # fmt: skip
def test_what_a_visit_adds_to_an_account(tally, before, after):
    found = HostRecord("a", **before)
    tally.enter(found, 1_000)
    assert found == HostRecord("a", **after)


# By hand …


def test_a_rest_by_hand_and_its_end(world):
    steering = Steering(world.frontier)
    assert steering.host("a.example") is None
    world.admit(f"{A}/1")
    steering.rest("a.example", 60)
    assert (record(world).due, bool(record(world).reason)) == (world.micros + 60 * SECOND, True)
    assert world.frontier.lend() is None
    steering.rest("a.example", 5)
    assert record(world).due == world.micros + 60 * SECOND, "the longer one counts"
    steering.end_rest("a.example", 0, "why")
    assert (steering.host("a.example").due, record(world).reason) == (0, "why")
    world.settle(lend(world), Done(), Tally(rest=30.0, host_failed=False))
    world.admit(f"{A}/2")
    steering.rest("a.example", 60)
    steering.end_rest("a.example", 5, "")
    assert record(world).due == record(world).last_visit + 30 * SECOND
    pass_time(world, 30)
    lend(world)


def test_a_rest_ends_on_disk_too(world):
    world.admit(f"{A}/1")
    Steering(world.frontier).rest("a.example", 60)
    world.reopen()
    assert world.frontier.lend() is None
    Steering(world.frontier).end_rest("a.example", 0, "")
    pass_time(world, 2)  # after a start it rests its own rest
    lend(world)


@pytest.mark.parametrize("under_way", [False, True])
def test_parking_and_reviving_by_hand(world, under_way):
    steering = Steering(world.frontier)
    world.admit(f"{A}/1")
    world.admit(f"{A}/2")
    lease = lend(world) if under_way else None
    steering.park("a.example")
    steering.park("a.example")
    assert (bool(record(world).parked), world.counters.hosts_parked) == (True, 1)
    assert world.frontier.lend() is None
    record(world).failures = 7
    if under_way:
        assert "a.example" in [queue.record.name for queue in world.frontier.schedule.served.values()]
        steering.revive("a.example")
        world.settle(lease, Done(), Tally(host_failed=False))
    else:
        steering.revive("a.example")
    found = record(world)
    assert (found.parked, found.reason, found.failures, world.counters.hosts_parked) == (None, None, 0, 0)
    assert lend(world).candidate.url.text == f"{A}/{1 + under_way}"


def test_whoever_is_parked_in_mid_visit_leaves_with_it(world):
    world.admit(f"{A}/1")
    world.admit(f"{A}/2")
    lease = lend(world)
    Steering(world.frontier).park("a.example")
    world.settle(lease, Done(), Tally(host_failed=False))
    assert world.frontier.lend() is None and not world.frontier.schedule.served
    world.admit(f"{A}/3")
    assert world.frontier.lend() is None
    assert record(world).queued == 2


def test_reviving_keeps_the_rest_of_the_last_visit(world):
    world.admit(f"{A}/1")
    world.admit(f"{A}/2")
    world.settle(lend(world), Done(), Tally(rest=20.0, host_failed=False))
    at = world.micros
    Steering(world.frontier).rest("a.example", 500)
    Steering(world.frontier).revive("a.example")
    assert record(world).due == at + 20 * SECOND
    assert world.frontier.lend() is None
    pass_time(world, 20)
    lend(world)


@pytest.mark.parametrize(
    ("parked", "spent", "revived"),
    [
        ("pages_per_host 5", None, True),
        ("bytes_per_host 5", None, True),
        ("pages_per_host 5", because(BudgetCode.PAGES_PER_HOST, 9), False),
        ("by the operator", None, False),
        ("", None, False),
    ],
)
def test_budgets_that_were_raised(world, parked, spent, revived):
    world.admit(f"{A}/1")
    if parked:
        world.frontier.park("a.example", told_before(parked))
    asked = []

    def budget_spent(*account):
        asked.append(account)
        return spent

    world.frontier.policy = msgspec.structs.replace(world.frontier.policy, budget_spent=budget_spent)
    assert Steering(world.frontier).revive_spent(b"", 10) == b""
    assert (record(world).parked is None) is (revived or not parked)
    if parked.startswith(("pages", "bytes")):
        assert asked[0] == ("a.example", 0, 0)


def test_so_many_hosts_at_a_time(world):
    names = [f"h{number}.example" for number in range(5)]
    for name in names:
        world.admit(f"http://{name}/")
        world.frontier.park(name, because(BudgetCode.PAGES_PER_HOST, 1))
    with world.frontier.changes():
        pass
    steering, cursor, freed = Steering(world.frontier), b"", []
    while True:
        cursor = steering.revive_spent(cursor, 2)
        freed.append(sum(not record(world, name).parked for name in names))
        if not cursor:
            break
    assert freed == [2, 4, 5]


# Other delays …


def polite(world, rest, **told):
    world.frontier.policy = msgspec.structs.replace(world.frontier.policy, rest=lambda _: rest, **told)


@pytest.mark.parametrize(
    ("visit_rest", "reason", "crawl_delay", "now", "due_after"),
    [
        (1.0, "", -1.0, 5.0, 5.0),  # it was the least delay that had set it
        (1.0, "", 7.0, 5.0, 7.0),
        (1.0, "", -1.0, 0.2, 0.2),
        (3.0, "", -1.0, 5.0, 5.0),  # what something else had set only grows
        (3.0, "", -1.0, 0.2, 3.0),
        (1.0, "throttled", -1.0, 0.2, 1.0),
        (1.0, "throttled", -1.0, 5.0, 5.0),
    ],
)
def test_other_delays(world, visit_rest, reason, crawl_delay, now, due_after):
    world.admit(f"{A}/1")
    world.admit(f"{A}/2")
    world.settle(lend(world), Done(), Tally(rest=visit_rest, host_failed=False))
    at = world.micros
    known = record(world)
    known.reason, known.crawl_delay = reason, crawl_delay
    polite(world, now)
    Steering(world.frontier).repolite(lambda _: PolitenessConfig(min_delay=1.0))
    assert record(world).due == at + int(due_after * SECOND)
    pass_time(world, due_after)
    lend(world)


def test_other_delays_of_hosts_that_are_visited_or_never_were(world):
    world.admit(f"{A}/1")
    polite(world, 50.0)
    Steering(world.frontier).repolite(lambda _: PolitenessConfig(min_delay=1.0))
    assert record(world).due == 0
    lend(world)
    Steering(world.frontier).repolite(lambda _: PolitenessConfig(min_delay=1.0))
    assert record(world).due == 0


def test_more_visits_at_once(world):
    for number in range(3):
        world.admit(f"{A}/{number}")
    lend(world)
    assert world.frontier.lend() is None
    polite(world, 1.0, visits_at_once=lambda _: 2)
    Steering(world.frontier).repolite(lambda _: PolitenessConfig())
    lend(world)
    assert world.frontier.lend() is None
    polite(world, 1.0, visits_at_once=lambda _: 1)
    Steering(world.frontier).repolite(lambda _: PolitenessConfig())
    assert world.frontier.lend() is None


def test_what_was_settled_is_queued_again(world):
    world.admit(f"{A}/1", depth=3)
    world.settle(lend(world), Dropped(text("x")), Tally(host_failed=False))
    admitted, place = world.counters.admitted, world.environment.get(Family.SEEN, world.fingerprint(f"{A}/1"))
    with world.frontier.changes():
        Steering(world.frontier).readmit(Candidate(Url.parse(f"{A}/1"), depth=3), world.fingerprint(f"{A}/1"))
    assert world.counters.admitted == admitted
    assert world.environment.get(Family.SEEN, world.fingerprint(f"{A}/1")) != place
    again = lend(world)
    assert (again.candidate.url.text, again.candidate.depth) == (f"{A}/1", 3)
    assert world.fingerprint(f"{A}/1") in world.frontier.seen


@pytest.mark.parametrize(
    ("state", "detail", "forgotten"),
    [("closed", "scope: blocked", True), ("closed", "private address", False), ("open", "scope: x", False)],
)
def test_robots_files_of_hosts_that_were_blocked(world, state, detail, forgotten):
    host = world.frontier.host_hash("a.example")
    until = world.micros + SECOND
    with world.frontier.changes() as batch:
        world.frontier.robots.put(
            host, A, RobotsEntry(RobotsRecord(state, until, reason=told_before(detail))), batch
        )
    Steering(world.frontier).forget_closed("a.example")
    assert (world.frontier.robots.get(host, A) is None) is forgotten
    assert world.frontier.robots.latest(host, A).record.until == (0 if forgotten else until)


# The next session …


def left(world, *, host=None, parked="", waiting=None, reason=""):
    """A host with one URL, as a session left it."""
    world.admit(f"{A}/1")
    if waiting is not None:
        world.settle(lend(world), waiting, Tally(host_failed=False))
    known = world.frontier.hosts.change(world.frontier.host_hash("a.example"), "a.example")
    if parked:
        world.frontier.park("a.example", told_before(parked))
    known.reason = told_before(reason) if reason else None
    for name, value in (host or {}).items():
        setattr(known, name, value)
    with world.frontier.changes():
        world.frontier.hosts.change(world.frontier.host_hash("a.example"), "a.example")
    world.reopen()


@pytest.mark.parametrize(
    ("told", "taken"),
    [
        ({}, 0),
        ({"parked": "dead"}, 1),
        ({"parked": "by the operator"}, 0),
        ({"host": {"failures": 1, "due": FOREVER - 5}}, 1),
        ({"host": {"failures": 1}, "reason": "429"}, 0),
        ({"host": {"failures": 1}, "reason": "503"}, 0),
        ({"parked": "dead", "reason": "503"}, 1),
        ({"waiting": Retry(5_000, Blame.URL, text("later"))}, 1),
        ({"waiting": Parked(text("for ever"))}, 1),
        ({"waiting": Done()}, 0),
        ({"waiting": Done(), "parked": "dead"}, 0),
    ],
)
def test_what_an_earlier_session_left_is_taken_up(world, told, taken):
    left(world, **told)
    parked = world.counters.hosts_parked
    assert world.frontier.take_up() == taken
    found = record(world)
    if taken:
        assert (found.parked, found.failures, found.waiting, found.queued) == (None, 0, 0, 1)
        assert (world.counters.hosts_parked, world.counters.waiting, world.counters.queued) == (0, 0, 1)
        pass_time(world, 2)
        assert lend(world).candidate.url.text == f"{A}/1"
    else:
        assert world.counters.hosts_parked == parked
        assert bool(found.parked) is bool(told.get("parked"))


def test_a_wait_that_is_over_by_itself_is_none(world):
    left(world, waiting=Retry(5, Blame.URL, text("later")))
    pass_time(world, 10)
    assert world.frontier.take_up() == 0


@pytest.mark.parametrize(
    ("state", "detail", "taken"),
    [("hold", "x", True), ("hold", "429", False), ("hold", "(503)", False), ("open", "x", False)],
)
def test_robots_files_that_could_not_be_had_are_asked_for_again(world, state, detail, taken):
    host = world.frontier.host_hash("a.example")
    until = world.micros + 500 * SECOND
    with world.frontier.changes() as batch:
        batch.put(
            Family.ROBOTS,
            host + A.encode(),
            encode(RobotsRecord(state, until, failures=3, reason=told_before(detail))),
        )
    assert world.frontier.take_up() == 0
    found = world.frontier.robots.latest(host, A).record
    assert (found.until, found.failures, found.state) == (0 if taken else until, 3, state)


# What waits …


def test_what_waits_comes_back_to_its_place(world):
    for number in range(3):
        world.admit(f"{A}/{number}")
    first = lend(world)
    world.settle(first, Retry(10, Blame.URL, text("later")), Tally(host_failed=False))
    assert (record(world).queued, record(world).waiting, record(world).later_due) == (
        2,
        1,
        world.micros + 10 * SECOND,
    )
    assert (world.counters.queued, world.counters.waiting) == (2, 1)
    second = lend(world)
    assert second.candidate.url.text == f"{A}/1"
    pass_time(world, 10)
    world.settle(second, Done(), Tally(host_failed=False))
    again = lend(world)
    assert (again.candidate.url.text, again.candidate.attempts, again.ticket) == (f"{A}/0", 1, first.ticket)
    assert (record(world).waiting, record(world).later_due, world.counters.waiting) == (0, 0, 0)


def test_the_soonest_that_waits_is_known(world):
    for number, wait in enumerate((30, 10, 20)):
        world.admit(f"{A}/{number}")
        world.settle(lend(world), Retry(wait, Blame.URL, text("later")), Tally(host_failed=False))
    start = world.micros
    assert record(world).later_due == start + 10 * SECOND
    got = []
    for seconds in (10, 20, 30):
        world.micros = start + seconds * SECOND - 1
        assert world.frontier.lend() is None
        assert world.frontier.next_due() == start + seconds * SECOND
        world.micros += 1
        lease = lend(world)
        got.append(lease.candidate.url.text[-1])
        world.settle(lease, Done(), Tally(host_failed=False))
    assert got == ["1", "2", "0"]


def test_very_many_that_wait_come_back_in_turns(tmp_path, monkeypatch):
    assert PROMOTED_AT_ONCE == 1_000
    monkeypatch.setattr(delayed_module, "PROMOTED_AT_ONCE", 2)
    world = FrontierWorld(tmp_path / "state", leases=9)
    try:
        leases = []
        for number in range(5):
            world.admit(f"{A}/{number}")
            leases.append(lend(world))
        for lease in leases:
            world.settle(lease, Retry(1, Blame.URL, text("later")), Tally(host_failed=False))
        pass_time(world, 1)
        assert lend(world).candidate.url.text == f"{A}/0"
        assert (record(world).waiting, record(world).queued) == (3, 2)
        got = []
        while (lease := world.frontier.lend()) is not None:
            got.append(lease.candidate.url.text[-1])
        assert got == ["1", "2", "3", "4"]
        assert record(world).waiting == 0
    finally:
        world.close()
