"""Forms that search: which do, and what a browser would send of them."""

from urllib.parse import parse_qsl

import pytest
from every import every
from hypothesis import given
from hypothesis import strategies as st

from gossamer.extract.html.forms import MOST_CONTROLS, MOST_FORMS
from gossamer.extract.html.search_forms import (
    LONGEST_ADDRESS,
    MOST_FIELDS,
    SearchFormExtractor,
)
from gossamer.extract.questions import answers, repeats
from gossamer.model.document import Document
from gossamer.model.exchange import Headers
from gossamer.model.link import Link, LinkKind
from gossamer.model.url import Url
from gossamer.policy.speculation.form import form_within, is_form, is_question
from gossamer.policy.speculation.forms_config import FormsConfig

PAGE = Url.parse("http://site.example/dir/page?x=1")
Q = "<input name=q>"


def links(html: str | bytes, charset: str = "utf-8", **settings: object) -> tuple[Link, ...]:
    content = html.encode(charset) if isinstance(html, str) else html
    config = FormsConfig(**{"words": ("zebra",)} | settings)
    document = Document(PAGE, "text/html", charset, Headers(()), content)
    return SearchFormExtractor(lambda _: config).extract(document).links


def asked(html: str, word: str = "zebra", charset: str = "utf-8", **settings: object) -> list[str]:
    """Where a word is asked, without the site, of each form."""
    found = links(html, charset, **settings)
    return [
        url.text.removeprefix("http://site.example")
        for link in found
        for _, url in answers(link.url, link.element, [word])
    ]


@every(
    "case",
    [
        # Where to: the query of the action gives way, an empty action is the page, else the base counts.
        (f"<form action=/s>{Q}", "/s?q=zebra"),
        (f"<form action='/s?old=1#f'>{Q}", "/s?q=zebra"),
        (f"<form>{Q}", "/dir/page?q=zebra"),
        (f"<base href=/b/><form>{Q}", "/dir/page?q=zebra"),
        (f"<base href=/b/><form action=s>{Q}", "/b/s?q=zebra"),
        (f"<form method=GET action=?>{Q}", "/dir/page?q=zebra"),
        (f"<form method=nonsense action=/s>{Q}", "/s?q=zebra"),
        (f"<form action=//other.example/s>{Q}", "http://other.example/s?q=zebra"),
        # What stays as it is, in order.
        (
            f"<form action=/s><input type=hidden name=a value='1 &amp; 2'>{Q}<input name=b type=submit value=Go>",
            "/s?a=1+%26+2&q=zebra&b=Go",
        ),
        (
            f"<form action=/s>{Q}<select name=s><option value=1>x<option selected value=2>y</select>",
            "/s?q=zebra&s=2",
        ),
        (f"<form action=/s>{Q}<select name=s multiple><option value=1>x</select>", "/s?q=zebra"),
        (
            f"<form action=/s>{Q}<select name=s><option disabled selected value=>x<option value=2>y</select>",
            "/s?q=zebra",
        ),
        (
            f"<form action=/s>{Q}<input type=checkbox name=c checked><input type=checkbox name=d>",
            "/s?q=zebra&c=on",
        ),
        (
            f"<form action=/s>{Q}<button name=a value=1>x</button><button name=b value=2>y</button>",
            "/s?q=zebra&a=1",
        ),
        (
            f"<form action=/s>{Q}<input type=number name=n value=5><input type=date name=d>",
            "/s?q=zebra&n=5&d=",
        ),
        (f"<form action=/s>{Q}<input type=hidden name=h value='a\nb'>", "/s?q=zebra&h=a%0D%0Ab"),
        (f'<form action=/s>{Q}<input type=hidden name=h value="~*-._\'">', "/s?q=zebra&h=%7E*-._%27"),
        ("<form action=/s><input name=q dirname=q.dir>", "/s?q=zebra&q.dir=ltr"),
        ("<form action=/s><input name=q dirname=q.dir dir=RTL value=old>", "/s?q=zebra&q.dir=rtl"),
        (f"<form action=/s>{Q}<input type=hidden name=_charset_ value=x>", "/s?q=zebra&_charset_=utf-8"),
        (f"<form action=/s>{Q}<input type=radio name=_charset_ value=x checked>", "/s?q=zebra&_charset_=x"),
        ("<form id=f action=/s></form><input name=q form=f>", "/s?q=zebra"),
        (f"<form action=/s>{Q}<form action=/t></form>", "/s?q=zebra"),
        ("<form action=/s><input type=whatever name=q>", "/s?q=zebra"),
        ("<form action=/s><input type=SEARCH name='a b&amp;c'>", "/s?a+b%26c=zebra"),
        (f"<form action=/s>{Q}<input type=text>", "/s?q=zebra"),  # without a name it is not sent
        (f"<form action=/blog-contacts-and-edits/>{Q}", "/blog-contacts-and-edits/?q=zebra"),
        (f"<form action=/s>{Q}<input type=hidden name=csrf_token value=x>", "/s?q=zebra&csrf_token=x"),
    ],
)
def test_what_is_sent_of_a_form(case: tuple[str, str]) -> None:
    html, expected = case
    assert asked(html) == [expected]


