"""The parts of a whole as a ring: who has how much, and, inside, who has which place."""

import math
from collections.abc import Sequence
from itertools import groupby

from gossamer.report.charts.frame import SMALL, Axis, Frame, drawing, hint, label, nothing, number, tag
from gossamer.report.charts.scale import finite
from gossamer.report.charts.shares import Share
from gossamer.report.charts.text import fit, text_width
from gossamer.words.amounts import percent

_RADIUS, _BAND = 114.0, 22.0
_OUTMOST, _TRACK = 96.0, 6.0
"""Radius of the outmost track of places, and from one track to the next, in pixels."""
_TRACKS, _AROUND = 8, 128
"""Tracks at most, and places in each: so one is 2 to 5 pixels wide and can be seen."""
_SIDE = 2 * _RADIUS + _BAND + 4
_LEGEND = 220.0
"""Pixels of the narrowest legend that stands beside the ring; else it stands below."""
_KEY, _LINE, _GAP = 11, 20, 24
_MOST_KEYS = 24
_SEAM = 1.2
"""Pixels between two arcs."""


def ring_chart(
    frame: Frame, parts: Sequence[Share], places: Sequence[int], axis: Axis, middle: tuple[str, str]
) -> str:
    """Parts clockwise from the top in the order given, those of nothing left out.

    Args:
        frame: its place; the height is that of ring and legend.
        parts: arcs of the outer ring, with a key each in the legend.
        places: of which part, by its number, each place within is; once round, clockwise from the top. Of
            very many only every second, third, ... one is shown.
        axis: of the amounts.
        middle: a figure and a word within the ring.
    """
    whole = sum(finite(part.amount) for part in parts)
    if not whole:
        return nothing(frame, "ring")
    beside = frame.width >= _SIDE + _GAP + _LEGEND
    centre = (_SIDE / 2 if beside else frame.width / 2, _SIDE / 2)
    told = [f"{part.name}: {axis.value(finite(part.amount))}" for part in parts if finite(part.amount)]
    marks = [*_arcs(centre, parts, whole, axis), *_inner(centre, parts, places)]
    marks.append(label("figure mid", centre[0], centre[1] + 4, middle[0]))
    marks.append(label("note mid", centre[0], centre[1] + 22, middle[1]))
    left, top = (_SIDE + _GAP, 18.0) if beside else (0.0, _SIDE + 22)
    keys, bottom = _legend(parts, whole, axis, (left, top, frame.width - left))
    return drawing(frame, "ring", max(_SIDE, bottom), marks + keys, "; ".join(told))


def _arcs(centre: tuple[float, float], parts: Sequence[Share], whole: float, axis: Axis) -> list[str]:
    marks, before = [], 0.0
    for part in parts:
        amount = finite(part.amount)
        if not amount:
            continue
        begin, end = before / whole, (before + amount) / whole
        before += amount
        words = f"{part.name}: {axis.value(amount)} ({percent(amount / whole)})"
        length = (end - begin) * 2 * math.pi * _RADIUS
        name = ""
        if length > max(text_width(part.name, SMALL), 14) + 6 and text_width(part.name, SMALL) < _BAND + 8:
            x, y = _at(centre, _RADIUS, (begin + end) / 2)
            name = label("on mid", x, y + 4, part.name)
        marks.append(tag("g", "", hint(words) + _arc(centre, (begin, end), part.tone) + name))
    return marks


def _arc(centre: tuple[float, float], span: tuple[float, float], tone: int) -> str:
    """Between two shares of the circle; a whole one has no ends."""
    begin, end = span
    kind = f"mark-line s{tone % 8}"
    if end - begin > 1 - 1e-9:
        x, y = centre
        return tag("circle", kind, cx=x, cy=y, r=_RADIUS, stroke_width=_BAND)
    seam = min(_SEAM / (2 * math.pi * _RADIUS), (end - begin) / 2)
    from_x, from_y = _at(centre, _RADIUS, begin)
    to_x, to_y = _at(centre, _RADIUS, end - seam)
    large = 1 if end - seam - begin > 0.5 else 0
    path = f"M{from_x:.2f} {from_y:.2f}A{number(_RADIUS)} {number(_RADIUS)} 0 {large} 1 {to_x:.2f} {to_y:.2f}"
    return tag("path", kind, d=path, stroke_width=_BAND)


def _at(centre: tuple[float, float], radius: float, share: float) -> tuple[float, float]:
    angle = 2 * math.pi * share
    return centre[0] + radius * math.sin(angle), centre[1] - radius * math.cos(angle)


def _inner(centre: tuple[float, float], parts: Sequence[Share], places: Sequence[int]) -> list[str]:
    """Places in tracks: neighbours stand behind one another, so that all go round once."""
    if not places:
        return []
    stride = -(-len(places) // (_TRACKS * _AROUND))
    tones = [parts[place].tone % 8 for place in places[::stride]]
    tracks = -(-len(tones) // _AROUND)
    tones += tones[-1:] * (-len(tones) % tracks)  # all tracks have as many
    marks = []
    for track in range(tracks):
        radius = _OUTMOST - track * _TRACK
        marks += _track(centre, radius, tones[track::tracks])
    return marks


def _track(centre: tuple[float, float], radius: float, tones: Sequence[int]) -> list[str]:
    """A circle for each tone, with a dash for each run of places."""
    x, y = centre
    return [
        tag(
            "circle",
            f"mark-line s{tone}",
            cx=x,
            cy=y,
            r=radius,
            stroke_width=_TRACK - 1,
            pathLength=len(tones),
            stroke_dasharray=_dashes(tones, tone),
            transform=f"rotate(-90 {number(x)} {number(y)})",
        )
        for tone in sorted(set(tones))
    ]


def _dashes(tones: Sequence[int], tone: int) -> str:
    """Lengths of dashes and gaps in turn, a dash first; both add up to the whole."""
    runs = [(found, len(list(run))) for found, run in groupby(one == tone for one in tones)]
    lengths = [length for _, length in runs]
    if not runs[0][0]:
        lengths.insert(0, 0)
    if len(lengths) % 2:
        lengths.append(0)
    return " ".join(map(str, lengths))


def _legend(
    parts: Sequence[Share], whole: float, axis: Axis, place: tuple[float, float, float]
) -> tuple[list[str], float]:
    """(marks, where they end), in as many columns as fit."""
    left, top, width = place
    listed = [part for part in parts if finite(part.amount)]
    columns = max(1, min(int(width // 190), -(-len(listed) // 8)))
    column = width / columns
    shown = listed[:_MOST_KEYS] if len(listed) > _MOST_KEYS + 1 else listed
    rows = -(-len(shown) // columns)
    marks = []
    for at, part in enumerate(shown):
        x, y = left + at // rows * column, top + at % rows * _LINE
        amount = f"{axis.value(finite(part.amount))}, {percent(round(part.amount / whole, 3))}"
        name = fit(part.name, column - _KEY - 18 - text_width(amount, SMALL))
        marks.append(tag("rect", f"t{part.tone % 8}", x=x, y=y - 10, width=_KEY, height=_KEY, rx=2))
        marks.append(label("", x + _KEY + 6, y, name))
        marks.append(label("tick", x + _KEY + 12 + text_width(name), y, amount))
    bottom = top + rows * _LINE
    if len(listed) > len(shown):
        marks.append(label("tick", left, bottom, f"+ {len(listed) - len(shown):,}"))
        bottom += _LINE
    return marks, bottom - 6
