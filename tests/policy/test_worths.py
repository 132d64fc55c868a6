"""What URLs are worth under the orders by links and by subject, figure by figure."""

import math

import pytest

from gossamer.model.candidate import Candidate
from gossamer.model.link import Link, LinkKind
from gossamer.model.page import Page
from gossamer.model.url import Url
from gossamer.policy.ordering.best import (
    MOST_WEIGHT,
    SEEDS_LINK,
    STEPS,
    UNIT,
    ZERO_STEP,
    Backlinks,
    BestConfig,
    BestFirst,
    BestWorth,
)
from gossamer.policy.ordering.features import Feature
from gossamer.policy.ordering.focus import DEEPEST, FIELD, NO_PROMISE, WHOLE, Focused, Promise
from gossamer.policy.ordering.focus_config import FocusConfig
from gossamer.policy.ordering.levels import level_at
from gossamer.policy.ordering.ordering import ROBOTS_LEVEL
from gossamer.policy.scope.scope import Scope, ScopeConfig
from gossamer.policy.urls.canonical import CanonicalConfig, Canonicaliser


def found(text="http://a.example/x", kind=LinkKind.NAVIGATION, depth=1, via="http://v.example/"):
    return Candidate(Url.parse(text), kind, depth, via=via)


# Best first …


def best(**told):
    return BestFirst(BestConfig(**{"features": [], **told}))


