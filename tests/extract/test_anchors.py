import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.extract.config import ExtractConfig
from gossamer.extract.focus import FocusExtractor
from gossamer.extract.html.anchors import LONGEST_TEXT
from gossamer.extract.reader import Reader
from gossamer.extract.registry import builtin_extractors
from gossamer.model.exchange import Exchange, Headers
from gossamer.model.page import Page
from gossamer.model.url import Url
from gossamer.policy.ordering.words import Query

HERE = Url.parse("http://a.test/d/p.html")
assert HERE is not None


def read(markup: bytes, kind: str = "text/html; charset=utf-8", *, texts: bool = True) -> Page:
    config = ExtractConfig(anchor_text=texts)
    reader = Reader(config, "x", [*builtin_extractors(config), FocusExtractor(Query("crawler web"))])
    exchange = Exchange(HERE, 0.0, b"", 200, b"", Headers([("Content-Type", kind)]), None)  # type: ignore[arg-type]
    return reader.read(exchange, markup)


def texts(markup: str) -> dict[str, str]:
    return {link.url.text.removeprefix("http://a.test/d/"): link.text for link in read(markup.encode()).links}


@pytest.mark.parametrize(
    ("markup", "expected"),
    [
        ('<a href="b">Text</a>', {"b": "Text"}),
        ('<a href="b">\n Two <b>Wor</b>ds<br>more </a>', {"b": "Two Words more"}),
        ('<a href="b">&lt;caf&eacute;&#33;&gt;</a>', {"b": "<caf\u00e9!>"}),
        ("<A class=x HREF='b' title='a>b'>Text</A>", {"b": "Text"}),
        ('<a href="b"><img src=i alt="A &amp;amp; B"></a>', {"b": "A &amp; B", "i": ""}),
        ('<map><area href="b" alt=" The  map "></map>', {"b": "The map"}),
        ('<a href="b">one<a href="c">two', {"b": "one", "c": "two"}),
        ('<a href="b">one</a> <a href="b">two</a> <a href="b">one</a>', {"b": "one two"}),
        ('<a href="b"><br></a> <a href="b">late</a>', {"b": "late"}),
        ('<a href="b">x<script>"<a href=c>no</a>"</script>y</a>', {"b": "x y"}),
        ('<a href="b">x<!-- <a href="c">no</a> -->y</a>', {"b": "xy"}),
        ('<!-- <a href="b">no</a> --><a href="b">yes</a>', {"b": "yes"}),
        ('<a name=top>no</a><a href="b">yes</a>', {"b": "yes"}),
        ('<base href="/d/e/"><a href="b">yes</a>', {"e/b": "yes"}),
        ('<a href="b">' + "ab " * 200 + "</a>", {"b": ("ab " * 67)[:LONGEST_TEXT].rstrip()}),
        ('<link rel=next href="b"><a href="c">see</a>', {"b": "", "c": "see"}),
    ],
)
def test_links_carry_their_text(markup: str, expected: dict[str, str]) -> None:
    assert texts(markup) == expected


def test_text_is_kept_only_if_asked_for() -> None:
    assert [link.text for link in read(b'<a href="b">Text</a>', texts=False).links] == [""]


@pytest.mark.parametrize("charset", ["utf-16le", "shift_jis", "windows-1251"])
def test_text_is_decoded(charset: str) -> None:
    word = "\u0430\u0431"
    page = read(f'<a href="b">{word}</a>'.encode(charset), f"text/html; charset={charset}")
    assert [link.text for link in page.links] == [word]


PIECES = (
    *(
        b"<a href=x>",
        b'<a href="y">',
        b"</a>",
        b"<area alt=q href=z>",
        b"<img alt='",
        b"<b>",
        b"a b",
        b"&amp;",
    ),
    *(b"<!--", b"-->", b"<", b"<script>", b"</script>", b"'>", b'"', b"\xff"),
)


@given(st.lists(st.sampled_from(PIECES)))
def test_any_markup_gives_the_same_links_with_texts_of_bounded_length(pieces: list[bytes]) -> None:
    markup = b"".join(pieces)
    page, plain = read(markup), read(markup, texts=False)
    assert not page.problems
    assert [(link.url, link.kind) for link in page.links] == [(link.url, link.kind) for link in plain.links]
    assert all(len(link.text) <= LONGEST_TEXT for link in page.links)


# The words of a query in the visible text


@pytest.mark.parametrize(
    ("markup", "kind", "words"),
    [
        ("<title>web</title><p>A web <b>crawler</b>, crawlers.", "text/html", [4, 2, 1]),
        ("<script>web</script><p class=web>x<!-- web > web -->y", "text/html", [2, 0, 0]),
        ("<p>cr&#97;wler", "application/xhtml+xml", [1, 1, 0]),
        ("<web crawler", "text/plain", [2, 1, 1]),
    ],
)
def test_words_of_the_query_are_counted_in_what_is_shown(markup: str, kind: str, words: list[int]) -> None:
    assert read(markup.encode(), f"{kind}; charset=utf-8").fields["focus"] == words


def test_other_documents_are_not_read_for_words() -> None:
    assert "focus" not in read(b"a{b:url(web)}", "text/css").fields
