"""Text from anywhere, made fit for SVG: nothing invisible, nothing that steers, no wider than its place."""

import html
import unicodedata

from gossamer.words.visible import visible

_NARROW = frozenset("fijlrtI.,:;|!'()[]/\\ \"`-")
_BROAD = frozenset("mwMW@%&")


def escaped(text: str) -> str:
    """`text` for HTML and SVG, as content or as a quoted attribute; see `visible`."""
    return html.escape(visible(text), quote=True)


def text_width(text: str, size: float = 12.0) -> float:
    """About how many pixels `text` takes in an ordinary sans-serif font of `size`; rather too many."""
    return size * sum(map(_em, visible(text)))


def _em(char: str) -> float:
    if char.isascii():
        if char in _NARROW:
            return 0.36
        if char in _BROAD:
            return 0.94
        return 0.7 if char.isupper() else 0.58
    if unicodedata.east_asian_width(char) in "WF":
        return 1.02
    return 0.0 if unicodedata.combining(char) else 0.72


def fit(text: str, width: float, size: float = 12.0) -> str:
    """As much of `visible(text)` as fits into `width` pixels; what is left out becomes an ellipsis.

    Both ends of a name or a URL tell more than its middle.
    """
    text = visible(text)
    if text_width(text, size) <= width:
        return text
    room = width - 0.95 * size
    head, tail = 0, len(text)
    while head < tail:
        front = 2 * head <= len(text) - tail  # one from the end for two from the beginning
        char = text[head] if front else text[tail - 1]
        room -= size * _em(char)
        if room < 0:
            break
        if front:
            head += 1
        else:
            tail -= 1
    return f"{text[:head]}\u2026{text[tail:]}"
