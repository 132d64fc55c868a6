"""Pages with far too much of one thing: the text survives, what is left out is marked, nothing is multiplied."""

import random

import pytest

from gossamer.documents.limits import ReadingLimits
from gossamer.documents.markup import main_text
from gossamer.documents.markup.ballast import without_ballast
from gossamer.documents.reading import read
from gossamer.documents.said import Mark

URL = "https://site.test/a"
PROSE = "This is a paragraph of the article, long enough to be taken for prose, with commas and a full stop. "


def page(inner: str, head: str = "") -> bytes:
    return (
        f"<html><head><title>A page</title>{head}</head><body><main><p>{PROSE * 3}</p>{inner}</main>".encode()
    )


@pytest.mark.parametrize(
    "table",
    [
        ("<tr>" + "<td colspan=1000>cell text</td>" * 20 + "</tr>") * 20,
        ("<tr>" + "<td rowspan=1000 colspan=900>cell text</td>" * 3 + "</tr>") * 100,
        "<tr><td colspan=1000>cell text</td></tr>",
    ],
)
def test_cells_over_many_columns_make_no_more_markdown_than_is_reasonable(table: str) -> None:
    content = page(f"<table>{table}</table>")
    said = read(content, URL, "text/html")
    assert len(said.markdown.text) < 2 * len(content)
    assert said.markdown.text.count("cell text") == table.count("cell text")
    assert said.markdown.cut
    assert Mark.CUT in said.marks
    assert not said.text.cut


def test_an_ordinary_table_keeps_its_spans() -> None:
    rows = (
        "<tr><th colspan=4>All of it</th></tr>"
        + "<tr><td rowspan=2>a</td><td>b</td><td>c</td><td>d</td></tr>" * 30
    )
    said = read(page(f"<table>{rows}</table>"), URL, "text/html")
    assert "| All of it | | | |" in said.markdown.text
    assert said.marks == ()


@pytest.mark.parametrize(
    "shape",
    [
        "<table><tr>"
        + "<td>word here</td>" * 4_000
        + "</tr>"
        + "<tr><td>some words</td></tr>" * 4_000
        + "</table>",
        "<ul><li>" * 100 + "<pre>" + "a line of it\n" * 90_000 + "</pre>" + "</ul>" * 100,
    ],
)
def test_what_would_be_multiplied_is_given_as_plain_text(shape: str) -> None:
    said = read(page(shape), URL, "text/html")
    assert said.markdown.fallback
    assert said.markdown.text == said.text.text


BALLAST = {
    "an attribute": '<img alt="x" src="data:image/png;base64,' + "A" * 5_000_000 + '">',
    "an attribute of a leaf": "<p title='" + "A" * 5_000_000 + "'>short</p>",
    "a script": "<script>" + "x = '</p>';" * 500_000 + "</script>",
    "a comment": "<!-- " + "c" * 5_000_000 + " -->",
    "a style": "<style>" + "a{b:c}" * 1_000_000 + "</style>",
}


@pytest.mark.parametrize("kind", BALLAST)
def test_a_page_keeps_its_text_behind_megabytes_that_are_none(kind: str) -> None:
    said = read(page(f"{BALLAST[kind]}<p>the last words of it</p>{PROSE * 3}"), URL, "text/html")
    assert "the last words of it" in said.text.text
    assert said.marks == ()


@pytest.mark.slow
def test_a_page_of_too_much_text_is_cut_and_marked() -> None:
    said = read(page(f"<p>{PROSE}</p>" * 60_000), URL, "text/html")
    assert Mark.CUT in said.marks


def test_ballast_is_nothing_that_is_read() -> None:
    kept = b"<script type='application/ld+json'>{}</script><title>t</title><p class=\"a>b\">x <textarea><!-- y</textarea>"
    assert without_ballast(kept) == kept
    assert without_ballast(b"a<!-- b -->c<script>d</script>e<script>f") == b"ac<script></script>e<script>"
    long = b"<a x='" + b"1" * 30_000 + b"' href=/y>"
    assert without_ballast(long).endswith(b"1' href=/y>")


@pytest.mark.parametrize(
    "kind",
    ["text/html", "text/html; charset=utf-8", "text/html; charset=gb18030", "text/html; charset=shift_jis",
     "text/html; charset=utf-16", "application/json", "text/xml"],
)  # fmt: skip
@pytest.mark.parametrize("size", [300, 50_000])
def test_bytes_that_are_no_text_are_told(kind: str, size: int) -> None:
    said = read(random.Random(size).randbytes(size), URL, kind)
    assert Mark.NOT_TEXT in said.marks
    assert said.text.text == said.markdown.text == said.metadata.title == ""
    assert said.media_type == "application/octet-stream"


@pytest.mark.parametrize(
    "charset", ["utf-8", "windows-1251", "shift_jis", "gb18030", "utf-16", "iso-2022-jp"]
)
def test_text_of_any_encoding_is_text(charset: str) -> None:
    text = "Москва, столица" if charset == "windows-1251" else "日本の首都は東京である。"
    content = f"<p>{text * 20}</p>".encode(charset)
    assert Mark.NOT_TEXT not in read(content, URL, f"text/html; charset={charset}").marks


def test_a_part_is_told() -> None:
    content = page("<p>more</p>")
    assert read(content, URL, "text/html", part=True).marks == (Mark.PART,)


def test_nodes_beyond_those_looked_at_are_marked(monkeypatch: pytest.MonkeyPatch) -> None:
    content = page(f"<p>{PROSE}</p>" * 50)
    assert read(content, URL, "text/html").marks == ()
    monkeypatch.setattr(main_text, "MOST_NODES", 60)
    assert Mark.CUT in read(content, URL, "text/html").marks


@pytest.mark.parametrize(
    "inner",
    [
        "<div itemscope>" + "<b itemprop=a>x</b>" * 25_000 + "</div>",
        "<div class=h-entry>" + "<b class=p-name>x</b>" * 25_000 + "</div>",
        "<div itemscope><b itemprop=a>x</b></div>" * 300,
        "".join(f"mail{n}@site.test " for n in range(1_100)),
    ],
)
def test_data_beyond_their_limits_are_marked_and_the_text_is_whole(inner: str) -> None:
    said = read(page(inner), URL, "text/html")
    assert Mark.CUT in said.marks
    assert not said.text.cut


def test_a_large_page_with_a_class_like_a_microformat_is_not_marked() -> None:
    said = read(page("<div class=h-4><p>word</p></div>" * 15_000), URL, "text/html", ReadingLimits())
    assert Mark.CUT not in said.marks
