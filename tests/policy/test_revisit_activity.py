"""A site that changes more than was to be expected: how it is noticed, forgotten, and what it does to due times."""

import math
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.policy.revisit import classes
from gossamer.policy.revisit.activity import ACTIVITY_BYTES, Activity, activity_of
from gossamer.policy.revisit.freshness import Freshness
from gossamer.policy.revisit.history import History
from gossamer.policy.revisit.rates import Spread

DAY = 86_400.0
NOTHING = Activity()
PLACE = classes.classify(Spread().believe(History(0, 0)))
VISITS = st.lists(st.tuples(st.floats(0, 1), st.booleans()), max_size=60)


def after(visits, activity=NOTHING):
    for probability, changed in visits:
        activity = activity.seen(probability, changed=changed)
    return activity


def test_nothing_is_known_at_first():
    assert Activity().factor(1) == activity_of(b"").factor(1) == 1


@given(VISITS)
def test_whatever_was_seen_it_is_within_bounds_and_kept(visits):
    activity = after(visits)
    assert 1 / 8 <= activity.factor(1) <= 8
    assert activity.factor(0) == 1
    assert abs(math.log(activity.factor(0.5))) <= abs(math.log(activity.factor(1)))
    stored = activity.pack()
    assert len(stored) == ACTIVITY_BYTES
    assert activity_of(stored).found == pytest.approx(activity.found, rel=1e-6)
    assert activity_of(stored).expected == pytest.approx(activity.expected, rel=1e-6)


@given(VISITS, st.floats(0, 1))
def test_one_change_more_never_makes_it_quieter(visits, probability):
    activity = after(visits)
    changed, same = (activity.seen(probability, changed=each) for each in (True, False))
    assert changed.factor(1) >= same.factor(1)


def test_a_burst_is_noticed_within_some_visits_and_forgotten_when_it_is_over():
    burst = after([(0.05, True)] * 6)
    assert burst.factor(1) >= 2
    assert after([(0.05, True)] * 40).factor(1) > burst.factor(1)
    assert after([(0.02, False)] * 90, burst).factor(1) == 1


def test_a_site_that_is_quieter_than_expected_can_wait():
    assert after([(0.4, False)] * 20).factor(1) < 1 / math.sqrt(2)


def test_what_was_expected_surprises_nobody():
    assert after([(1.0, True)] * 50).factor(1) == 1, "a clock turns at each visit"
    assert after([(0.3, number % 10 < 3) for number in range(60)]).factor(1) == 1


def test_its_pages_are_due_so_much_sooner():
    step = 24 * 16
    usual = classes.due(PLACE, 0, step, math.inf)
    assert classes.due(PLACE, 0, step, math.inf, 4.0) == pytest.approx(usual / 4)
    assert classes.due(PLACE, 0, step, usual / 10, 0.25) == usual / 10, (
        "but none waits longer than the longest"
    )
    history = History(0, 0, place=PLACE)
    assert classes.due_of(history, step, math.inf, 4.0) == pytest.approx(usual / 4)
    hourly = classes.fixed(3_600)
    assert classes.due(hourly, 0, step, math.inf, 8.0) == 3_601, "not where somebody has said how often"


def test_what_a_visit_is_worth_there():
    worth = classes.worth_after(PLACE, 8 * DAY)
    assert classes.worth_now(PLACE, 2 * DAY, 90 * DAY, 4.0) == worth
    assert classes.worth_now(PLACE, 90 * DAY, 90 * DAY) == math.inf, "it has waited for as long as any may"
    assert classes.worth_now(classes.fixed(60), 2.0, math.inf) == math.inf
    # At that age a visit is worth the threshold: both say the same.
    step = round(math.log2(worth) * 24)
    assert classes.due(PLACE, 0, step, math.inf, 4.0) == pytest.approx(2 * DAY, rel=0.03)


def sites(seed, *, in_bursts, rounds=60, size=20):
    """What a crawl makes of activity, after so many rounds through sites whose pages change together or each alone."""
    random, freshness = Random(seed), Freshness()
    for _ in range(10):
        activity = Activity()
        for _ in range(rounds):
            burst = random.random() < 0.1
            for _ in range(size):
                changed = burst if in_bursts else random.random() < 0.1
                history = History(0, 0, same=9, changed=1, place=PLACE)
                probability = freshness.note(history, 6 * DAY, changed=changed, activity=activity)
                activity = activity.seen(probability, changed=changed)
    return freshness.activity_power


def test_how_much_activity_tells_is_learned():
    """Where pages change each for itself, who is busier than others is so by chance."""
    assert sites(1, in_bursts=True) > 0.9
    assert sites(1, in_bursts=False) < 0.5


@given(
    st.lists(
        st.tuples(st.floats(0, 1e9), st.booleans(), st.floats(0, 300), st.floats(0, 30), st.booleans()),
        max_size=40,
    )
)
def test_whatever_visits_find_it_stays_between_nothing_and_all(visits):
    freshness = Freshness()
    for age, changed, found, expected, heard in visits:
        history = History(0, 0, same=3, changed=1, place=PLACE)
        if heard:
            history = history.told(age / 2, 0, 1)
        before = freshness.activity_power
        freshness.note(history, age, changed=changed, activity=Activity(found, expected))
        assert 0 <= freshness.activity_power <= 1
        assert not heard or freshness.activity_power == before, "what is announced says nothing of chance"
