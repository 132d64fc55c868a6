"""The text of a capture as a row of pieces, whatever kind of document it is."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from gossamer.engine.page_text import page_pieces
from gossamer.extract.fields.selector import Selector
from gossamer.extract.media_type import declared_type, media_type
from gossamer.fetch.decoding import Decoded
from gossamer.inspect.archive.captures import Capture
from gossamer.inspect.archive.lookup import content_of
from gossamer.inspect.inspection import Inspection
from gossamer.model.errors import UnreadableError
from gossamer.model.exchange import Exchange
from gossamer.policy.change.pieces import plain_pieces
from gossamer.policy.change.slots import Placed

__all__ = ["MOST_MARKUP", "READ", "DocumentText", "Reading", "pieces_in", "placed_in"]

MOST_MARKUP = 32 << 20
"""Characters of markup that are compared."""
DocumentText = Callable[[Exchange, Decoded], str]
"""What a document says that is no text itself, as PDF: empty if that cannot be told."""


class Reading(NamedTuple):
    """How captures are read: what documents of other kinds say, if they are read, and what is left out of pages."""

    text_of: DocumentText | None = None
    ignored: Sequence[Selector] = ()


READ = Reading()


def pieces_in(inspection: Inspection, capture: Capture, reading: Reading) -> list[str]:
    """What a capture says.

    Raises:
        UnreadableError: it does not decode, or is no text and its `text_of` finds none.
    """
    return _pieces(inspection, capture, reading, None)


def placed_in(inspection: Inspection, capture: Capture, reading: Reading) -> Placed:
    """What a capture says, and where on the page; errors as those of `pieces_in`."""
    places: list[str] = []
    return Placed(_pieces(inspection, capture, reading, places), places)


def _pieces(
    inspection: Inspection, capture: Capture, reading: Reading, places: list[str] | None
) -> list[str]:
    decoded, exchange = content_of(inspection, capture), capture.exchange
    pieces = page_pieces(
        decoded.content, exchange.headers, exchange.url.host, MOST_MARKUP, reading.ignored, places
    )
    if pieces is not None:
        return pieces
    text = reading.text_of(exchange, decoded) if reading.text_of is not None else ""
    if not text:
        kind = media_type(declared_type(exchange.headers), decoded.content)
        raise UnreadableError(f"{exchange.url.text}: {kind} has no text that could be compared.")
    return plain_pieces(text)
