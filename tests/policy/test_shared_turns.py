"""Several crawls at one host: one visit at a time, every rest kept, everybody gets turns."""

import heapq
from collections import Counter
from itertools import pairwise

import msgspec
import pytest
from examples import examples
from hypothesis import given, settings
from hypothesis import strategies as st

from gossamer.policy.visits.shared_turns import (
    ASK_AGAIN,
    FORGET,
    GRACE,
    KEEP_AFTER,
    LONGEST_VISIT,
    NEVER,
    OWED_TIMES,
    Asker,
    HostTurns,
    Party,
    ask,
    begin_kept,
    bury,
    end,
    give_up,
    keep,
)

SECOND = 1_000_000
START = 1_000 * SECOND


def everyone(crawl: int) -> bool:
    return True


def asker(crawl: int, rest: int = SECOND, limit: int = 1) -> Asker:
    return Asker(crawl, rest, rest, limit)


def test_one_at_a_time_and_the_rest_counts_from_the_end():
    turns = HostTurns()
    assert ask(turns, asker(1), START, everyone) == 0
    assert ask(turns, asker(2), START + 10, everyone) == START + 10 + SECOND
    end(turns, 1, START + 2 * SECOND, START + SECOND, visited=True)
    assert ask(turns, asker(2), START + SECOND + 10, everyone) == START + 2 * SECOND
    assert ask(turns, asker(2), START + 2 * SECOND, everyone) == 0


@pytest.mark.parametrize(
    ("due", "ended", "rests", "free"),
    [(0, 0, (), 0), (7, 0, (5,), 7), (7, 9, (), 9), (7, 9, (5, 3), 14), (20, 9, (5, 3), 20)],
)
def test_when_a_host_is_free(due: int, ended: int, rests: tuple[int, ...], free: int):
    turns = HostTurns(due, ended, [Party(crawl, rest) for crawl, rest in enumerate(rests)])
    assert turns.free_at == free


def test_the_longest_rest_holds_for_all():
    turns = HostTurns()
    assert ask(turns, asker(1, rest=SECOND), START, everyone) == 0
    assert ask(turns, asker(2, rest=5 * SECOND), START + 1, everyone) > 0
    end(turns, 1, START + 2 * SECOND, START + SECOND, visited=True)
    assert ask(turns, asker(1, rest=SECOND), START + 2 * SECOND, everyone) == START + 6 * SECOND
    assert ask(turns, asker(2, rest=5 * SECOND), START + 6 * SECOND, everyone) == 0


def test_a_crawl_that_does_not_ask_any_more_has_no_say():
    turns = HostTurns()
    assert ask(turns, asker(2, rest=5 * SECOND), START, everyone) == 0
    end(turns, 2, START + 5 * SECOND, START, visited=True)
    later = START + FORGET + 1
    assert ask(turns, asker(1), later, everyone) == 0
    end(turns, 1, later + SECOND, later, visited=True)
    assert ask(turns, asker(1), later + SECOND, everyone) == 0


def test_a_back_off_holds_for_all():
    turns = HostTurns()
    assert ask(turns, asker(1), START, everyone) == 0
    end(turns, 1, START + 600 * SECOND, START + 1, visited=True)
    assert ask(turns, asker(2), START + 2, everyone) == START + 600 * SECOND
    assert turns.idle_from >= START + 600 * SECOND


def test_the_visit_of_a_dead_crawl_lapses_with_a_rest():
    turns = HostTurns()
    assert ask(turns, asker(1), START, everyone) == 0
    assert turns.idle_from == NEVER
    now = START + 50 * SECOND
    assert ask(turns, asker(2), now, lambda crawl: crawl == 2) == now + SECOND
    assert [party.crawl for party in turns.parties] == [2]
    assert ask(turns, asker(2), now + SECOND, lambda crawl: crawl == 2) == 0


