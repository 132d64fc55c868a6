"""Allocation: the document's rules one by one, who waits how long, limits that move, and all at random."""

from contextlib import suppress
from copy import deepcopy
from itertools import count
from random import Random
from typing import Any

import numpy as np
import pytest
from allocation_peers import assert_sound, document_says_safe
from every import every
from examples import examples
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from gossamer.daemon.allocation import safety
from gossamer.daemon.allocation.allocator import (
    AllocationError,
    Allocator,
    ClaimError,
    Grant,
    Reason,
    RequestError,
    UnsafeClaimError,
)
from gossamer.daemon.allocation.safety import finishing_order, must_end_before

KINDS = ("a", "b", "c")


def of(*amounts: int) -> dict[str, int]:
    return dict(zip(KINDS, amounts, strict=False))


def textbook() -> Allocator:
    """The document has no figures; these are the classic ones of the same algorithm (Silberschatz, 7.5.3)."""
    allocator = Allocator(of(10, 5, 7))
    claims = [(7, 5, 3), (3, 2, 2), (9, 0, 2), (2, 2, 2), (4, 3, 3)]
    held = [(0, 1, 0), (2, 0, 0), (3, 0, 2), (2, 1, 1), (0, 0, 2)]
    for number, (claim, has) in enumerate(zip(claims, held, strict=True)):
        allocator.join(f"p{number}", of(*claim))
        assert allocator.request(f"p{number}", of(*has))
    return allocator


def state(allocator: Allocator) -> list[Any]:
    """All of it, comparable."""
    holdings = allocator.holdings()
    matrices = (holdings.totals, holdings.available, holdings.maximum, holdings.allocated, holdings.needed)
    return [holdings.processes, *(matrix.tolist() for matrix in matrices), allocator.waiting()]


# The document, step by step


def test_the_matrices() -> None:
    holdings = textbook().holdings()
    assert holdings.resources.names == KINDS
    assert holdings.processes == ("p0", "p1", "p2", "p3", "p4")
    assert holdings.available.tolist() == [3, 3, 2]
    assert holdings.needed.tolist() == [[7, 4, 3], [1, 2, 2], [6, 0, 0], [0, 1, 1], [4, 3, 1]]
    assert holdings.available.dtype == holdings.maximum.dtype == np.int64


def test_a_request_above_the_claim_is_an_error_that_says_what_is_left() -> None:
    allocator = textbook()
    before = state(allocator)
    with pytest.raises(
        RequestError, match="p1 asks for 2 a, but of this its claim leaves it 1 a: ask for less"
    ):
        allocator.request("p1", of(2))
    assert state(allocator) == before


def test_a_request_above_what_is_free_waits() -> None:
    allocator = textbook()
    before = state(allocator)
    assert not allocator.request("p0", of(4))
    wait = allocator.why("p0")
    assert wait is not None
    assert (wait.reason, wait.missing, wait.place) == (Reason.SHORT, {"a": 1}, 0)
    assert state(allocator)[:-1] == before[:-1]


def test_a_safe_request_is_granted_by_the_three_assignments() -> None:
    allocator = textbook()
    assert allocator.request("p1", of(1, 0, 2))
    holdings = allocator.holdings()
    assert holdings.available.tolist() == [2, 3, 0]
    assert holdings.allocated[1].tolist() == [3, 0, 2]
    assert holdings.needed[1].tolist() == [0, 2, 0]
    assert allocator.safe_sequence() == ("p1", "p3", "p4", "p0", "p2")


def test_an_unsafe_request_is_undone_to_the_unit_and_waits() -> None:
    allocator = textbook()
    allocator.request("p1", of(1, 0, 2))
    before = state(allocator)
    assert not allocator.request("p0", of(0, 2))
    assert state(allocator)[:-1] == before[:-1]
    wait = allocator.why("p0")
    assert wait is not None
    assert (wait.reason, wait.missing, wait.amounts) == (Reason.UNSAFE, {}, {"b": 2})
    assert state(allocator)[:-1] == before[:-1]


