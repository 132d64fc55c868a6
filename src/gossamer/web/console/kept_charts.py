"""Draws the charts of a job over time once for everybody who looks, until its history has another line."""

import time

from gossamer.control.history import EVERY
from gossamer.daemon.views import JobView
from gossamer.web.console.drawings import Drawing, History, over_time
from gossamer.words.catalogue import Words

MOST = 64
"""Sets of charts kept, some 30 KB each."""
SOONEST = 2.0
_LATE = 0.5
"""Seconds that a line may be late."""


class KeptCharts:
    """Charts by job and language."""

    def __init__(self) -> None:
        self._kept: dict[tuple[str, float, str], tuple[float, list[Drawing]]] = {}

    def known(self, job: JobView, t: Words) -> list[Drawing] | None:
        """Those that still hold; `None` if they must be drawn."""
        until, charts = self._kept.get((job.name, job.created, t.language), (0.0, []))
        return charts if time.monotonic() < until else None

    def draw(self, job: JobView, history: History, t: Words) -> list[Drawing]:
        """Draw them, and keep them until another line is due."""
        charts = over_time(history, t)
        due = history.times[-1] + EVERY + _LATE - time.time() if history.times else SOONEST
        if len(self._kept) >= MOST:
            self._kept.clear()
        until = time.monotonic() + min(max(due, SOONEST), EVERY)
        self._kept[job.name, job.created, t.language] = until, charts
        return charts
