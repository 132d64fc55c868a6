"""Links of documents that are no pages, found while crawling: PDF, office files, books, Markdown, plain text."""

import re
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import msgspec

from gossamer.documents.config import DocumentsConfig
from gossamer.documents.kinds import FORMATS, LINKED_TYPES, Format, format_of
from gossamer.documents.limits import ReadingLimits
from gossamer.documents.said import Mark
from gossamer.extract.config import ExtractConfig
from gossamer.extract.encodings.charset import decode
from gossamer.extract.links import LinkMaker, Mention
from gossamer.model.document import Document, Findings
from gossamer.model.link import Link, LinkKind
from gossamer.model.url import Url
from gossamer.ports import Extractor

__all__ = ["PDF_READER", "DocumentLinks", "TextLinks", "link_extractors"]

PDF_READER = "pypdfium2"
"""The library that reads PDF, of the extra `documents`; the other formats need none."""

_NO_FAILURE = frozenset({Mark.WRONG_TYPE, Mark.NO_TEXT})
"""Marks that say nothing of the links."""
_ANCHOR = 200
_DESCRIPTION = 1_000

_ADDRESS = re.compile(r"https?://[^\s<>\"'`{}|\\^\[\]\x00-\x20\x7f]{3,2000}", re.IGNORECASE)
_BEHIND_A_TEMPLATE = frozenset("{<[|\\^")
_TEMPLATE = re.compile(r"[$*]|\.\.\.|\u2026|%(?![0-9A-Fa-f]{2})")
_EXAMPLE_HOST = re.compile(r"(?:.*\.)?(?:example(?:\.(?:com|org|net))?|invalid)", re.IGNORECASE)
_NO_TEXT_FOR_READERS = re.compile(r"/robots\.txt$|sitemap|urllist", re.IGNORECASE)
_TRAILING = ".,;:!?*_~'\""


def link_extractors(config: DocumentsConfig, extract: ExtractConfig) -> list[Extractor]:
    """What finds links of documents on the road; none if it is switched off."""
    if not config.links:
        return []
    types = LINKED_TYPES | frozenset(FORMATS[Format.MARKDOWN])
    if find_spec(PDF_READER) is None:
        types -= frozenset(FORMATS[Format.PDF])
    limits = ReadingLimits(max_links=min(extract.max_links, 20_000))
    return [DocumentLinks(limits, extract.anchor_text, types), TextLinks(LinkMaker(extract))]


class DocumentLinks(msgspec.Struct, frozen=True):
    """Links of PDF, office files, OpenDocument, EPUB, RTF and Markdown, and what these say about themselves.

    Links are navigation, with the format as their element. What kept a document from being read whole stands in
    the page's problems.
    """

    limits: ReadingLimits
    anchor_text: bool
    media_types: frozenset[str]
    name: str = "documents"
    isolated: bool = True
    whole: bool = True

    def extract(self, document: Document) -> Findings:
        """Say where it leads, and title, author, language, description."""
        from gossamer.documents.reading import links_of  # only a guarded process reads documents

        content = document.content if document.file is None else Path(document.file)
        declared = f"{document.media_type}; charset={document.charset}".removesuffix("; charset=")
        references, said, marks = links_of(content, document.url.text, declared, self.limits)
        element = format_of(document.media_type).value
        links = [
            Link(
                url,
                LinkKind.NAVIGATION,
                element,
                "nofollow" in reference.relation,
                reference.text[:_ANCHOR] if self.anchor_text else "",
            )
            for reference in references
            if (url := Url.parse(reference.url)) is not None
        ]
        return Findings(
            title=said.title,
            author=", ".join(said.authors),
            language=said.language,
            description=said.description[:_DESCRIPTION],
            links=tuple(links),
            problems=tuple([str(mark) for mark in marks if mark not in _NO_FAILURE]),
        )


class TextLinks:
    """Absolute addresses in plain text, by a regular expression, on the road itself.

    Left out is what only looks like an address: templates (`http://host/$name`, `http://host/<id>`), hosts without
    a dot, and those of RFC 2606. What is written for crawlers (robots files, sitemaps) is read by others.
    """

    name = "text"
    media_types = frozenset({"text/plain"})

    def __init__(self, links: LinkMaker) -> None:
        self._links = links

    def extract(self, document: Document) -> Findings:
        """Say which addresses stand in it."""
        content = document.content
        if document.listed or not (b"://" in content or b"\x00" in content):
            return Findings()
        if _NO_TEXT_FOR_READERS.search(document.url.target):
            return Findings()
        mentions = _mentions(decode(content, document.charset or "utf-8"), document.url.host)
        return Findings(links=self._links.make(mentions, document.url, "utf-8"))


def _mentions(text: str, host: str) -> Iterator[Mention]:
    for match in _ADDRESS.finditer(text):
        if text[match.end() : match.end() + 1] in _BEHIND_A_TEMPLATE:
            continue
        address = match[0].rstrip(_TRAILING)
        while address.endswith(")") and address.count(")") > address.count("("):
            address = address[:-1].rstrip(_TRAILING)
        named = re.split(r"[/?#:]", address.partition("://")[2].rpartition("@")[2], maxsplit=1)[0].lower()
        if named != host and ("." not in named or _EXAMPLE_HOST.fullmatch(named)):
            continue
        if not _TEMPLATE.search(address):
            yield Mention("text", LinkKind.NAVIGATION, address)