def test_what_an_ended_process_held_wakes_who_waits() -> None:
    allocator = textbook()
    allocator.request("p1", of(1, 0, 2))
    allocator.request("p0", of(0, 2))
    assert allocator.leave("p1") == (Grant("p0", {"b": 2}),)
    assert allocator.waiting() == ()
    assert "p1" not in allocator.holdings().processes


def test_a_dead_process_waits_no_more_and_all_it_held_is_free() -> None:
    allocator = textbook()
    allocator.request("p0", of(7))
    allocator.leave("p0")
    assert allocator.waiting() == ()
    assert allocator.holdings().available.tolist() == [3, 4, 2]
    with pytest.raises(AllocationError, match="no process is named 'p0'"):
        allocator.leave("p0")


def test_all_run_to_their_end_in_the_safe_sequence() -> None:
    allocator = textbook()
    for name in allocator.safe_sequence():
        holdings = allocator.holdings()
        needs = holdings.resources.amounts(holdings.needed[holdings.row(name)])
        assert allocator.request(name, needs)
        allocator.leave(name)
    assert allocator.holdings().available.tolist() == [10, 5, 7]


# What makes no sense


@pytest.mark.parametrize(
    ("amounts", "says"),
    [
        ({"d": 1}, "no resource is named 'd': there are a, b, c"),
        ({"a": -1}, "a: -1 is not between 0 and"),
        ({"a": 1 << 63}, "is not between 0 and"),
        ({"a": 1.5}, "a: 1.5 is no whole number"),
    ],
)
def test_amounts_are_checked(amounts: dict[str, Any], says: str) -> None:
    allocator = textbook()
    before = state(allocator)
    for call in (allocator.request, allocator.give_back, allocator.change_claim):
        with pytest.raises(AllocationError, match=says):
            call("p1", amounts)
    with pytest.raises(AllocationError, match=says):
        allocator.join("p5", amounts)
    for name, amount in amounts.items():
        with pytest.raises(AllocationError, match=says):
            allocator.change_total(name, amount)
    assert state(allocator) == before


def test_other_errors_change_nothing() -> None:
    allocator = textbook()
    allocator.request("p0", of(7))
    before = state(allocator)
    with pytest.raises(AllocationError, match="p0 takes part already"):
        allocator.join("p0", of(1))
    with pytest.raises(RequestError, match="p0 waits for 7 a: withdraw that first"):
        allocator.request("p0", of(0, 1))
    with pytest.raises(AllocationError, match="p1 gives back 3 a, but of this holds 2 a"):
        allocator.give_back("p1", of(3))
    with pytest.raises(ClaimError, match="p5 claims 6 b, but the limit is 5 b"):
        allocator.join("p5", of(10, 6, 0))
    with pytest.raises(ClaimError, match="p0 holds, with what it waits for, 7 a, 1 b: claim no less"):
        allocator.change_claim("p0", of(6, 5, 3))
    assert allocator.why("p1") is None
    assert state(allocator) == before
    with pytest.raises(AllocationError, match="name at least one"):
        Allocator({})


# The queue


def test_the_first_is_overtaken_by_those_it_waits_for() -> None:
    # Who insists on the order of coming has a deadlock here: p waits for what q gives back when it has more.
    allocator = Allocator(of(10))
    allocator.join("p", of(10))
    allocator.join("q", of(4))
    allocator.request("p", of(6))
    allocator.request("q", of(2))
    assert not allocator.request("p", of(4))
    assert allocator.request("q", of(2))
    assert allocator.leave("q") == (Grant("p", {"a": 4}),)


def test_nobody_else_delays_the_first() -> None:
    allocator = Allocator(of(10))
    for name, claim in (("old", 3), ("older", 3), ("big", 10), ("new", 3)):
        allocator.join(name, of(claim))
    allocator.request("old", of(3))
    allocator.request("older", of(3))
    assert not allocator.request("big", of(10))
    assert not allocator.request("new", of(3))  # there are 4, but big would wait for them
    wait = allocator.why("new")
    assert wait is not None
    assert (wait.reason, set(wait.waits_for)) == (Reason.KEPT, {"old", "older", "big"})
    assert allocator.leave("old") == ()
    assert allocator.leave("older") == (Grant("big", {"a": 10}),)
    assert allocator.leave("big") == (Grant("new", {"a": 3}),)


