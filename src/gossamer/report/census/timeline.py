"""Sums over time, in intervals that widen as the crawl goes on."""

from gossamer.report.figures import Timeline

INTERVALS = 200
"""Intervals kept at most; at least half as many are in use once the crawl has lasted a while."""
NARROWEST = 0.125
_FILLED = 12
"""Visits in an interval on average, or intervals are joined: fewer would show noise."""
_FEWEST = 40

PAGES, BYTES, DUPLICATES, OK, MOVED, CLIENT, SERVER, FAILED, REFUSED, ERRORS = range(10)
_COLUMNS = 10


class TimeSums:
    """Ten sums for each interval. When a moment lies beyond the last, pairs of intervals become one."""

    def __init__(self) -> None:
        self._rows: list[list[int]] = []
        self._start = 0.0
        self._width = NARROWEST
        self._last = 0

    def at(self, moment: float) -> list[int]:
        """The sums of the interval around `moment`, to be added to; the first if the clock went back."""
        if not self._rows:
            self._start = moment
            self._rows = [[0] * _COLUMNS for _ in range(INTERVALS)]
        place = int((moment - self._start) / self._width)
        while place >= INTERVALS:
            self._halve()
            place = int((moment - self._start) / self._width)
        place = max(place, 0)
        if place > self._last:
            self._last = place
        return self._rows[place]

    def _halve(self) -> None:
        rows, half = self._rows, INTERVALS // 2
        for place in range(half):
            rows[place] = [
                one + other for one, other in zip(rows[2 * place], rows[2 * place + 1], strict=True)
            ]
        rows[half:] = [[0] * _COLUMNS for _ in range(INTERVALS - half)]
        self._width *= 2
        self._last //= 2

    def timeline(self) -> Timeline:
        """The sums so far, by stretch of time."""
        rows, width = [list(row) for row in self._rows[: self._last + 1]], self._width
        if not rows:
            return Timeline()
        visits = sum(sum(row[OK:ERRORS]) for row in rows)
        while len(rows) > _FEWEST and visits < _FILLED * len(rows):
            rows += [[0] * _COLUMNS] * (len(rows) % 2)
            rows = [
                [one + other for one, other in zip(rows[place], rows[place + 1], strict=True)]
                for place in range(0, len(rows), 2)
            ]
            width *= 2
        columns = [[row[column] for row in rows] for column in range(_COLUMNS)]
        return Timeline(self._start, width, *columns)
