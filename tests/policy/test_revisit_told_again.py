"""The same said again is no further evidence."""

from gossamer.policy.revisit import classes
from gossamer.policy.revisit.history import History
from gossamer.policy.revisit.rates import Spread

DAY = 86_400.0
LAST = 10_000 * 86_400
NOW = LAST + 10 * DAY


def test_a_source_that_repeats_itself_adds_nothing() -> None:
    belief = Spread().believe(History(0, 0))
    place = classes.classify(belief)
    once = classes.told(History(LAST, LAST, place=place), NOW, 1, 0.2, 1_000 * DAY)
    again = once
    for _ in range(100):
        again = classes.told(again, NOW, 1, 0.2, 1_000 * DAY)
    assert again == once
    assert 0 < classes.worth_after(place, 10 * DAY) < classes.worth_after(place, NOW - once.since)


def test_the_best_of_what_is_said_counts() -> None:
    belief = Spread().believe(History(0, 0))
    fresh = History(LAST, LAST, place=classes.classify(belief))
    little, much = (classes.told(fresh, NOW, 1, each, 1_000 * DAY) for each in (0.05, 0.9))
    assert classes.told(little, NOW, 1, 0.9, 1_000 * DAY).since == much.since < little.since
    assert classes.told(much, NOW, 1, 0.05, 1_000 * DAY).since == much.since


def test_a_page_is_not_due_before_it_was_told_of() -> None:
    fresh = History(LAST, LAST, place=classes.classify(Spread().believe(History(0, 0))))
    told = classes.told(fresh, LAST + 60, 1, 0.9, 1_000 * DAY)
    assert classes.due(told.place, told.since, 0, 1_000 * DAY) < LAST
    assert LAST < classes.due_of(told, 0, 1_000 * DAY) == told.last + told.heard * 3_600 <= LAST + 61
    assert classes.due_of(fresh, 0, 1_000 * DAY) == classes.due(fresh.place, fresh.since, 0, 1_000 * DAY)