def test_what_the_first_has_no_use_for_is_given_to_others() -> None:
    allocator = Allocator(of(10, 10))
    for name, claim in (("old", of(5)), ("big", of(10)), ("new", of(0, 9)), ("small", of(3))):
        allocator.join(name, claim)
    allocator.request("old", of(5))
    assert not allocator.request("big", of(10))
    assert allocator.request("new", of(0, 9))
    assert not allocator.request("small", of(3))


def test_who_gave_all_back_is_no_longer_waited_for() -> None:
    allocator = Allocator(of(4))
    for name, claim in (("p", 4), ("q", 1), ("big", 4)):
        allocator.join(name, of(claim))
    allocator.request("p", of(2))
    allocator.request("q", of(1))
    assert not allocator.request("big", of(4))
    assert allocator.give_back("p", of(2)) == ()
    assert not allocator.request("p", of(1))  # it stood in the group of big, but once is enough
    assert allocator.leave("q") == (Grant("big", {"a": 4}),)


def test_nobody_joins_those_the_first_waits_for() -> None:
    allocator = Allocator(of(10))
    for name, claim in (("p", 2), ("q", 4), ("r", 4), ("big", 8), ("late", 1)):
        allocator.join(name, of(claim))
    allocator.request("q", of(4))
    allocator.request("r", of(4))
    assert not allocator.request("big", of(8))
    assert allocator.give_back("q", of(2)) == ()
    assert allocator.request("p", of(2))  # reckoned anew, big would wait for p instead of q, and so for ever
    assert not allocator.request("late", of(1))
    wait = allocator.why("big")
    assert wait is not None
    assert set(wait.waits_for) == {"q", "r"}


def test_claims_and_limits_do_not_delay_the_first_either() -> None:
    allocator = Allocator(of(10))
    for name, claim in (("x", 3), ("q", 4), ("big", 7)):
        allocator.join(name, of(claim))
    allocator.request("x", of(3))
    allocator.request("q", of(4))
    assert not allocator.request("big", of(7))
    wait = allocator.why("big")
    assert wait is not None
    assert wait.waits_for == ("q",)
    with pytest.raises(UnsafeClaimError):
        allocator.change_claim("q", of(8))  # safe, but q might wait for x
    allocator.change_total("a", 9)  # safe, but big would wait for x
    assert allocator.lowering()[0].total == 10
    allocator.leave("x")
    assert allocator.lowering() == ()
    assert allocator.leave("q") == (Grant("big", {"a": 7}),)


def test_the_first_is_served_as_soon_as_that_is_safe() -> None:
    allocator = Allocator(of(5))
    for name, claim, held in (("x", 3, 2), ("y", 1, 1), ("z", 1, 1), ("big", 3, 0)):
        allocator.join(name, of(claim))
        allocator.request(name, of(held))
    assert not allocator.request("big", of(2))
    wait = allocator.why("big")
    assert wait is not None
    assert wait.waits_for == ("x",)
    # Now x can end after z only; that z is an outsider matters to others, not to big itself.
    assert allocator.leave("y") == (Grant("big", {"a": 2}),)


def test_a_withdrawn_request_lets_others_go_on() -> None:
    allocator = Allocator(of(4))
    for name, claim in (("p", 1), ("big", 4), ("q", 2)):
        allocator.join(name, of(claim))
    allocator.request("p", of(1))
    assert not allocator.request("big", of(4))
    assert not allocator.request("q", of(2))
    assert allocator.withdraw("big") == (Grant("q", {"a": 2}),)
    assert allocator.withdraw("big") == ()


