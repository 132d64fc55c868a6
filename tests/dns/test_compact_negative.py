"""The filter of names that do not exist: its expiry, its limit, its rate of false alarms."""

import os
import random

import pytest

from gossamer.dns.compact.negative import NotFoundNames

DICE = random.Random(7)


def number() -> int:
    return DICE.getrandbits(128) - (1 << 127)


def test_what_was_added_is_held_until_the_emptying_of_all():
    names = NotFoundNames(1_000, 1e-6, 100.0)
    first, second = number(), number()
    assert names.held(first, 1_000.0) == 0
    assert names.add(first, 1_000.0)
    assert names.add(second, 1_099.0)
    assert names.held(first, 1_099.0) == names.held(second, 1_099.0) == 1
    assert len(names) == 2
    assert names.held(second, 1_100.0) == 0
    assert len(names) == names.room == 0


def test_a_name_added_twice_counts_once():
    names = NotFoundNames(1_000, 1e-6, 100.0)
    one = number()
    assert names.add(one, 0.0)
    assert names.add(one, 1.0)
    assert len(names) == 1


def test_a_full_filter_takes_no_more_until_it_is_emptied():
    names = NotFoundNames(10, 1e-6, 100.0)
    held = [number() for _ in range(10)]
    assert all(names.add(one, 0.0) for one in held)
    assert not names.add(number(), 1.0)
    assert names.add(held[3], 1.0)
    assert names.add(number(), 100.0)
    assert len(names) == 1


@pytest.mark.parametrize(("most", "seconds"), [(0, 100.0), (10, 0.0)])
def test_without_room_or_time_there_is_no_filter(most, seconds):
    names = NotFoundNames(most, 1e-6, seconds)
    one = number()
    assert not names.add(one, 0.0)
    assert names.held(one, 0.0) == 0


def test_a_clock_that_went_back_empties_it():
    names = NotFoundNames(10, 1e-6, 100.0)
    one = number()
    names.add(one, 1_000.0)
    assert names.held(one, 999.0) == 0
    assert len(names) == 0


def test_false_alarms_are_about_as_rare_as_stated():
    names = NotFoundNames(20_000, 1e-3, 100.0)
    for _ in range(20_000):
        names.add(number(), 0.0)
    found = sum(names.held(number(), 0.0) > 0 for _ in range(100_000))
    assert 50 <= found <= 150
    assert names.room <= 20_000 * 14.4 / 8 + 8


@pytest.mark.slow
def test_a_million_names_at_one_in_a_million():
    names = NotFoundNames(1_000_000, 1e-6, 100.0)
    for _ in range(1_000_000):
        names.add(int.from_bytes(os.urandom(16), "little", signed=True), 0.0)
    assert names.room <= 3_600_000
    found = sum(names.held(DICE.getrandbits(127), 0.0) > 0 for _ in range(5_000_000))
    assert found <= 25  # 5 expected