def test_a_stopped_process_does_not_keep_a_host_for_ever():
    turns = HostTurns()
    assert ask(turns, asker(1), START, everyone) == 0
    now = START + LONGEST_VISIT
    assert ask(turns, asker(2), now, everyone) > now
    assert ask(turns, asker(2), now + 1 + SECOND, everyone) > 0
    assert ask(turns, asker(2), now + 2 + 2 * SECOND, everyone) == 0
    end(turns, 1, now, now + 3, visited=True)  # it goes on, and ends a visit that nobody knows
    assert turns.visits == 1


def test_the_dead_have_no_turns():
    turns = HostTurns()
    assert ask(turns, asker(1, rest=0), START, everyone) == 0
    until = ask(turns, asker(2, rest=0), START + 1, everyone)
    end(turns, 1, 0, START + 2, visited=True)
    assert ask(turns, asker(1, rest=0), until, everyone) > until, "it is the other's turn"
    assert ask(turns, asker(1, rest=0), until + 1, lambda crawl: crawl == 1) == 0


def test_a_turn_is_kept_for_a_while_and_longer_each_time():
    turns = HostTurns()
    now = START
    kept = []
    for _ in range(9):
        now += SECOND
        assert ask(turns, asker(1), now, everyone) == 0
        now += 1
        told = ask(turns, asker(2), now, everyone)
        end(turns, 1, now + SECOND, now, visited=True)
        now = max(told, now + SECOND)
        first = now
        while (until := ask(turns, asker(1), now, everyone)) != 0:
            assert until > now
            now = until
        kept.append(now - first)
        end(turns, 1, now, now, visited=True)
    assert kept[:3] == [GRACE, 2 * GRACE, 4 * GRACE]
    assert kept[-1] == kept[-2] == 64 * GRACE


def test_more_visits_at_once_count_over_all():
    turns = HostTurns()
    assert ask(turns, asker(1, rest=0, limit=3), START, everyone) == 0
    assert ask(turns, asker(2, rest=0, limit=3), START, everyone) == 0
    assert ask(turns, asker(1, rest=0, limit=3), START, everyone) == 0
    assert ask(turns, asker(2, rest=0, limit=3), START, everyone) == START + ASK_AGAIN
    assert ask(turns, asker(3, rest=0, limit=4), START, everyone) == 0


def test_what_was_refused_before_the_visit_costs_no_rest():
    turns = HostTurns()
    assert ask(turns, asker(1), START, everyone) == 0
    end(turns, 1, 0, START + 1, visited=False)
    assert ask(turns, asker(1), START + 2, everyone) == 0


def test_a_turn_without_a_visit_goes_on_before_who_waits_but_not_for_ever():
    turns = HostTurns()
    now, refused = START, 0
    assert ask(turns, asker(2), START - 1, everyone) == 0
    end(turns, 2, START, START, visited=False)
    told = ask(turns, asker(2), START, everyone)
    assert told == 0
    end(turns, 2, START + SECOND, START, visited=True)
    now += SECOND
    assert ask(turns, asker(1), now, everyone) == 0
    told = ask(turns, asker(2), now + 1, everyone)
    while True:
        now += 100_000
        refused += 1
        end(turns, 1, 0, now, visited=False)
        if ask(turns, asker(1), now, everyone):
            break
    assert refused == 10
    assert ask(turns, asker(2), max(now, told), everyone) == 0


def test_who_was_told_to_come_much_later_keeps_nobody_from_a_host_that_is_free_now():
    turns = HostTurns()
    assert ask(turns, asker(1), START, everyone) == 0
    slow = asker(3, rest=60 * SECOND)
    assert ask(turns, slow, START, everyone) == START + 60 * SECOND
    assert ask(turns, asker(2), START + 1, everyone) == START + 1 + 60 * SECOND
    alive = (1, 2).__contains__
    end(turns, 1, START + SECOND, START + 2, visited=True)
    assert ask(turns, asker(1), START + 2 * SECOND, alive) == 0
    end(turns, 1, 0, START + 2 * SECOND, visited=True)
    assert ask(turns, asker(2), START + 1 + 60 * SECOND, alive) == 0


