"""What the live benchmark of revisiting calls wrong."""

import numpy as np
import pytest
from benchmarks.revisit_live import (
    BEGIN,
    DAY,
    UNDER_WAY,
    Capture,
    Visit,
    compared,
    oldest_first,
    simulated,
    stale_share,
)
from benchmarks.revisit_worlds import World

# Page 0 changes on days 2 and 6, page 1 never.
WORLD = World("toy", np.array([0, 0]), 10.0, np.array([0, 0]), np.array([2.0, 6.0]))


class Days:
    slack = 0.5

    def of(self, clock):
        return (clock - BEGIN) / DAY


class Servers:
    def __init__(self, *visits):
        self.world, self.visits = WORLD, list(visits)


def visit(page, version, status, day):
    return Visit(page, version, status, '"x"' if status == 304 else "", day, day)


def capture(page, version, kind, status, day):
    return Capture(page, version, kind, status, BEGIN + day * DAY, "d")


VISITS = visit(0, 0, 200, 0.0), visit(0, 0, 304, 1.0), visit(0, 1, 200, 3.0), visit(0, 1, 304, 5.0)
CAPTURES = [
    capture(0, 0, "response", 200, 0.0),
    capture(0, 0, "revisit", 304, 1.0),
    capture(0, 1, "response", 200, 3.0),
    capture(0, 1, "revisit", 304, 5.0),
]


def told(captures, visits=VISITS, kills=()):
    return compared(Servers(*visits), captures, Days(), list(kills))


def faults(result):
    return {
        name: result[name]
        for name in ("versions_twice", "visits_lost", "wrong_304", "wrong_versions")
        if result[name]
    }


def test_an_archive_that_is_right():
    assert faults(told(CAPTURES)) == {}


def test_a_version_twice_is_found():
    twice = [*CAPTURES[:3], capture(0, 1, "response", 200, 5.0)]
    assert faults(told(twice)) == {"versions_twice": 1, "wrong_304": 1}


@pytest.mark.parametrize("missing", range(4))
def test_a_lost_visit_is_found_unless_a_kill_explains_it(missing):
    left = [each for number, each in enumerate(CAPTURES) if number != missing]
    assert faults(told(left)) == {"visits_lost": 1}
    killed = told(left, kills=[VISITS[missing].at + 0.1])
    assert faults(killed) == {} and killed["visits_at_a_kill"] == 1


@pytest.mark.parametrize(("settled", "lost"), [(UNDER_WAY, {}), (UNDER_WAY + 1, {"visits_lost": 1})])
def test_a_kill_explains_what_was_under_way_however_long_it_took(settled, lost):
    """The machine may have been busy for half a day; but not settled so many others meanwhile."""
    days = [1.0 + number / 100 for number in range(settled)]
    visits = visit(0, 0, 304, 0.5), *(visit(1, 0, 200, day) for day in days)
    captures = [capture(1, 0, "revisit", 200, day) for day in days]
    assert faults(told(captures, visits, kills=[1.5])) == lost


def test_a_304_of_another_version_is_found():
    assert faults(told([*CAPTURES[:3], capture(0, 0, "revisit", 304, 5.0)])) == {"wrong_304": 1}


def test_a_version_that_was_not_sent_is_found():
    assert "wrong_versions" in faults(told([*CAPTURES[:2], capture(0, 0, "response", 200, 3.0), CAPTURES[3]]))
    assert "wrong_versions" in faults(told([*CAPTURES, capture(0, 1, "revisit", 304, 9.0)]))


def test_the_stale_share_is_what_can_be_counted_by_hand():
    # Page 0: 2 to 3 and 6 to 10 are stale, 5 of 20 page days.
    assert stale_share(WORLD, [(0, 3.0, 6.0)], 10.0) == pytest.approx(25.0)
    assert stale_share(WORLD, [], 10.0) == pytest.approx(40.0)


def test_an_outage_makes_the_simulation_staler():
    whole = simulated(WORLD, 10.0, 4.0, [])
    assert 0 < whole < 6
    assert simulated(WORLD, 10.0, 4.0, [(1.5, 5.5)]) > whole + 10
    assert oldest_first(WORLD, 10.0, 4.0) < 10
