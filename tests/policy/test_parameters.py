"""The drop-one test: what it asks for, what it concludes, and that it proposes nothing rashly."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.model.url import Url
from gossamer.policy.branches.novelty import pieces
from gossamer.policy.urls.parameters import (
    DropTest,
    ParameterConfig,
    Relevance,
    Seen,
    conclude,
    learn_sample,
    parameters,
    wants_sample,
    without,
)

CONFIG = ParameterConfig()
PAGE = Seen(200, 1, pieces(b"<p>the very long text of some page that says a thing or two</p>", "/", ()))
SAME = Seen(200, 2, PAGE.pieces)
OTHER = Seen(200, 3, pieces(b"<p>nothing like it: quite another matter is told here today</p>", "/", ()))
GONE = Seen(404)
BROKEN = Seen(503)


def url(target: str) -> Url:
    found = Url.parse(f"http://e.org:8080{target}")
    assert found is not None
    return found


def sampled(*pages: Seen) -> DropTest:
    test = DropTest("sid")
    for number, page in enumerate(pages):
        test = learn_sample(test, "http://e.org/", number, (PAGE, page), CONFIG)
    return test


@pytest.mark.parametrize(
    ("target", "name", "left"),
    [
        ("/a?sid=1", "sid", "/a"),
        ("/a?sid=1&b=2", "sid", "/a?b=2"),
        ("/a?b=2&sid=1&sid=3", "sid", "/a?b=2"),
        ("/a;jsessionid=1/b?c=2", ";jsessionid", "/a/b?c=2"),
        ("/a;x=1;jsessionid=1?c=2", ";jsessionid", "/a;x=1?c=2"),
        ("/a?b=2", "sid", None),
        ("/a", ";sid", None),
    ],
)
def test_without(target: str, name: str, left: str | None) -> None:
    found = without(url(target), name)
    assert (found and found.target) == left
    assert found is None or found == url(found.target)


def test_parameters_of_a_url() -> None:
    assert parameters(url("/a;x=1/b;y=2?b=2&a&a=3&=4")) == [(";x", "1"), (";y", "2"), ("b", "2"), ("a", "")]
    assert parameters(url("/a")) == []


@given(st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from(["", "1", "x"])), max_size=6))
def test_what_is_dropped_is_gone_and_nothing_else_is(pairs: list[tuple[str, str]]) -> None:
    whole = url("/p" + ("?" + "&".join(f"{name}={value}" for name, value in pairs) if pairs else ""))
    for name, _ in parameters(whole):
        left = without(whole, name)
        assert left is not None
        assert dict(parameters(left)).keys() == dict(parameters(whole)).keys() - {name}


@pytest.mark.parametrize(
    ("pages", "conclusion"),
    [
        ([], Relevance.UNKNOWN),
        ([SAME] * 4, Relevance.UNKNOWN),
        ([SAME] * 5, Relevance.IRRELEVANT),
        ([SAME] * 4 + [OTHER], Relevance.RELEVANT),
        ([OTHER], Relevance.RELEVANT),
        ([GONE], Relevance.UNKNOWN),
        ([GONE] * 2, Relevance.REQUIRED),
        ([BROKEN] * 9, Relevance.UNKNOWN),
        ([SAME] * 9 + [GONE], Relevance.UNKNOWN),
    ],
)
def test_conclusions(pages: list[Seen], conclusion: Relevance) -> None:
    assert conclude(sampled(*pages), CONFIG) is conclusion


def test_one_value_proves_nothing() -> None:
    test = DropTest("lang")
    for _ in range(20):
        test = learn_sample(test, "http://e.org/", 7, (PAGE, SAME), CONFIG)
    assert conclude(test, CONFIG) is Relevance.UNKNOWN
    assert not wants_sample(test, 7, CONFIG)
    assert wants_sample(test, 8, CONFIG)


def test_pages_without_text_are_not_alike() -> None:
    test = learn_sample(DropTest("id"), "http://e.org/", 1, (Seen(200, 1), Seen(200, 2)), CONFIG)
    assert conclude(test, CONFIG) is Relevance.RELEVANT


@given(st.lists(st.sampled_from([SAME, OTHER, GONE, BROKEN]), max_size=30))
def test_nothing_is_proposed_that_ever_made_a_difference(pages: list[Seen]) -> None:
    test = sampled(*pages)
    if OTHER in pages or GONE in pages:
        assert conclude(test, CONFIG) is not Relevance.IRRELEVANT
    assert len(test.values) <= CONFIG.samples