def test_nothing_is_kept_when_nobody_asks():
    turns = HostTurns()
    assert ask(turns, asker(1), START, everyone) == 0
    end(turns, 1, START + SECOND, START + 1, visited=True)
    assert turns.idle_from == START + FORGET
    bury(turns, START + 2 * FORGET, everyone)
    assert turns.parties == []


def kept_by(crawl: int) -> HostTurns:
    """A host that a crawl has visited alone until it could keep it; its last visit ended at `START`."""
    turns = HostTurns()
    for visit in range(KEEP_AFTER):
        now = START - (KEEP_AFTER - 1 - visit) * SECOND
        assert ask(turns, asker(crawl), now, everyone) == 0
        assert not keep(turns, crawl, now), "not yet"
        end(turns, crawl, now + SECOND, now, visited=True)
    assert keep(turns, crawl, START)
    return turns


@pytest.mark.parametrize(("rest", "owed"), [(3, 5), (5, 3), (4, 4)])
def test_who_dies_with_a_host_of_his_own_owes_twice_the_longer_rest(rest: int, owed: int):
    turns = HostTurns(parties=[Party(1, rest, owed, alone=KEEP_AFTER)])
    for now in (7, 8):
        assert keep(turns, 1, now)
        assert (turns.parties[0].owed, turns.parties[0].keeps) == (2 * max(rest, owed), 7), "once"


def copy_of(turns: HostTurns) -> HostTurns:
    return msgspec.msgpack.decode(msgspec.msgpack.encode(turns), type=HostTurns)


