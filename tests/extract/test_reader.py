import gzip
from collections.abc import Callable
from typing import BinaryIO

import pytest
import xxhash
from examples import examples
from hypothesis import given, settings
from hypothesis import strategies as st

from gossamer.extract.config import ExtractConfig
from gossamer.extract.reader import Reader
from gossamer.extract.registry import Registry, builtin_extractors
from gossamer.model.document import Document, Findings
from gossamer.model.exchange import Exchange, Headers
from gossamer.model.link import Link, LinkKind
from gossamer.model.page import Page
from gossamer.model.reasons.codes import NoteCode
from gossamer.model.reasons.reason import because
from gossamer.model.url import Url


class NoBody:
    """The reader is given the content; it has no business with the stored body."""

    size = 0
    sha256 = b""

    def open(self) -> BinaryIO:
        raise AssertionError

    def chunks(self, size: int = 1 << 18) -> None:
        raise AssertionError

    def read(self, limit: int = -1) -> bytes:
        raise AssertionError

    def close(self) -> None:
        raise AssertionError


URL = Url.parse("http://h.test/dir/page")
assert URL is not None


def exchange(*fields: tuple[str, str]) -> Exchange:
    assert URL is not None
    return Exchange(URL, 1.7e9, b"", 200, b"", Headers(list(fields)), NoBody())  # type: ignore[arg-type]


def read(content: bytes, *fields: tuple[str, str], reader: Reader | None = None) -> Page:
    return (reader or Reader(ExtractConfig(), "gossamer")).read(exchange(*fields), content)


def test_an_html_page() -> None:
    content = "<title>Ü</title><meta name=robots content=nofollow><a href=x>".encode()
    page = read(
        content,
        ("Content-Type", "text/html"),
        ("Link", "<y>; rel=next, <x>; rel=preload"),
        ("X-Robots-Tag", "noarchive"),
    )
    assert (page.media_type, page.charset, page.title) == ("text/html", "utf-8", "Ü")
    assert [(link.url.target, link.kind.value) for link in page.links] == [
        ("/dir/x", "navigation"),
        ("/dir/y", "navigation"),
        ("/dir/x", "requisite"),
    ]
    assert page.directives.nofollow
    assert page.directives.noarchive
    assert page.content_digest == xxhash.xxh3_64_intdigest(content)
    assert page.problems == ()


def test_directives_for_others_are_not_ours() -> None:
    page = read(
        b"<meta name=otherbot content=noindex>",
        ("Content-Type", "text/html"),
        ("X-Robots-Tag", "otherbot: none"),
    )
    assert not page.directives.noindex
    assert read(b"<meta name=Gossamer content=noindex>", ("Content-Type", "text/html")).directives.noindex


@pytest.mark.parametrize(
    "kind",
    ["binary/octet-stream", "application/x-gunzip", "application/rss+xml", "text/html", "image/png", ""],
)
def test_a_sitemap_is_read_whatever_the_server_calls_it(kind: str) -> None:
    reader = Reader(ExtractConfig(), "gossamer")
    sitemap = b"<urlset><url><loc>http://h.test/1</loc></url></urlset>"
    for content in (gzip.compress(sitemap), sitemap, b"http://h.test/1\n"):
        page = reader.read(exchange(("Content-Type", kind)), content, listed=True)
        assert [(link.kind, link.url.target) for link in page.links] == [(LinkKind.SITEMAP, "/1")]


def test_a_leaf_has_a_type_and_no_links() -> None:
    page = read(b"%PDF-1.7 http://h.test/", ("content-type", "application/pdf"))
    assert (page.media_type, page.links, page.charset) == ("application/pdf", (), "")
    empty = read(b"", ("content-type", "text/html"))
    assert (empty.content_digest, empty.links, empty.media_type) == (0, (), "text/html")


class Toy:
    """An extractor whose findings are a function's."""

    def __init__(self, name: str, media_type: str, extract: Callable[[Document], Findings]) -> None:
        self.name = name
        self.media_types = frozenset({media_type})
        self.extract = extract