@every(
    "html",
    [
        f"<form method=post action=/s>{Q}",
        f"<form method=dialog>{Q}",
        f"<form action=javascript:go()>{Q}",
        f"<form action='data:text/html,x'>{Q}",
        f"<form action=mailto:me@site.example>{Q}",
        f"<form action=ftp://site.example/>{Q}",
        f"<form action=http://[>{Q}",
        "<form action=/s>",
        "<form action=/s><input type=hidden name=q>",
        f"<form action=/s>{Q}<input name=r>",
        f"<form action=/s>{Q}{Q}",
        f"<form action=/s>{Q}<input type=hidden name=q>",
        f"<form action=/s>{Q}<input type=password name=p>",
        f"<form action=/s>{Q}<input type=email name=e>",
        f"<form action=/s>{Q}<textarea name=t></textarea>",
        f"<form action=/s>{Q}<button formaction=/t>x</button>",
        f"<form action=/s>{Q}<input type=submit formmethod=post>",
        f"<form action=/log-in>{Q}",
        f"<form action=/user/logout>{Q}",
        f"<form action=/s id=newsletter_form>{Q}",
        f"<form action=/s name=checkout>{Q}",
        f"<form action=/item/delete>{Q}",
        f"<form action=/s>{Q}<input type=submit value='Add to cart'>",
        f"<form action=/kontakt>{Q}",
        "<form action=/s><input name=email>",
        "<form action=/list><input name=page>",
    ],
)
def test_forms_that_are_not_for_searching(html: str) -> None:
    assert asked(html) == []


def test_where_fields_are_named_the_others_stay_as_they_are() -> None:
    html = f"<form action=/s>{Q}<input name=near value=Rome></form><form action=/t><input name=r></form>"
    assert asked(html) == ["/t?r=zebra"]
    assert asked(html, fields=("q", "s")) == ["/s?q=zebra&near=Rome"]
    assert asked(html, fields=("q", "near")) == []
    assert asked(html, words=()) == []


@every(
    "case",
    [
        ("utf-8", "", "Größe 象", "Gr%C3%B6%C3%9Fe+%E8%B1%A1"),
        ("windows-1252", "", "Größe", "Gr%F6%DFe"),
        ("windows-1251", "", "жук", "%E6%F3%EA"),
        ("windows-1251", "accept-charset=utf-8", "жук", "%D0%B6%D1%83%D0%BA"),
        ("utf-8", "accept-charset='nonsense,latin1'", "ü", "%C3%BC"),
        ("utf-8", "accept-charset='nonsense  Latin1 utf-8'", "ü", "%FC"),
        ("windows-1252", "accept-charset=nonsense", "ü", "%C3%BC"),
        ("shift_jis", "", "犬", "%8C%A2"),
        ("gbk", "", "犬", "%C8%AE"),
        ("utf-16le", "", "ü", "%C3%BC"),
        ("utf-16le", "accept-charset=utf-16le", "ü", "%C3%BC"),
    ],
)
def test_in_which_encoding_a_word_is_asked(case: tuple[str, str, str, str]) -> None:
    charset, said, word, expected = case
    assert asked(f"<form action=/s {said}>{Q}", word, charset) == [f"/s?q={expected}"]


def test_what_an_encoding_cannot_say_is_not_asked_but_sent_by_reference_with_the_rest() -> None:
    html = f"<form action=/s>{Q}<input type=hidden name=h value='&#1078;'>"
    assert asked(html, "ж", "windows-1252") == []
    assert asked(html, "a", "windows-1252") == ["/s?q=a&h=%26%231078%3B"]


