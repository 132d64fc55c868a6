"""Documents made to hang, flood or fool a reader: each ends within its limit, with a mark."""

import time
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import office_files as make
import pytest

from gossamer.documents.limits import ReadingLimits
from gossamer.documents.markup.nesting import fits_a_tree
from gossamer.documents.reading import links_of, read
from gossamer.documents.said import DocumentText, Mark

URL = "https://site.test/x"
MOST_SECONDS = 6.0
"""CPU time of one document, on a machine of any load; the pool's own limit is ten."""


def timed(content: bytes | Path, kind: str, limits: ReadingLimits | None = None) -> DocumentText:
    started = time.process_time()
    said = read(content, URL, kind, limits or ReadingLimits())
    assert time.process_time() - started < MOST_SECONDS
    return said


def many_links(number: int) -> str:
    return "<p>deep words" + "".join(f"<a href=/{n}>l{n}</a> " for n in range(number))


HTML: dict[str, Callable[[], str]] = {
    "200,000 nested div": lambda: "<div>" * 200_000 + "deep words",
    "20,000 nested div": lambda: "<div>" * 20_000 + "deep words" + "</div>" * 20_000,
    "100,000 attributes": lambda: "<p " + " ".join(f"a{n}=1" for n in range(100_000)) + ">deep words</p>",
    "100,000 option": lambda: "<select>" + "<option>x" * 100_000 + "</select><p>deep words",
    "30,000 links": lambda: many_links(30_000),
    "30,000 headings": lambda: "<p>deep words" + "".join(f"<h2>Heading {n}</h2>" for n in range(30_000)),
    "30,000 table cells": lambda: "<p>deep words<table>" + "<tr><td>a<td>b" * 15_000 + "</table>",
    "30,000 nested b in paragraphs": lambda: "<p>deep words" + "<b><p>x" * 30_000,
    "a comment that never ends": lambda: "<p>deep words</p><!--" + "<!-- -" * 200_000,
    "20,000 nested table": lambda: "<table><tr><td>" * 20_000 + "deep words",
    "20,000 nested unknown elements behind div": lambda: "<x><div></x></div>" * 20_000 + "deep words",
    "foreign content": lambda: "<svg><style><g>" * 20_000 + "deep words",
}


@pytest.mark.parametrize("shape", HTML)
def test_hostile_pages(shape: str) -> None:
    said = timed(HTML[shape]().encode(), "text/html")
    if "comment" in shape:
        assert said.text.text == "deep words"
        return
    assert said.marks
    if Mark.FALLBACK in said.marks:
        assert "deep words" in said.text.text
        assert (said.text.extractor, said.text.fallback) == ("visible-text", True)


@pytest.mark.slow
def test_pages_with_much_of_everything_are_cut_and_not_refused() -> None:
    limits = ReadingLimits(max_links=100)
    said = timed(many_links(100_000).encode(), "text/html", limits)
    assert len(said.links) == 100
    assert Mark.CUT in said.marks


def test_ordinary_nesting_fits() -> None:
    page = "<div><ul>" + "<li><a href=x><b>y</b></a>" * 5_000 + "</ul></div>" + "<p>a<br>" * 5_000
    assert fits_a_tree(page.encode())
    assert fits_a_tree(b"<table><tr><td>" * 100 + b"</table>" * 100)
    assert fits_a_tree(b"<svg><path/><g><path d=x></path></g></svg>" * 2_000)
    assert fits_a_tree(b"<p>x" * 10_000)


@pytest.mark.parametrize(
    "pattern",
    [
        b"<div><!--</div>-->",
        b"<div><script>'</div>'</script>",
        b"<div title='</div>'>",
        b"<div><table></div></table>",
        b"<div><select></div></select>",
        b"<x><div></x></div>",
        b"<div><svg><![CDATA[</div>]]></svg>",
        b"<form><ul></form>",
        b"<![CDATA[<title><div>",
    ],
)
def test_no_end_tag_that_a_parser_ignores_hides_depth(pattern: bytes) -> None:
    assert not fits_a_tree(pattern * 20_000)


def test_encrypted_pdf() -> None:
    said = timed(make.pdf("secret", encrypted=True), "application/pdf")
    assert said.marks == (Mark.ENCRYPTED,)
    assert said.text.text == ""


@pytest.mark.parametrize("cut", [0.1, 0.5, 0.9])
def test_broken_pdf(cut: float) -> None:
    whole = make.pdf("words", "https://a.test/")
    said = timed(whole[: int(len(whole) * cut)], "application/pdf")
    assert said.text.text == "words" or {Mark.BROKEN, Mark.NO_TEXT} & set(said.marks)


def test_pdf_of_garbage() -> None:
    assert Mark.BROKEN in timed(b"%PDF-1.7\n" + bytes(range(256)) * 1_000, "application/pdf").marks


@pytest.mark.slow
def test_zip_bomb_in_docx() -> None:
    body = "<w:p><w:r><w:t>" + "A" * (200 << 20) + "</w:t></w:r></w:p>"
    tracemalloc.start()
    packed = make.docx(body)
    del body
    tracemalloc.reset_peak()
    before = tracemalloc.get_traced_memory()[0]
    said = timed(packed, "")
    peak = tracemalloc.get_traced_memory()[1] - before
    tracemalloc.stop()
    assert len(packed) < 1 << 20
    assert {Mark.EXPANDS, Mark.CUT} <= set(said.marks)
    # Libraries that are loaded meanwhile among it; the bomb unpacks to more than 200 MiB.
    assert peak < 160 << 20


