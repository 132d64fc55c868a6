"""What is read of each format: text, Markdown, links, facts."""

import json
import pickle
import struct
import zlib
from pathlib import Path

import office_files as make
import pytest

from gossamer.documents.kinds import found_type
from gossamer.documents.reading import links_of, read
from gossamer.documents.said import Dimensions, Mark, Reference
from gossamer.model.url import WITH_HOSTS

URL = "https://site.test/files/x"


def test_docx() -> None:
    body = (
        make.paragraph("Heading", "Heading1")
        + make.paragraph("Some words by a@mail.test")
        + '<w:p><w:hyperlink r:id="l0"><w:r><w:t>click </w:t></w:r><w:r><w:t>here</w:t></w:r></w:hyperlink></w:p>'
        '<w:p><w:r><w:instrText> HYPERLINK "https://field.test/" </w:instrText></w:r><w:del><w:r><w:t>gone</w:t></w:r></w:del></w:p>'
        "<w:tbl><w:tr><w:tc><w:p><w:r><w:t>a</w:t></w:r></w:p></w:tc><w:tc><w:p><w:r><w:t>b</w:t></w:r></w:p></w:tc></w:tr></w:tbl>"
    )
    said = read(make.docx(body, ["https://link.test/a?b=1&amp;c"]), URL)
    assert said.text.text.splitlines() == ["Heading", "Some words by a@mail.test", "click here", "a\tb"]
    assert said.markdown.text.startswith("# Heading\n\nSome words")
    assert "| a | b |" in said.markdown.text
    assert said.links == (
        Reference("https://link.test/a?b=1&c", "click here"),
        Reference("https://field.test/"),
    )
    assert (said.metadata.title, said.metadata.authors) == ("A title", ("Ada L",))
    assert said.metadata.published == "2024-05-06T07:08:09Z"
    assert said.emails == ("a@mail.test",)
    assert said.media_type.endswith("wordprocessingml.document")
    assert said.marks == ()
    assert pickle.loads(pickle.dumps(said)) == said


def test_xlsx() -> None:
    strings = "<si><t>Name</t></si><si><r><t>Pri</t></r><r><t>ce</t></r></si>"
    rows = (
        '<sheetData><row><c r="A1" t="s"><v>0</v></c><c r="C1" t="s"><v>1</v></c></row>'
        '<row><c r="A2" t="inlineStr"><is><t>Tea</t></is></c><c r="B2" t="b"><v>1</v></c><c r="C2"><f>HYPERLINK("https://f.test/")</f><v>2.5</v></c></row>'
        '</sheetData><hyperlinks><hyperlink ref="A2" r:id="h"/></hyperlinks>'
    )
    relation = (
        f'<Relationship Id="h" Type="{make.R}/hyperlink" Target="https://cell.test/" TargetMode="External"/>'
    )
    said = read(make.xlsx(rows, strings, relation), URL)
    assert said.text.text == "First\nName\t\tPrice\nTea\tTRUE\t2.5"
    assert {link.url for link in said.links} == {"https://f.test/", "https://cell.test/"}


@pytest.mark.parametrize(
    ("style", "number", "shown"),
    [
        (0, "45000", "45000"),
        (1, "45000", "2023-03-15"),
        (1, "45000.5", "2023-03-15 12:00:00"),
        (1, "45000.99999999", "2023-03-16"),
        (1, "1", "1900-01-01"),
        (1, "-3", "-3"),
        (1, "1e99", "1e99"),
        (1, "nan", "nan"),
        (1, "", ""),
        (2, "0.75", "18:00:00"),
        (3, "45000", "2023-03-15"),  # yyyy, with a place and a quotation
        (4, "45000", "45000"),  # red, "days"
        (5, "1.5", "1.5"),  # hours that have passed
        (6, "45000", "45000"),  # there is no such format
    ],
)
def test_dates_in_sheets_are_dates(style: int, number: str, shown: str) -> None:
    styles = (
        '<numFmts><numFmt numFmtId="164" formatCode="[$-409]d\\-mmm\\-yyyy &quot;at&quot;;@"/>'
        '<numFmt numFmtId="165" formatCode="[Red]0.00 &quot;days&quot;"/><numFmt numFmtId="166" formatCode="[h]:mm"/></numFmts>'
        '<cellStyleXfs><xf numFmtId="14"/></cellStyleXfs><cellXfs>'
        + "".join(f'<xf numFmtId="{number}"/>' for number in (0, 14, 21, 164, 165, 166))
        + "</cellXfs>"
    )
    row = f'<sheetData><row><c r="A1" s="{style}"><v>{number}</v></c><c t="str" s="1"><v>7</v></c></row></sheetData>'
    assert read(make.xlsx(row, styles=styles), URL).text.text == f"First\n{shown}\t7"


