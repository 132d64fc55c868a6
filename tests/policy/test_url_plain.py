"""Plain absolute addresses are parsed without the parser, and come out the same."""

import ada_url
import msgspec
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from gossamer.model import url as urls
from gossamer.model.url import _PLAIN, Url
from gossamer.policy.scope.scope import ScopeConfig

HOSTS = """xn--bcher-kva.de a.xn--p1ai xn--a 1.2.3.4 a.1 0x1 a.0x1 a..b .a a. a_b ab--c.d 8a.com a.8a
e0.0e1 localhost WWW.A user@a a:80 a:443"""
LABELS = st.one_of(
    st.text("abx019-.", max_size=8),
    st.sampled_from(
        HOSTS.split(),
    ),
)
TARGETS = st.text("ab/.%2eE?&=#'\"{}|^`<> \\~!$()*+,;:@_-é\t\n", max_size=14)


@given(
    st.sampled_from(["http", "https", "HTTP"]), LABELS, TARGETS, st.sampled_from([None, "http://o/x/y?z#f"])
)
@example("https", "a.b", "x/../y", None)
@example("https", "a.b", "%2e%2e/y", None)
@example("http", "a.b", "x?a='b'", "https://o/")
def test_what_is_plain_to_us_is_its_own_serialisation(scheme, host, target, base):
    text = f"{scheme}://{host}/{target}"
    try:
        href = ada_url.join_url(base, text) if base else ada_url.normalize_url(text)
        expected = Url.from_serialised(href)
    except ValueError:
        expected = None
    assert Url.parse(text, base) == expected


def test_most_addresses_are_plain():
    for text in (
        "http://localhost/",
        "https://www.example.org/a/b-c_d.html?x=1&y=%C3%A9",
        "https://a.b/~u/:1",
    ):
        assert _PLAIN.fullmatch(text)


NOT_SPECIAL = {
    "sftp://EX.org": "sftp://ex.org/",
    "SFTP://u:p@Ex.org:22/a b/../c?x#f": "sftp://ex.org/c?x",
    "ftps://h:990/": "ftps://h/",
    "ftps://h:21/x": "ftps://h:21/x",
    "sftp://bücher.de/ü": "sftp://xn--bcher-kva.de/%C3%BC",
    "sftp://[::1]:23?x": "sftp://[::1]:23/?x",
}


@pytest.mark.parametrize("text", NOT_SPECIAL)
def test_schemes_that_the_standard_leaves_alone(text):
    url = Url.parse(text)
    assert url.text == NOT_SPECIAL[text] and Url.parse(url.text) == url == Url.from_serialised(url.text)
    assert Url.parse("../../y%2f z", url.text).target == "/y%2f%20z"


@pytest.mark.parametrize(
    "text", ["sftp:x", "sftp:///x", "sftp://h:99999/", "ftps://a b/", "sftp://h%2f/", "sftp://"]
)
def test_addresses_without_a_place(text):
    assert Url.parse(text) is None


@pytest.mark.parametrize("scheme", ["git", "gopher", "svn+ssh"])
def test_another_scheme_of_any_length_needs_its_port_and_no_more(scheme, monkeypatch):
    assert Url.parse(f"{scheme}://Example.org:70") is None
    monkeypatch.setitem(urls.DEFAULT_PORTS, scheme, 70)
    monkeypatch.setattr(urls, "NOT_SPECIAL", urls.not_special(urls.DEFAULT_PORTS))
    url = Url.parse(f"{scheme}://u@Example.org:70/../a b?c#d")
    assert url == Url(f"{scheme}://example.org/a%20b?c", scheme, "example.org", 70, "/a%20b?c")
    assert Url.parse(f"{scheme}://Example.org").origin == f"{scheme}://example.org"


def test_the_scope_may_have_every_scheme():
    assert msgspec.convert({"schemes": list(urls.DEFAULT_PORTS)}, ScopeConfig).schemes == (
        *urls.DEFAULT_PORTS,
    )
