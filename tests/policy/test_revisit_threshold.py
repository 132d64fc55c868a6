"""The threshold follows the visits that may be made."""

from hypothesis import given
from hypothesis import strategies as st

from gossamer.policy.revisit.threshold import Threshold, lateness, starting_level, worth_of_step


def test_it_rises_while_what_is_due_waits_and_sinks_while_it_does_not():
    late, early = Threshold(10.0, 0.0), Threshold(10.0, 0.0)
    late.correct(10.0, fair=1_000.0, late=50.0, left=0.0)
    early.correct(10.0, fair=1_000.0, late=0.0, left=0.0)
    assert late.level > 10.0 > early.level


def test_it_stands_where_the_queue_of_what_is_due_is_short():
    threshold = Threshold(10.0, 0.0)
    threshold.correct(10.0, fair=1_000.0, late=10.0, left=0.0)
    assert threshold.level == 10.0


def test_visits_left_over_lower_it_at_once():
    threshold = Threshold(10.0, 0.0)
    threshold.correct(1e-3, fair=1_000.0, late=0.0, left=0.2)
    assert threshold.level < 9.5


@given(st.floats(-100, 100), st.floats(0, 1e9), st.floats(1e-3, 1e9), st.floats(0, 1e9), st.floats(0, 1))
def test_no_step_is_large_and_none_leads_away(level, now, fair, waited, left):
    threshold = Threshold(starting_level(worth_of_step(round(level))), 5.0)
    before = threshold.level
    threshold.correct(now, fair, lateness(waited, fair), left)
    assert abs(threshold.level - before) < 1
    assert threshold.corrected == now
    for _ in range(200):
        threshold.correct(now, fair, 0.0, 1.0)
    assert worth_of_step(threshold.step) > 0


def test_a_clock_set_back_does_no_harm():
    threshold = Threshold(10.0, 1_000.0)
    threshold.correct(10.0, fair=100.0, late=10.0, left=0.0)
    assert threshold.level == 10.0


def test_what_waited_for_ever_counts_as_much():
    assert lateness(1e12, 1_000.0) == lateness(100.0, 1_000.0) == 100.0
    assert lateness(3.0, 1_000.0) == 3.0
