"""Places: how they are read, which hold, and who wins."""

import random

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from place_reference import minutes, order_of, rule_of
from place_table import QUESTIONS, RULES

from gossamer.model.reasons.reason import WrongValueError
from gossamer.model.url import Url
from gossamer.policy.places.index import PlaceIndex
from gossamer.policy.places.known import Known
from gossamer.policy.places.local import Derived, Local
from gossamer.policy.places.place import Asked, Measure, narrower_by, read_place
from gossamer.policy.places.words import word_of, words_of


def asked_of(url, address="", media_type="", time="15:00"):
    parsed = Url.parse(url)
    return Asked(parsed.host, parsed, address, media_type, minutes(time))


def found(index, asked):
    return [index.places[rank].text for rank in index.matching(asked)]


def test_the_table_has_the_winners_that_were_worked_out_by_hand():
    index = PlaceIndex(map(read_place, RULES))
    rules = [rule_of(text) for text in RULES]
    for url, address, media_type, time, winner in QUESTIONS:
        asked = asked_of(url, address, media_type, time)
        by_index = found(index, asked)
        assert (by_index or [""])[0] == winner, url
        assert by_index == order_of(rules, asked.url.text, address, media_type, minutes(time)), url
    assert {winner for *_, winner in QUESTIONS} >= set(RULES)  # each rule wins somewhere


HOSTS = ["a.org", "b.a.org", "c.b.a.org", "org", "a.net", "192.0.2.1"]
PATHS = ["", "/a", "/a/", "/a/b", "/a/b/c", "/ab", "/a?x=1", "/b/a.pdf"]
WHERE = st.builds(
    lambda scheme, dot, host, port, path: f"{scheme}{'' if host[0] == '1' else dot}{host}{port}{path}",
    st.sampled_from(["", "http://", "https://"]),
    st.sampled_from(["", ".", "*."]),
    st.sampled_from(HOSTS),
    st.sampled_from(["", ":8080", ":443"]),
    st.sampled_from(PATHS),
)
CONDITIONS = (
    st.tuples(
        st.just("") | WHERE,
        st.just("")
        | st.sampled_from([r"\.pdf$", "/a/", "/b", "[?&]x=", "a.*b", "(org|net)/", r"^https:", "/b/?a"]).map(
            "pattern:{}".format
        ),
        st.just("")
        | st.sampled_from(["192.0.2.0/24", "192.0.2.1", "2001:db8::/32", "0.0.0.0/0"]).map(
            "address:{}".format
        ),
        st.just("") | st.sampled_from(["text/html", "text/*", "image/*"]).map("type:{}".format),
        st.just("") | st.sampled_from(["22:00-06:00", "00:00-12:00", "11:00-11:01"]).map("time:{}".format),
    )
    .map(lambda words: " ".join(filter(None, words)))
    .filter(bool)
)


@settings(max_examples=150, deadline=None)
@given(
    st.lists(CONDITIONS, max_size=12, unique_by=lambda text: read_place(text).means),
    st.sampled_from(["http", "https"]),
    st.sampled_from(HOSTS),
    st.sampled_from(["", ":8080"]),
    st.sampled_from(PATHS),
    st.sampled_from(["", "192.0.2.1", "2001:db8::1"]),
    st.sampled_from(["", "text/html", "image/png"]),
    st.sampled_from(["00:00", "05:59", "11:00", "23:00"]),
    st.randoms(),
)
def test_the_index_finds_what_trying_one_by_one_finds(
    texts, scheme, host, port, path, address, media_type, time, chance
):
    asked = asked_of(f"{scheme}://{host}{port}{path}", address, media_type, time)
    expected = order_of([rule_of(text) for text in texts], asked.url.text, address, media_type, minutes(time))
    chance.shuffle(texts)  # the order in which places are written never matters
    assert found(PlaceIndex(map(read_place, texts)), asked) == expected


