"""The canonical form: each rule by itself, all together, and that it settles."""

from typing import get_args

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.model.url import Url
from gossamer.policy.urls.canonical import CanonicalConfig, Canonicaliser, OptionalName, SafeName
from gossamer.policy.urls.canonical_rules import OPTIONAL_RULES, SAFE_RULES

SAFE = Canonicaliser(CanonicalConfig())
ALL = Canonicaliser(CanonicalConfig(also=get_args(OptionalName), drop_parameters=("from", "ref_*")))


def url(text: str) -> Url:
    parsed = Url.parse(text)
    assert parsed is not None
    return parsed


def only(name: str) -> Canonicaliser:
    return Canonicaliser(msgspec.convert({"also": [name]}, CanonicalConfig))


def test_the_names_for_configuration_are_those_of_the_rules() -> None:
    assert get_args(SafeName) == tuple(rule.name for rule in SAFE_RULES)
    assert get_args(OptionalName) == tuple(rule.name for rule in OPTIONAL_RULES)


@pytest.mark.parametrize(
    ("found", "canonical"),
    [
        ("http://e.org/%7euser/%41%2d", "http://e.org/~user/A-"),
        ("http://e.org/%c3%a9?q=%e2%82%ac", "http://e.org/%C3%A9?q=%E2%82%AC"),
        ("http://e.org/a%2fb", "http://e.org/a%2Fb"),
        ("http://e.org/?a[]=1|2", "http://e.org/?a%5B%5D=1%7C2"),
        ("http://e.org/a?", "http://e.org/a"),
        ("http://e.org?", "http://e.org/"),
        ("http://e.org./a", "http://e.org/a"),
        ("http://e.org.:8080/a?", "http://e.org:8080/a"),
        ("http://E.org:80/../a#b", "http://e.org/a"),
        # What must stay
        ("http://e.org/a/", "http://e.org/a/"),
        ("http://e.org/a??", "http://e.org/a??"),
        ("http://e.org/?a=?", "http://e.org/?a=?"),
        ("http://e.org/a//b", "http://e.org/a//b"),
        ("http://e.org/A", "http://e.org/A"),
        ("http://e.org/?b&a", "http://e.org/?b&a"),
        ("http://e.org/%%34%31", "http://e.org/%%34%31"),
        ("http://e.org/100%", "http://e.org/100%"),
        ("http://e.org/a%2525", "http://e.org/a%2525"),
        ("http://e.org/a'b", "http://e.org/a'b"),
        ("http://[::1]:8080/a", "http://[::1]:8080/a"),
        ("http://./a", "http://./a"),
        ("file:///a/%7eb", "file:///a/~b"),
        ("http://www.e.org/index.html?utm_source=x", "http://www.e.org/index.html?utm_source=x"),
    ],
)
def test_safe_rules(found: str, canonical: str) -> None:
    assert SAFE(url(found)) == canonical


@pytest.mark.parametrize(
    ("name", "found", "canonical"),
    [
        ("http-as-https", "http://e.org/a", "https://e.org/a"),
        ("http-as-https", "http://e.org:8080/a", "http://e.org:8080/a"),
        ("strip-www", "http://www.e.org/a", "http://e.org/a"),
        ("strip-www", "http://www.org/a", "http://www.org/a"),
        ("strip-www", "http://wwwe.org/a", "http://wwwe.org/a"),
        ("session-in-path", "http://e.org/a;jsessionid=0123456789ABCDEF.n1?x=1", "http://e.org/a?x=1"),
        ("session-in-path", "http://e.org/a;JSESSIONID=0123456789abcdef/b", "http://e.org/a/b"),
        ("session-in-path", "http://e.org/a;jsessionid=short", "http://e.org/a;jsessionid=short"),
        ("session-in-path", "http://e.org/a;v=0123456789abcdef0", "http://e.org/a;v=0123456789abcdef0"),
        ("session-in-path", "http://e.org/(S(lit3py55t21z5v55vlm25s55))/a.aspx", "http://e.org/a.aspx"),
        ("session-in-path", "http://e.org/(lit3py55t21z5v55vlm25s55)/a.aspx", "http://e.org/a.aspx"),
        ("session-in-path", "http://e.org/a/b/..;jsessionid=0123456789abcdef", "http://e.org/a/"),
        ("session-in-path", "http://e.org/(disambiguation)/a", "http://e.org/(disambiguation)/a"),
        ("session-in-query", "http://e.org/?PHPSESSID=0123456789abcdef0123456789abcdef", "http://e.org/"),
        (
            "session-in-query",
            "http://e.org/?a=1&sid=0123456789abcdef0123456789abcdef&b=2",
            "http://e.org/?a=1&b=2",
        ),
        ("session-in-query", "http://e.org/?s=0123456789abcdef0123456789abcdef&t=2", "http://e.org/?t=2"),
        ("session-in-query", "http://e.org/?s=0123456789abcdef", "http://e.org/?s=0123456789abcdef"),
        ("session-in-query", f"http://e.org/?s={'search' * 5}ed", f"http://e.org/?s={'search' * 5}ed"),
        ("session-in-query", "http://e.org/?sid=42", "http://e.org/?sid=42"),
        ("session-in-query", "http://e.org/?sid=", "http://e.org/?sid="),
        ("session-in-query", "http://e.org/?ASPSESSIONIDABCDEFGH=ABCDEFGHIJKLMNOPQRSTUVWX", "http://e.org/"),
        ("tracking", "http://e.org/?utm_source=a&id=1&UTM_Medium=b&gclid=x&fbclid", "http://e.org/?id=1"),
        ("tracking", "http://e.org/?my_utm_source=a", "http://e.org/?my_utm_source=a"),
        ("sort-query", "http://e.org/?b=2&a=2&a=1", "http://e.org/?a=2&a=1&b=2"),
        ("index-file", "http://e.org/a/index.html?x", "http://e.org/a/?x"),
        ("index-file", "http://e.org/Default.aspx", "http://e.org/"),
        ("index-file", "http://e.org/a/myindex.html", "http://e.org/a/myindex.html"),
        ("index-file", "http://e.org/a/index.html/b", "http://e.org/a/index.html/b"),
        ("trailing-slash", "http://e.org/a/?x", "http://e.org/a?x"),
        ("trailing-slash", "http://e.org/", "http://e.org/"),
        ("trailing-slash", "http://e.org//", "http://e.org/"),
    ],
)
def test_optional_rules(name: str, found: str, canonical: str) -> None:
    assert only(name)(url(found)) == canonical