def test_dates_in_sheets_that_count_from_1904() -> None:
    sheet = make.xlsx(
        '<sheetData><row><c s="0"><v>43538</v></c></row></sheetData>',
        styles='<cellXfs><xf numFmtId="14"/></cellXfs>',
        properties='<workbookPr date1904="1"/>',
    )
    assert read(sheet, URL).text.text == "First\n2023-03-15"


def test_pptx() -> None:
    slide = '<a:p><a:r><a:rPr><a:hlinkClick r:id="h"/></a:rPr><a:t>Hello</a:t></a:r></a:p>'
    said = read(make.pptx(slide, "<a:p><a:r><a:t>Second</a:t></a:r></a:p>"), URL)
    assert said.text.text == "Hello\nSecond"
    assert said.links == (Reference("https://slides.test/x", "Hello"),)


def test_odt() -> None:
    body = (
        '<office:text><text:h text:outline-level="2">Top</text:h><text:p>one<text:s text:c="2"/>two '
        '<text:a xlink:href="https://odf.test/">three</text:a></text:p><text:list><text:list-item><text:p>item</text:p>'
        "</text:list-item></text:list></office:text>"
    )
    said = read(make.odf("text", body), URL)
    assert said.text.text == "Top\none  two three\nitem"
    assert said.markdown.text == "## Top\n\none  two three\n\n- item"
    assert said.links == (Reference("https://odf.test/", "three"),)
    assert (said.metadata.title, said.metadata.authors) == ("An ODF", ("Grace H",))


def test_ods_with_cells_repeated_a_million_times() -> None:
    body = (
        "<office:spreadsheet><table:table><table:table-row><table:table-cell><text:p>a</text:p></table:table-cell>"
        '<table:table-cell table:number-columns-repeated="1000000"/></table:table-row>'
        '<table:table-row table:number-rows-repeated="1000000"><table:table-cell/></table:table-row>'
        "</table:table></office:spreadsheet>"
    )
    assert read(make.odf("spreadsheet", body), URL).text.text == "a"
    named = body.replace("<table:table>", '<table:table table:name="Prices">')
    assert read(make.odf("spreadsheet", named), URL).text.text == "Prices\na", "as of XLSX"


def test_epub() -> None:
    said = read(
        make.epub(
            "<h1>One</h1><p>First <a href='https://out.test/'>out</a> <a href='c1.xhtml'>in</a></p>",
            "<p>Two</p>",
        ),
        URL,
    )
    assert said.text.text == "One\nFirst out in\nTwo"
    assert said.markdown.text.startswith("# One")
    assert said.links == (Reference("https://out.test/", "out"),)
    assert (said.metadata.title, said.metadata.language) == ("A book", "en")


def test_pdf() -> None:
    said = read(make.pdf("Words at www.text.test/x.", "https://link.test/"), URL, "application/octet-stream")
    assert said.media_type == "application/pdf"
    assert said.text.text == "Words at www.text.test/x."
    assert [link.url for link in said.links] == ["https://link.test/", "http://www.text.test/x"]
    assert said.links[0].text == "Words at www.text.test/x."
    assert (said.metadata.title, said.metadata.authors) == ("A paper", ("Alan T",))
    assert said.metadata.published == "2024-05-06T07:08:09+02:00"
    assert (said.text.extractor, said.text.version != "") == ("pypdfium2", True)


def test_links_alone_are_those_of_the_whole() -> None:
    for content in (
        make.pdf("At https://text.test/", "https://link.test/"),
        make.docx(
            '<w:p><w:hyperlink r:id="l0"><w:r><w:t>x</w:t></w:r></w:hyperlink></w:p>', ["https://a.test/"]
        ),
        make.epub("<p><a href='https://out.test/'>out</a></p>"),
    ):
        links, metadata, marks = links_of(content, URL)
        said = read(content, URL)
        assert [link.url for link in links] == [link.url for link in said.links]
        assert (metadata, marks) == (said.metadata, said.marks)