@pytest.mark.parametrize(
    ("depth", "weights", "links", "weight"),
    [
        (0, {}, 9, SEEDS_LINK),
        (1, {}, 1, math.isqrt(SEEDS_LINK * UNIT)),
        (1, {}, 0, math.isqrt(SEEDS_LINK * UNIT)),
        (1, {}, 4, math.isqrt(SEEDS_LINK * UNIT // 4)),
        (1, {1: 10, 2: 20}, 1, math.isqrt(SEEDS_LINK * UNIT)),
        (1, {1: 100, 2: 200}, 3, math.isqrt(SEEDS_LINK * 300 // 3)),
        (1, {}, 10**9, 1),
    ],
)
def test_what_a_link_weighs(depth, weights, links, weight):
    worth = BestWorth(0.0, weights)
    same, gift = best().spread(found(depth=depth), worth, 5, links)
    assert same is worth
    assert list(gift.weights.values()) == [weight]
    assert best().spread(found("http://www.a.example/"), worth, 5, 1)[1].weights.keys() == gift.weights.keys()


def test_links_add_up_by_bucket():
    order = best()
    assert order.merge(Backlinks({1: 2, 3: 4}), Backlinks({3: 5, 6: 7})).weights == {1: 2, 3: 9, 6: 7}
    assert order.merge(Backlinks({1: MOST_WEIGHT - 1}), Backlinks({1: 5})).weights == {1: MOST_WEIGHT}
    worth = order.give(BestWorth(0.5, {1: 2}), Backlinks({1: 3}))
    assert (worth.text, worth.weights) == (0.5, {1: 5})
    assert order.closed(worth) is worth
    assert order.unpack(order.pack(Backlinks({1: 2}))) == Backlinks({1: 2})
    assert order.admitted(found(), Backlinks({1: 2})).weights == {1: 2}
    assert order.admitted(found(), None) == BestWorth(0.0, {})
    assert (order.state(), UNIT, MOST_WEIGHT) == (b"", 64, 1 << 40)


@pytest.mark.parametrize(
    ("x", "y", "weights", "text", "importance"),
    [
        (1.0, 1.0, {}, 0.0, 0.0),
        (1.0, 1.0, {1: 64}, 0.0, 1.0),
        (1.0, 1.0, {1: 64, 2: 192}, 0.5, 3.5),
        (0.0, 1.0, {1: 64}, 0.5, 0.5),
        (2.0, 3.0, {1: 64}, -1.0, -1.0),
    ],
)
def test_importance_makes_the_level(x, y, weights, text, importance):
    order = best(x=x, y=y)
    worth = BestWorth(text, weights)
    assert order.waiting_level(found(), worth) == level_at(
        ZERO_STEP + math.floor(importance * STEPS), found()
    )
    assert order.explain(found(), worth)["importance"] == f"{importance:.2f}"
    assert ZERO_STEP == 128


def test_other_weights_hold_from_now_on():
    order = best()
    order.retune(BestConfig(x=0.0, y=2.0, features=[Feature(where="path", words=["x"], value=4.0)]))
    worth = order.reweighed(found(), BestWorth(9.0, {1: 5}))
    assert worth.weights == {1: 5}
    assert worth.text == order.admitted(found(), None).text == 4.0
    assert order.level(found()) == order.waiting_level(found(), order.admitted(found(), None))


# Focused …


def focused(**told):
    return Focused(FocusConfig(query="web crawler", **told))


@pytest.mark.parametrize(
    ("worth", "again"),
    [
        (Promise(WHOLE, 0, 0, WHOLE), Promise(WHOLE, 0, 0, WHOLE)),  # a seed's stays whole
        (Promise(0, 400, 0, 0), Promise(200, 400, 0, 0)),
        (Promise(0, 0, 400, 0), Promise(100, 0, 400, 0)),
        (Promise(0, 0, 0, 400), Promise(100, 0, 0, 400)),
        (Promise(9, 400, 200, 600), Promise(400, 400, 200, 600)),
        (Promise(0, 1, 0, WHOLE), Promise(round((2 + 1_000) / 4), 1, 0, WHOLE)),
        (Promise(0, 0, 1, WHOLE), Promise(round(1_001 / 4), 0, 1, WHOLE)),
    ],
)
def test_a_promise_under_other_weights(worth, again):
    assert focused().reweighed(found(), worth) == again


@pytest.mark.parametrize(
    ("score", "depth", "level"),
    [
        (WHOLE, 9, 1),
        (WHOLE * 2, 9, 1),
        (WHOLE // 2, 9, 4),
        (250, 9, 7),
        (1, 9, 1 + round(3 * math.log2(WHOLE))),
        (0, 0, NO_PROMISE),
        (0, 9, NO_PROMISE + 9),
        (0, 10**6, NO_PROMISE + DEEPEST),
        (-5, 2, NO_PROMISE + 2),
    ],
)
def test_the_greater_the_promise_the_earlier(score, depth, level):
    order = focused()
    assert order.waiting_level(found(depth=depth), Promise(score)) == level
    assert order.level(found(depth=3)) == NO_PROMISE + 3
    assert order.level(found(kind=LinkKind.ROBOTS)) == ROBOTS_LEVEL
    assert NO_PROMISE == 2 + 30 and DEEPEST == 65_535


def test_seeds_are_on_the_subject():
    order = focused()
    assert order.admitted(found(via=""), None) == Promise(WHOLE, page=WHOLE)
    assert order.admitted(found(), None) == Promise()
    assert order.admitted(found(via=""), Promise(5)) == Promise(5)


@pytest.mark.parametrize(("one", "other", "better"), [(5, 3, 5), (3, 5, 5), (4, 4, 4)])
def test_the_better_mention_counts(one, other, better):
    order = focused()
    assert order.merge(Promise(one, 1), Promise(other, 2)).score == better
    assert order.give(Promise(4, 1), Promise(4, 2)) == Promise(4, 1), "of equals the earlier"
    worth = Promise(7, 1, 2, 3)
    assert order.closed(worth) is worth and order.spread(found(), worth, 1, 1) == (worth, worth)
    assert order.unpack(order.pack(worth)) == worth


def test_what_a_page_passes_on():
    order = focused(passed_on=0.5)
    page = Page(Url.parse("http://a.example/"))
    give = order.appraise(found(), Promise(800), page)
    plain = Link(Url.parse("http://b.example/x"), LinkKind.NAVIGATION, "a@href")
    assert give(plain) == Promise(100, 0, 0, 400)
    named = Link(Url.parse("http://b.example/web/crawler"), LinkKind.NAVIGATION, "a@href", text="web crawler")
    promise = give(named)
    assert promise.anchor > 0 and promise.url > 0 and promise.page == 400
    assert promise.score == pytest.approx((2 * promise.anchor + promise.url + promise.page) / 4, abs=1)
    escaped = Link(Url.parse("http://b.example/%77eb%20crawler"), LinkKind.NAVIGATION, "a@href")
    assert give(escaped).url == promise.url


def test_what_was_harvested_is_counted():
    order = focused(threshold=0.0)
    assert order.figures() == {"documents": 0, "harvested": 0, "harvest_rate": 0.0, "mean_relevance": 0.0}
    for counts in ((5, 5), (0, 0)):
        page = Page(Url.parse("http://a.example/"), fields={FIELD: [100, *counts]})
        order.appraise(found(), Promise(), page)
    figures = order.figures()
    assert (figures["documents"], figures["harvested"], figures["harvest_rate"]) == (2, 2, 1.0)
    again = focused()
    again.restore(order.state())
    assert again.figures() == figures
    other = Focused(FocusConfig(query="something else"))
    other.restore(order.state())
    assert other.figures()["documents"] == 0
    strict = focused(threshold=1.0)
    strict.appraise(found(), Promise(), page)
    assert strict.figures()["harvested"] == 0


def test_titles_and_descriptions_count_more():
    order = focused(title_weight=3.0, description_weight=2.0)
    page = Page(
        Url.parse("http://a.example/"), title="Web", description="web crawler", fields={FIELD: [100, 1, 0]}
    )
    assert order._page(page) == ([1 + 3 + 2, 2], 100)
    assert order._page(Page(Url.parse("http://a.example/"), title="Web")) == ([3, 0], None)
    assert order._page(Page(Url.parse("http://a.example/"), fields={FIELD: [100, 1]})) == ([0, 0], None)


# Scope and canonical form …


def test_another_seed_brings_its_scheme_and_its_place():
    scope = Scope(ScopeConfig(), [Url.parse("http://a.example/")])
    ftp = Candidate(Url.parse("ftp://a.example/x"))
    assert not scope.judge(ftp).admitted
    assert scope.add_seed(Url.parse("ftp://a.example/")) is False, "its place belongs already"
    assert scope.judge(ftp).admitted
    assert scope.add_seed(Url.parse("http://b.example/")) is True
    assert scope.judge(Candidate(Url.parse("http://b.example/y"))).admitted
    assert scope.path_ascending is False
    assert Scope(ScopeConfig(path_ascending=True), []).path_ascending is True


def test_rules_that_never_end_leave_the_safe_form():
    class Endless:
        """Turns one address into another and back."""

        name = "endless"

        @staticmethod
        def apply(url):
            other = url.text[:-1] + ("b" if url.text.endswith("a") else "a")
            return Url.parse(other)

    made = Canonicaliser(CanonicalConfig())
    safe = len(made.rules)
    made.rules = (*made.rules, Endless)
    made._apply = (*made._apply, Endless.apply)
    assert made._safe_count == safe
    assert made.explain(Url.parse("http://a.example/a")) == []
    assert made(Url.parse("http://a.example/a")) == "http://a.example/a"
    spelled = Url.parse("http://a.example/%7ea")
    assert [name for name, _, _ in made.explain(spelled)] == [
        step[0] for step in Canonicaliser(CanonicalConfig()).explain(spelled)
    ]
    assert made(spelled) == "http://a.example/~a"
