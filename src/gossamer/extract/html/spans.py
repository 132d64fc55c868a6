"""Where the start tags of an HTML document stand, for whoever changes addresses and leaves every other byte as it is.

The scan of `tokens` is for speed and forgets places; this one visits every tag, by the same grammar, and is
four times as slow.
"""

from collections.abc import Iterator

import msgspec

from gossamer.extract.html.foreign import end_of_other
from gossamer.extract.html.tag_grammar import TAG_NAME, Tokens, end_of_attributes, end_of_declaration
from gossamer.extract.html.tokens import RAW_TEXT, end_of_raw_text

__all__ = ["TagSpan", "tag_spans"]

_SLASH = ord("/")
_FOREIGN = b"svg", b"math"


class TagSpan(msgspec.Struct, frozen=True, gc=False):
    """A start tag and where it stands.

    Attributes:
        name: lower case.
        start: of its `<`.
        attributes: where they begin.
        end: behind its `>`; its attributes end one before.
        text_end: of an element of raw text, where its content, which begins at `end`, ends; `end` of any other.
        foreign: stands inside `svg` or `math`.
    """

    name: bytes
    start: int
    attributes: int
    end: int
    text_end: int
    foreign: bool = False


def tag_spans(content: bytes, *, xml: bool = False) -> Iterator[TagSpan]:
    """The start tags in order, in linear time.

    Args:
        content: in an encoding whose ASCII bytes are ASCII characters.
        xml: it is XML, in which no element is raw text and `<![CDATA[` is what it says.
    """
    at, depth, steps = 0, 0, Tokens()
    while (at := content.find(b"<", at)) >= 0:
        named = TAG_NAME.match(content, at)
        if named is None:
            at = end_of_other(content, at) if xml or depth else end_of_declaration(content, at)
            if at < 0:
                return
            continue
        end = end_of_attributes(content, named.end(), steps)
        if end < 0:
            return
        name, closing, whole = named[1].lower(), content[at + 1] == _SLASH, content[end - 2] == _SLASH
        if closing:
            depth = max(0, depth - (name in _FOREIGN))
            at = end
            continue
        text_end = _end_of_text(content, name, end, xml=xml, foreign=depth > 0, whole=whole)
        yield TagSpan(name, at, named.end(), end, text_end, depth > 0)
        depth += name in _FOREIGN and not whole
        at = text_end


def _end_of_text(content: bytes, name: bytes, end: int, *, xml: bool, foreign: bool, whole: bool) -> int:
    """Where raw text ends; of a style or a script within XML or a drawing, where the next markup begins."""
    if xml or foreign:
        if whole or name not in (b"style", b"script"):
            return end
        stop = content.find(b"</" + name, end)
    elif name in RAW_TEXT:
        stop = end_of_raw_text(content, name, end)
    elif name == b"plaintext":
        stop = -1
    else:
        return end
    return len(content) if stop < 0 else stop
