"""Marks that were met are known for as long as there is room, and through a restart."""

import random

from examples import examples
from hypothesis import given, settings
from hypothesis import strategies as st

from gossamer.policy.branches.met import Met


def met(stored=(), most=4, growths=1):
    return Met(first=64, growths=growths, most=most, error=0.001, stored=stored)


def test_what_was_met_is_not_new_and_the_oldest_is_forgotten():
    dice = random.Random(1)
    marks = [dice.getrandbits(64) for _ in range(2_000)]
    known = met()
    assert known.new(marks[:50]) == marks[:50]
    assert known.new(marks[:60]) == marks[50:60]
    for at in range(0, 2_000, 10):
        known.new(marks[at : at + 10])
    assert known.new(marks[-200:]) == [], "four filters hold the last ones"
    assert len(known.new(marks[:200])) > 150, "and not the first ones"
    assert known.size < 4 * 400


def test_filters_grow_so_many_times_and_not_more():
    known = Met(first=8, growths=2, most=9, error=1e-9)
    found = []
    for mark in random.Random(3).sample(range(1 << 60), 100):
        known.new([mark])
        found.append(known.generation)
    assert [found.count(generation) for generation in range(4)] == [8, 16, 32, 32]


@settings(max_examples=examples(50), deadline=None)
@given(st.lists(st.integers(1, 90), max_size=30), st.data())
def test_a_restart_forgets_no_more_than_an_eighth_of_a_filter(sizes, data):
    dice = random.Random(7)
    known, stored, all_marks = met(most=40), {}, []
    for size in sizes:
        marks = [dice.getrandbits(64) for _ in range(size)]
        known.new(marks)
        all_marks += marks
        if known.worth_storing:
            slot, kept = known.to_store()
            stored[slot] = kept
    if data.draw(st.booleans()) and (kept := known.to_store()) is not None:
        stored[kept[0]] = kept[1]
        assert known.to_store() is None
    again = met(stored.values(), most=40)
    assert len(again.new(all_marks)) <= 128 // 8
    assert again.new(all_marks) == []
