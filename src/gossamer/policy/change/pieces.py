"""The text of a page as a row of pieces: one for each block of markup, row of a table or line of plain text.

A handful of passes over the whole text in C; what is done for each tag in Python would cost several times as much.
"""

import re
from html import unescape

__all__ = ["LONGEST", "pieces_of", "plain_pieces"]

LONGEST = 512 << 10
"""Characters of markup that the road looks at, scripts and the like left out."""

_HIDDEN = re.compile(r"<(?:!--|(script|style|svg|template)(?=[\s>/]))", re.IGNORECASE | re.ASCII)
_REST = r"(?:[^<>=]++|=\s*+(?:\"[^\"]*+\"|'[^']*+')?+)*+>"
"""Of a tag; a `>` in a quoted value does not end it, a `<` outside one does, so that no text takes quadratic time."""
_INLINE = re.compile(
    r"</?+(?:t[dh]|s(?:pan|trong|u[bp]|mall|amp)?+|code|em|i(?:mg|ns)?+|b(?:ig)?+|a|u|q|font|time|label|abbr|cite"
    r"|d(?:ata|fn|el)|kbd|mark|nobr|var|wbr)(?=[\s/>])" + _REST,
    re.IGNORECASE | re.ASCII,
)
"""A tag at which no piece ends."""
_TAG = rf"<[/!?a-z]{_REST}"
_BLOCKS = re.compile(rf"{_TAG}(?:\s*+{_TAG})*+", re.IGNORECASE | re.ASCII)
_LETTER = re.compile(r"[^\W\d_]")
_FIGURE = re.compile(r"\d")
_SHORT = 64
"""Characters."""


def pieces_of(markup: str, most: int = LONGEST) -> list[str]:
    """The visible text of a page: pieces without line feeds, with single spaces, none of them empty.

    Args:
        markup: HTML or XML, decoded.
        most: characters of it that are looked at, scripts and the like left out.
    """
    text = _visible(markup)[:most].replace("\n", " ")
    text = _BLOCKS.sub("\n", _INLINE.sub(" ", text))
    return plain_pieces(unescape(text) if "&" in text else text)


def plain_pieces(text: str) -> list[str]:
    """The lines of a text. One without any letter belongs to the line before: alone a figure says nothing. Short
    ones of signs alone are ornament."""
    pieces: list[str] = []
    letter, figure = _LETTER.search, _FIGURE.search
    for line in text.split("\n"):
        words = line.split()
        if not words:
            continue
        piece = " ".join(words)
        if len(piece) >= _SHORT or letter(piece) is not None:
            pieces.append(piece)
        elif figure(piece) is not None:
            if pieces:
                pieces[-1] += " " + piece
            else:
                pieces.append(piece)
    return pieces


def _visible(markup: str) -> str:
    """The markup without comments, scripts, styles, drawings and templates."""
    kept, at = [], 0
    while (begin := _HIDDEN.search(markup, at)) is not None:
        kept.append(markup[at : begin.start()])
        end = "-->" if begin[1] is None else f"</{begin[1]}"
        at = markup.find(end, begin.end())
        if at < 0:
            return "".join(kept)
        at += 3 if begin[1] is None else 0
    kept.append(markup[at:])
    return "".join(kept)
