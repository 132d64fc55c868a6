"""Fixed intervals as classes, trusts as stored, and whether a 304 is believed."""

import math

import pytest

from gossamer.model.reasons.reason import WrongValueError
from gossamer.model.url import Url
from gossamer.policy.revisit import classes
from gossamer.policy.revisit.config import DAY, RevisitConfig
from gossamer.policy.revisit.history import History
from gossamer.policy.revisit.rates import Spread
from gossamer.policy.revisit.trust import TRUST_BYTES, Source, Trust, trust_of, with_trust
from gossamer.policy.revisit.validity import Validity, after_change, is_asked


@pytest.mark.parametrize("seconds", [1, 2, 59, 60, 255, 256, 511, 512, 3_600, 86_400, 7 * 86_400, 31e6, 2e9])
def test_a_fixed_interval_is_a_class(seconds):
    place = classes.fixed(seconds)
    assert 0 <= place < 1 << 16
    assert classes.fixed_interval(place) == pytest.approx(seconds, rel=1 / 511)
    assert classes.due(place, 1_000, step=900, longest=1.0) == 1_001 + classes.fixed_interval(place)


def test_no_learned_class_is_taken_for_one():
    spread = Spread()
    for same in (0, 1, 5, 200):
        for changed in (0, 1, 30):
            belief = spread.believe(History(0, 0, 24.0 * same, 24.0 * changed, same=same, changed=changed))
            for unannounced in (1.0, 0.5, 0.01, 0.0):
                for weight in (1 / 16, 1.0, 100.0):
                    assert classes.fixed_interval(classes.classify(belief, weight, unannounced)) is None


def test_likely_news_of_a_page_with_a_fixed_interval_are_due_at_once():
    history = History(100_000, 100_000, place=classes.fixed(3_600))
    told = classes.told(history, 100_100, 1, 0.9, 1e9)
    assert classes.due(told.place, told.since, 0, 1e9) <= 100_100
    assert told.heard > 0
    doubted = classes.told(history, 100_100, 1, 0.1, 1e9)
    assert doubted.since == history.since, "who is mostly wrong changes nothing"


@pytest.mark.parametrize(
    ("address", "seconds"),
    [
        ("http://a.example/news/1", 3_600),
        ("http://a.example/news/", 3_600),
        ("http://a.example/archive/news", 60),
        ("http://a.example/archive/old?x=1", 86_400),
        ("http://b.example/only", 5),
        ("http://a.example/only", None),
        ("http://a.example/", None),
    ],
)
def test_the_first_pattern_that_matches_counts(address, seconds):
    every = {"/news/*": 3_600.0, "*/news": 60.0, "/archive/*": DAY, "http://b.example/*": 5.0}
    assert RevisitConfig(every=every).interval(Url.parse(address)) == seconds


def test_visits_a_day_are_a_seventh_of_the_pages_if_nobody_says_otherwise():
    assert RevisitConfig().rate(700) * DAY == pytest.approx(100)
    assert RevisitConfig(visits=5).rate(700) * DAY == pytest.approx(5)
    assert RevisitConfig().rate(0) > 0


def test_trusts_stand_side_by_side():
    first = Trust(1.0, 2.0, 3.0, 4.0, 5.0, 6)
    stored = with_trust(b"", Source.HUB, first)
    assert len(stored) == Source.HUB * TRUST_BYTES
    assert trust_of(stored, Source.HUB) == first
    assert trust_of(stored, Source.SITEMAP) == Trust()
    stored = with_trust(stored, Source.SITEMAP, Trust(right=7.0))
    assert (trust_of(stored, Source.SITEMAP).right, trust_of(stored, Source.HUB)) == (7.0, first)
    assert trust_of(stored, 63) == Trust()


def test_each_tenth_visit_proves_what_a_304_says_until_it_is_proven():
    assert [visits for visits in range(40) if is_asked(Validity.UNKNOWN, visits)] == [9, 19, 29, 39]
    assert not any(is_asked(Validity.PROVEN, visits) for visits in range(40))
    assert all(is_asked(Validity.FALSE, visits) for visits in range(40))


@pytest.mark.parametrize(
    ("before", "same", "after"),
    [
        (Validity.UNKNOWN, False, Validity.PROVEN),
        (Validity.UNKNOWN, True, Validity.FALSE),
        (Validity.PROVEN, True, Validity.FALSE),
        (Validity.FALSE, False, Validity.FALSE),
        (Validity.PROVEN, False, Validity.PROVEN),
    ],
)
def test_what_a_change_says_of_validators(before, same, after):
    assert after_change(before, same_validators=same) is after


def test_news_of_a_page_with_a_fixed_interval_is_believed_at_first():
    """Nobody knows how often it changes; who wants to look each hour takes it for one that may."""
    for seconds in (60.0, 3_600.0, 86_400.0):
        place = classes.fixed(seconds)
        assert classes.rate(place, 10.0) == pytest.approx(1 / seconds, rel=0.01)
        history = History(1_000_000, 1_000_000, place=place)
        now = 1_000_020.0
        told = classes.told(history, now, 1, Trust().precision(classes.rate(place, 20.0)), math.inf)
        assert classes.due(place, told.since, 0, math.inf) <= now


@pytest.mark.parametrize("setting", ["every", "weight"])
def test_what_is_no_pattern_is_refused(setting):
    with pytest.raises(WrongValueError, match=setting):
        RevisitConfig(**{setting: {"re:(": 1.0}})
