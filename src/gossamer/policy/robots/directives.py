"""Merges what a page asks of robots in its meta elements and `X-Robots-Tag` fields.

There is no standard; this follows what the large search engines document. Several statements add up:
the most restrictive of all counts, whether made for every robot or for ours by name.
"""

import re
from collections.abc import Iterable

from gossamer.model.page import Directives
from gossamer.policy.visits.http_date import parse_http_date

NO_DIRECTIVES = Directives()

LONGEST_DATE = 64
MOST_COMMAS = 3
"""Commas of the longest date looked for; a limit, so that a header of nothing else stays cheap."""

_UNAVAILABLE = "unavailable_after"
_WITH_VALUE = frozenset({_UNAVAILABLE, "max-snippet", "max-image-preview", "max-video-preview"})
_WORD = re.compile(
    r"all|index|follow|none|noindex|nofollow|noarchive|nocache|nosnippet|notranslate|noimageindex"
    r"|indexifembedded|noodp|noydir|noai|noimageai"
)
_PREFIX = re.compile(r"([A-Za-z][A-Za-z0-9_.\-]*|\*)[ \t]*:")
_BETWEEN_WORDS = re.compile(r"[\s;]+")


class _Wishes:
    """What was asked for so far."""

    __slots__ = ("dates", "words")

    def __init__(self) -> None:
        self.words: set[str] = set()
        self.dates: list[str] = []

    def read(self, text: str, listeners: frozenset[str] | None) -> None:
        """Take in one value.

        Args:
            text: directives, separated by commas.
            listeners: names that a part may be addressed to for us to heed it; `None` if
                `name:` in front of a part has no such meaning, as in a meta element.
        """
        heed = True
        open_date: list[str] | None = None
        for piece in text.split(","):
            name, part = _prefixed(piece)
            if name and name not in _WITH_VALUE and listeners is not None:
                heed = name in listeners
                open_date = None
                name, part = _prefixed(part)
            words = [word.lower() for word in _BETWEEN_WORDS.split(part) if word]
            if name == _UNAVAILABLE:
                open_date = [part]
                if heed:
                    self.dates.append("")
            elif name in _WITH_VALUE or any(map(_WORD.fullmatch, words)):
                open_date = None
            elif open_date is not None:
                # A date has commas of its own: `Friday, 25-Jun-10 15:00:00 GMT`.
                open_date = [*open_date, part] if len(open_date) <= MOST_COMMAS else None
            if heed and open_date is not None:
                self.dates[-1] = ", ".join(open_date)[:LONGEST_DATE]
            elif heed:
                self.words.update(words)


def _prefixed(piece: str) -> tuple[str, str]:
    """Split `name: rest`; without a name, or where `name:` is part of a time, the name is empty."""
    piece = piece.strip()
    prefix = _PREFIX.match(piece)
    return (prefix[1].lower(), piece[prefix.end() :].strip()) if prefix else ("", piece)


def merge_directives(
    meta: Iterable[tuple[str, str]], x_robots: Iterable[str], product_token: str, now: float = 0.0
) -> Directives:
    """What holds for us of everything a page says.

    Args:
        meta: (name in lower case, content) of meta elements, as `Findings.robots`.
        x_robots: values of all `X-Robots-Tag` fields, each perhaps led by `botname:`.
        product_token: our name; parts for other robots are ignored.
        now: wall time, to place dates whose year has two digits.

    Returns:
        The restrictions. Of several dates the earliest that can be read stands, else the first.
    """
    ours = frozenset({product_token.partition("/")[0].lower(), "robots", "*"})
    wishes = _Wishes()
    for name, content in meta:
        if name in ours:
            wishes.read(content, None)
    for value in x_robots:
        wishes.read(value, ours)
    if not wishes.words and not wishes.dates:
        return NO_DIRECTIVES
    everything = "none" in wishes.words
    return Directives(
        noindex=everything or "noindex" in wishes.words,
        nofollow=everything or "nofollow" in wishes.words,
        noarchive=not wishes.words.isdisjoint({"noarchive", "nocache"}),
        unavailable_after=_earliest(wishes.dates, now),
    )


def _earliest(dates: list[str], now: float) -> str:
    read = [(moment, date) for date in dates if (moment := parse_http_date(date, now)) is not None]
    if read:
        return min(read)[1]
    return dates[0] if dates else ""
