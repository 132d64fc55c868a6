"""The short way must lead where the long way leads."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.extract.shortcut import resolve_plain
from gossamer.model.url import Url

BASES = [
    "http://example.org/",
    "http://example.org/a",
    "http://example.org/a/b/c.html?x=/y/../z",
    "https://example.org:8443/a//b//",
    "http://[::1]:8080/%7Eme/x%20y/z",
    "http://example.org/?/a/b",
]
pieces = st.lists(
    st.sampled_from(
        ["../", "./", "/", "a", "b.html", "..", ".", "-", "~x", ":", "?q", "%2e", " ", "é", "//", "c/"]
    ),
    max_size=7,
).map("".join)


@given(pieces, st.sampled_from(BASES))
def test_the_same_as_the_parser_or_nothing(address, text):
    base = Url.parse(text)
    short = resolve_plain(address.encode(), base)
    if short is not None:
        assert short == Url.parse(address, base.text)


@pytest.mark.parametrize(
    "address", ["b.html", "../b.html", "../../../../x/", "/", "/x/y.html", "x/y/", "../", "a-b_c~d.e"]
)
@pytest.mark.parametrize("text", BASES)
def test_plain_paths_take_the_short_way(address, text):
    base = Url.parse(text)
    assert resolve_plain(address.encode(), base) == Url.parse(address, base.text)


@pytest.mark.parametrize(
    "address", ["", "?x", "a?b", "//host/x", "a:b", ".", "./a", "a/../b", "a b", "%41", "é"]
)
def test_everything_else_takes_the_long_way(address):
    assert resolve_plain(address.encode(), Url.parse(BASES[1])) is None
