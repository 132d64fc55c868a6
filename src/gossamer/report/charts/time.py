"""Rates over time, as lines or as areas on top of each other."""

from collections.abc import Sequence
from itertools import pairwise

import msgspec

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
    number,
    tag,
    value_axis,
)
from gossamer.report.charts.scale import finite, spread, time_label, time_ticks
from gossamer.report.charts.text import fit, text_width
from gossamer.words.amounts import moment

_TICKS = 5
_TICK_ROOM = 74
_KEY, _LINE = 11, 20
_BELOW = 24


class Series(msgspec.Struct, frozen=True):
    """One amount over time, a value for each interval; `tone` is the number of a colour."""

    name: str
    values: Sequence[float]
    tone: int = 0


def time_chart(
    frame: Frame, edges: Sequence[float], series: Sequence[Series], axis: Axis, *, stacked: bool = False
) -> str:
    """A chart of one or several series.

    Args:
        frame: its place.
        edges: ascending times (seconds since 1970) at which intervals begin, and the end of the last.
        series: each with a value for each interval, constant within it.
        axis: of the values.
        stacked: areas on top of each other, the first below; else lines, a single one with its area.
    """
    table = [[finite(value) for value in one.values] for one in series]
    spans = len(edges) - 1
    if spans < 1 or not table or not edges[-1] > edges[0] or not any(map(any, table)):
        return nothing(frame, "time")
    tops = [sum(column) if stacked else max(column) for column in zip(*table, strict=True)]
    ticks = axis.ticks(max(tops), _TICKS)
    keys, below = _legend(frame, series)
    left = max(left_margin(axis, ticks), 34)
    box = Box(left, 10, frame.width - 14, frame.height - _BELOW)
    marks = value_axis(box, axis, ticks)
    marks += _time_axis(box, edges)
    places = [box.left + box.width * (edge - edges[0]) / (edges[-1] - edges[0]) for edge in edges]
    draw = _areas if stacked else _lines
    marks += draw(box, places, table, ticks[-1], [one.tone % 8 for one in series])
    marks += _hints(box, places, edges, series, axis)
    figures = "; ".join(_told(one, values, edges, axis) for one, values in zip(series, table, strict=True))
    return drawing(frame, "time", frame.height + below, marks + keys, figures)


def _lines(
    box: Box, places: list[float], table: list[list[float]], top: float, tones: list[int]
) -> list[str]:
    """A line for each series through the middles of the intervals."""
    marks = []
    middles = [(one + other) / 2 for one, other in pairwise(places)]
    middles[0], middles[-1] = places[0], places[-1]
    if len(middles) == 1:
        middles, table = [places[0], places[-1]], [[values[0]] * 2 for values in table]
    for values, tone in zip(table, tones, strict=True):
        points = [
            f"{number(x)},{number(box.bottom - box.height * value / top)}"
            for x, value in zip(middles, values, strict=True)
        ]
        if len(table) == 1:
            ends = f"{number(middles[-1])},{number(box.bottom)} {number(middles[0])},{number(box.bottom)}"
            marks.append(tag("polygon", f"under t{tone}", points=f"{' '.join(points)} {ends}"))
        marks.append(tag("polyline", f"line s{tone}", points=" ".join(points)))
    return marks


def _areas(
    box: Box, places: list[float], table: list[list[float]], top: float, tones: list[int]
) -> list[str]:
    """Stairs on top of each other."""
    marks = []
    floor = [0.0] * len(table[0])
    for values, tone in zip(table, tones, strict=True):
        roof = [low + value for low, value in zip(floor, values, strict=True)]
        if any(values):
            upper = _stairs(box, places, roof, top)
            lower = _stairs(box, places, floor, top)
            marks.append(tag("polygon", f"t{tone}", points=" ".join((*upper, *reversed(lower)))))
        floor = roof
    return marks


def _stairs(box: Box, places: list[float], levels: list[float], top: float) -> list[str]:
    points: list[str] = []
    before = -1.0
    for (begin, end), level in zip(pairwise(places), levels, strict=True):
        height = number(box.bottom - box.height * min(level / top, 1.0))
        if level == before:
            points.pop()
        else:
            points.append(f"{number(begin)},{height}")
        points.append(f"{number(end)},{height}")
        before = level
    return points


def _time_axis(box: Box, edges: Sequence[float]) -> list[str]:
    first, last = edges[0], edges[-1]
    times, step = time_ticks(first, last, max(2, int(box.width / _TICK_ROOM)))
    places = [box.left + box.width * (at - first) / (last - first) for at in times]
    words = [time_label(at, step) for at in times]
    shown = spread(places, [text_width(word, SMALL) for word in words], 10)
    marks = []
    for place, word, here in zip(places, words, shown, strict=True):
        marks.append(tag("line", "axis", x1=place, x2=place, y1=box.bottom, y2=box.bottom + 4))
        if here:
            marks.append(label("tick mid", place, box.bottom + 17, word))
    return marks


def _hints(
    box: Box, places: list[float], edges: Sequence[float], series: Sequence[Series], axis: Axis
) -> list[str]:
    """A strip for each interval that tells its values."""
    marks = []
    for position, (begin, end) in enumerate(pairwise(places)):
        lines = [moment(edges[position])]
        lines += [f"{one.name}: {axis.value(finite(one.values[position]))}" for one in series]
        strip = tag("rect", "hit", x=begin, y=box.top, width=max(end - begin, 0.5), height=box.height)
        marks.append(tag("g", "", hint("\n".join(lines)) + strip))
    return marks


def _legend(frame: Frame, series: Sequence[Series]) -> tuple[list[str], float]:
    """(marks, height) of the keys below; a single series needs none."""
    if len(series) < 2:
        return [], 0.0
    marks, x, y = [], 0.0, frame.height + 14.0
    for one in series:
        name = fit(one.name, frame.width - 30)
        width = _KEY + 6 + text_width(name)
        if x and x + width > frame.width:
            x, y = 0.0, y + _LINE
        marks.append(tag("rect", f"t{one.tone % 8}", x=x, y=y - 10, width=_KEY, height=_KEY, rx=2))
        marks.append(label("", x + _KEY + 6, y, name))
        x += width + 18
    return marks, y - frame.height + 8


def _told(series: Series, values: list[float], edges: Sequence[float], axis: Axis) -> str:
    """The highest value and when it was, for the description."""
    most = max(range(len(values)), key=values.__getitem__)
    return f"{series.name}: {axis.value(values[most])} ({moment(edges[most])} UTC)"
