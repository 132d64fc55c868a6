"""The text of a capture as a row of pieces, whatever kind of document it is."""

import re
from collections.abc import Callable

from gossamer.extract.encodings.charset import charset_of, decode
from gossamer.extract.media_type import declared_type, media_type
from gossamer.fetch.decoding import Decoded
from gossamer.inspect.archive.captures import Capture
from gossamer.inspect.archive.lookup import content_of
from gossamer.inspect.inspection import Inspection
from gossamer.model.errors import UnreadableError
from gossamer.model.exchange import Exchange
from gossamer.policy.change.pieces import pieces_of, plain_pieces

__all__ = ["MOST_MARKUP", "DocumentText", "pieces_in"]

MOST_MARKUP = 32 << 20
"""Characters of markup that are compared."""
DocumentText = Callable[[Exchange, Decoded], str]
"""What a document says that is no text itself, as PDF: empty if that cannot be told."""
_PLAIN = ("text/", "application/javascript", "application/ecmascript")
_JSON = re.compile(r"(?<=[,{\[])(?=\S)|(?=[\]}])")


def pieces_in(inspection: Inspection, capture: Capture, text_of: DocumentText | None = None) -> list[str]:
    """What a capture says.

    Raises:
        UnreadableError: it does not decode, or is no text and `text_of` finds none.
    """
    decoded = content_of(inspection, capture)
    return pieces_of_content(capture.exchange, decoded, text_of)


def pieces_of_content(exchange: Exchange, decoded: Decoded, text_of: DocumentText | None = None) -> list[str]:
    """The same of a response whose content codings are undone.

    Raises:
        UnreadableError: as `pieces_in`.
    """
    content, declared = decoded.content, declared_type(exchange.headers)
    kind = media_type(declared, content)
    if not content:
        return []
    if kind in ("text/html", "application/xhtml+xml") or kind.endswith(("/xml", "+xml")):
        return pieces_of(_decoded(exchange, content, declared, kind), MOST_MARKUP)
    if kind == "application/json" or kind.endswith("+json"):
        return plain_pieces(_JSON.sub("\n", _decoded(exchange, content, declared, kind)))
    if kind.startswith(_PLAIN):
        return plain_pieces(_decoded(exchange, content, declared, kind))
    text = text_of(exchange, decoded) if text_of is not None else ""
    if not text:
        raise UnreadableError(f"{exchange.url.text}: {kind} has no text that could be compared.")
    return plain_pieces(text)


def _decoded(exchange: Exchange, content: bytes, declared: str, kind: str) -> str:
    return decode(content, charset_of(content, declared, kind, exchange.url.host.rpartition(".")[2]))