def test_who_was_served_and_asks_again_is_the_last() -> None:
    allocator = Allocator(of(4, 2))
    for name, claim, held in (("q", (2, 1), (2, 1)), ("r", (2, 0), (2, 0)), ("x", (0, 1), (0, 1))):
        allocator.join(name, of(*claim))
        allocator.request(name, of(*held))
    for name, claim, wanted in (("big", (4, 0), (4, 0)), ("two", (0, 2), (0, 1)), ("one", (0, 1), (0, 1))):
        allocator.join(name, of(*claim))
        assert not allocator.request(name, of(*wanted))
    assert allocator.leave("q") == (Grant("two", {"b": 1}),)
    assert not allocator.request("two", of(0, 1))
    assert allocator.leave("r") == (Grant("big", {"a": 4}),)
    assert allocator.waiting() == ("one", "two")


# Claims


def test_a_smaller_claim_wakes_who_waits() -> None:
    allocator = Allocator(of(4))
    allocator.join("p", of(4))
    allocator.join("q", of(4))
    allocator.request("p", of(2))
    assert not allocator.request("q", of(1))
    assert allocator.change_claim("p", of(3)) == (Grant("q", {"a": 1}),)


def test_a_claim_is_raised_only_where_that_is_safe() -> None:
    allocator = Allocator(of(4))
    allocator.join("p", of(2))
    allocator.join("q", of(2))
    allocator.request("p", of(2))
    allocator.request("q", of(1))
    assert allocator.change_claim("p", of(3)) == ()
    before = state(allocator)
    with pytest.raises(ClaimError, match="the limit is 4 a"):
        allocator.change_claim("p", of(5))
    allocator.change_claim("p", of(3))
    assert allocator.change_claim("q", of(4)) == ()  # after p
    with pytest.raises(UnsafeClaimError, match="could end in deadlock"):
        allocator.change_claim("p", of(4))
    allocator.change_claim("q", of(2))
    assert state(allocator) == before


# Limits


def test_a_limit_is_raised_at_once() -> None:
    allocator = Allocator(of(4))
    allocator.join("p", of(4))
    allocator.join("q", of(4))
    allocator.request("p", of(3))
    assert not allocator.request("q", of(3))
    assert allocator.change_total("a", 7) == (Grant("q", {"a": 3}),)
    assert allocator.lowering() == ()


def test_a_limit_is_lowered_as_things_come_back() -> None:
    allocator = Allocator(of(10))
    allocator.join("p", of(8))
    allocator.join("q", of(4))
    allocator.request("p", of(4))
    allocator.request("q", of(3))
    allocator.change_total("a", 5)
    [lowering] = allocator.lowering()
    assert (lowering.total, lowering.target, lowering.above) == (8, 5, ("p",))  # q, then p with 8
    assert allocator.holdings().available.tolist() == [1]
    with pytest.raises(ClaimError, match="the limit is 5 a"):
        allocator.join("r", of(6))
    with pytest.raises(ClaimError, match="the limit is 5 a"):
        allocator.change_claim("q", of(6))
    allocator.change_claim("p", of(7))  # still above, but no raise
    assert allocator.lowering()[0].total == 8  # q with 4, p keeps its 4
    allocator.change_claim("q", of(3))
    assert allocator.lowering()[0].total == 7
    allocator.leave("p")
    assert allocator.lowering() == ()
    assert allocator.holdings().totals.tolist() == [5]


def test_a_limit_that_the_first_held_up_falls_when_it_is_served() -> None:
    allocator = Allocator(of(10))
    for name, claim, held in (("x", 3, 3), ("q", 4, 4), ("big", 7, 0), ("next", 1, 0)):
        allocator.join(name, of(claim))
        allocator.request(name, of(held))
    assert not allocator.request("big", of(5))
    assert not allocator.request("next", of(1))
    allocator.change_total("a", 7)
    assert allocator.lowering()[0].total == 10  # x may keep 3, and big claims 7
    assert allocator.leave("q") == (Grant("big", {"a": 5}),)  # and after x has ended, big has all it claims
    assert allocator.lowering()[0].total == 8
    assert allocator.waiting() == ("next",)  # the limit goes before it
    allocator.leave("x")
    assert allocator.lowering() == ()


