"""Figures in a piece of text: numbers, times, dates, codes, each known by the words beside it.

"3,482 views", "Rendered at 12:03:44", "Request 8f3a-11c0": what stands beside a figure stays, and is the same in each
row of a list and on each page of a site, so it is what a counter or clock is recognised by. A piece with its figures
taken out is its skeleton. What a sum of money is, is never taken for a counter; how long ago something was, for news
it never is.
"""

import re
from collections.abc import Iterable
from typing import NamedTuple

import xxhash

__all__ = ["FIGURE", "GONE", "Figure", "digest", "figures_of", "is_money", "skeletons", "without_ages"]

GONE = "\N{HORIZONTAL ELLIPSIS}"
"""Stands for what is ignored in a piece."""
_ONE = r"[A-Za-z_]*+[0-9][A-Za-z0-9_]*+(?:[.,:/+-][A-Za-z0-9_]++)*+"
FIGURE = re.compile(rf"(?<![A-Za-z0-9_]){_ONE}(?:[ ,.:;|/()-]{{1,3}}{_ONE})*+")
"""Numbers and codes; what has no word between is one, as a date with its time."""
_AGO = re.compile(
    r"\b(?:about |over |almost )?(?:\d+|an?|one|a few) ?"
    r"(?:s|m|h|d|sec(?:ond)?|min(?:ute)?|hour|hr|day|week|mo(?:nth)?|year|yr)s? ago\b|\bjust now\b"
    r"|\d+ ?(?:\u79d2\u949f?|\u5206\u949f?|\u4e2a?\u5c0f\u65f6|\u65f6|\u5929|\u65e5|\u5468|\u4e2a?\u6708|\u5e74)\u524d"
    r"|\u521a\u521a|\bvor (?:\d+|einer|einem) (?:Sekunde|Minute|Stunde|Tag|Woche|Monat|Jahr)e?n?\b"
    r"|\bil y a (?:\d+|une?) \w+|\bhace (?:\d+|una?) \w+",
    re.IGNORECASE,
)
"""How long ago something was, in English, Chinese, German, French and Spanish."""
_SIGNS = " ago", "just now", "Just now", "\u524d", "\u521a\u521a", "vor ", "Vor ", "l y a ", "ace "
"""One of them is in each text that says how long ago something was."""
_MONEY = re.compile(
    r"[$\u00a2-\u00a5\u20a0-\u20cf\uffe5\u5143\u5186]|\b(?:USD|EUR|GBP|CHF|CNY|RMB|JPY|INR|AUD|CAD|kr|z\u0142|K\u010d|Rs|"
    r"price|preis|prix|precio|prezzo)\b|\u4ef7",
    re.IGNORECASE,
)
_NEAR = 24
"""Characters on either side of a figure in which a currency makes it a sum of money."""
_FAR = 48
"""Characters on either side in which its words are looked for."""
_WORD = re.compile(r"[^\W\d_]+")


class Figure(NamedTuple):
    """A figure as it stands in a piece; `keys`: of the words before it and after it."""

    start: int
    end: int
    keys: tuple[int, ...]


def digest(text: str) -> int:
    """32 bits of a text."""
    return xxhash.xxh32_intdigest(text.encode("utf-8", "surrogatepass"))


def without_ages(pieces: Iterable[str]) -> list[str]:
    """The pieces with what they say of how long ago something was left out."""
    kept = list(pieces)
    text = "\n".join(kept)
    signs = [sign for sign in _SIGNS if sign in text]
    for number, piece in enumerate(kept) if signs else ():
        if any(sign in piece for sign in signs):
            kept[number] = _AGO.sub(GONE, piece)
    return kept


def skeletons(pieces: Iterable[str]) -> list[str]:
    """The pieces without their figures."""
    return FIGURE.sub("0", "\n".join(pieces)).split("\n")


def figures_of(piece: str) -> list[Figure]:
    """The figures of a piece, each with what it is known by."""
    found = [match.span() for match in FIGURE.finditer(piece)]
    ends = [0, *(end for _, end in found)]
    starts = [*(start for start, _ in found[1:]), len(piece)]
    figures = []
    for (start, end), last, following in zip(found, ends, starts, strict=False):
        said = _WORD.findall(piece, max(last, start - _FAR), start)[-2:]
        says = _WORD.findall(piece, end, min(following, end + _FAR))[:2]
        keys = []
        if said:
            keys.append(digest("<" + " ".join(said).lower()))
        if says:
            keys.append(digest(">" + " ".join(says).lower()))
        figures.append(Figure(start, end, tuple(keys)))
    return figures


def is_money(piece: str, figure: Figure) -> bool:
    """Whether a figure is a sum of money."""
    return _MONEY.search(piece, max(0, figure.start - _NEAR), figure.end + _NEAR) is not None
