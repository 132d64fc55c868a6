"""The text of a page as a row of pieces: one for each block of markup, row of a table or line of plain text.

A handful of passes over the whole text in C; what is done for each tag in Python would cost several times as much.
"""

import re
from html import unescape

from gossamer.policy.change.figures import JOINT
from gossamer.policy.change.places import places_of

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


def pieces_of(markup: str, most: int = LONGEST, places: list[str] | None = None) -> list[str]:
    """The visible text of a page: pieces without line feeds, with single spaces, none of them empty.

    Args:
        markup: HTML or XML, decoded.
        most: characters of it that are looked at, scripts and the like left out.
        places: takes for each piece the element in which it begins, as `places_of` names it.
    """
    text = _INLINE.sub(" ", _visible(markup)[:most].replace("\n", " "))
    elements = places_of(_BLOCKS.findall(text)) if places is not None else []
    lines = _BLOCKS.sub("\n", text).split("\n")
    if "&" in text:
        lines = [unescape(line) if "&" in line else line for line in lines]
    if places is None:
        return plain_pieces("\n".join(lines))
    of_line = [
        element for line, element in zip(lines, elements, strict=True) for _ in range(line.count("\n") + 1)
    ]
    numbers: list[int] = []
    pieces = plain_pieces("\n".join(lines), numbers)
    places += [of_line[number] for number in numbers]
    return pieces


def plain_pieces(text: str, numbers: list[int] | None = None) -> list[str]:
    """The lines of a text. One without any letter belongs to the line before, behind a `JOINT`: alone a figure says
    nothing. Short ones of signs alone are ornament. `numbers` takes that of the line in which each begins."""
    pieces: list[str] = []
    letter, figure = _LETTER.search, _FIGURE.search
    for number, line in enumerate(text.split("\n")):
        words = line.split()
        if not words:
            continue
        piece = " ".join(words)
        if len(piece) < _SHORT and letter(piece) is None:
            if figure(piece) is None:
                continue
            if pieces:
                pieces[-1] += JOINT + piece
                continue
        pieces.append(piece)
        if numbers is not None:
            numbers.append(number)
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
