"""One grammar for the addresses that a person means."""

import pytest
from hypothesis import given
from hypothesis import strategies as some

from gossamer.model.url import Url
from gossamer.policy.scope.address_pattern import AddressPattern, address_problem, literal


@pytest.mark.parametrize(
    ("pattern", "matches"),
    [
        ("/news/*", {"/news/", "/news/1?x=2"}),
        ("*/news/*", {"/news/", "/news/1?x=2", "/old/news/1"}),
        ("/news/?*", {"/news/1?x=2"}),
        ("/a[1].html", {"/a[1].html"}),
        ("/news", set()),
        ("/a[[]1].html", {"/a[1].html"}),
        ("/news/[*]", set()),
        ("http://h.test:8801/old/*", {"/old/news/1"}),
        ("http://other.test/*", set()),
        ("re:new+s/\\d", {"/news/1?x=2", "/old/news/1"}),
        ("re:^http://h", {"/", "/news/", "/news/1?x=2", "/old/news/1", "/a[1].html"}),
    ],
)
def test_patterns_of_addresses(pattern: str, matches: set[str]):
    targets = ["/", "/news/", "/news/1?x=2", "/old/news/1", "/a[1].html"]
    found = {target for target in targets if AddressPattern(pattern).matches(f"http://h.test:8801{target}")}
    assert found == matches


@given(some.text(some.characters(codec="utf-8"), max_size=40))
def test_an_address_is_matched_by_itself(path: str):
    url = Url.parse("http://h.test/" + path)
    if url is not None:
        assert AddressPattern(literal(url.target)).matches(url.text)
        assert AddressPattern(literal(url.text)).matches(url.text)


def test_only_an_expression_can_be_wrong():
    assert address_problem("re:(") and not address_problem("(") and not address_problem("re:a|b")
    assert AddressPattern("/docs/").is_exact
    assert not AddressPattern("/docs/*").is_exact and not AddressPattern("re:docs").is_exact


@pytest.mark.parametrize("address", ["/news/1?x=[a]", "http://h.test/a*b", "/plain", "/[", "/a?*[]"])
def test_the_pattern_of_one_address_matches_no_other(address: str):
    whole = address if "://" in address else f"http://h.test{address}"
    pattern = AddressPattern(literal(address))
    assert pattern.matches(whole)
    for other in (
        f"{whole}x",
        whole.replace("*", "xx").replace("?", "y") + "z",
        whole.replace("a", "b") + "/",
    ):
        assert not pattern.matches(other)
