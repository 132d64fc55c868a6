"""Conditions, quiet time, further attempts, differences: with the time given."""

from datetime import datetime
from zoneinfo import ZoneInfo

import pytest

from gossamer.policy.change.alignment import Hunk
from gossamer.policy.watching.conditions import read_condition
from gossamer.policy.watching.difference import LONGEST_LINE, MOST_LINES, difference, plain
from gossamer.policy.watching.quiet import read_quiet
from gossamer.policy.watching.retries import MOST_ATTEMPTS, Failure, next_attempt


@pytest.mark.parametrize(
    ("words", "text", "number", "holds"),
    [
        ("contains In Stock", "now in  STOCK", None, True),
        ("contains stock", "sold out", None, False),
        ("lacks Straße", "die STRASSE", None, False),
        ("number > 10", "", 10, False),
        ("number >= 10", "", 10, True),
        ("number < -2.5", "", -3, True),
        ("number = 3", "", 3, True),
        ("NUMBER != 3", "", 3, False),
        ("number > 10", "", None, None),
    ],
)
def test_conditions(words, text, number, holds):
    assert read_condition(words).holds(text, number) is holds


@pytest.mark.parametrize(
    "words", ["", "contains", "contains  ", "number", "number > ten", "number >> 1", "has x"]
)
def test_what_is_no_condition(words):
    with pytest.raises(ValueError, match="is no condition"):
        read_condition(words)


def at(text, zone="UTC"):
    return datetime.fromisoformat(text).replace(tzinfo=ZoneInfo(zone)).timestamp()


@pytest.mark.parametrize(
    ("quiet", "now", "until"),
    [
        ("22:00-07:00 UTC", "2026-01-31T21:59:59", None),
        ("22:00-07:00 UTC", "2026-01-31T22:00:00", "2026-02-01T07:00:00"),
        ("22:00-07:00 UTC", "2026-02-01T06:59:59", "2026-02-01T07:00:00"),
        ("22:00-07:00 UTC", "2026-02-01T07:00:00", None),
        ("12:00-13:30 UTC", "2026-02-01T13:00:00", "2026-02-01T13:30:00"),
        ("12:00-13:30 UTC", "2026-02-01T11:00:00", None),
    ],
)
def test_quiet_time(quiet, now, until):
    assert read_quiet(quiet).until(at(now)) == (at(until) if until else None)


def test_a_night_in_which_clocks_are_put_forward_is_an_hour_shorter():
    quiet, evening = read_quiet("22:00-07:00 Europe/Berlin"), at("2026-03-28T22:00:00", "Europe/Berlin")
    assert quiet.until(evening) - evening == 8 * 3600
    assert quiet.until(at("2026-03-29T06:59:00", "Europe/Berlin")) == at(
        "2026-03-29T07:00:00", "Europe/Berlin"
    )


def test_attempts_come_later_and_later_and_end():
    failure, now, waits = Failure("no answer"), 0.0, []
    for attempts in range(1, MOST_ATTEMPTS):
        due = next_attempt(failure, attempts, now)
        waits.append(due - now)
        now = due
    assert waits == sorted(waits)
    assert (waits[0], waits[-1]) == (30, 6 * 3600)
    assert 2 * 86_400 < now < 4 * 86_400
    assert next_attempt(failure, MOST_ATTEMPTS, now) is None
    assert next_attempt(Failure("gone", final=True), 1, now) is None


def test_who_asks_for_time_gets_it_within_bounds():
    assert next_attempt(Failure("busy", after=600), 1, 0) == 600
    assert next_attempt(Failure("busy", after=1e9), 1, 0) == 6 * 3600


def test_a_difference_is_bounded_whatever_changed():
    before = [f"line {number}" for number in range(5_000)]
    after = ["x" * 100_000, *(f"new {number}" for number in range(5_000))]
    (place,) = difference(before, after, [Hunk(0, 5_000, 0, 5_001)])
    assert len(place.lines) <= 2 * MOST_LINES + 4
    assert place.more == 10_001 - 2 * MOST_LINES
    assert max(len(line.text) for line in place.lines) <= LONGEST_LINE + 1
    assert plain([place])[-1] == f"  ({place.more:,} lines more)"
