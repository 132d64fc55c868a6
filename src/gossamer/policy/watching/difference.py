"""The difference between two texts as it is shown: what went, what came, and what stands around it."""

from collections.abc import Sequence
from typing import Literal

import msgspec

from gossamer.policy.change.alignment import Hunk

__all__ = ["Line", "Place", "difference", "plain"]

CONTEXT = 2
"""Pieces shown before and after what differs."""
MOST_PLACES = 20
MOST_LINES = 60
"""Of one place."""
LONGEST_LINE = 600


class Line(msgspec.Struct, frozen=True, array_like=True):
    """One piece of text; `sign`: `-` it went, `+` it came, ` ` it stayed."""

    sign: Literal["-", "+", " "]
    text: str


class Place(msgspec.Struct, frozen=True):
    """Where two texts differ, with what stands around.

    Attributes:
        lines: in order.
        more: lines that are not shown.
    """

    lines: tuple[Line, ...]
    more: int = 0


def difference(before: Sequence[str], after: Sequence[str], hunks: Sequence[Hunk]) -> tuple[Place, ...]:
    """The places that differ, at most `MOST_PLACES`."""
    places = []
    for hunk in hunks[:MOST_PLACES]:
        gone = [Line("-", _cut(piece)) for piece in before[hunk.start : hunk.end]]
        come = [Line("+", _cut(piece)) for piece in after[hunk.new_start : hunk.new_end]]
        more = max(0, len(gone) - MOST_LINES) + max(0, len(come) - MOST_LINES)
        above = after[max(0, hunk.new_start - CONTEXT) : hunk.new_start]
        below = after[hunk.new_end : hunk.new_end + CONTEXT]
        lines = [Line(" ", _cut(piece)) for piece in above] + gone[:MOST_LINES] + come[:MOST_LINES]
        places.append(Place((*lines, *(Line(" ", _cut(piece)) for piece in below)), more))
    return tuple(places)


def plain(places: Sequence[Place]) -> list[str]:
    """The lines of all places as text, with their signs, and `...` between places."""
    lines: list[str] = []
    for number, place in enumerate(places):
        if number:
            lines.append("...")
        lines += [f"{line.sign} {line.text}" for line in place.lines]
        if place.more:
            lines.append(f"  ({place.more:,} lines more)")
    return lines


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST_LINE else f"{text[:LONGEST_LINE]}\N{HORIZONTAL ELLIPSIS}"
