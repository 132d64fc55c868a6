"""Makes text from anywhere fit to be shown: nothing in it is invisible, steers, or covers what stands around it."""

import unicodedata

MOST_MARKS = 8
"""Marks on one character that are shown; no script stacks as many."""


def visible(text: str) -> str:
    """`text` with all escaped that is not plainly printable: control characters, line ends, bidi marks.

    Directional marks reorder what stands beside them (UAX 9), so they could forge a line or a figure. Of more
    than `MOST_MARKS` combining marks in a row, which would be drawn over the lines around, the rest becomes an
    ellipsis.
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(
        char if char.isprintable() and not _steers(char) else char.encode("unicode_escape").decode()
        for char in _few_marks(text)
    )


def _few_marks(text: str) -> str:
    kept, run = [], 0
    for char in text:
        run = run + 1 if unicodedata.category(char) in ("Mn", "Me") else 0
        if run <= MOST_MARKS:
            kept.append(char)
        elif run == MOST_MARKS + 1:
            kept.append("…")
    return "".join(kept)


def _steers(char: str) -> bool:
    return char in "\u061c\u200e\u200f" or "\u202a" <= char <= "\u202e" or "\u2066" <= char <= "\u2069"