def test_of_a_host_as_a_whole_only_places_hold_that_ask_for_no_more():
    index = PlaceIndex(map(read_place, [*RULES, "example.org time:00:00-01:00"]))
    assert found(index, Asked("example.org", None, minute=30)) == [
        "example.org time:00:00-01:00",
        "example.org",
        ".example.org",
        ".org",
        "time:22:00-06:00",
    ]
    assert [
        read_place(text).needs
        for text in ("a.org time:00:00-01:00", "a.org/b", "pattern:x", "address:192.0.2.1", "type:a/b")
    ] == [
        Known.HOST,
        Known.URL,
        Known.URL,
        Known.ADDRESS,
        Known.ANSWER,
    ]


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "a b.org",
        "example.org example.net",
        "a.org/#x",
        "a.org:99999",
        "gopher://a.org",
        "*.192.0.2.1",
        ".[::1]",
        "*",
        "user@a.org",
        "pattern:",
        "pattern:(",
        "address:300.0.0.1",
        "type:image",
        "type:*/*",
        "time:22-06",
        "time:10:00-10:00",
        "time:25:00-26:00",
        "time:10:61-11:00",
        "type:a/b type:c/d",
        "x" * 5000,
        "?a",
    ],
)
def test_what_is_no_place_is_refused_with_what_would_be_one(text):
    with pytest.raises(WrongValueError) as caught:
        read_place(text)
    assert "rite " in str(caught.value) or "RE2" in str(caught.value)


def test_the_longest_place_that_is_read():
    assert read_place("a.org/".ljust(4_096, "x")).host == "a.org"
    with pytest.raises(WrongValueError):
        read_place("a.org/".ljust(4_097, "x"))


def test_the_last_port():
    assert read_place("a.org:65535").port == 65_535
    with pytest.raises(WrongValueError):
        read_place("a.org:65536")


def test_two_spellings_of_one_place_mean_the_same():
    for one, other in (
        ("Example.ORG", "example.org/"),
        ("example.org.", "example.org"),
        ("type:IMAGE/PNG", "type:image/png"),
        ("b\u00fccher.example", "xn--bcher-kva.example"),
        ("address:192.0.2.77/24", "address:192.0.2.0/24"),
        ("type:a/b a.org", "a.org  type:a/b"),
    ):
        assert read_place(one).means == read_place(other).means
    assert read_place("example.org").means != read_place(".example.org").means


@pytest.mark.parametrize(
    ("word", "patterns"),
    [
        ("pdf", [r"\.pdf$"]),
        ("calendar", ["/calendar/", r"/calendar/\d{4}/", "^https?://[^/]+/calendar/"]),
        ("abc", ["^abc/", "/\u00e9/abc/"]),
        ("def", ["/[/abc/]/def/"]),
        ("x", [r"/x\.abc{2}/"]),
        (
            "bc",
            [
                "[]/a/]/bc/",
                "[^]/abc/]/bc/",
                r"[a\]]/bc/",
                r"[a\\]/bc/",
                "[[:alpha:]]/bc/",
                "[[:alpha:]/abc/]/bc/",
            ],
        ),
        ("long", ["/ab/long/"]),
        ("bc", ["(abc|d)/bc/", "(a(b)c)/bc/", "/bc/(abc)"]),
        (
            "",
            [
                "calendar/",
                "/a|/bcd/",
                "/(abc)/",
                "/abc/?",
                "/abc?/",
                "/abc+/",
                "/abc*/",
                "(?i)/abc/",
                "/a{b|/c/}",
                "(/abc/)?",
                "\u00e9abc/",  # a URL has it as %C3%A9abc
            ],
        ),
        ("", [r"/\x41/", r"\Q/a/\E", "[[:alpha:]/ab/]+", "."]),
    ],
)
def test_the_word_that_an_expression_needs(word, patterns):
    assert {word_of(pattern) for pattern in patterns} == {word}


PIECES = st.sampled_from(
    [
        "a",
        "b",
        "/",
        ".",
        r"\.",
        "?",
        "*",
        "+",
        "(",
        ")",
        "[ab]",
        "[^/]",
        "|",
        "^",
        "$",
        "{2}",
        r"\d",
        "ab/",
        "-",
    ]
)


