"""Other addresses for pages and style sheets, and every other byte as it was."""

import re
from collections.abc import Iterable

import pytest
from examples import examples
from hypothesis import given, settings
from hypothesis import strategies as st

from gossamer.extract.config import ExtractConfig
from gossamer.extract.html.document import HtmlExtractor
from gossamer.extract.links import LinkMaker, Mention, Source
from gossamer.extract.rewriting.css import relinked_sheet
from gossamer.extract.rewriting.edits import Edit, Relinked, edited
from gossamer.extract.rewriting.html import html_edits, relinked_html
from gossamer.model.document import Document
from gossamer.model.exchange import Headers
from gossamer.model.url import Url

NEW = "n"


class ToOne:
    """Every address becomes the same, and is remembered."""

    def __init__(self, new: str = NEW, *, beside: bool = True) -> None:
        self.asked: list[Source] = []
        self.bases: list[str] = []
        self._new = Relinked(new, beside)

    def on_base(self, address: str) -> str:
        self.bases.append(address)
        return "B"

    def on_link(self, source: Source) -> Relinked | None:
        address = source.address if isinstance(source, Mention) else source.decode("latin-1")
        self.asked.append(source)
        return None if address.lstrip().startswith(("data:", "javascript:")) else self._new


def changed(markup: str, new: str = NEW, *, beside: bool = False, xml: bool = False) -> str:
    return relinked_html(markup.encode(), "utf-8", ToOne(new, beside=beside), xml=xml).decode("utf-8-sig")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('<a href="x">', '<a href="n">'),
        ('<a href="x#f">', '<a href="n#f">'),
        ("<A CLASS=c HREF='x y'>", "<A CLASS=c HREF='n'>"),
        ("<a href=x>", '<a href="n">'),
        ("<a href=x/>", '<a href="n">'),
        ('<a title="<a href=x>" href="x">', '<a title="<a href=x>" href="n">'),
        ('<a href="x" href="y">', '<a href="n" href="y">'),
        ('<a data-href="x">', '<a data-href="x">'),
        ("<!-- <a href=x> -->", "<!-- <a href=x> -->"),
        ('<script>"<a href=x>"</script>', '<script>"<a href=x>"</script>'),
        ('<textarea><img src="x"></textarea>', '<textarea><img src="x"></textarea>'),
        ('<img src="x" srcset="a,b 1x, c 2x,d" alt="x">', '<img src="n" srcset="n 1x, n 2x,n" alt="x">'),
        ('<img src="data:image/gif;base64,x">', '<img src="data:image/gif;base64,x">'),
        ('<img data-src="a.png" data-srcset="b.png 1x">', '<img data-src="n" data-srcset="n 1x">'),
        ('<link rel="icon" href="x">', '<link rel="icon" href="n">'),
        ('<link rel="preconnect" href="//x">', '<link rel="preconnect" href="">'),
        ('<link rel=preload imagesrcset="x 1x">', '<link rel=preload imagesrcset="n 1x">'),
        ('<meta http-equiv="refresh" content="3; URL=\'x\'">', '<meta http-equiv="refresh" content="3; URL=\'n\'">'),
        ('<meta http-equiv=refresh content=3>', "<meta http-equiv=refresh content=3>"),
        ('<meta property="og:url" content="x">', '<meta property="og:url" content="x">'),
        ("<meta http-equiv=Content-security-policy content=x>", '<meta http-equiv=Content-security-policy content="">'),
        ('<p style="background:url(x)">', '<p style="background:url(n)">'),
        ("<p style='a:url(\"x\") /* url(y) */'>", "<p style='a:url(\"n\") /* url(y) */'>"),
        ('<p style="a:url(&quot;x&quot;)">', '<p style="a:url(&quot;n&quot;)">'),
        ("<style>@import 'x';a{b:url(y)}</style>", "<style>@import 'n';a{b:url(n)}</style>"),
        ("<style >a{b:url(y)}</style><style>a{b:url(y)}", "<style >a{b:url(n)}</style><style>a{b:url(n)}"),
        ('<svg><image xlink:href="x"/><use href="#s"/></svg>', '<svg><image xlink:href="n"/><use href="n"/></svg>'),
        ("<svg><style>a{b:url(y)}</style></svg>", "<svg><style>a{b:url(n)}</style></svg>"),
        ('<form action="x"><input type=image src=y></form>', '<form action="n"><input type=image src="n"></form>'),
        ('<iframe src="x"></iframe>', '<iframe src="n"></iframe>'),
        ('<iframe srcdoc="<a href=&quot;x&quot;>">', '<iframe srcdoc="&lt;a href=&quot;n&quot;>">'),
        ('<object data="x"><embed src="y">', '<object data="n"><embed src="n">'),
        ('<video poster=x src="y"><track src="z">', '<video poster="n" src="n"><track src="n">'),
        ('<body background="x"><td background=y>', '<body background="n"><td background="n">'),
        ('<base href="/d/"><a href="x">', '<base href="B"><a href="n">'),
        ('<base target=_top><base href="/d/"><base href="/e/">', '<base target=_top><base href="B"><base href="">'),
        ('<template><base href="/d/"></template><a href="x">', '<template><base href=""></template><a href="n">'),
        ('<a href="x', '<a href="x'),
    ],
)  # fmt: skip
def test_what_leads_somewhere_changes(before: str, after: str) -> None:
    assert changed(before) == after


