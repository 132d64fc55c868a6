"""Several sources that speak of a page, and what a page weighs beside others."""

import msgspec
import pytest

from gossamer.model.candidate import Candidate
from gossamer.model.link import LinkKind
from gossamer.model.url import Url
from gossamer.policy.ordering.opic import Opic, OpicConfig
from gossamer.policy.revisit import classes
from gossamer.policy.revisit.config import RevisitConfig
from gossamer.policy.revisit.gone import Presence
from gossamer.policy.revisit.history import History
from gossamer.policy.revisit.rates import Spread
from gossamer.policy.revisit.trust import TRUST_BYTES, heard, judged, trust_of, unannounced
from gossamer.policy.revisit.weights import weight

DAY = 86_400.0


def test_each_source_of_a_page_is_judged_by_what_it_said_itself() -> None:
    """A sitemap that tells of each change, a feed that says so at each visit, a hub that never says anything."""
    trusts, history = b"", History(0, 0).spoken_of(1).spoken_of(8).spoken_of(4)
    for day in range(1, 200):
        changed = day % 3 == 0
        history = history.told((day - 0.9) * DAY, history.since, 8)
        if changed:
            history = history.told((day - 0.1) * DAY, history.since, 1)
        assert heard(trusts, history, 1 / (3 * DAY)) == pytest.approx(
            (0.9 if changed and day > 30 else 0.1) * 24
        ) or (day <= 30)
        trusts = judged(trusts, history, DAY, changed=changed)
        history = history.visited(day * DAY, changed=changed)
    sitemap, feed, hub = (trust_of(trusts, source) for source in (1, 8, 4))
    assert sitemap.wrong == sitemap.missed == 0 and sitemap.told > 0.95
    assert feed.told < 0.1 and hub.told < 0.1
    assert feed.precision(1 / (3 * DAY)) < 0.5 < sitemap.precision(1 / (3 * DAY))
    assert unannounced(trusts, history) == sitemap.unannounced
    assert unannounced(trusts, History(0, 0)) == 1.0
    assert len(trusts) == 8 * TRUST_BYTES


def test_a_page_weighs_what_it_brings_is_wanted_and_linked_for():
    assert weight(History(0, 0)) == 1
    assert weight(History(0, 0, brings=8), wanted=4.0, importance=0.5) == 16
    assert weight(History(0, 0), importance=1e9) == 8
    assert weight(History(0, 0), importance=0.0) == 1 / 8
    gone = History(0, 0, brings=8, presence=Presence.GONE)
    assert weight(gone, wanted=2.0) == 1 / 8, (
        "what it brought is remembered, and does not count while it is gone"
    )
    assert weight(msgspec.structs.replace(gone, presence=Presence.HERE)) == 8


@pytest.mark.parametrize("times", [1 / 16, 1 / 4, 1.0, 4.0, 16.0])
def test_what_weighs_more_is_due_sooner(times: float):
    belief = Spread().believe(History(0, 0))
    usual, other = classes.classify(belief), classes.classify(belief, weight(History(0, 0), times))
    assert classes.wanted(other) == (None, times)
    step = 24 * 18
    assert (classes.interval(other, step) < classes.interval(usual, step)) is (times > 1)
    assert (classes.interval(other, step) > classes.interval(usual, step)) is (times < 1)


def test_the_first_pattern_that_matches_says_what_a_page_is_worth():
    config = RevisitConfig(weight={"/news/*": 4.0, "https://e.example/*": 0.5, "*": 2.0})
    urls = {"http://e.example/news/1": 4.0, "https://e.example/x": 0.5, "http://e.example/x": 2.0}
    assert {text: config.wanted(Url.parse(text)) for text in urls} == urls
    assert RevisitConfig().wanted(Url.parse("http://e.example/")) == 1.0


def test_what_many_link_to_is_important_and_the_mean_page_is_about_one():
    """A front page that all pages link to, and pages that it links to."""
    policy = Opic(OpicConfig())
    at = [Candidate(Url.parse(f"http://e.example/{each}"), LinkKind.SEED if not each else LinkKind.NAVIGATION)
          for each in range(20)]  # fmt: skip
    front, gift = policy.spread(at[0], policy.admitted(at[0], None), 19, 19)
    pages = [policy.admitted(each, gift) for each in at[1:]]
    for _ in range(6):
        for number, page in enumerate(pages):
            pages[number], gift = policy.spread(at[number + 1], page, 1, 1)
            front = policy.give(front, gift)
        front, gift = policy.spread(at[0], front, 19, 19)
        pages = [policy.give(page, gift) for page in pages]
    important = [policy.importance(each) for each in (front, *pages)]
    assert sum(important) / 20 == pytest.approx(1, abs=0.7)
    assert important[0] > 5 > 1 > max(important[1:]) > min(important[1:]) > 0.1
