"""The parts of a whole as one bar with a legend."""

from collections.abc import Sequence

import msgspec

from gossamer.report.charts.frame import Axis, Frame, drawing, hint, label, nothing, tag
from gossamer.report.charts.scale import finite
from gossamer.report.charts.text import fit, text_width
from gossamer.words.amounts import percent

_BAR, _GAP, _LINE = 26, 14, 20
_KEY = 11


class Share(msgspec.Struct, frozen=True):
    """One part; its name may come from anywhere, `tone` is the number of a colour."""

    name: str
    amount: float
    tone: int = 0


def share_bar(frame: Frame, shares: Sequence[Share], axis: Axis) -> str:
    """Parts in the order given; those of nothing are left out."""
    parts = [part for part in shares if finite(part.amount)]
    if not parts:
        return nothing(frame, "shares")
    whole = sum(finite(part.amount) for part in parts)
    told = [f"{part.name}: {axis.value(part.amount)} ({percent(part.amount / whole)})" for part in parts]
    marks, x = [], 0.0
    for part, words in zip(parts, told, strict=True):
        length = frame.width * part.amount / whole
        mark = tag("rect", f"mark t{part.tone % 8}", x=x, y=0, width=max(length, 1.0), height=_BAR)
        marks.append(tag("g", "", hint(words) + mark))
        x += length
    x, y = 0.0, _BAR + _GAP + 10.0
    for part in parts:
        amount = f"{axis.value(part.amount)}, {percent(part.amount / whole)}"
        name = fit(part.name, frame.width - 40 - text_width(amount))
        width = _KEY + 6 + text_width(name) + 6 + text_width(amount)
        if x and x + width > frame.width:
            x, y = 0.0, y + _LINE
        marks.append(_key(part, name, amount, (x, y)))
        x += width + 18
    return drawing(frame, "shares", y + 8, marks, "; ".join(told))


def _key(part: Share, name: str, amount: str, place: tuple[float, float]) -> str:
    x, y = place
    return tag(
        "g",
        "",
        hint(part.name)
        + tag("rect", f"t{part.tone % 8}", x=x, y=y - 10, width=_KEY, height=_KEY, rx=2)
        + label("", x + _KEY + 6, y, name)
        + label("tick", x + _KEY + 6 + text_width(name) + 6, y, amount),
    )
