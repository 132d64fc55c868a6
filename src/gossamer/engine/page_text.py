"""The text of a document as pieces, by its bytes and head: on the road, and for whoever reads the archive."""

import re
from collections.abc import Sequence

from gossamer.extract.encodings.charset import charset_of, decode
from gossamer.extract.fields.selector import Selector, without
from gossamer.extract.media_type import declared_type, media_type
from gossamer.model.document import HTML_TYPES
from gossamer.model.exchange import Headers
from gossamer.policy.change.pieces import LONGEST, pieces_of, plain_pieces

__all__ = ["page_pieces"]

_PLAIN = ("text/", "application/javascript", "application/ecmascript")
_JSON = re.compile(r"(?<=[,{\[])(?=\S)|(?=[\]}])")


def page_pieces(
    content: bytes,
    headers: Headers,
    host: str,
    most: int = LONGEST,
    ignored: Sequence[Selector] = (),
    places: list[str] | None = None,
) -> list[str] | None:
    """What a document says, as `policy.change` compares it; `None` if it is neither markup nor plain text.

    Args:
        content: content codings undone.
        headers: of its response.
        host: it came from; where nothing else tells, its domain does which encoding is likely.
        most: characters of markup that are looked at, scripts and the like left out.
        ignored: elements that are left out of HTML.
        places: takes, for each piece of markup, where it stands (`policy.change.places`).
    """
    if not content:
        return []
    declared = declared_type(headers)
    kind = media_type(declared, content)
    markup = kind in HTML_TYPES or kind.endswith(("/xml", "+xml"))
    json = kind == "application/json" or kind.endswith("+json")
    if not (markup or json or kind.startswith(_PLAIN)):
        return None
    text = decode(content, charset_of(content, declared, kind, host.rpartition(".")[2]))
    if markup:
        return pieces_of(without(text, ignored) if kind in HTML_TYPES else text, most, places)
    return plain_pieces(_JSON.sub("\n", text) if json else text)