def test_only_who_visits_a_host_alone_keeps_it():
    turns = kept_by(1)
    assert turns.held and turns.idle_from == NEVER == 2**64 - 1, "as it is stored, in eight bytes"
    assert not keep(turns, 2, START)
    give_up(turns, copy_of(turns), 1)
    assert not turns.held
    assert ask(turns, asker(2), START + SECOND // 2, everyone) == START + SECOND
    assert ask(turns, asker(1), START + SECOND, everyone) > START + SECOND, "the other came first"
    assert not keep(turns, 1, START)


MOMENTS = st.integers(0, 8).map(lambda number: number * SECOND // 2)


@given(
    due=MOMENTS,
    ended=MOMENTS,
    now=MOMENTS,
    rests=st.tuples(MOMENTS, MOMENTS),
    visits=st.integers(0, 2),
    limit=st.integers(1, 2),
    before=st.sampled_from([0, 1, SECOND]),
)
def test_a_visit_to_a_kept_host_begins_when_and_as_any_other(due, ended, now, rests, visits, limit, before):
    """`begin_kept` is `ask` in a fraction of the time."""
    party = Party(1, rests[0], visits=visits, waits=before, told=before, missed=2, turn=before, keeps=7)
    kept = HostTurns(due, ended, [party])
    usual, untouched = msgspec.json.encode(kept), msgspec.json.encode(kept)
    wanted, other = Asker(1, rests[1], SECOND, limit), msgspec.json.decode(usual, type=HostTurns)
    now = max(now, 1)
    if begin_kept(kept, wanted, now):
        assert ask(other, wanted, now, everyone) == 0
        other.parties[0].keeps = 7
        assert kept == other
    else:
        assert ask(other, wanted, now, everyone) > 0
        assert msgspec.json.encode(kept) == untouched


@pytest.mark.parametrize(
    ("waited", "later"),
    [(0, ASK_AGAIN), (SECOND // 2, SECOND // 8), (2 * SECOND, SECOND // 2), (99 * SECOND, SECOND)],
)
def test_who_waits_for_a_host_that_is_kept_asks_less_and_less_often(waited, later):
    turns = HostTurns(
        parties=[Party(1, SECOND, asked=START + waited, keeps=START), Party(2, SECOND, waits=START)]
    )
    assert ask(turns, asker(2), START + waited, everyone) == START + waited + later


@pytest.mark.parametrize("parties", [1, 2])
def test_what_a_visit_adds_to_who_had_the_host_alone(parties):
    turns = HostTurns(
        parties=[Party(number, SECOND, visits=1, alone=2, turn=START) for number in range(1, parties + 1)]
    )
    end(turns, 1, START + SECOND, START + 10, visited=True)
    own = turns.parties[0]
    assert (own.alone, own.visits, own.turn, turns.ended) == (3 if parties == 1 else 0, 0, 0, START + 10)
    end(turns, 1, START + SECOND, START + 20, visited=False)
    assert (own.alone, own.visits, turns.ended) == (3 if parties == 1 else 0, 0, START + 10)


def test_keeping_twice_owes_no_more_than_once():
    turns = kept_by(1)
    assert keep(turns, 1, START + 1)
    assert turns.parties[0].owed == OWED_TIMES * SECOND and turns.parties[0].keeps == START


def test_a_host_that_is_kept_is_visited_by_nobody_else_until_it_is_given_up():
    turns = kept_by(1)
    kept = copy_of(turns)
    now = START + 10 * SECOND
    assert begin_kept(kept, asker(1), now)
    assert not begin_kept(kept, asker(1), now), "one at a time"
    assert now < ask(turns, asker(2, rest=3 * SECOND), now, everyone) < now + SECOND
    end(kept, 1, now + 2 * SECOND, now + 5, visited=True)
    assert not begin_kept(kept, asker(1), now + 2 * SECOND - 1)
    give_up(turns, kept, 1)
    assert [party.crawl for party in turns.parties] == [1, 2] and not turns.held
    assert ask(turns, asker(1), now + 2 * SECOND, everyone) > now + 2 * SECOND, "the other's rest counts"
    assert ask(turns, asker(2, rest=3 * SECOND), now + 5 + 3 * SECOND, everyone) == 0


def test_a_visit_under_way_stays_when_its_host_is_given_up():
    turns = kept_by(1)
    kept = copy_of(turns)
    assert begin_kept(kept, asker(1), START + SECOND)
    give_up(turns, kept, 1)
    assert turns.visits == 1
    assert ask(turns, asker(2), START + 2 * SECOND, everyone) > 0


def test_a_host_that_a_dead_crawl_kept_lapses_with_more_than_its_rest():
    turns = kept_by(1)
    now = START + 50 * SECOND
    assert ask(turns, asker(2), now, lambda crawl: crawl == 2) == now + OWED_TIMES * SECOND
    assert not turns.held


def test_a_stopped_process_does_not_keep_a_host_without_a_visit_for_ever_either():
    turns = kept_by(1)
    assert ask(turns, asker(2), START + LONGEST_VISIT, everyone) > 0 and turns.held
    assert ask(turns, asker(2), START + LONGEST_VISIT + 1, everyone) > 0 and not turns.held


@settings(max_examples=examples(60), deadline=None)
@given(
    crawls=st.lists(
        st.tuples(
            st.integers(0, 3 * SECOND),  # rest
            st.integers(1, 3 * SECOND),  # how long its visits take
            st.integers(0, GRACE // 2),  # how late it comes
        ),
        min_size=2,
        max_size=4,
    ),
    death=st.integers(5, 60),
)
def test_rests_are_kept_turns_go_round_and_the_dead_are_survived(crawls, death):
    """A simulation: each crawl visits whenever it may; the first dies in the middle of a visit."""
    turns = HostTurns()
    agenda = [(START + number, number, "ask") for number in range(len(crawls))]
    heapq.heapify(agenda)
    dead: set[int] = set()
    visits: list[tuple[int, int, int]] = []  # (begun, ended, crawl)
    begun: dict[int, int] = {}
    died_at = 0
    passed: dict[int, Counter[int]] = {}  # by those who wait: whose visits began meanwhile
    for _ in range(3_000):
        if not agenda or len(visits) > 60:
            break
        now, number, what = heapq.heappop(agenda)
        if number in dead:
            continue
        rest, took, late = crawls[number]
        if what == "end":
            visits.append((begun.pop(number), now, number))
            end(turns, number, now + rest, now, visited=True)
            heapq.heappush(agenda, (now + max(rest, 1) + late, number, "ask"))
            continue
        until = ask(turns, asker(number, rest), now, lambda crawl: crawl not in dead)
        if until:
            assert until > now
            heapq.heappush(agenda, (until + late, number, "ask"))
            passed.setdefault(number, Counter())
            continue
        assert not begun.keys() - dead
        begun[number] = now
        passed.pop(number, None)
        for others in passed.values():
            others[number] += 1
            assert others[number] == 1, (crawls, death, visits)
        if number == 0 and len(visits) >= death:
            dead.add(number)
            died_at = now
        else:
            heapq.heappush(agenda, (now + took, number, "end"))
    assert len(visits) > 60, "it stalled"
    visits.sort()
    for before, after in pairwise(visits):
        assert before[1] <= after[0], "two at once"
        assert after[0] - before[1] >= crawls[before[2]][0]
    if dead:
        after_death = [visit[0] for visit in visits if visit[0] > died_at]
        assert min(after_death) >= died_at + crawls[0][0]


@pytest.mark.parametrize("due", [(3, 7), (7, 3)])
@pytest.mark.parametrize("ended", [(2, 5), (5, 2)])
@pytest.mark.parametrize("others", [(), (2,), (2, 3)])
def test_what_is_known_of_a_host_that_was_kept_is_the_later_of_both(due, ended, others):
    turns = HostTurns(due[0], ended[0], [*map(Party, others), Party(1, rest=8, keeps=1)])
    kept = HostTurns(due[1], ended[1], [Party(1, rest=9, visits=1, keeps=1)])
    give_up(turns, kept, 1)
    assert (turns.due, turns.ended) == (7, 5)
    assert turns.parties == [Party(1, rest=9, visits=1), *map(Party, others)]


@pytest.mark.parametrize(
    ("own", "others", "due", "limit", "until"),
    [
        # `due` and the result are counted from now; 0: the visit begins.
        ({}, [], 0, 1, 0),
        ({}, [], 1, 1, 1),
        ({"visits": 1}, [], 0, 1, SECOND),
        ({"visits": 1}, [], 0, 2, 0),
        ({"visits": 1, "waits": START - 8 * SECOND}, [], 0, 1, SECOND),
        ({}, [{"visits": 1}], 0, 1, SECOND),
        ({}, [{"visits": 1, "rest": 3 * SECOND}], 0, 1, 3 * SECOND),
        ({}, [{"visits": 1}], 0, 2, 0),
        ({}, [{"keeps": START}], 5, 1, ASK_AGAIN),
        ({"waits": START - 2 * SECOND}, [{"keeps": START}], 0, 1, SECOND // 2),
        # Whose turn it is, at a host that is free:
        ({}, [{"waits": START - 1, "told": START}], 0, 1, GRACE),
        ({"waits": START - 1}, [{"waits": START - 2, "told": START}], 0, 1, GRACE),
        ({"waits": START - 2}, [{"waits": START - 1, "told": START}], 0, 1, 0),
        ({"waits": START - 2, "visits": 1}, [{"waits": START - 1, "told": START}], 0, 2, GRACE),
        ({}, [{"waits": START - 1, "told": START, "visits": 1}], 0, 2, 0),
        ({}, [{"waits": START - 1, "told": START, "missed": 2}], 0, 1, SECOND),
        ({}, [{"waits": START - 1, "told": START - GRACE}], -GRACE, 1, 0),  # it did not come in time
        ({}, [{"waits": START - 1, "told": START - GRACE + 1}], -GRACE, 1, 1),
        ({}, [{"waits": START - 1, "told": START + SECOND}], 0, 1, SECOND + GRACE),
        ({}, [{"waits": START - 1, "told": START + SECOND + 1}], 0, 1, 0),  # it comes much later
    ],
)
def test_what_keeps_a_crawl_from_a_host_and_until_when(own, others, due, limit, until):
    parties = [Party(1, SECOND, asked=START, **own)]
    parties += [Party(number, asked=START, **({"rest": SECOND} | other))
                for number, other in enumerate(others, 2)]  # fmt: skip
    turns = HostTurns(START + due, 0, parties)
    found = ask(turns, asker(1, limit=limit), START, everyone)
    assert found == (START + until if until else 0)
