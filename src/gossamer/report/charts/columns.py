"""How many fall between each pair of edges, as columns."""

import math
from collections.abc import Sequence

from gossamer.report.charts.frame import (
    SMALL,
    Axis,
    Box,
    Frame,
    drawing,
    hint,
    label,
    left_margin,
    nothing,
    tag,
    value_axis,
)
from gossamer.report.charts.scale import finite, spread
from gossamer.report.charts.text import fit, text_width

_TICKS = 5
_DECADES = 6
_WIDEST = 64
"""Pixels of a column."""
_LONGEST = 90
"""Pixels of a label."""


def histogram(
    frame: Frame,
    names: Sequence[str],
    counts: Sequence[float],
    axis: Axis,
    *,
    log: bool = False,
    tone: int = 0,
) -> str:
    """A column for each name, all of one width.

    Args:
        frame: its place.
        names: of the edges at which columns begin, in order, e.g. `1 KiB` for what has at least that; some
            are left out below the axis if there is no room, never in the hints.
        counts: one for each name.
        axis: of the counts.
        log: heights grow with the logarithm, so that rare columns are seen beside frequent ones.
        tone: number of a colour.
    """
    values = [finite(count) for count in counts]
    top = max(values, default=0.0)
    if not top:
        return nothing(frame, "columns")
    ticks = _log_ticks(top) if log else axis.ticks(top, _TICKS)
    box = Box(left_margin(axis, ticks), 10, frame.width - 8, frame.height - 24)
    marks = _log_axis(box, axis, ticks) if log else value_axis(box, axis, ticks)
    step = min(box.width / len(values), _WIDEST)
    for place, value in enumerate(values):
        height = box.height * (_log_height(value, ticks) if log else value / ticks[-1])
        words = f"{_range(names, place)}: {axis.value(value)}"
        marks.append(_column(box, place * step, (step, height), words, tone))
    marks += _labels(box, names, step, frame.height - 8)
    most = max(range(len(values)), key=values.__getitem__)
    return drawing(
        frame, "columns", frame.height, marks, f"{_range(names, most)}: {axis.value(values[most])}"
    )


def _range(names: Sequence[str], place: int) -> str:
    return f"{names[place]} \u2013 {names[place + 1]}" if place + 1 < len(names) else f"\u2265 {names[place]}"


def _labels(box: Box, names: Sequence[str], step: float, y: float) -> list[str]:
    """Every name, or every second, third, ... at the beginning of its column, so that none touch."""
    names = [fit(name, _LONGEST, SMALL) for name in names]
    for stride in range(1, len(names) + 1):
        chosen = range(0, len(names), stride)
        places = [box.left + place * step for place in chosen]
        if all(spread(places, [text_width(names[place], SMALL) for place in chosen], 8)):
            break
    return [label("tick mid", x, y, names[place]) for place, x in zip(chosen, places, strict=True)]


def _column(box: Box, left: float, size: tuple[float, float], words: str, tone: int) -> str:
    step, height = size
    gap = min(3.0, step / 5)
    x = box.left + left
    bar = ""
    if height > 0:
        height = max(height, 1.0)
        bar = tag(
            "rect",
            f"mark t{tone % 8}",
            x=x + gap / 2,
            y=box.bottom - height,
            width=step - gap,
            height=height,
        )
    hit = tag("rect", "hit", x=x, y=box.top, width=step, height=box.height)
    return tag("g", "", hint(words) + hit + bar)


def _log_ticks(top: float) -> list[float]:
    """Powers of ten from 1 to at least `top`, beginning below 1 if all is."""
    last = max(1, math.ceil(math.log10(top) - 1e-9))
    step = math.ceil(last / _DECADES)
    return [10.0**power for power in range(0, last + step, step)]


def _log_height(value: float, ticks: list[float]) -> float:
    """Share of the height; a half is added to the logarithm, so that 1 is seen and 0 is not."""
    if value <= 0:
        return 0.0
    return max(0.02, (math.log10(value) + 0.5) / (math.log10(ticks[-1]) + 0.5))


def _log_axis(box: Box, axis: Axis, ticks: list[float]) -> list[str]:
    marks = [tag("line", "axis", x1=box.left, x2=box.right, y1=box.bottom, y2=box.bottom)]
    for tick in ticks:
        y = box.bottom - box.height * _log_height(tick, ticks)
        marks.append(tag("line", "grid", x1=box.left, x2=box.right, y1=y, y2=y))
        marks.append(label("tick end", box.left - 6, y + 4, axis.tick(tick)))
    return marks
