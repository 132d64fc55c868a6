import zipfile

import office_files as make
import pytest

from gossamer.extract.media_type import declared_type, media_type
from gossamer.model.exchange import Headers

ODF = "application/vnd.oasis.opendocument.text"
WORD = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
SHEET = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
XHTML = (
    b"<!-- x --><!DOCTYPE html PUBLIC '-//W3C//DTD XHTML 1.0 Strict//EN' 'x' [<!ENTITY a '>'>]>"
    b"<html lang='en' xmlns='http://www.w3.org/1999/xhtml'>"
)


@pytest.mark.parametrize(
    ("declared", "content", "expected"),
    [
        ("text/html; charset=utf-8", b"", "text/html"),
        ("TEXT/HTML", b"x", "text/html"),
        ("text/html", b"%PDF-1.4", "text/html"),
        ("text/html", b"<?xml version='1.0'?>\n<!-- x --><rss version='2.0'>", "application/rss+xml"),
        ("text/html", b"<feed xmlns='http://www.w3.org/2005/Atom'>", "application/atom+xml"),
        ("text/html", b"<?xml version='1.0'?><urlset>", "text/xml"),
        ("text/html", b"<sitemapindex xmlns='x'>", "text/xml"),
        ("", b"  \n<!DOCTYPE html><html>", "text/html"),
        ("", b"<!-- x --><b>", "text/html"),
        ("", b"<p>", "text/html"),
        ("", b"<pre>", "text/plain"),
        ("", b"\xef\xbb\xbf<html>", "text/html"),
        ("", b"<?xml version='1.0'?><urlset>", "text/xml"),
        ("", b"%PDF-1.7", "application/pdf"),
        ("", b"\x89PNG\r\n\x1a\n....", "image/png"),
        ("", b"\xff\xd8\xff\xe0", "image/jpeg"),
        ("", b"GIF89a", "image/gif"),
        ("", b"RIFF....WEBPVP8 ", "image/webp"),
        ("", b"\x1f\x8b\x08\0", "application/x-gzip"),
        ("", b"PK\x03\x04", "application/zip"),
        ("", b"just text", "text/plain"),
        ("", b"\x00\x01\x02", "application/octet-stream"),
        ("", b"", "text/plain"),
        ("application/octet-stream", b"%PDF-1.7", "application/pdf"),
        ("application/octet-stream", b"{\\rtf1", "application/rtf"),
        ("application/octet-stream", b"MZ %PDF-", "application/octet-stream"),
        ("application/zip", make.docx(""), WORD),
        ("binary/octet-stream", make.xlsx(""), SHEET),
        ("application/octet-stream", make.packed({"mimetype": ODF}, zipfile.ZIP_STORED), ODF),
        ("application/zip", make.epub("x"), "application/epub+zip"),
        (
            "application/zip",
            make.packed({"META-INF/container.xml": "x", "mimetype": "x"}),
            "application/epub+zip",
        ),
        ("application/zip", make.packed({"a/word/x": "%PDF-"}), "application/zip"),
        ("application/zip", b"PK\x03\x04", "application/zip"),
        ("nonsense", b"<html>", "text/html"),
        ("*/*", b"<html>", "text/html"),
        ("unknown/unknown", b"<html>", "text/html"),
        ("text/plain", b"<html>", "text/plain"),
        ("text/plain", b"\x00\x01", "application/octet-stream"),
        ("text/plain", b"PK\x03\x04\x01", "application/zip"),
        ("text/plain; charset=ISO-8859-1", b"\x01", "application/octet-stream"),
        ("text/plain; charset=latin1", b"\x01", "text/plain"),
        ("image/jpeg", b"\x89PNG\r\n\x1a\n", "image/png"),
        ("image/jpeg", b"<html>", "image/jpeg"),
        ("image/svg+xml", b"<svg>", "image/svg+xml"),
        ("application/octet-stream", b"<html>", "application/octet-stream"),
        ("application/xhtml+xml", b"<html>", "application/xhtml+xml"),
        ("text/xml", XHTML, "application/xhtml+xml"),
        ("application/xml; charset=x", b"<?xml version='1.0'?>\n" + XHTML, "application/xhtml+xml"),
        ("", b"<?xml version='1.0'?>" + XHTML, "application/xhtml+xml"),
        ("text/xml", b"<x:y xmlns:x='z'>" + XHTML, "text/xml"),
        ("text/xml", b"<html><body>", "text/xml"),
        ("text/" + "x" * 5000, b"<html>", "text/html"),
    ],
)
def test_media_type(declared: str, content: bytes, expected: str) -> None:
    assert media_type(declared, content) == expected


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([], ""),
        (["text/html; charset=utf-8"], "text/html; charset=utf-8"),
        (["text/plain", "text/html"], "text/html"),
        (["text/html, text/plain"], "text/plain"),
        (["text/html", "*/*"], "text/html"),
        (["text/html; x=1, */*;q=0.1"], "text/html; x=1"),
        (["nonsense", "text/html", "more"], "text/html"),
        (["nonsense", "more"], "nonsense"),
        (["text/html,"], "text/html"),
        (["text/html;charset=gbk", "text/html"], "text/html;charset=gbk"),
        (["text/html;charset=gbk", "TEXT/HTML;a=b"], "TEXT/HTML;a=b;charset=gbk"),
        (["text/html;charset=gbk", "text/html;charset=big5"], "text/html;charset=big5"),
        (["text/html;charset=gbk", "text/plain", "text/html"], "text/html"),
        (['text/html;x="a,b/c"'], 'text/html;x="a,b/c"'),
        (['text/html;x="\\",b/c"', "nonsense"], 'text/html;x="\\",b/c"'),
        (['text/html;x="', "text/plain"], 'text/html;x=",text/plain'),
    ],
)
def test_of_several_declared_types_the_last_counts(values: list[str], expected: str) -> None:
    assert declared_type(Headers([("Content-Type", value) for value in values])) == expected
