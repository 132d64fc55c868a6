"""What PDF, office files, books and plain text link to is visited; what cannot be read is marked, no more."""

import asyncio
import contextlib
import gzip
import os
import warnings
from collections.abc import Iterator

import office_files as make
import pytest
from small_site import Answer, Site

import gossamer
from gossamer.documents.said import Mark
from gossamer.inspect.archive.link_graph import export_links
from gossamer.inspect.inspection import inspect

pytestmark = pytest.mark.slow

ODF = '<office:text><text:p><text:a xlink:href="{}">x</text:a></text:p></office:text>'
WORD = '<w:p><w:hyperlink r:id="l0"><w:r><w:t>x</w:t></w:r></w:hyperlink></w:p>'
WANTED = ["pdf", "unknown", "docx", "zip", "odt", "epub", "rtf", "markdown", "text"]


@contextlib.contextmanager
def site(files: dict[str, tuple[str, bytes]], *, coding: str = "") -> Iterator[tuple[str, dict[str, int]]]:
    """A site of these files by path, and how often each path was asked for. `{site}` in them is its address."""
    asked: dict[str, int] = {}

    def answer(_: str, path: str, __: object) -> Answer:
        path = path[1:]
        asked[path] = asked.get(path, 0) + 1
        kind, body = files.get(path, ("text/html", b"<p>a leaf"))
        status = 200 if path in files or path.startswith("from-") else 404
        if not coding or kind == "text/html":
            return status, {"Content-Type": kind}, body
        return status, {"Content-Type": kind, "Content-Encoding": coding}, gzip.compress(body, 1)

    with Site(answer) as served:
        yield served.address, asked


def index(*names: str) -> tuple[str, bytes]:
    return "text/html", "".join(f'<a href="/{name}">x</a>' for name in names).encode()


async def pages(address: str, **options: object) -> dict[str, gossamer.CrawledPage]:
    return {
        page.url.removeprefix(address): page
        async for page in gossamer.crawl(address, **options)
        if page.status == 200
    }


def test_pages_that_only_documents_link_to_are_visited(tmp_path) -> None:
    files: dict[str, tuple[str, bytes]] = {}
    with site(files) as (address, asked):
        office = "application/vnd.openxmlformats-officedocument."
        oasis = "application/vnd.oasis.opendocument."
        files |= {
            "a.pdf": ("application/pdf", make.pdf("words", f"{address}from-pdf")),
            "b": ("application/octet-stream", make.pdf("words", f"{address}from-unknown")),
            "c.docx": (office + "wordprocessingml.document", make.docx(WORD, [f"{address}from-docx"])),
            "d.docx": ("application/zip", make.docx(WORD, [f"{address}from-zip"])),
            "e.odt": (oasis + "text", make.odf("text", ODF.format(f"{address}from-odt"))),
            "f.epub": ("application/epub+zip", make.epub(f'<p><a href="{address}from-epub">x</a></p>')),
            "g.rtf": (
                "application/rtf",
                rb'{\rtf1 {\field{\*\fldinst HYPERLINK "%bfrom-rtf"}{\fldrslt x}}}' % address.encode(),
            ),
            "h.md": ("text/markdown", b"See [x](from-markdown)."),
            "i.txt": ("text/plain", f"See {address}from-text.\n{address}<id> {address}$x".encode()),
        }
        files[""] = index(*files)
        got = asyncio.run(pages(address, min_delay=0, folder=tmp_path / "c"))
        graph = tmp_path / "graph"
        with inspect(tmp_path / "c") as inspection:
            export_links(inspection, graph)
            assert str(inspection.ended) == "finished"
        with gzip.open(graph / "pages.tsv.gz", "rt") as lines:
            assert f"{address}from-epub" in lines.read()
        with gzip.open(graph / "page_edges.tsv.gz", "rt") as lines:
            assert len(lines.readlines()) == len(files) - 1 + len(WANTED)
    assert {f"from-{name}" for name in WANTED} == {name for name in asked if name.startswith("from-")}
    assert set(got) == {"", *files, *[f"from-{name}" for name in WANTED]}
    assert got["from-odt"].via == f"{address}e.odt"
    assert got["from-odt"].hops == "LL"
    assert (got["c.docx"].page.title, got["c.docx"].page.author) == ("A title", "Ada L")
    assert all(not page.page.problems for page in got.values())