def test_a_limit_stays_where_all_can_end() -> None:
    allocator = Allocator(of(100))
    for name in ("p", "q"):
        allocator.join(name, of(40))
        allocator.request(name, of(30))
    allocator.change_total("a", 0)
    assert allocator.lowering()[0].total == 70  # p with 40, q keeps its 30
    allocator.change_total("a", 90)
    assert allocator.lowering() == ()
    assert allocator.holdings().totals.tolist() == [90]


# The order in which processes can end

vectors = st.lists(st.integers(0, 6), min_size=2, max_size=2)
tables = st.integers(0, 7).flatmap(
    lambda rows: st.tuples(*[st.lists(vectors, min_size=rows, max_size=rows)] * 2)
)


@given(available=vectors, table=tables, rounds=st.integers(0, 3), data=st.data())
@settings(max_examples=examples(300), deadline=None)
def test_the_order_against_the_document(
    available: list[int], table: tuple[list[list[int]], ...], rounds: int, data: st.DataObject
) -> None:
    free = np.array(available)
    needed, allocated = (np.array(part, dtype=np.int64).reshape(-1, 2) for part in table)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(safety, "_WIDE_ROUNDS", rounds)
        order = finishing_order(free, needed, allocated)
        assert (len(order) == len(needed)) == document_says_safe(available, *table)
        assert len(set(order)) == len(order)
        for row in order:
            assert (needed[row] <= free).all()
            free = free + allocated[row]
        free = np.array(available)
        for row in range(len(needed)):
            upto = finishing_order(free, needed, allocated, row)
            assert (upto[-1:] == [row]) == (row in order)
        assume(order)
        row = data.draw(st.sampled_from(order))
        before = must_end_before(row, free, needed, allocated)
    for place, other in enumerate(before):
        assert (needed[other] <= free + allocated[before[:place]].sum(axis=0)).all()
    assert (needed[row] <= free + allocated[before].sum(axis=0)).all()
    group = [*before, row]
    for other in before:
        fewer = [member for member in group if member != other]
        assert len(finishing_order(free, needed[fewer], allocated[fewer])) < len(fewer)


def test_a_chain_ends_one_by_one() -> None:
    rows = 200
    needed = np.repeat(np.arange(1, rows + 1)[::-1, np.newaxis], 3, axis=1)
    allocated = np.ones_like(needed)
    order = finishing_order(np.ones(3, dtype=np.int64), needed, allocated)
    assert order == list(range(rows - 1, -1, -1))
    assert must_end_before(0, np.ones(3, dtype=np.int64), needed, allocated) == order[:-1]


HISTORIES = (489, 2479)
"""Of 3,000 those in which a process was once told to wait for one that could not end before it."""


@every("seed", [*HISTORIES, *range(150)])
def test_who_is_waited_for_can_end_in_that_order(seed: int) -> None:
    dice = Random(seed)
    totals = {kind: dice.randint(2, 12) for kind in KINDS}
    allocator, names = Allocator(totals), count()

    def some(most: np.ndarray) -> dict[str, int]:
        return {kind: dice.randint(0, int(amount)) for kind, amount in zip(KINDS, most, strict=True)}

    def join(_: str) -> None:
        if len(allocator.holdings()) < 8:
            allocator.join(f"p{next(names)}", {kind: dice.randint(0, totals[kind]) for kind in KINDS})

    def request(process: str) -> None:
        holdings = allocator.holdings()
        allocator.request(process, some(holdings.needed[holdings.row(process)]))

    def give_back(process: str) -> None:
        holdings = allocator.holdings()
        allocator.give_back(process, some(holdings.allocated[holdings.row(process)]))

    def change_claim(process: str) -> None:
        allocator.change_claim(process, {kind: dice.randint(0, totals[kind]) for kind in KINDS})

    def change_total(_: str) -> None:
        allocator.change_total(dice.choice(KINDS), dice.randint(1, 12))

    steps = [join] * 2 + [request] * 4 + [give_back] * 2 + [allocator.leave, allocator.withdraw]
    join("")
    for _ in range(60):
        step = dice.choice([*steps, change_claim, change_total])
        processes = allocator.holdings().processes
        if processes or step is join:
            with suppress(AllocationError):
                step(dice.choice(processes) if processes else "")
        for waiting in allocator.waiting():
            assert_told_order_can_be(allocator, waiting)


