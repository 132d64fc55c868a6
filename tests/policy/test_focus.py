import math

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.model.candidate import Candidate
from gossamer.model.errors import ConfigError
from gossamer.model.link import Link, LinkKind
from gossamer.model.page import Page
from gossamer.model.url import Url
from gossamer.policy.ordering.bm25 import Collection
from gossamer.policy.ordering.focus import FIELD, NO_PROMISE, WHOLE, Focused, Promise
from gossamer.policy.ordering.focus_config import FocusConfig
from gossamer.policy.ordering.ordering import LAST_LEVEL, ROBOTS_LEVEL
from gossamer.policy.ordering.words import Query
from gossamer.ports import MentionOrdering

COUNTS = st.lists(st.floats(0, 1e6), min_size=3, max_size=3)


def url(text: str) -> Url:
    parsed = Url.parse(text)
    assert parsed is not None
    return parsed


HERE = url("http://a.test/")


def link(text: str = "", address: str = "http://b.test/x") -> Link:
    return Link(url(address), LinkKind.NAVIGATION, "a@href", text=text)


def page(*counts: int, length: int = 100, title: str = "") -> Page:
    return Page(HERE, title=title, fields={FIELD: [length, *counts]})


def promise(policy: Focused, on: Page, to: Link, own: int = 0) -> Promise:
    return policy.appraise(Candidate(HERE), Promise(own), on)(to)


# Words


@pytest.mark.parametrize(
    ("query", "text", "words", "counts"),
    [
        ("web crawler", "A Web-Crawler crawls the WEB, crawlers too.", 8, (2, 2)),
        ("queries", "one query, two queries", 4, (2,)),
        ("strawberries ponies", "strawberry pony", 2, (1, 1)),
        ("ties", "ty ties", 2, (2,)),
        ("ies yes gas", "ies yes gas ie ye ga", 6, (1, 1, 1)),
        ("boxes shoes cats glass", "boxe shoe cat glas", 4, (1, 1, 1, 0)),
        ("class", "class classes clas", 3, (1,)),
        ("bus", "bus buses", 2, (1,)),
        ("Straße", "STRASSE", 1, (1,)),
        ("a a A", "a_a", 2, (2,)),
        ("検索エンジン", "これは検索エンジンです", 11, (1, 1, 1, 1, 1)),
        ("crawler", "", 0, (0,)),
    ],
)
def test_words_are_counted(query: str, text: str, words: int, counts: tuple[int, ...]) -> None:
    assert Query(query).count(text) == (words, counts)


@pytest.mark.parametrize("query", ["", " -- ! ", " ".join(f"w{n}" for n in range(33))])
def test_a_query_has_some_words_but_not_too_many(query: str) -> None:
    with pytest.raises(ConfigError, match=r"focus\.query"):
        Query(query)


@given(st.text(), st.text())
def test_any_query_counts_any_text(query: str, text: str) -> None:
    try:
        known = Query(query)
    except ConfigError:
        return
    length, counts = known.count(text)
    assert len(counts) == len(known.words)
    assert all(0 <= count <= max(length, 1) for count in counts)


# BM25


def test_matches_by_the_formula() -> None:
    collection = Collection()
    for length, counts in ((100, (1, 0)), (100, (2, 1)), (40, (0, 0))):
        collection.add(length, counts)
    rare, common = math.log(1 + 2.5 / 1.5), math.log(1 + 1.5 / 2.5)
    size = 0.25 + 0.75 * 40 / 80
    expected = (common * 3 / (3 + 1.2 * size) + rare * 1 / (1 + 1.2 * size)) / (rare + common)
    assert collection.match((3, 1), 40) == pytest.approx(expected)


@given(st.lists(st.tuples(st.integers(0, 10**7), COUNTS), max_size=5), COUNTS, st.integers(0, 10**7), COUNTS)
def test_a_match_is_finite_and_grows_with_frequency(
    read: list[tuple[int, list[float]]], counts: list[float], length: int, more: list[float]
) -> None:
    collection = Collection()
    for words, having in read:
        collection.add(words, having)
    greater = [one + other for one, other in zip(counts, more, strict=True)]
    for size in (length, None):
        low, high = collection.match(counts, size), collection.match(greater, size)
        assert 0 <= low <= 1
        assert high >= low - 1e-12


# Promises


def test_it_is_a_mention_ordering() -> None:
    policy: MentionOrdering[Promise, Promise] = Focused(FocusConfig(query="web crawler"))
    assert policy.name == "focused"
    assert policy.worth is Promise


def test_text_address_and_page_make_a_promise() -> None:
    policy = Focused(FocusConfig(query="web crawler"))
    plain, good = page(0, 0), page(3, 3)
    nothing = promise(policy, plain, link("read more"))
    text = promise(policy, plain, link("a web crawler"))
    address = promise(policy, plain, link("read more", "http://b.test/web%2Fcrawler"))
    linked = promise(policy, good, link("read more"))
    everything = promise(policy, good, link("a web crawler", "http://b.test/web/crawler"))
    assert nothing == Promise()
    assert min(text.anchor, address.url, linked.page) > 0
    assert everything.score > max(text.score, address.score, linked.score)
    assert text.score > address.score  # by their weights


