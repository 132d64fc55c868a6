"""Makes a page shorter by what no reader of it looks at, so that a limit of size cuts no text away.

Pages of many megabytes are mostly scripts, styles, comments, and pictures written out in attributes (`data:`).
"""

import re

from gossamer.documents.markup.nesting import ATTRIBUTE, TAG, TAG_OR_COMMENT
from gossamer.extract.html.tokens import RAW_TEXT, end_of_raw_text

__all__ = ["without_ballast"]

_LONGEST_VALUE = 10_000
"""Bytes that are kept of an attribute: more than is read of any."""
_LONG_TAG = 2 * _LONGEST_VALUE
_MOST_RAW_TEXTS = 100_000
"""What follows so many scripts, styles and the like is left as it is."""
_UNREAD = frozenset((b"script", b"style", b"iframe", b"noembed", b"noframes"))
_DATA = re.compile(rb"ld\+json", re.IGNORECASE)


def without_ballast(content: bytes) -> bytes:
    """The page without comments and the content of scripts and styles, and with the beginning of long attributes.

    Args:
        content: in an encoding whose ASCII bytes are ASCII characters. Takes time linear in it.

    JSON-LD stays. Tags stay where they stood, so that the tree of the page remains what it was.
    """
    kept: list[bytes] = []
    done = position = 0
    for _ in range(_MOST_RAW_TEXTS):
        position, done = _stretch(content, position, done, kept)
        if position < 0:
            break
    kept.append(content[done:])
    return b"".join(kept)


def _stretch(content: bytes, position: int, done: int, kept: list[bytes]) -> tuple[int, int]:
    """Read on up to the end of the next raw text: where that is (-1: nowhere) and how far `kept` tells."""
    for step in TAG_OR_COMMENT.finditer(content, position):
        if content.startswith(b"<!--", step.start()):
            kept.append(content[done : step.start()])
            done = step.end()
            continue
        if len(step[0]) > _LONG_TAG and (tag := TAG.match(content, step.start())) is not None:
            kept.append(content[done : tag.start(2)])
            kept.append(ATTRIBUTE.sub(_shortened, tag[2]))
            done = tag.end(2)
        name = step[2]
        if name is None or name[0] == 47:
            continue
        lower = name.lower()
        if lower in RAW_TEXT:
            end = end_of_raw_text(content, lower, step.end())
            if lower in _UNREAD and not (lower == b"script" and _DATA.search(step[3])):
                kept.append(content[done : step.end()])
                done = end if end >= 0 else len(content)
            return end, done
    return -1, done


def _shortened(attribute: re.Match[bytes]) -> bytes:
    whole = attribute[0]
    if len(whole) <= _LONGEST_VALUE:
        return whole
    quote = whole[-1:] if whole[-1:] in (b'"', b"'") else b""
    return whole[:_LONGEST_VALUE] + quote