@pytest.mark.parametrize(
    "html",
    [
        f"<form action=/s>{Q}" + "<input type=hidden name=h>" * MOST_FIELDS,
        f"<form action=/s>{Q}" + "<input type=hidden name=h>" * 5_000,
        f"<form action=/s>{Q}<input type=hidden name=h value={'x' * (1 << 20)}>",
        f"<form action=/s>{Q}<input type=hidden name=h value={'ü' * (LONGEST_ADDRESS // 6)}>",
        f"<form action=/{'x' * (1 << 20)}>{Q}",
        f"<base href=/{'x' * (1 << 20)}><form action=javascript:x>{Q}",
        "<form>" * 20_000,
        "<form action=/s><input name=" + "q" * (1 << 20),
    ],
)
def test_what_is_too_large_is_left_alone(html: str) -> None:
    assert links(html) == ()


def test_of_a_page_with_very_many_forms_the_first_are_known() -> None:
    html = f"<form action=/s>{Q}</form>" + "<form method=post></form>" * MOST_FORMS
    assert asked(html) == ["/s?q=zebra"]


def test_of_a_form_that_was_not_read_to_its_end_nothing_is_known() -> None:
    before = "<form method=post>" + "<input type=hidden name=h>" * MOST_CONTROLS + "</form>"
    assert asked(f"<form action=/s>{Q}</form>{before}<form action=/t>{Q}<input type=password name=p>") == [
        "/s?q=zebra"
    ]


def test_a_form_is_one_link_however_often_it_stands_there() -> None:
    (link,) = links(f"<form action=/s>{Q}</form>" * 3, words=("a", "b", "c"))
    assert (link.kind, link.url.text) == (LinkKind.SPECULATIVE, "http://site.example/s?q=")
    assert form_within(link.element) == ("utf-8", "q")
    assert is_form(link.element) and not is_question(link.element)
    assert [word for word, _ in answers(link.url, link.element, ["a", "b"])] == ["a", "b"]
    assert not list(answers(Url.parse("http://site.example/s?r="), link.element, ["a"])), "the field got lost"


def test_a_form_that_robots_are_not_to_follow_says_so() -> None:
    (link,) = links(f"<form action=/s rel='search nofollow'>{Q}")
    assert link.nofollow


@given(
    st.text(min_size=1, max_size=30), st.sampled_from(["utf-8", "windows-1252", "shift_jis", "gbk", "euc-kr"])
)
def test_a_server_reads_what_was_asked(word: str, charset: str) -> None:
    """Python's decoder stands for the server; of a lone surrogate nothing can be asked."""
    codec = {"windows-1252": "cp1252", "shift_jis": "cp932", "euc-kr": "cp949"}.get(charset, charset)
    for url in asked(f"<form action=/s>{Q}<input type=hidden name=h value='a=b'>", word, charset):
        sent = "\r\n".join(word.replace("\r\n", "\n").replace("\r", "\n").split("\n"))
        pairs = parse_qsl(url.partition("?")[2], keep_blank_values=True, encoding=codec)
        assert pairs == [("q", sent), ("h", "a=b")]


@every(
    "case",
    [
        ("/s?q=Zebra&p=2", True),
        ("/s?p=2&q=zebra", True),
        ("/log?next=/s%3Fq%3Dzebra", True),
        ("/s?q=zebras", False),
        ("/zebra", False),
        ("/d?id=7", False),
        ("/d", False),
    ],
)
def test_which_links_are_more_of_the_same_answer(case: tuple[str, bool]) -> None:
    target, more = case
    url = Url.parse(f"http://site.example{target}")
    assert repeats(url, Url.parse("http://site.example/s?q=zebra&l="), "zebra") is more


def test_more_of_the_same_answer_in_an_older_encoding() -> None:
    answer = Url.parse("http://site.example/s?q=%E6%F3%EA&l=en")
    assert repeats(Url.parse("http://site.example/s?q=%E6%F3%EA&p=2"), answer, "жук")
    assert not repeats(Url.parse("http://site.example/d?l=en"), answer, "жук")
    assert not repeats(Url.parse("http://site.example/d?q=%E6%F3"), answer, "жук")
