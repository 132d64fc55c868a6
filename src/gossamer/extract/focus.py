"""Counts the words of a focused crawl's query in the visible text of pages."""

from gossamer.extract.encodings.charset import codec_of, decode
from gossamer.extract.encodings.labels import NOT_ASCII
from gossamer.extract.html.tokens import tokenize
from gossamer.extract.html.visible import visible_text
from gossamer.model.document import HTML_TYPES, Document, Findings
from gossamer.policy.ordering.focus import FIELD
from gossamer.policy.ordering.words import Query

__all__ = ["FocusExtractor"]

MOST_CONTENT = 1 << 20
"""Bytes of a document that are read for words: bounds time and memory, and says enough of its subject."""
_TURNS = 200_000


class FocusExtractor:
    """`Page.fields["focus"]` of HTML and plain text, in linear time."""

    name = "focus"
    media_types = HTML_TYPES | {"text/plain"}

    def __init__(self, query: Query) -> None:
        self._query = query

    def extract(self, document: Document) -> Findings:
        """Count the query's words in the visible text."""
        content, charset = document.content[:MOST_CONTENT], document.charset or "utf-8"
        plain = document.media_type == "text/plain"
        text = decode(content, charset) if plain else _visible(content, charset)
        length, counts = self._query.count(text)
        return Findings(fields={FIELD: [length, *counts]})


def _visible(content: bytes, charset: str) -> str:
    codec = codec_of(charset)
    if charset in NOT_ASCII:
        content, codec = decode(content, charset).encode("utf-8", "replace"), "utf_8"
    return visible_text(content, tokenize(content, _TURNS).hidden, codec)