def test_several_extractors_of_a_type_add_up() -> None:
    assert URL is not None
    first = Link(URL, LinkKind.NAVIGATION, "one", nofollow=True)
    second = Link(URL, LinkKind.NAVIGATION, "two")

    def one(document: Document) -> Findings:
        return Findings(title="one", links=(first,), fields={"a": 1, "b": 1})

    def two(document: Document) -> Findings:
        return Findings(title="two", author="two" * 1000, links=(second,), fields={"b": 2, "c": 2})

    def bad(document: Document) -> Findings:
        raise RuntimeError("a\nbad\x1b[31m day" + "!" * 1000)

    def odd(document: Document) -> Findings:
        return None  # type: ignore[return-value]

    extractors = [
        Toy("one", "text/*", one),
        Toy("bad", "*/*", bad),
        Toy("odd", "text/plain", odd),
        Toy("two", "text/plain", two),
        Toy("never", "image/png", bad),
    ]
    page = read(b"x", ("content-type", "text/plain"), reader=Reader(ExtractConfig(), "gossamer", extractors))
    assert (page.title, len(page.author), page.fields) == ("one", 1000, {"a": 1, "b": 1, "c": 2})
    assert page.links == (second,)
    assert [problem.partition(":")[0] for problem in page.problems] == ["bad", "odd"]
    assert all(problem.isprintable() and len(problem) <= 300 for problem in page.problems)
    assert [e.name for e in Registry(extractors).readers_of("text/x")] == ["one", "bad"]
    assert [e.name for e in Registry(extractors).readers_of("font/x")] == ["bad"]


def test_extractors_can_be_switched_off() -> None:
    config = ExtractConfig(extractors_off=("html", "feed"))
    assert [extractor.name for extractor in builtin_extractors(config)] == ["css", "sitemap"]
    assert read(b"<a href=x>", ("content-type", "text/html"), reader=Reader(config, "g")).links == ()


def test_content_beyond_the_limit_is_left_and_noted() -> None:
    reader = Reader(ExtractConfig(max_content=1024), "gossamer")
    page = read(b"<a href=x>" + b" " * 1014 + b"<a href=y>", ("content-type", "text/html"), reader=reader)
    assert [link.url.target for link in page.links] == ["/dir/x"]
    assert page.problems == (because(NoteCode.UNREAD, 10, 1034),)
    assert str(page.problems[0]) == "extract: 10 of 1034 bytes were left unread"


def test_other_types() -> None:
    assert len(read(b"a{b:url(c)}", ("content-type", "text/css")).links) == 1
    assert len(read(b"<urlset><loc>http://h.test/a</loc>", ("content-type", "application/xml")).links) == 1
    assert len(read(b"<rss><link>http://h.test/a</link>", ("content-type", "text/html")).links) == 1
    assert len(read("<a href=x>".encode("utf-16"), ("content-type", "text/html")).links) == 1
    assert len(read(b"<html><a href=x/></html>", ("content-type", "application/xhtml+xml")).links) == 1


@settings(max_examples=examples(200), deadline=None)
@given(
    st.lists(
        st.sampled_from(
            [
                b"<",
                b"a href=",
                b"&#",
                b"\x1b$B",
                b"\xff\xfe",
                b"\0",
                b"url(",
                b"<svg>",
                b"<title>",
                b"'",
                b">",
                b"<?xml",
                b"<rss>",
                b"\x1f\x8b\x08",
                b"<base href=",
                b"//[",
                b"\x81\x30",
                b"~{",
                b"x",
            ]
        ),
        max_size=30,
    ),
    st.sampled_from(
        [
            "text/html",
            "",
            "text/xml",
            "text/css",
            "application/gzip",
            "text/html; charset=hz-gb-2312",
            "text/html; charset=iso-2022-kr",
            "text/html; charset=utf-16",
            "text/plain",
        ]
    ),
)
def test_nothing_raises(pieces: list[bytes], declared: str) -> None:
    page = read(b"".join(pieces), ("Content-Type", declared), ("Link", declared), ("X-Robots-Tag", declared))
    assert page.problems == ()
    for text in (page.title, page.description, *(link.url.text for link in page.links)):
        text.encode("utf-8")


def test_the_last_of_two_content_types_decides_how_a_page_is_read() -> None:
    types = [("content-type", "text/plain; charset=gbk"), ("content-type", "text/html; charset=iso-8859-2")]
    page = read(b"<title>\xb1</title><a href=x>", *types)
    assert (page.media_type, page.charset, page.title) == ("text/html", "iso-8859-2", "ą")
    assert [link.url.target for link in page.links] == ["/dir/x"]
    assert read(b"<a href=x>", *reversed(types)).links == ()