@settings(max_examples=300, deadline=None)
@given(st.lists(PIECES, max_size=8).map("".join), st.integers(0, 2**32))
def test_a_needed_word_stands_in_whatever_matches(pattern, seed):
    import re2

    word = word_of(pattern)
    try:
        compiled = re2.compile(pattern)
    except re2.error:
        return
    chance = random.Random(seed)
    for _ in range(20):
        text = "".join(chance.choice("aabb//.-1") for _ in range(chance.randrange(12)))
        if compiled.search(text) is not None and word:
            assert word.encode() in words_of(text)


def test_an_address_in_any_network_is_narrower_than_none_whatever_the_texts():
    index = PlaceIndex(map(read_place, ["a.org", "a.org address:0.0.0.0/0", "a.org address:192.0.2.0/24"]))
    assert [place.text for place in index.places] == [
        "a.org address:192.0.2.0/24",
        "a.org address:0.0.0.0/0",
        "a.org",
    ]


class Section(msgspec.Struct, frozen=True):
    delay: int = 1
    pages: int = 2


def test_the_narrowest_place_that_says_something_of_a_setting_decides():
    given = [
        (read_place(text), said)
        for text, said in ((".a.org", {"delay": 3, "pages": 4}), ("b.a.org", {"delay": 5}))
    ]
    for order in (given, given[::-1]):
        local = Local(Section(), [*order, (read_place("a.net"), {})])
        for _ in range(2):  # made, and remembered
            assert local.at(asked_of("http://b.a.org/")) == Section(5, 4)
            assert local.at(asked_of("http://a.org/")) == Section(3, 4)
            assert local.at(asked_of("http://a.net/")) == Section()
        assert sorted(local.values("delay")) == [1, 3, 5]
        assert {place.text for place in local.places} == {".a.org", "b.a.org"}
    assert not Local(Section(), [(read_place("a.org"), {})]).differs


def test_what_is_made_of_settings_is_made_once_for_all_that_lie_in_the_same_places():
    asked = [asked_of(f"http://{host}/{number}") for number in range(3) for host in ("a.org", "a.net")]
    made = Derived(PlaceIndex([read_place("a.org")]), lambda one: [one.host])
    answers = [made.at(one) for one in asked]
    assert answers == [["a.org"], ["a.net"]] * 3
    assert len({id(answer) for answer in answers}) == 2


def test_what_is_made_of_settings_is_forgotten_when_it_is_too_much(monkeypatch):
    monkeypatch.setattr("gossamer.policy.places.local.MOST_KEPT", 2)
    made = Derived(PlaceIndex(map(read_place, ["a.org", "b.org"])), lambda one: [one.host])
    hosts = ["a.org", "b.org", "a.org", "c.org", "a.org", "c.org"]
    answers = [made.at(asked_of(f"http://{host}/")) for host in hosts]
    assert answers == [[host] for host in hosts]
    assert [answers[one] is answers[other] for one, other in ((0, 2), (0, 4), (3, 5))] == [True, False, True]


@pytest.mark.parametrize(
    ("narrower", "wider", "measure"),
    [
        ("a.b.org", ".b.org/longer", Measure.HOST),
        ("a.org", ".a.org/longer", Measure.REACH),
        ("a.org/long", "https://a.org/l", Measure.PATH),
        ("http://a.org", "a.org:8080 pattern:xyz", Measure.ORIGIN),
        ("a.org pattern:xy", "a.org pattern:x address:192.0.2.1", Measure.PATTERN),
        ("a.org address:0.0.0.0/0", "a.org type:text/html", Measure.ADDRESS),
        ("a.org type:text/html", "a.org type:text/* time:00:00-00:01", Measure.TYPE),
        ("a.org time:00:00-01:00", "a.org", Measure.TIME),
        ("a.org time:00:00-01:00", "a.org time:01:00-02:00", Measure.SPELLING),
        ("a.org", "b.org", Measure.SPELLING),
    ],
)
def test_the_first_measure_that_differs_says_who_is_narrower(narrower, wider, measure):
    one, other = read_place(narrower), read_place(wider)
    assert one.width < other.width
    assert narrower_by(one, other) is narrower_by(other, one) is measure