def test_what_proves_a_file_to_a_server_goes_where_the_file_lies_beside() -> None:
    markup = (
        '<script src="x" integrity="sha256-y" crossorigin defer></script><img crossorigin=anonymous src=y>'
    )
    assert changed(markup, beside=True) == '<script src="n" defer></script><img src="n">'
    assert changed(markup, "https://n/", beside=False) == markup.replace('"x"', '"https://n/"').replace(
        "=y>", '="https://n/">'
    )


@pytest.mark.parametrize("quote", ['"', "'", ""])
def test_an_address_is_written_as_its_place_asks(quote: str) -> None:
    new = "http://h/?a=1&copy=(2)'3"
    for markup in (f"<a class=x href={quote}y{quote}>", f"<p style={quote}a:url(y){quote}>"):
        found = ToOne()
        relinked_html(changed(markup, new).encode(), "utf-8", found)
        said = found.asked[0]
        assert isinstance(said, Mention)
        assert said.address == new
    said = found.asked[0]
    assert '"' not in changed(f"<a href={quote or chr(34)}y{quote or chr(34)}>", new).strip('<a href=">')


def test_the_encoding_is_said_where_only_the_server_did() -> None:
    def marked(text: str, charset: str, codec: str = "") -> bytes:
        return relinked_html(text.encode(codec or charset), charset, ToOne())

    assert marked("<p>\xe9", "utf-8").startswith(b"\xef\xbb\xbf<p>")
    assert marked('<meta charset="utf-8"><p>\xe9', "utf-8").startswith(b"<meta")
    assert marked("<p>e", "utf-8") == b"<p>e"
    page = "<!DOCTYPE html><html lang=ja><body>\u65e5"
    assert marked(page, "shift_jis").startswith(
        b'<!DOCTYPE html><html lang=ja><meta charset="shift_jis"><body>'
    )
    assert marked("<!DOCTYPE html><p>\u65e5", "shift_jis").startswith(
        b'<!DOCTYPE html><meta charset="shift_jis"><p>'
    )
    assert marked('<meta charset="utf-8"><p>\xe9', "windows-1252", "cp1252").startswith(
        b'<meta charset="windows-1252">'
    )
    wide = marked("<a href='x'>\u65e5", "utf-16le").decode("utf-16le")
    assert "<a href='n'>\u65e5" in wide


def test_a_style_sheet_in_another_encoding_keeps_its_bytes() -> None:
    sheet = b"@charset 'x';a{content:'\xe9\xff';b:url(\xe9.png) url( 'q' )}/* url(z) */"
    found = ToOne()
    assert relinked_sheet(sheet, "cp1252", found) == sheet.replace(b"\xe9.png", b"n").replace(b"'q'", b"'n'")
    assert [source.address for source in found.asked if isinstance(source, Mention)] == ["\xe9.png", "q"]


PIECES = st.sampled_from(
    [
        *(
            "<a href=",
            '"',
            "'",
            "x y",
            "&amp;",
            "&",
            ">",
            "<",
            "</a>",
            "<!--",
            "-->",
            "<img srcset='",
            " 1x, ",
        ),
        *(
            "<style>",
            "url(",
            ")",
            "</style>",
            "<svg>",
            "</svg>",
            "<base href='/b/'>",
            "<script>",
            "</script>",
        ),
        *(
            " style=",
            "#f",
            "\xe9",
            "<meta http-equiv=refresh content='1;url=",
            "<iframe srcdoc='",
            "\n",
            "=",
            "/",
        ),
        *("\\", "<title>", "<template>"),
    ]
)
PAGES = st.lists(PIECES, max_size=40).map("".join)


def undone(content: bytes, edits: Iterable[Edit], original: bytes) -> bytes:
    """The document before its edits, from what came of it and the bytes that were taken out."""
    parts, at, shift = [], 0, 0
    for edit in edits:
        start = edit.start + shift
        parts += [content[at:start], original[edit.start : edit.end]]
        assert content[start : start + len(edit.new)] == edit.new
        at = start + len(edit.new)
        shift += len(edit.new) - (edit.end - edit.start)
    return b"".join([*parts, content[at:]])


@settings(max_examples=examples(400))
@given(PAGES)
def test_all_else_is_as_it_was(markup: str) -> None:
    page = markup.encode()
    edits = html_edits(page, "utf-8", ToOne())
    after = edited(page, edits)
    assert undone(after, edits, page) == page
    tags = re.compile(rb"<[^<]*")
    for edit in edits[1:]:  # each lies in a tag or a style element
        before = page[: edit.start]
        assert tags.findall(before)


@settings(max_examples=examples(400))
@given(PAGES)
def test_what_a_crawl_follows_is_what_changes(markup: str) -> None:
    """Whatever the scan for links mentions is asked for, so that it can lead to its file."""
    config = ExtractConfig()
    page, url = markup.encode(), Url.parse("http://h/d/p")
    assert url is not None
    maker = LinkMaker(config)
    found = HtmlExtractor(config, maker).extract(Document(url, "text/html", "utf-8", Headers([]), page))
    asked = ToOne()
    html_edits(page, "utf-8", asked)
    base = Url.parse(asked.bases[0], url.text) if asked.bases and asked.bases[0] else None
    made = {link.url.text for link in maker.make(asked.asked, base or url, "utf-8")}
    assert {link.url.text for link in found.links} - {(base or url).text} <= made