def test_titles_and_descriptions_count_more_than_text() -> None:
    policy = Focused(FocusConfig(query="crawler"))
    policy.appraise(Candidate(HERE), Promise(), page(1))
    assert policy.relevance(page(0, title="Crawler")) > policy.relevance(page(2)) > policy.relevance(page(1))


def test_an_irrelevant_page_passes_on_a_share_of_its_own_promise() -> None:
    policy = Focused(FocusConfig(query="crawler"))
    steps = [promise(policy, page(0), link(), own=WHOLE)]
    for _ in range(3):
        steps.append(promise(policy, page(0), link(), own=steps[-1].score))
    scores = [step.score for step in steps]
    assert steps[0].page == WHOLE // 2
    assert scores == sorted(scores, reverse=True)
    assert scores[-1] < scores[0] / 20


def test_a_better_mention_raises_a_url_and_a_worse_one_does_not_lower_it() -> None:
    policy = Focused(FocusConfig(query="crawler"))
    poor, good = Promise(10, 10), Promise(400, 0, 800)
    assert policy.give(poor, good) == policy.give(good, poor) == policy.merge(poor, good) == good


def test_seeds_come_first_and_what_promises_nothing_by_depth() -> None:
    policy = Focused(FocusConfig(query="crawler"))
    seed = Candidate(HERE)
    found = Candidate(HERE, LinkKind.NAVIGATION, 3, "LLL", "http://b.test/")
    robots = Candidate(HERE, LinkKind.ROBOTS, origin="http://a.test")
    assert policy.waiting_level(seed, policy.admitted(seed, None)) == 1
    assert policy.waiting_level(found, policy.admitted(found, None)) == NO_PROMISE + 3
    assert policy.level(robots) == ROBOTS_LEVEL
    assert policy.admitted(found, Promise(7)) == Promise(7)


@given(st.integers(0, WHOLE), st.integers(0, WHOLE), st.integers(0, 10**6))
def test_levels_are_coarse_and_follow_the_promise(one: int, other: int, depth: int) -> None:
    policy = Focused(FocusConfig(query="crawler"))
    candidate = Candidate(HERE, LinkKind.NAVIGATION, depth)
    low, high = sorted((one, other))
    better, worse = (policy.waiting_level(candidate, Promise(score)) for score in (high, low))
    assert ROBOTS_LEVEL < better <= worse <= LAST_LEVEL
    if 0 < high < 2 * low:
        assert worse - better <= 4


@given(
    st.text(max_size=200),
    st.text(max_size=60),
    st.text(max_size=60),
    st.integers(0, 10**7),
    st.integers(0, 10**6),
    st.integers(0, WHOLE),
)
def test_any_page_gives_promises_within_bounds(
    text: str, path: str, title: str, length: int, count: int, own: int
) -> None:
    policy = Focused(FocusConfig(query="a b"))
    target = Url("http://b.test/" + path, "http", "b.test", 80, "/" + path)
    got = promise(
        policy,
        page(count, 0, length=length, title=title),
        Link(target, LinkKind.NAVIGATION, "", text=text),
        own,
    )
    assert all(0 <= part <= WHOLE for part in msgspec.structs.astuple(got))


@pytest.mark.parametrize("field", [None, "x", [], [1], [1, 2, 3, 4], {"a": 1}])
def test_fields_of_other_plug_ins_do_no_harm(field: object) -> None:
    policy = Focused(FocusConfig(query="web crawler"))
    assert promise(policy, Page(HERE, fields={FIELD: field}), link()) == Promise()
    assert policy.figures()["documents"] == 0


# Figures and state


def test_harvest_is_counted_and_survives_a_restart() -> None:
    config = FocusConfig(query="crawler")
    policy = Focused(config)
    for count in (30, 0, 30, 0, 0):
        policy.appraise(Candidate(HERE), Promise(), page(count))
    policy.appraise(Candidate(HERE), Promise(), Page(HERE))  # an image: no document
    assert policy.figures()["harvest_rate"] == 0.4
    assert policy.figures()["harvested"] == 2
    fresh = Focused(config)
    assert (fresh.figures()["harvest_rate"], fresh.figures()["mean_relevance"]) == (0.0, 0.0)
    fresh.appraise(Candidate(HERE), Promise(), page(30))
    fresh.appraise(Candidate(HERE), Promise(), page(0))
    assert fresh.figures()["documents"] == 2
    assert 0 < fresh.figures()["mean_relevance"] == pytest.approx(fresh._progress.relevance / 2, abs=1e-4)
    after = Focused(config)
    after.restore(policy.state())
    assert after.figures() == policy.figures()
    assert after.relevance(page(1)) == policy.relevance(page(1))
    other = Focused(FocusConfig(query="other"))
    other.restore(policy.state())
    assert other.figures()["documents"] == 0


def test_the_promise_is_explained() -> None:
    policy = Focused(FocusConfig(query="crawler"))
    assert policy.explain(Candidate(HERE), Promise(250, 500, 0, 10)) == {
        "promise": "0.250",
        "link text": "0.500",
        "address": "0.000",
        "page": "0.010",
    }


def test_some_weight_must_be_above_zero() -> None:
    with pytest.raises(ValueError, match="above 0"):
        FocusConfig(anchor_weight=0, url_weight=0, page_weight=0)
