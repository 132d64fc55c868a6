"""Suspects wait for what comes before long, and for nothing else: no worker idles because of them."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from trap_world import TrapWorld

from gossamer.frontier.rota import NEVER
from gossamer.frontier.tally import Tally
from gossamer.frontier.trap_gate import ASK_AGAIN
from gossamer.frontier.trap_turns import PATIENCE
from gossamer.model.disposition import Blame, Done, Retry
from gossamer.policy.trap_learner import SUSPECT

DULL = "http://dull.test"
GOOD = "good.test"
SECOND = 1_000_000


def with_suspects(world: TrapWorld) -> TrapWorld:
    """A host all of whose URLs are suspects, some of them visited, and a good one that was visited once."""
    world.learn(f"{DULL}/page/1.html", times=30)
    for number in range(60):
        world.found(f"{DULL}/page/{number}.html")
    assert world.visit_all(20), "what was found while the host was small is moved back"
    assert min(world.handicaps().values()) >= SUSPECT
    for number in range(40):
        world.found(f"http://{GOOD}/page-{number}.html")
    return world


@pytest.fixture
def world(tmp_path):
    made = with_suspects(TrapWorld(tmp_path / "state"))
    yield made
    made.close()


def lend_good(world):
    lease = world.frontier.lend()
    assert lease.queue_key == GOOD
    return lease


def visit_good(world, rest: float):
    world.settle(lend_good(world), Done(), Tally(rest, pages=1, host_failed=False))


def suspect_is_lent(world) -> bool:
    lease = world.frontier.lend()
    assert lease is None or lease.queue_key == "dull.test"
    return lease is not None


@pytest.mark.parametrize("rest", [0.5, 1.0, 2.9])
def test_an_ordinary_rest_is_worth_waiting_for(world, rest):
    visit_good(world, rest)
    assert not suspect_is_lent(world)
    assert world.frontier.next_due() <= world.micros + ASK_AGAIN
    world.micros += int(rest * SECOND)
    lend_good(world)


def test_nothing_waits_for_a_suspect_that_was_taken_away(world):
    visit_good(world, 1.0)
    assert not suspect_is_lent(world)
    for host in ("dull.test", GOOD):
        world.frontier.park(host, "seen enough")
    assert world.frontier.next_due() == NEVER, "or the crawl would never be over"


@pytest.mark.parametrize("rest", [3.1, 10.0, 59.0])
def test_a_host_that_backs_off_is_not(world, rest):
    visit_good(world, rest)
    assert suspect_is_lent(world)


def test_where_hosts_are_told_to_rest_for_longer_that_is_an_ordinary_rest(tmp_path):
    world = with_suspects(TrapWorld(tmp_path / "state"))
    world.policy = world.policy.__class__(
        **{name: getattr(world.policy, name) for name in world.policy.__struct_fields__ if name != "rest"},
        rest=lambda _: 6.0,
    )
    world.reopen()
    world.micros += 6 * SECOND
    visit_good(world, 5.0)
    assert not suspect_is_lent(world)
    world.close()


def test_a_young_visit_is_worth_waiting_for_and_one_that_hangs_is_not(world):
    hanging = lend_good(world)
    assert not suspect_is_lent(world)
    world.micros += PATIENCE
    assert not suspect_is_lent(world)
    world.micros += 1
    assert suspect_is_lent(world)
    world.settle(hanging, Done(), Tally(pages=1))
    lend_good(world)


def test_many_that_hang_are_not_worth_it_though_another_was_settled_just_now(world):
    for number in range(4):
        world.found(f"http://slow{number}.test/", depth=0)
    hanging = [world.frontier.lend().queue_key for _ in range(4)]
    assert hanging == [f"slow{number}.test" for number in range(4)]
    visit_good(world, 2.0)
    assert not suspect_is_lent(world)
    world.micros += PATIENCE
    visit_good(world, 20.0)
    world.micros += 1
    assert suspect_is_lent(world)


@pytest.mark.parametrize("asked_to_wait", [True, False])
def test_a_host_that_fails_every_other_second_is_not_worth_it(world, asked_to_wait):
    lease = lend_good(world)
    if asked_to_wait:
        world.settle(lease, Done(), Tally(1.0, pages=1, host_failed=False))
        world.frontier.rest(GOOD, 2.0, "status 429")
    else:
        retry = Retry(2.0, Blame.HOST, "no connection")
        world.settle(lease, retry, Tally(1.0, host_failed=True))
    assert suspect_is_lent(world)


def test_a_promise_that_is_never_kept_ends_the_wait(world):
    visit_good(world, 2.0)
    begin, asked = world.micros, 0
    while not suspect_is_lent(world):
        world.micros += ASK_AGAIN
        world.frontier.rest(GOOD, 2.0, "")
        asked += 1
    assert world.micros - begin <= PATIENCE + ASK_AGAIN
    assert asked


@settings(deadline=None, max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    visits=st.lists(
        st.tuples(st.sampled_from([0.01, 0.3, 4.0, 70.0]), st.sampled_from([0.0, 1.0, 2.5, 8.0, 50.0])),
        min_size=1,
        max_size=12,
    ),
    workers=st.integers(2, 4),
)
def test_no_worker_idles_for_longer_than_the_patience(tmp_path_factory, visits, workers):
    """Good hosts take their time and rest as they like: while suspects are ready, something is lent."""
    world = with_suspects(TrapWorld(tmp_path_factory.mktemp("idle")))
    try:
        for number in range(len(visits)):
            world.found(f"http://other{number}.test/")
        out, turn, idle_since, lent = [], 0, world.micros, 0
        while world.handicaps() and max(world.handicaps().values()) >= SUSPECT and lent < 60:
            lease = world.frontier.lend() if len(out) < workers else None
            if lease is not None:
                takes, rests = (0.01, 0.0) if lease.queue_key == "dull.test" else visits[turn % len(visits)]
                turn += lease.queue_key != "dull.test"
                out.append((world.micros + int(takes * SECOND), lease, rests))
                assert world.micros - idle_since <= PATIENCE + ASK_AGAIN
                idle_since, lent = world.micros, lent + 1
                continue
            ends = min((end for end, _, _ in out), default=1 << 62)
            all_busy = len(out) == workers
            due = 1 << 62 if all_busy else world.frontier.next_due()
            world.micros = max(world.micros + 1, min(ends, due))
            for visit in [visit for visit in out if visit[0] <= world.micros]:
                out.remove(visit)
                world.settle(visit[1], Done(), Tally(visit[2], pages=1, host_failed=False))
            if all_busy:
                idle_since = world.micros
    finally:
        world.close()
