"""XML of a part as a stream of starts, ends and text, in memory that does not grow with it.

Expat, without external entities; a document that declares entities of its own is given up at the first one,
because expanding them is how a small file becomes a large one. Names come as `{uri}` local pairs in one
string, `uri local`.
"""

from collections.abc import Callable, Iterable
from xml.parsers import expat

__all__ = ["DamagedXmlError", "EntitiesError", "parse"]

Start = Callable[[str, dict[str, str]], None]
End = Callable[[str], None]
Text = Callable[[str], None]

_DEEPEST = 2_000


class EntitiesError(Exception):
    """The document declares entities of its own; reading ended there."""


class DamagedXmlError(Exception):
    """The document is not well-formed, or nested absurdly deep; what came before was handed out."""


def parse(pieces: Iterable[bytes], start: Start, end: End, text: Text) -> None:
    """Hand out what the document holds, in order.

    Args:
        pieces: of the document.
        start: called with name and attributes.
        end: called with the name.
        text: called with character data, in one call or several.

    Raises:
        EntitiesError: see there.
        DamagedXmlError: see there.
    """
    # With a list of entities refused, expat has no other way to make much of little.
    parser = expat.ParserCreate(namespace_separator=" ")  # nosec
    parser.SetParamEntityParsing(expat.XML_PARAM_ENTITY_PARSING_NEVER)
    parser.buffer_text = True
    parser.buffer_size = 64 << 10
    depth = 0

    def opened(name: str, attributes: dict[str, str]) -> None:
        nonlocal depth
        depth += 1
        if depth > _DEEPEST:
            raise DamagedXmlError("nested too deep")
        start(name, attributes)

    def closed(name: str) -> None:
        nonlocal depth
        depth -= 1
        end(name)

    def declared(*_: object) -> None:
        raise EntitiesError("the document declares entities")

    parser.StartElementHandler = opened
    parser.EndElementHandler = closed
    parser.CharacterDataHandler = text
    parser.EntityDeclHandler = declared
    try:
        for piece in pieces:
            parser.Parse(piece, False)
        parser.Parse(b"", True)
    except expat.ExpatError as error:
        raise DamagedXmlError(str(error)) from error
    except (ValueError, LookupError) as error:  # an encoding that Python does not have
        raise DamagedXmlError(str(error)) from error
