"""What all charts share: the SVG element with its name and description, axes, numbers in attributes."""

from collections.abc import Callable, Iterable
from typing import Literal

import msgspec

from gossamer.report.charts.scale import nice_ticks
from gossamer.report.charts.text import escaped, text_width

WIDE, NARROW = 720, 340
"""Widths in CSS pixels for desktops and for phones."""
SMALL = 11.0
Show = Callable[[float], str]


class Frame(msgspec.Struct, frozen=True, kw_only=True):
    """The place of a chart.

    Attributes:
        title: its name, for people who do not see it, and while the pointer is over it.
        description: what it shows, in a sentence; the chart adds its figures.
        width, height: in CSS pixels; charts that grow with their rows take no notice of the height.
        empty: what stands there if nothing can be drawn.
    """

    title: str
    description: str = ""
    width: int = WIDE
    height: int = 220
    empty: str = "no data"


class Axis(msgspec.Struct, frozen=True, kw_only=True):
    """How amounts are written.

    Attributes:
        tick: short, for the axis.
        value: in full, shown while the pointer is over a mark.
        unit: what makes a tick round; a `count` is never halved, a `rate` may be.
    """

    tick: Show
    value: Show
    unit: Literal["count", "rate", "bytes"] = "count"

    def ticks(self, top: float, most: int) -> list[float]:
        """Round amounts from 0 to at least `top`."""
        return nice_ticks(top, most, binary=self.unit == "bytes", whole=self.unit == "count")


class Box(msgspec.Struct, frozen=True):
    """Where the data stands, in pixels."""

    left: float
    top: float
    right: float
    bottom: float

    @property
    def width(self) -> float:
        """CSS pixels from left to right."""
        return self.right - self.left

    @property
    def height(self) -> float:
        """CSS pixels from top to bottom."""
        return self.bottom - self.top


def number(value: float) -> str:
    """A coordinate, to a tenth of a pixel."""
    return f"{value:.1f}".removesuffix(".0")


def tag(name: str, kind: str, content: str = "", /, **attributes: float | str) -> str:
    """An element of class `kind`; numbers are coordinates, `content` is markup already.

    An attribute's name may end in `_`, and has `-` where `_` is written.
    """
    parts = [f'<{name} class="{kind}"' if kind else f"<{name}"]
    for key, value in attributes.items():
        text = escaped(value) if isinstance(value, str) else number(value)
        parts.append(f' {key.rstrip("_").replace("_", "-")}="{text}"')
    parts.append(f">{content}</{name}>" if content else "/>")
    return "".join(parts)


def label(kind: str, x: float, y: float, text: str) -> str:
    """A line of text; classes `mid` and `end` set where `x` is."""
    return tag("text", kind, escaped(text), x=x, y=y)


def hint(text: str) -> str:
    """What is shown while the pointer is over the element around it; lines stay lines."""
    return "<title>" + "\n".join(escaped(line) for line in text.split("\n")) + "</title>"


def drawing(frame: Frame, kind: str, height: float, marks: Iterable[str], figures: str = "") -> str:
    """The whole SVG element of a chart."""
    words = " ".join(part for part in (frame.description, figures) if part)
    size = f"0 0 {number(frame.width)} {number(height)}"
    return "".join(
        (
            f'<svg class="chart {kind}" xmlns="http://www.w3.org/2000/svg" role="img" viewBox="{size}"',
            f' width="{number(frame.width)}" height="{number(height)}">',
            f"<title>{escaped(frame.title)}</title>",
            f"<desc>{escaped(words)}</desc>" if words else "",
            *marks,
            "</svg>",
        )
    )


def nothing(frame: Frame, kind: str) -> str:
    """A chart without data says so."""
    return drawing(frame, kind, 48, [label("note mid", frame.width / 2, 28, frame.empty)], frame.empty)


def value_axis(box: Box, axis: Axis, ticks: list[float]) -> list[str]:
    """Lines across `box` with their labels on the left; `ticks` go from 0 to what the top of `box` means."""
    marks = []
    for tick in ticks:
        y = box.bottom - box.height * tick / ticks[-1]
        marks.append(tag("line", "grid" if tick else "axis", x1=box.left, x2=box.right, y1=y, y2=y))
        marks.append(label("tick end", box.left - 6, y + 4, axis.tick(tick)))
    return marks


def left_margin(axis: Axis, ticks: list[float]) -> float:
    """Room for the labels of a value axis."""
    return max((text_width(axis.tick(tick), SMALL) for tick in ticks), default=0.0) + 12


def for_screens(draw: Callable[[int], str], wide: int = WIDE, narrow: int = NARROW) -> str:
    """The chart at two widths; the style sheet shows one of them, also to screen readers."""
    return f'<div class="chart-wide">{draw(wide)}</div><div class="chart-narrow">{draw(narrow)}</div>'
