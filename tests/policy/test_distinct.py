"""Counting distinct things in a few bytes."""

import random
import statistics

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.policy import distinct
from gossamer.policy.distinct import EXACT, REGISTERS, STANDARD_ERROR

ITEMS = st.binary(min_size=4, max_size=4)
LARGEST_VALUE = max(4 * EXACT, 1 + REGISTERS)


def of(items) -> bytes:
    value = b""
    for item in items:
        value = distinct.add(value, item)
    return value


def drawn(number: int, seed: int) -> list[bytes]:
    source = random.Random(seed)
    return [item.to_bytes(4, "big") for item in source.sample(range(1 << 32), number)]


@given(st.lists(ITEMS, max_size=EXACT))
def test_few_are_counted_exactly(items):
    assert distinct.count(of(items)) == len(set(items))


@given(st.lists(ITEMS, max_size=200))
def test_adding_never_counts_less_and_again_changes_nothing(items):
    value, before = b"", 0
    for item in items:
        value = distinct.add(value, item)
        assert distinct.add(value, item) is value
        assert distinct.count(value) >= before
        before = distinct.count(value)
        assert len(value) <= LARGEST_VALUE


@given(st.lists(ITEMS, max_size=100), st.lists(ITEMS, max_size=100))
def test_a_union_counts_what_either_counts(some, others):
    joined = distinct.union(of(some), of(others))
    assert joined == of([*some, *others])
    assert joined == distinct.union(of(others), of(some))
    assert distinct.union(joined, of(some)) == joined
    assert distinct.count(joined) >= max(distinct.count(of(some)), distinct.count(of(others)))


def test_the_error_is_an_eighth():
    assert pytest.approx(0.13) == STANDARD_ERROR


@pytest.mark.parametrize(("number", "size"), [(0, 0), (1, 4), (32, 128), (33, 65), (1_000, 65)])
def test_as_many_bytes_as_are_stored(number: int, size: int):
    assert len(of(drawn(number, 4))) == size


@pytest.mark.parametrize(("some", "others"), [(0, 0), (0, 9), (9, 9), (9, 90), (90, 90), (0, 90), (30, 31)])
def test_a_union_of_few_and_of_many(some: int, others: int):
    one, other = drawn(some, 1), drawn(others, 2)
    assert distinct.union(of(one), of(other)) == distinct.union(of(other), of(one)) == of([*one, *other])


@given(st.lists(ITEMS, max_size=100), st.randoms(use_true_random=False))
def test_order_does_not_matter(items, source):
    other = items * 2
    source.shuffle(other)
    assert of(items) == of(other)


@given(st.integers(0, 3), st.integers(0, 3), st.integers(0, 3))
def test_a_hash_that_lies_across_two_others_is_not_taken_for_one_of_them(one, two, three):
    # `find` may meet the bytes of a third hash where two stand side by side.
    items = [bytes((0, one, 0, two)), bytes((0, two, 0, three)), bytes((0, one, 0, three)), bytes(4)]
    assert distinct.count(of(items)) == len(set(items))
    across = (items[0] + items[1])[2:6]
    assert distinct.count(of([*items, across])) == len({*items, across})


@pytest.mark.parametrize("number", [40, 100, 1_000, 10_000, 30_000])
def test_many_are_estimated_within_the_standard_error(number):
    trials = 60 if number <= 10_000 else 6
    estimates = [distinct.count(of(drawn(number, seed))) / number for seed in range(trials)]
    assert abs(statistics.mean(estimates) - 1) < 3 * STANDARD_ERROR / trials**0.5
    assert statistics.pstdev(estimates) < 1.35 * STANDARD_ERROR
    assert all(abs(estimate - 1) < 4 * STANDARD_ERROR for estimate in estimates)


def test_one_more_than_exact_is_more():
    assert distinct.count(of(drawn(EXACT + 1, 1))) > EXACT


def test_full_registers_are_a_number_too():
    assert distinct.count(b"\x01" + bytes([27]) * REGISTERS) > 1 << 30
