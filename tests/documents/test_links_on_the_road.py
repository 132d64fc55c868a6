"""Which addresses in plain text are links, and when documents are read on the road at all."""

import pytest

from gossamer.documents import extractor as extractor_module
from gossamer.documents.config import DocumentsConfig
from gossamer.documents.extractor import TextLinks, link_extractors
from gossamer.extract.config import ExtractConfig
from gossamer.extract.links import LinkMaker
from gossamer.model.document import Document, Findings
from gossamer.model.exchange import Headers
from gossamer.model.url import Url


def found(text: str | bytes, url: str = "http://site.test/notes.txt", **more: object) -> list[str]:
    content = text if isinstance(text, bytes) else text.encode()
    place = Url.parse(url)
    assert place is not None
    findings: Findings = TextLinks(LinkMaker(ExtractConfig())).extract(
        Document(
            place,
            "text/plain",
            str(more.get("charset", "utf-8")),
            Headers([]),
            content,
            bool(more.get("listed")),
        )
    )
    return [link.url.text for link in findings.links]


@pytest.mark.parametrize(
    ("text", "links"),
    [
        ("See http://a.test/x, and (https://a.test/y_(z)).", ["http://a.test/x", "https://a.test/y_(z)"]),
        ('<http://a.test/x> "http://a.test/y" http://a.test/x.', ["http://a.test/x", "http://a.test/y"]),
        ("HTTP://A.test:8080/x", ["http://a.test:8080/x"]),
        ("http://a.test/caf\u00e9", ["http://a.test/caf%C3%A9"]),
        ("http://site.test/x http://localhost/x http://user@host/x", ["http://site.test/x"]),
        ("/x ./y www.a.test/x ftp://a.test/x mailto:x@a.test", []),
        ("http://a.test/<id> http://a.test/{x} http://a.test/$x http://a.test/*/y http://a.test/%s", []),
        (
            "http://a.test/... http://example.com/x https://www.example.org http://x.invalid/",
            ["http://a.test/"],
        ),
        ("http:// https://. http://[", []),
    ],
)
def test_addresses_in_plain_text(text: str, links: list[str]) -> None:
    assert found(text) == links


def test_text_of_other_encodings() -> None:
    assert found("http://a.test/x".encode("utf-16"), charset="utf-16le") == ["http://a.test/x"]


def test_what_is_written_for_crawlers_is_left_to_others() -> None:
    text = "http://a.test/x"
    for name in ("robots.txt", "sitemap-1.txt", "urllist.txt"):
        assert found(text, f"http://site.test/{name}") == []
    assert found(text, listed=True) == []


def test_a_long_text_is_read_in_linear_time() -> None:
    assert 0 < len(found("http://a.test/" * 100_000)) < 2_000
    assert len(found("http://a.test/x " * 100_000 + "(" * 100_000 + "http://a.test/y" + ")" * 1_000)) == 2


def test_without_the_library_only_pdf_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(extractor_module, "PDF_READER", "no_such_library")
    documents, text = link_extractors(DocumentsConfig(), ExtractConfig())
    assert "application/pdf" not in documents.media_types
    assert {"application/epub+zip", "application/rtf", "text/markdown"} <= documents.media_types
    assert text.media_types == {"text/plain"}
    assert link_extractors(DocumentsConfig(links=False), ExtractConfig()) == []