def test_parameters_are_dropped_by_name_and_prefix() -> None:
    chosen = Canonicaliser(CanonicalConfig(drop_parameters=("from", "ref_*")))
    assert chosen(url("http://e.org/?from=a&ref_b=1&From=x&fromage=y")) == "http://e.org/?From=x&fromage=y"


def test_a_safe_rule_can_be_left_out() -> None:
    chosen = Canonicaliser(CanonicalConfig(without=("empty-query",)))
    assert chosen(url("http://e.org/%7e?")) == "http://e.org/~?"


def test_nothing_to_change_gives_the_text_itself() -> None:
    found = url("http://e.org/a?b=1")
    assert SAFE(found) is found.text
    assert SAFE.explain(found) == []


def test_explain_names_the_rules_that_changed_something() -> None:
    assert only("strip-www").explain(url("http://www.e.org/%7e?")) == [
        ("unreserved", "http://www.e.org/%7e?", "http://www.e.org/~?"),
        ("empty-query", "http://www.e.org/~?", "http://www.e.org/~"),
        ("strip-www", "http://www.e.org/~", "http://e.org/~"),
    ]


def test_rules_that_uncover_each_others_work_settle() -> None:
    assert ALL(url("http://e.org/a/index.html/index.php//")) == "https://e.org/a"
    endless = url("http://e.org" + "/index.html" * 50 + "/?utm_source=x")
    assert ALL(endless) == "http://e.org" + "/index.html" * 50 + "/?utm_source=x"


def test_unknown_rules_are_refused() -> None:
    for bad in ({"also": ["unreserved"]}, {"without": ["strip-www"]}, {"drop_parameters": [""]}):
        with pytest.raises(msgspec.ValidationError):
            msgspec.convert(bad, CanonicalConfig)


_PIECES = [
    *"abZ019/?&=;.%()|[]{}^'\"<>`~+$!*,@:",
    "%7e", "%7E", "%2f", "%2F", "%c3%A9", "%25", "%34%31", "%3f", "/index.html", "/default.aspx", "utm_a=1",
    "sid=0123456789abcdef0123456789abcdef", ";jsessionid=0123456789abcdef", "/(S(lit3py55t21z5v55vlm25s55))",
    "ref_x", "from=2", "//", "é",
]  # fmt: skip
_urls = st.builds(
    lambda scheme, host, port, pieces: Url.parse(f"{scheme}://{host}{port}/{''.join(pieces)}"),
    st.sampled_from(["http", "https", "ftp"]),
    st.sampled_from(
        ["e.org", "www.e.org", "www.www.e.org.", "e.org..", "1.2.3.4", "[::1]", "localhost", "www.com"]
    ),
    st.sampled_from(["", ":80", ":443", ":8080"]),
    st.lists(st.sampled_from(_PIECES), max_size=12),
).filter(lambda parsed: parsed is not None)


@pytest.mark.parametrize("canonicaliser", [SAFE, ALL], ids=["safe", "all"])
@given(found=_urls)
def test_canonical_form_of_a_canonical_form_is_itself(canonicaliser: Canonicaliser, found: Url) -> None:
    text = canonicaliser(found)
    again = Url.parse(text)
    assert again is not None
    assert again.text == text
    assert canonicaliser(again) == text


@given(_urls)
def test_explain_leads_from_the_url_to_its_canonical_form(found: Url) -> None:
    text = found.text
    for _, before, after in ALL.explain(found):
        assert before == text != after
        text = after
    assert text == ALL(found)


@pytest.mark.parametrize("config", [{"also": [rule.name]} for rule in OPTIONAL_RULES])
@given(found=_urls)
def test_every_step_is_a_url_split_rightly(config: dict[str, object], found: Url) -> None:
    canonicaliser = Canonicaliser(msgspec.convert(config, CanonicalConfig))
    for rule in canonicaliser.rules:
        after = rule.apply(found)
        assert after == Url.parse(after.text)
        assert (after is found) or after.text != found.text


@pytest.mark.parametrize(
    ("name", "shortest", "longest"),
    [
        ("PHPSESSID", 22, 256),
        ("jsessionid", 16, 128),
        ("sessionid", 16, 128),
        ("session_id", 16, 128),
        ("sessid", 16, 128),
        ("sid", 22, 128),
        ("zenid", 22, 128),
        ("osCsid", 22, 128),
        ("CFTOKEN", 8, 128),
        ("ASPSESSIONIDABCDEFGH", 24, 24),
    ],
)
def test_a_session_has_the_length_that_its_software_gives_it(name: str, shortest: int, longest: int) -> None:
    for length in (shortest - 1, shortest, longest, longest + 1):
        found = url(f"http://e.org/?{name}={'a' * length}")
        dropped = only("session-in-query")(found) == "http://e.org/"
        assert dropped is (shortest <= length <= longest), length