def test_billion_laughs() -> None:
    entities = '<!ENTITY a "ha">' + "".join(
        f'<!ENTITY {chr(98 + n)} "{f"&{chr(97 + n)};" * 10}">' for n in range(9)
    )
    xml = f"<!DOCTYPE d [{entities}]><d>&j;</d>"
    said = timed(xml.encode(), "application/xml")
    assert Mark.ENTITIES in said.marks
    assert len(said.text.text) < 1_000
    whole = make.packed({"[Content_Types].xml": "<Types/>", "word/document.xml": xml})
    assert Mark.ENTITIES in timed(whole, "").marks


def test_external_entities_are_not_read(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("secret words")
    xml = f'<!DOCTYPE d [<!ENTITY x SYSTEM "file://{secret}">]><d>&x;</d>'
    assert "secret" not in timed(xml.encode(), "application/xml").text.text


def test_a_million_rows() -> None:
    rows = b"<sheetData>" + b'<row><c t="n"><v>1</v></c></row>' * 1_000_000 + b"</sheetData>"
    said = timed(make.xlsx(rows), "", ReadingLimits(max_rows=50_000))
    assert Mark.CUT in said.marks
    assert len(said.text.text.splitlines()) <= 50_001


def test_nested_zips_stay_closed() -> None:
    inner = make.packed({"x.txt": "inner words"})
    said = timed(make.packed({"a.zip": inner, "b.zip": inner}), "application/zip")
    assert said.media_type == "application/zip"
    assert said.marks == (Mark.UNSUPPORTED,)


def test_truncated_office_file() -> None:
    whole = make.docx(make.paragraph("words"))
    said = timed(whole[:-40], "application/vnd.openxmlformats-officedocument.wordprocessingml.document")
    assert Mark.BROKEN in said.marks


def test_damaged_part() -> None:
    said = timed(make.docx(make.paragraph("words") + "<w:p"), "")
    assert said.text.text == "words"
    assert Mark.BROKEN in said.marks


def test_encrypted_office_files() -> None:
    ole = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(512) + "EncryptedPackage".encode("utf-16-le")
    assert Mark.ENCRYPTED in timed(ole, "").marks
    locked = make.odf("text", "<office:text/>", '<manifest><encryption-data checksum="x"/></manifest>')
    assert Mark.ENCRYPTED in timed(locked, "").marks
    rights = '<e><EncryptedData><CipherData><CipherReference URI="OEBPS/c0.xhtml"/></CipherData></EncryptedData></e>'
    assert Mark.ENCRYPTED in timed(make.epub("<p>secret</p>", encryption=rights), "").marks


def test_a_gigabyte_of_text(tmp_path: Path) -> None:
    path = tmp_path / "huge.txt"
    with path.open("wb") as file:
        file.write(b"words at the start\n")
        file.truncate(1 << 30)  # the rest is zeros, in a hole
    said = timed(path, "text/plain; charset=utf8")
    assert said.size == 1 << 30
    assert Mark.CUT in said.marks
    assert said.text.text == "words at the start"


@pytest.mark.parametrize(
    "kind", ["text/plain", "text/csv", "text/markdown", "application/json", "text/html", "application/xml"]
)
def test_long_text_is_cut(kind: str) -> None:
    said = timed(
        b"many words, over and over\n" * 1_000_000, kind, ReadingLimits(max_content=8 << 20, max_text=1 << 20)
    )
    assert Mark.CUT in said.marks
    assert len(said.text.text) <= 1 << 20


def test_zeros_within_text() -> None:
    said = timed(b"one\0 two \0\0three" * 3, "text/plain; charset=utf8")
    assert "\0" not in said.text.text
    assert "one two three" in said.text.text


def test_deep_data() -> None:
    assert timed(b"[" * 200_000, "application/json").marks
    assert timed(b"<a>" * 200_000, "application/xml").marks
    assert timed(b"{\\rtf1 " + b"{" * 200_000 + b"x", "application/rtf").marks
    assert timed(
        b'<script type="application/ld+json">' + b"[" * 100_000 + b"</script><p>words here", "text/html"
    )


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\0",
        b"<",
        b"PK\x03\x04",
        b"%PDF-",
        b"{\\rtf",
        b"\xff\xd8\xff",
        b"ID3",
        b"RIFF\0\0\0\0WAVE",
        b"\x00\x00\x00\x18ftyp",
        b"<?xml",
        b"fLaC",
        b"OggS\0",
    ],
)
def test_next_to_nothing(content: bytes) -> None:
    for kind in (
        "",
        "text/html",
        "application/pdf",
        "application/epub+zip",
        "text/csv",
        "image/png",
        "nonsense",
    ):
        read(content, URL, kind)
        links_of(content, URL, kind)


@pytest.mark.slow
def test_pages_that_repeat_an_expression_s_start() -> None:
    for piece in ("[x](", "a@", "a.", "http://", "www.", "<!--", "[[", "![", "({", "\\'", "1-"):
        for kind in (
            "text/plain",
            "text/markdown",
            "text/html",
            "application/rtf",
            "text/csv",
            "application/json",
        ):
            timed((piece * (1 << 17)).encode(), kind)
