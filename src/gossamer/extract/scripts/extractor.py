"""Speculative links of pages, scripts and data."""

from collections.abc import Iterable

from gossamer.extract.config import ExtractConfig
from gossamer.extract.encodings.charset import codec_of, decode
from gossamer.extract.encodings.labels import NOT_ASCII
from gossamer.extract.links import LinkMaker, Mention
from gossamer.extract.scripts.pages import in_page
from gossamer.extract.scripts.strings import in_source
from gossamer.model.document import HTML_TYPES, SCRIPT_TYPES, Document, Findings
from gossamer.policy.speculation.form import Where

__all__ = ["ScriptExtractor"]

_DATA_TYPES = frozenset({"application/json", "application/ld+json", "application/manifest+json", "text/json"})


class ScriptExtractor:
    """Addresses in strings that a browser would only come to know by running something, in linear time."""

    name = "scripts"
    media_types = HTML_TYPES | SCRIPT_TYPES | _DATA_TYPES

    def __init__(self, config: ExtractConfig) -> None:
        # A memo of its own: what is guessed must not push out what stands on every page.
        self._links = LinkMaker(config)

    def extract(self, document: Document) -> Findings:
        """Say what the document may lead to."""
        return Findings(
            links=self._links.make(self._mentions(document), document.url, document.charset or "utf-8")
        )

    def _mentions(self, document: Document) -> Iterable[Mention]:
        content, charset = document.content, document.charset or "utf-8"
        if document.media_type not in HTML_TYPES:
            where = Where.FILE if document.media_type in SCRIPT_TYPES else Where.DATA_FILE
            return in_source(decode(content, charset), where)
        if charset in NOT_ASCII:
            return in_page(decode(content, charset).encode("utf-8", "replace"), "utf_8")
        return in_page(content, codec_of(charset))
