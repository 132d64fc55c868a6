"""Charts as SVG text, for the report and the console: no script, no inline style, readable by screen readers.

Colours and fonts come from one style sheet, `CHART_CSS`, so that a page whose Content-Security-Policy
forbids inline styles can serve it as a file. Whatever text comes in is escaped here. A chart is drawn at a
width in CSS pixels; `for_screens` draws it twice, and the style sheet shows the one that fits.

| chart | shows |
|---|---|
| `time_chart` | rates over time, as lines, or as areas on top of each other |
| `bar_chart` | named amounts, longest first |
| `share_bar` | the parts of a whole, in one bar with a legend |
| `ring_chart` | the parts of a whole as a ring, and inside it who has which place |
| `histogram` | how many fall between each pair of edges, linear or logarithmic |
"""

from gossamer.report.charts.bars import Bar, bar_chart
from gossamer.report.charts.columns import histogram
from gossamer.report.charts.frame import Axis, Frame, for_screens
from gossamer.report.charts.ring import ring_chart
from gossamer.report.charts.shares import Share, share_bar
from gossamer.report.charts.style import CHART_CSS, TONES
from gossamer.report.charts.text import escaped
from gossamer.report.charts.time import Series, time_chart

__all__ = [
    "CHART_CSS",
    "TONES",
    "Axis",
    "Bar",
    "Frame",
    "Series",
    "Share",
    "bar_chart",
    "escaped",
    "for_screens",
    "histogram",
    "ring_chart",
    "share_bar",
    "time_chart",
]