def test_texts_name_addresses_of_each_scheme_with_hosts() -> None:
    named = [f"{scheme}://a.test/b" for scheme in WITH_HOSTS]
    assert [link.url for link in read(f"See {', '.join(named)}.".encode(), URL, "text/plain").links] == named


def test_rtf() -> None:
    source = (
        rb"{\rtf1\ansi\ansicpg1252{\fonttbl{\f0 Arial;}}{\info{\title My note}{\author Bob}}Caf\'e9 \u8364? costs\par "
        rb'{\field{\*\fldinst HYPERLINK "https://rtf.test/"}{\fldrslt a link}}{\*\unknown hidden}}'
    )
    said = read(source, URL, "text/plain")
    assert said.text.text == "Café € costs\na link"
    assert said.links == (Reference("https://rtf.test/"),)
    assert (said.metadata.title, said.metadata.authors) == ("My note", ("Bob",))


@pytest.mark.parametrize(
    ("content", "kind", "lines"),
    [
        (b"plain text\nsee https://a.test/b).", "text/plain", ["plain text", "see https://a.test/b)."]),
        (b"# T\n\n[x](b.html) https://c.test", "text/markdown", ["# T", "", "[x](b.html) https://c.test"]),
        (
            b'{"title":"T","url":"/p","deep":{"list":["one",2,"two"]}}',
            "application/json",
            ["T", "/p", "one", "two"],
        ),
        (b'{"a":"one"}\n{"a":"two"}', "application/x-ndjson", ["one", "two"]),
        (b"<a><b>one &amp; two</b><c href='/x'/></a>", "application/xml", ["one & two"]),
        (b'a;b\n1;"x;y"\n', "text/csv", ["a\tb", "1\tx;y"]),
    ],
)
def test_text_formats(content: bytes, kind: str, lines: list[str]) -> None:
    said = read(content, URL, kind)
    assert said.text.text.splitlines() == lines
    assert said.charset == "utf-8"
    assert said.marks == ()


def test_links_of_text_formats() -> None:
    assert [each.url for each in read(b"[x](b.html) <https://c.test/(d)>", URL, "text/markdown").links] == [
        "https://site.test/files/b.html",
        "https://c.test/(d)",
    ]
    feed = b"<rss version='2.0'><channel><title>News</title><item><link>https://n.test/1</link></item></channel></rss>"
    said = read(feed, URL, "text/xml")
    assert (said.metadata.title, [each.url for each in said.links]) == ("News", ["https://n.test/1"])


@pytest.mark.parametrize(
    ("item", "text", "links"),
    [
        (
            "<description>&lt;p&gt;a &lt;b&gt;bo&lt;/b&gt;ld &amp;amp; c&lt;br/&gt;d&lt;/p&gt;</description>",
            "a bold & c\nd",
            0,
        ),
        (
            "<content:encoded><![CDATA[<p>x <3</p><a href='https://e.test/'>y</a>]]></content:encoded>",
            "x <3\ny",
            1,
        ),
        ('<description>&lt;img src="https://e.test/i"&gt;</description><title>t</title>', "t", 1),
        ("<description>2 &lt; 3 &amp;amp; 4 &gt; 1</description>", "2 < 3 &amp; 4 > 1", 0),
        ("<title>The &lt;p&gt; element</title>", "The <p> element", 0),
    ],
)
def test_the_markup_in_feeds_is_no_text(item: str, text: str, links: int) -> None:
    feed = f'<rss xmlns:content="c"><channel><item>{item}</item></channel></rss>'
    said = read(feed.encode(), URL, "application/rss+xml")
    assert (said.text.text, len(said.links)) == (text, links)
    if "&lt;b&gt;" in item:
        assert "<b>" in read(feed.replace("rss", "data").encode(), URL, "text/xml").text.text, (
            "XML is as it is"
        )