def test_switched_off_nothing_is_read() -> None:
    files: dict[str, tuple[str, bytes]] = {}
    with site(files) as (address, asked):
        files["a.pdf"] = "application/pdf", make.pdf("words", f"{address}from-pdf")
        files["b.txt"] = "text/plain", f"{address}from-text".encode()
        files[""] = index(*files)
        asyncio.run(pages(address, min_delay=0, config={"documents": {"links": False}}))
    assert set(asked) == {"", "robots.txt", "sitemap.xml", "a.pdf", "b.txt"}


def test_hostile_documents_cost_a_mark_each() -> None:
    body = "<w:p><w:r><w:t>" + "A" * (70 << 20) + "</w:t></w:r></w:p>"
    files = {
        "bomb.docx": ("application/zip", make.docx(body)),
        "locked.pdf": ("application/pdf", make.pdf("secret", encrypted=True)),
        "garbage.pdf": ("application/pdf", b"%PDF-1.7\n" + bytes(range(256)) * 1_000),
        "good.pdf": ("application/pdf", b""),
    }
    with site(files) as (address, asked):
        files["good.pdf"] = "application/pdf", make.pdf("words", f"{address}from-pdf")
        files[""] = index(*files)
        got = asyncio.run(pages(address, min_delay=0))
    assert got["bomb.docx"].page.problems == ("documents: expands", "documents: cut")
    assert got["locked.pdf"].page.problems == ("documents: encrypted",)
    assert got["garbage.pdf"].page.problems == ("documents: broken",)
    assert "from-pdf" in asked


@pytest.mark.parametrize("coding", ["", "gzip"])
def test_of_a_long_document_the_whole_is_read_from_its_file(coding: str) -> None:
    files: dict[str, tuple[str, bytes]] = {}
    with site(files, coding=coding) as (address, asked):
        long = make.docx(WORD, [f"{address}from-docx"], **{"word/media/x.bin": os.urandom(1_500_000)})
        files["a"] = "application/octet-stream", long
        files[""] = index("a")
        got = asyncio.run(pages(address, min_delay=0, config={"extract": {"max_content": 1 << 20}}))
    # What was packed once more would have to be written anew.
    assert ("from-docx" in asked) is not bool(coding)
    left = ["extract: what lies beyond 1048576 bytes was left unread", "documents: broken"]
    assert [str(problem) for problem in got["a"].page.problems] == (left if coding else [])


def test_what_is_written_for_crawlers_is_no_text() -> None:
    files: dict[str, tuple[str, bytes]] = {}
    with site(files) as (address, asked):
        files["robots.txt"] = "text/plain", f"User-agent: *\n# {address}from-robots".encode()
        files[""] = index("robots.txt")
        asyncio.run(pages(address, min_delay=0))
    assert "from-robots" not in asked


def test_a_page_says_what_its_document_says() -> None:
    text = "A sentence about looms, long enough to be the text of a page. " * 12
    page = (
        f"<title>Looms</title><nav><a href=/>Home</a></nav><main><h1>Looms</h1><p>{text}</p></main>"
        '<script type="application/ld+json">{"@type": "Article"}</script>'
    )

    async def main(address: str) -> list[gossamer.CrawledPage]:
        kept = []
        async for one in gossamer.crawl(address, min_delay=0):
            if one.url.endswith((".html", ".pdf")):
                assert await asyncio.to_thread(lambda one=one: one.document) is one.document
                kept.append(one)
        return sorted(kept, key=lambda one: one.url)

    files = {"a.html": ("text/html", page.encode()), "b.pdf": ("application/pdf", make.pdf("of a PDF"))}
    with site(files) as (address, _):
        files[""] = index(*files)
        html, pdf = asyncio.run(main(address))
    assert html.main_text.count("sentence") == 12
    assert "# Looms" in html.markdown
    assert html.json_ld == ({"@type": "Article"},)
    assert pdf.main_text == "of a PDF"
    again = gossamer.CrawledPage(pdf.url, 200, pdf.headers, pdf.page, pdf.content[:40], 0, "")
    assert again.document is not None
    assert Mark.BROKEN in again.document.marks, "also without its crawl"


def test_in_a_page_that_is_nested_too_deeply_selectors_find_nothing() -> None:
    files = {"": ("text/html", b"<div>" * 200_000 + b"<h1>x</h1>")}
    with site(files) as (address, _), warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        (page,) = asyncio.run(pages(address, min_delay=0)).values()
        assert page.css("h1") == page.xpath("//h1") == []
        assert page.first("h1") is None
    assert [(one.category, one.filename) for one in warned] == [(gossamer.UnreadableWarning, __file__)]