def assert_told_order_can_be(allocator: Allocator, process: str) -> None:
    wait, holdings = allocator.why(process), allocator.holdings()
    assert wait is not None
    for other in wait.waits_for:
        assert (holdings.needed[holdings.row(other)] <= holdings.available).all(), wait
        holdings.leave(other)
    if wait.reason is not Reason.KEPT:
        assert (holdings.needed[holdings.row(process)] <= holdings.available).all(), wait


# Everything at random

amounts = st.fixed_dictionaries({name: st.integers(0, 8) for name in KINDS})
numbers = st.integers(0, 40)


class Machine(RuleBasedStateMachine):
    """Whatever is asked in whatever order: sound, safe, and everybody who waits gets its turn."""

    allocator: Allocator

    @initialize(totals=amounts)
    def begin(self, totals: dict[str, int]) -> None:
        self.allocator = Allocator({kind: totals[kind] for kind in KINDS})
        self.names = count()

    def some(self, number: int) -> str:
        processes = self.allocator.holdings().processes
        return processes[number % len(processes)]

    def within(self, amounts: dict[str, int], most: np.ndarray) -> dict[str, int]:
        return {name: amounts[name] % (int(top) + 1) for name, top in zip(KINDS, most, strict=True)}

    @rule(claim=amounts)
    def join(self, claim: dict[str, int]) -> None:
        lowered = {lowering.resource: lowering.target for lowering in self.allocator.lowering()}
        totals = dict(zip(KINDS, self.allocator.holdings().totals.tolist(), strict=True)) | lowered
        name = f"p{next(self.names)}"
        if any(claim[kind] > totals[kind] for kind in KINDS):
            with pytest.raises(ClaimError):
                self.allocator.join(name, claim)
            claim = {kind: min(claim[kind], totals[kind]) for kind in KINDS}
        self.allocator.join(name, claim)

    @precondition(lambda self: self.allocator.holdings().processes)
    @rule(number=numbers, wanted=amounts)
    def request(self, number: int, wanted: dict[str, int]) -> None:
        name = self.some(number)
        before = state(self.allocator)
        holdings = self.allocator.holdings()
        row = holdings.row(name)
        if name in self.allocator.waiting():
            with pytest.raises(RequestError):
                self.allocator.request(name, wanted)
            assert state(self.allocator) == before
            return
        if any(wanted[kind] > most for kind, most in zip(KINDS, holdings.needed[row], strict=True)):
            with pytest.raises(RequestError):
                self.allocator.request(name, wanted)
            assert state(self.allocator) == before
        wanted = self.within(wanted, holdings.needed[row])
        if self.allocator.request(name, wanted):
            holdings.move(row, holdings.resources.vector(wanted))
            assert (holdings.allocated == self.allocator.holdings().allocated).all()
            return
        assert state(self.allocator)[:-1] == before[:-1]
        wait = self.allocator.why(name)
        assert wait is not None
        free = all(most <= here for most, here in zip(wanted.values(), holdings.available, strict=True))
        assert (wait.reason is Reason.SHORT) == (not free)
        if free:
            holdings.move(row, holdings.resources.vector(wanted))
            safe = document_says_safe(
                holdings.available.tolist(), holdings.needed.tolist(), holdings.allocated.tolist()
            )
            assert (wait.reason is Reason.KEPT) == safe
            assert wait.reason is not Reason.KEPT or wait.place > 0

    @precondition(lambda self: self.allocator.holdings().processes)
    @rule(number=numbers, amounts=amounts)
    def give_back(self, number: int, amounts: dict[str, int]) -> None:
        name = self.some(number)
        holdings = self.allocator.holdings()
        self.allocator.give_back(name, self.within(amounts, holdings.allocated[holdings.row(name)]))

    @precondition(lambda self: self.allocator.holdings().processes)
    @rule(number=numbers)
    def leave(self, number: int) -> None:
        self.allocator.leave(self.some(number))

    @precondition(lambda self: self.allocator.waiting())
    @rule(number=numbers)
    def withdraw(self, number: int) -> None:
        waiting = self.allocator.waiting()
        self.allocator.withdraw(waiting[number % len(waiting)])

    @precondition(lambda self: self.allocator.holdings().processes)
    @rule(number=numbers, claim=amounts)
    def change_claim(self, number: int, claim: dict[str, int]) -> None:
        before = state(self.allocator)
        try:
            self.allocator.change_claim(self.some(number), claim)
        except ClaimError:
            assert state(self.allocator) == before

    @rule(kind=st.sampled_from(KINDS), total=st.integers(0, 10))
    def change_total(self, kind: str, total: int) -> None:
        self.allocator.change_total(kind, total)

    @invariant()
    def sound(self) -> None:
        assert_sound(self.allocator.holdings())

    @invariant()
    def the_ends_told_are_enough(self) -> None:
        for name in self.allocator.waiting():
            assert_told_order_can_be(self.allocator, name)

    @invariant()
    def limits_are_as_low_as_is_safe(self) -> None:
        targets = {lowering.resource: lowering for lowering in self.allocator.lowering()}
        for kind, lowering in targets.items():
            assert lowering.target < lowering.total
            if not self.allocator.waiting():
                holdings = self.allocator.holdings()
                column = holdings.resources.column(kind)
                holdings.available[column] -= 1
                assert holdings.available[column] < 0 or not document_says_safe(
                    holdings.available.tolist(), holdings.needed.tolist(), holdings.allocated.tolist()
                )

    @precondition(lambda self: self.allocator.waiting())
    @rule(ends=st.booleans())
    def nobody_starves(self, ends: bool) -> None:
        trial = deepcopy(self.allocator)
        served: set[str] = set()
        for name in self.allocator.waiting():
            if name not in served:  # who was may wait again by now, at the end of the queue
                served |= serve(trial, name, ends=ends)


