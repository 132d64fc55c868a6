"""Figures in a piece of text: numbers, times, dates, codes, each known by the words beside it.

"3,482 views", "Rendered at 12:03:44", "Request 8f3a-11c0": what stands beside a figure stays, and is the same in each
row of a list and on each page of a site, so it is what a counter or clock is recognised by. A piece with its figures
taken out is its skeleton. Sums of money and numbers of versions are never taken for counters; how long ago something
was is never news.
"""

import re
from collections.abc import Iterable
from typing import NamedTuple

import xxhash

__all__ = [
    "FIGURE",
    "GONE",
    "JOINT",
    "Figure",
    "digest",
    "figures_of",
    "is_content",
    "is_next",
    "skeletons",
    "without_ages",
]

GONE = "\N{HORIZONTAL ELLIPSIS}"
"""Stands for what is ignored in a piece."""
JOINT = "\N{EM SPACE}"
"""Between a piece and a line of figures alone that stood below it: a blank over which no figure goes."""
_ONE = r"(?:[A-Za-z_]++-){0,4}+[A-Za-z_]*+[0-9][A-Za-z0-9_]*+(?:[.,:/+-][A-Za-z0-9_]++)*+"
FIGURE = re.compile(rf"(?<![A-Za-z0-9_]){_ONE}(?:[ ,.:;|/()+*=-]{{1,3}}{_ONE})*+")
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
_TOLD = re.compile(
    r"[$\u00a2-\u00a5\u20a0-\u20cf\uffe5\u5143\u5186]|\b(?:USD|EUR|GBP|CHF|CNY|RMB|JPY|INR|AUD|CAD|kr|z\u0142|K\u010d|Rs|"
    r"price|preis|prix|precio|prezzo|version|release|edition|revision)\b|\u4ef7|\u7248",
    re.IGNORECASE,
)
_DATED = re.compile(
    r"\b(?:published|updated|modified|posted|released)\b|\u53d1\u5e03|\u66f4\u65b0", re.IGNORECASE
)
_TIME = re.compile(r"\d[:h]\d\d")
_NEAR = 24
"""Characters on either side of a figure in which such a word makes it content."""
_FAR = 48
"""Characters on either side in which its words are looked for."""
_NUMBER = re.compile(r"\d{1,18}")
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
    figures: list[Figure] = []
    for (start, end), last, following in zip(found, ends, starts, strict=False):
        said = _WORD.findall(piece, max(last, start - _FAR), start)[-2:]
        says = _WORD.findall(piece, end, min(following, end + _FAR))[:2]
        keys = []
        if said:
            keys.append(digest("<" + " ".join(said).lower()))
        if says:
            keys.append(digest(">" + " ".join(says).lower()))
        if not keys and figures:
            keys = [*figures[-1].keys]
        figures.append(Figure(start, end, tuple(keys)))
    return figures


def is_content(piece: str, figure: Figure) -> bool:
    """Whether a figure says something, however often it differs: a sum of money, the number of a version, the day of
    publication."""
    end = figure.end + _NEAR
    joint = piece.find(JOINT, figure.end, end)  # what stands below tells nothing of it
    near = max(0, figure.start - _NEAR), end if joint < 0 else joint
    if _TOLD.search(piece, *near) is not None:
        return True
    return _DATED.search(piece, *near) is not None and _TIME.search(piece, *near) is None


def is_next(value: str, following: str) -> bool:
    """Whether a number went up by one: something has happened once, as an edition or a comment, and was counted."""
    old, new = _NUMBER.findall(value.replace(",", "")), _NUMBER.findall(following.replace(",", ""))
    steps = [(int(one), int(other)) for one, other in zip(old, new, strict=False) if one != other]
    return (
        len(old) == len(new)
        and len(steps) == 1
        and steps[0][1] == steps[0][0] + 1
        and _TIME.search(value) is None
    )
