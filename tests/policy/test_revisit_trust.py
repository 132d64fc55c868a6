"""How far sources are believed."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.policy.revisit.history import History, Voice
from gossamer.policy.revisit.trust import DatesVerdict, Reading, Trust, heard, with_trust

DAY = 86_400.0
NOW = 1_700_000_000.0


def judged(visits: int, tells: float, false: float, changes: float = 0.3, days: float = 10) -> Trust:
    """A source that tells of some of the changes, and of some that were none, after many visits."""
    chance = random.Random(1)
    trust = Trust()
    for _ in range(visits):
        changed = chance.random() < changes
        said = chance.random() < (tells if changed else 0) or chance.random() < false
        trust = trust.judged(said=said, changed=changed, seconds=days * DAY)
    return trust


def test_who_is_unknown_tells_nothing_by_silence_and_is_heard_when_it_speaks():
    assert Trust().told == 0
    assert 0.3 < Trust().precision(1 / (30 * DAY)) < 0.95


def test_who_tells_of_all_changes_is_believed_when_silent():
    trust = judged(400, 1.0, 0.0)
    assert trust.told > 0.97 and trust.unannounced < 0.03
    assert trust.precision(1 / (30 * DAY)) > 0.95


def test_who_tells_of_half_is_half_believed():
    assert judged(2_000, 0.5, 0.0).told == pytest.approx(0.5, abs=0.08)


def test_who_speaks_at_random_tells_of_nothing():
    assert judged(2_000, 0.0, 0.5).told < 0.12


@pytest.mark.parametrize(
    ("voices", "hours"),
    [
        ((), 0.0),
        ((Voice(1),), 0.0),
        ((Voice(1, 5.0),), 5.0),
        ((Voice(1), Voice(2, 7.0)), 7.0),
        ((Voice(1, 5.0), Voice(2, 7.0)), 5.0),  # equally believed: the first that said it
        ((Voice(1, 7.0), Voice(2, 5.0)), 5.0),
        ((Voice(1, 5.0), Voice(3, 9.0)), 9.0),  # who was right before is believed more
    ],
)
def test_when_it_was_said_that_a_page_changed(voices, hours):
    right = Trust()
    for _ in range(20):
        right = right.judged(said=True, changed=True, seconds=86_400.0)
    assert heard(with_trust(b"", 3, right), History(0, 0, voices=voices), 1e-6) == hours


def test_who_always_speaks_tells_of_nothing_and_is_not_heard():
    trust = judged(2_000, 1.0, 1.0, days=1)
    assert trust.told < 0.1
    assert trust.precision(1 / (300 * DAY)) < 0.02


@given(st.lists(st.tuples(st.booleans(), st.booleans(), st.floats(0, 1e8)), max_size=300))
def test_all_is_a_probability(visits):
    trust = Trust()
    for said, changed, seconds in visits:
        trust = trust.judged(said=said, changed=changed, seconds=seconds)
    assert 0 <= trust.told <= 1
    low, high = trust.precision(1e-9), trust.precision(1e-3)
    assert 0 <= low <= high <= 1


def test_a_liar_that_has_become_honest_is_believed_again():
    trust = judged(600, 0.0, 0.3)
    for _ in range(3_000):
        trust = trust.judged(said=True, changed=True, seconds=DAY)
        trust = trust.judged(said=False, changed=False, seconds=DAY)
    assert trust.told > 0.9


def read(dates: list[float], before: list[float] | None = None) -> tuple[DatesVerdict, list[bool]]:
    reading = Reading(NOW)
    said = [reading.add(date, before[number] if before else None) for number, date in enumerate(dates)]
    return reading.verdict, said


def test_a_list_with_dates_of_its_pages_says_which_have_changed():
    before = [NOW - number * DAY for number in range(1, 50)]
    dates = [NOW - 60.0, *before[1:]]
    assert read(dates, before) == (DatesVerdict.PLAUSIBLE, [True] + [False] * 48)


def test_dates_that_move_with_each_reading_are_lies():
    before = [NOW - 10 * DAY - number for number in range(50)]
    assert read([NOW - number for number in range(50)], before)[0] is DatesVerdict.MOVING


def test_one_date_for_all_is_a_lie_also_if_some_have_another():
    dates = [NOW - DAY] * 60
    assert read(dates)[0] is DatesVerdict.EQUAL
    dates[::15] = [NOW - 3 * DAY] * 4
    assert read(dates)[0] is DatesVerdict.EQUAL
    dates[::2] = [NOW - number * DAY for number in range(30)]
    assert read(dates)[0] is DatesVerdict.PLAUSIBLE


def test_dates_in_the_future_are_lies_and_a_single_one_says_nothing():
    assert read([NOW + 30 * DAY + number for number in range(20)])[0] is DatesVerdict.FUTURE
    before = [NOW - number * DAY for number in range(1, 50)]
    verdict, said = read([NOW + 400 * DAY, *before[1:]], before)
    assert verdict is DatesVerdict.PLAUSIBLE and not any(said)


def test_few_dates_are_believed():
    assert read([NOW - DAY] * 3, [NOW - 2 * DAY] * 3) == (DatesVerdict.PLAUSIBLE, [True] * 3)


def test_lies_weigh_nothing_until_a_reading_is_plausible():
    trust = judged(400, 1.0, 0.0)
    moving = Reading(NOW)
    for number in range(20):
        moving.add(NOW - number, NOW - DAY - number)
    lied = trust.read(moving)
    assert (lied.told, lied.precision(1e-5), lied.lies) == (0.0, 0.0, 1)
    assert lied.read(Reading(NOW)).told == trust.told
