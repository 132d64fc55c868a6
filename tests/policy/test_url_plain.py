"""Plain absolute addresses are parsed without the parser, and come out the same."""

import ada_url
from hypothesis import example, given
from hypothesis import strategies as st

from gossamer.model.url import _PLAIN, Url

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