def serve(allocator: Allocator, name: str, *, ends: bool) -> set[str]:
    """Have the first in the queue served while all others ask for whatever they can, and more of them come.

    Those it waits for only ever get what they ask for and give it back, once each.

    Returns:
        Who was served, it and others that waited.
    """
    served: set[str] = set()
    assert allocator.waiting()[0] == name
    first = allocator.why(name)
    assert first is not None
    group = first.waits_for
    for number in range(len(group)):
        greedy(allocator, {name, *group}, f"greedy {name} {number}")
        wait = allocator.why(name)
        assert wait is not None, "it was served without a return"
        member = wait.waits_for[0]
        assert member in group, "nobody joins the group"
        assert member not in allocator.waiting(), "the next of the group never waits"
        holdings = allocator.holdings()
        row = holdings.row(member)
        assert allocator.request(member, holdings.resources.amounts(holdings.needed[row]))
        if ends:
            grants = allocator.leave(member)
        else:
            held = allocator.holdings().allocated[row]
            grants = allocator.give_back(member, holdings.resources.amounts(held))
        served.update(grant.process for grant in grants)
        if name in served:
            return served
    raise AssertionError(f"{name} starves")


def greedy(allocator: Allocator, spared: set[str], newcomer: str) -> None:
    holdings = allocator.holdings()
    lowered = {lowering.resource: lowering.target for lowering in allocator.lowering()}
    totals = dict(zip(KINDS, holdings.totals.tolist(), strict=True)) | lowered
    allocator.join(newcomer, totals)
    for other in allocator.holdings().processes:
        holdings = allocator.holdings()
        if other not in spared and other not in allocator.waiting():
            wanted = np.minimum(holdings.needed[holdings.row(other)], holdings.available)
            allocator.request(other, holdings.resources.amounts(wanted))


TestMachine = Machine.TestCase
TestMachine.settings = settings(max_examples=examples(150), stateful_step_count=40, deadline=None)
