"""Named amounts as horizontal bars."""

from collections.abc import Sequence
from typing import NamedTuple

import msgspec

from gossamer.report.charts.frame import SMALL, Axis, Frame, drawing, hint, label, nothing, tag
from gossamer.report.charts.scale import finite
from gossamer.report.charts.text import fit, text_width

_ROW, _BAR = 24, 14
_TALL_ROW = 38
_LEAST_SHARE = 0.45
"""Of the width at least so much is left to the bars; longer names stand above them."""
_GAP = 10
_SAID = 12
"""Bars told of in the description."""
_LONGEST = 85
"""Pixels of an amount, and of a note."""


class Bar(msgspec.Struct, frozen=True):
    """One amount.

    Attributes:
        name: from anywhere.
        amount: decides the length.
        note: behind the amount, e.g. a share.
        tone: number of a colour.
        more: further lines shown while the pointer is over it.
    """

    name: str
    amount: float
    note: str = ""
    tone: int = 0
    more: str = ""


def bar_chart(frame: Frame, bars: Sequence[Bar], axis: Axis) -> str:
    """A row for each bar in the order given, with its amount in words behind it; nothing is below 0."""
    if not bars:
        return nothing(frame, "bars")
    most = max(finite(bar.amount) for bar in bars) or 1.0
    said = [_Said(_short(axis.value(finite(bar.amount))), _short(bar.note)) for bar in bars]
    notes = max(text_width(each.note, SMALL) for each in said)
    amounts = max(text_width(each.amount, SMALL) for each in said)
    right = amounts + _GAP + (notes + _GAP if notes else 0.0)
    names = max(text_width(bar.name) for bar in bars) + 10
    beside = names <= frame.width * (1 - _LEAST_SHARE) - right
    left = names if beside else 0.0
    row = _ROW if beside else _TALL_ROW
    room = max(frame.width - left - right, 20.0)
    place = _Place(left, room, left + room + _GAP + amounts, frame.width, row)
    marks = [
        _row(bar, words, place, (position * row, room * finite(bar.amount) / most))
        for position, (bar, words) in enumerate(zip(bars, said, strict=True))
    ]
    told = "; ".join(f"{bar.name}: {axis.value(finite(bar.amount))}" for bar in bars[:_SAID])
    return drawing(frame, "bars", len(bars) * row + 4, marks, told)


class _Said(NamedTuple):
    amount: str
    note: str


class _Place(NamedTuple):
    """Where the parts of every row stand; `left` is 0 if names stand above their bars."""

    left: float
    room: float
    amount_end: float
    note_end: float
    row: float


def _short(words: str) -> str:
    return fit(words, _LONGEST, SMALL)


def _row(bar: Bar, said: _Said, place: _Place, extent: tuple[float, float]) -> str:
    row_top, length = extent
    left = place.left
    top = row_top + (5 if left else 19)
    if bar.amount > 0:
        length = max(length, 1.0)
    if left:
        name = label("name end", left - 8, top + 11, fit(bar.name, left - 8))
    else:
        name = label("name", 0, top - 5, fit(bar.name, place.note_end))
    told = f"{bar.name}: {said.amount} {said.note}".rstrip() + (f"\n{bar.more}" if bar.more else "")
    note = label("tick end", place.note_end, top + 11, said.note) if said.note else ""
    return tag(
        "g",
        "",
        hint(told)
        + tag("rect", "hit", x=0, y=row_top, width=place.note_end, height=place.row)
        + name
        + tag("rect", "track", x=left, y=top, width=place.room, height=_BAR, rx=2)
        + (
            tag("rect", f"mark t{bar.tone % 8}", x=left, y=top, width=length, height=_BAR, rx=2)
            if length
            else ""
        )
        + label("amount end", place.amount_end, top + 11, said.amount)
        + note,
    )
