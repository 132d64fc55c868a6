"""What the chapters of the report have in common: charts and tables of its figures, in one language."""

from collections.abc import Callable, Iterable, Sequence

from gossamer.model.reasons.reason import Reason
from gossamer.report.charts import Axis, Bar, Frame, Share, bar_chart, for_screens, histogram, share_bar
from gossamer.report.figures import Histogram, HostFigures, PageLine
from gossamer.report.markup import Card, Fact, Html, address, foreign, join, table, text
from gossamer.words.catalogue import Words

WHOLE, HALF = 1100, 500
"""Widths of charts in a card of the whole width, and in one of two."""
_NARROW = 330
_MOST_COLUMNS = 34

OUTCOMES = {"ok": 1, "moved": 0, "client_errors": 2, "server_errors": 3, "failed": 4, "refused": 7}
"""How visits end, with the number of their colour."""


class Axes:
    """Axes of amounts, written in one language; for the report and for the console.

    Attributes:
        counts: whole numbers.
        bytes: sizes.
        rates, speeds: of the same in a second.
        times: durations, in seconds.
    """

    def __init__(self, words: Words) -> None:
        self.counts = Axis(tick=words.short, value=words.number)
        self.bytes = Axis(tick=words.size, value=words.size, unit="bytes")
        self.rates = Axis(tick=words.short, value=words.rate, unit="rate")
        self.speeds = Axis(tick=words.speed, value=words.speed, unit="bytes")
        self.times = Axis(tick=words.duration, value=words.duration, unit="rate")


class Parts:
    """Draws figures in one language, each in a card; `key` is its heading's, below `report`.

    Args:
        words: of the language.
    """

    def __init__(self, words: Words) -> None:
        self.words = words
        self.axes = Axes(words)

    def say(self, key: str, /, **values: object) -> str:
        """A phrase of the report."""
        return self.words(f"report.{key}", **values)

    def reason(self, reason: Reason | None) -> str:
        """Why something is so; empty if there is no reason."""
        return reason.said(self.words.language) if reason is not None else ""

    def screens(self, key: str, draw: Callable[[Frame], str], wide: int = HALF, height: int = 210) -> Html:
        """A chart for desktops and for phones."""

        def at(width: int) -> str:
            return draw(Frame(title=self.say(key), width=width, height=height, empty=self.say("no_data")))

        return Html(for_screens(at, wide, _NARROW))

    # Fewer than two values compare nothing: these are told, not drawn.

    def bars(self, key: str, bars: Sequence[Bar], axis: Axis, note: str = "") -> Card:
        """Named amounts as horizontal bars."""
        some = [bar for bar in bars if bar.amount]
        if len(some) < 2:
            return self._told(key, ((bar.name, axis.value(bar.amount)) for bar in some), note)
        return Card(self.say(key), self.screens(key, lambda frame: bar_chart(frame, bars, axis)), note)

    def counted(
        self, key: str, counts: Sequence[tuple[str, int]], tone: int = 0, whole: int = 0, note: str = ""
    ) -> Card:
        """Bars of counts with their shares of the sum, or of `whole`."""
        whole = whole or sum(count for _, count in counts)
        bars = [Bar(name, count, self.words.share(count, whole), tone) for name, count in counts]
        return self.bars(key, bars, self.axes.counts, note)

    def shares(self, key: str, shares: Sequence[Share], *, whole: bool = False) -> Card:
        """Parts of a whole in one bar."""
        axis = self.axes.counts
        some = [share for share in shares if share.amount]
        if len(some) < 2:
            return self._told(key, ((share.name, axis.value(share.amount)) for share in some))
        wide = WHOLE if whole else HALF
        chart = self.screens(key, lambda frame: share_bar(frame, shares, axis), wide)
        return Card(self.say(key), chart, whole=whole)

    def histogram(
        self, key: str, figures: Histogram, edge: Callable[[float], str], tone: int = 0, note: str = ""
    ) -> Card:
        """Columns of counts; heights by logarithm if the counts differ much."""
        axis = self.axes.counts
        if sum(map(bool, figures.counts)) < 2:
            columns = zip(figures.edges, figures.counts, strict=False)
            told = ((f"\u2265 {edge(least)}", axis.value(n)) for least, n in columns if n)
            return self._told(key, told, note)
        edges, counts = figures.edges[:_MOST_COLUMNS], list(figures.counts[:_MOST_COLUMNS])
        if len(figures.counts) > len(counts):
            counts[-1] += sum(figures.counts[_MOST_COLUMNS:])
        names = [edge(each) for each in edges]
        frequent = sorted(count for count in counts if count)
        log = bool(frequent) and frequent[-1] > 50 * frequent[0]
        chart = self.screens(key, lambda frame: histogram(frame, names, counts, axis, log=log, tone=tone))
        return Card(self.say(key), chart, note)

    def _told(self, key: str, values: Iterable[tuple[str, str]], note: str = "") -> Card:
        said = join(Html(f"{foreign(name)} \u00b7 {text(value)}") for name, value in values)
        return Card(self.say(key), Fact(said), note)

    def table(
        self,
        key: str,
        heads: Sequence[str],
        rows: Sequence[Sequence[Html]],
        numbers: str,
        *,
        whole: bool = True,
    ) -> Card:
        """A table; `numbers` has an `n` for each column of numbers, else a blank or a dot."""
        named = [(self.say(head), mark == "n") for head, mark in zip(heads, numbers, strict=True)]
        return Card(self.say(key), table(named, rows, self.say("none")), whole=whole)

    def number(self, value: float) -> Html:
        """A number in a cell."""
        return text(self.words.number(value))

    def time(self, value: float) -> Html:
        """A duration in a cell."""
        return text(self.words.duration(value))

    def pages(self, key: str, lines: Sequence[PageLine]) -> Card:
        """A table of single answers."""
        rows = [
            (
                Html(address(line.url) + (f"<br/>{foreign(line.title, 160)}" if line.title else "")),
                self.number(line.status),
                foreign(line.media_type, 60),
                text(self.words.size(line.size)),
                self.time(max(line.seconds, 0.0)),
            )
            for line in lines
        ]
        return self.table(key, ("url", "status", "type", "size", "time"), rows, ".n.nn")

    def gaps(self, key: str, hosts: Sequence[HostFigures], *, whole: bool = False) -> Card:
        """A table of hosts with their tightest gap."""
        rows = [
            (
                foreign(host.name),
                self.number(host.visits),
                self.time(host.gap or 0.0),
                self.time(host.wanted),
            )
            for host in hosts
        ]
        return self.table(key, ("host", "visits", "gap", "due"), rows, ".nnn", whole=whole)