def chunk(name: bytes, body: bytes) -> bytes:
    return struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", 30, 20, 8, 2, 0, 0, 0)), "image/png"),
        (b"GIF89a" + struct.pack("<HH", 30, 20), "image/gif"),
        (
            b"\xff\xd8\xff\xe0\x00\x04ab\xff\xc0\x00\x0b\x08" + struct.pack(">HH", 20, 30) + b"\x01" * 9,
            "image/jpeg",
        ),
        (b"RIFF\0\0\0\0WEBPVP8X\x0a\0\0\0\0\0\0\0" + b"\x1d\0\0" + b"\x13\0\0", "image/webp"),
        (b"RIFF\0\0\0\0WEBPVP8L\0\0\0\0\x2f" + struct.pack("<I", 29 | 19 << 14), "image/webp"),
        (
            b"\0\0\0\x18ftypavif\0\0\0\0mif1" + b"\0\0\0\x14ispe\0\0\0\0" + struct.pack(">II", 30, 20),
            "image/avif",
        ),
        (b'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 30 20"/>', "image/svg+xml"),
        (b'<?xml version="1.0"?>\n<svg width="30px" height="20"></svg>', "image/svg+xml"),
    ],
)
def test_sizes_of_images(content: bytes, kind: str) -> None:
    said = read(content, URL, "application/octet-stream")
    assert (said.media_type, said.dimensions) == (kind, Dimensions(30, 20))
    for length in range(len(content)):  # cut anywhere, nothing is raised
        read(content[:length], URL, kind)


def test_play_times() -> None:
    wave = (
        b"RIFF\0\0\0\0WAVEfmt "
        + struct.pack("<IHHIIHH", 16, 1, 1, 8_000, 8_000, 1, 8)
        + b"data"
        + struct.pack("<I", 20_000)
    )
    assert read(wave, URL).duration == 2.5
    header = struct.pack(">IIII", 0, 0, 0, 1_000) + struct.pack(">I", 4_000)
    mvhd = struct.pack(">I4s", 8 + len(header), b"mvhd") + header
    track = bytes(76) + struct.pack(">II", 30 << 16, 20 << 16)
    tkhd = struct.pack(">I4s", 8 + len(track), b"tkhd") + track
    trak = struct.pack(">I4s", 8 + len(tkhd), b"trak") + tkhd
    film = (
        struct.pack(">I4s4sI", 16, b"ftyp", b"isom", 0)
        + struct.pack(">I4s", 8 + len(mvhd) + len(trak), b"moov")
        + mvhd
        + trak
    )
    said = read(film, URL)
    assert (said.media_type, said.duration, said.dimensions) == ("video/mp4", 4.0, Dimensions(30, 20))


def test_a_file_reads_as_its_bytes_do(tmp_path: Path) -> None:
    for number, content in enumerate(
        [make.pdf("Text", "https://a.test/"), make.docx(make.paragraph("x")), b"plain words"]
    ):
        path = tmp_path / str(number)
        path.write_bytes(content)
        assert read(path, URL) == read(content, URL)


@pytest.mark.parametrize(
    ("content", "declared", "name", "kind"),
    [
        (b"%PDF-1.7", "text/html", "", "application/pdf"),
        (b"\n\n%PDF-1.7", "", "", "application/pdf"),
        (b"<!doctype html><p>Not found", "application/pdf", "a.pdf", "text/html"),
        (b"a,b\n1,2", "application/octet-stream", "a.csv", "text/csv"),
        (b"# x", "text/plain", "README.md", "text/markdown"),
        (b"hello", "application/octet-stream", "a", "text/plain"),
        (b"<svg><path/></svg><p>words", "text/html", "", "text/html"),
        (b"{\\rtf1 x}", "application/msword", "a.doc", "application/rtf"),
        (b"h\0e\0l\0l\0o\0 \0w\0o\0r\0l\0d\0", "text/plain", "", "text/plain"),
    ],
)
def test_media_types(content: bytes, declared: str, name: str, kind: str) -> None:
    assert found_type(content, declared, f"https://site.test/{name}") == kind


def test_utf_16_without_a_mark() -> None:
    said = read("A text of some length, ünïcode".encode("utf-16-le"), URL, "text/plain")
    assert (said.text.text, said.charset) == ("A text of some length, ünïcode", "utf-16le")


def test_wrong_types_are_marked() -> None:
    assert Mark.WRONG_TYPE in read(b"<!doctype html><p>Not found", URL, "application/pdf").marks
    assert Mark.WRONG_TYPE in read(make.pdf("x"), URL, "text/html").marks
    assert Mark.WRONG_TYPE not in read(make.pdf("x"), URL, "application/x-pdf").marks
    assert json.dumps(list(read(b"\x00\x01\x02", URL).marks)) == '["unsupported"]'
