"""What the chapters of the report have in common: charts and tables of its figures, in one language."""

from collections.abc import Callable, Iterable, Sequence

from gossamer.report.charts import Axis, Bar, Frame, Share, bar_chart, for_screens, histogram, share_bar
from gossamer.report.figures import Histogram, HostFigures, PageLine
from gossamer.report.markup import Fact, Html, address, foreign, join, table, text
from gossamer.report.words import Words

WHOLE, HALF = 1100, 500
"""Widths of charts in a card of the whole width, and in one of two."""
_NARROW = 330
_MOST_COLUMNS = 34

OUTCOMES = {"ok": 1, "moved": 0, "client_errors": 2, "server_errors": 3, "failed": 4, "refused": 7}
"""How visits end, with the number of their colour."""


class Parts:
    """Draws figures in one language."""

    def __init__(self, words: Words) -> None:
        self.words = words
        self.counts = Axis(tick=words.short, value=words.number)
        self.bytes = Axis(tick=words.size, value=words.size, unit="bytes")
        self.rates = Axis(tick=words.short, value=words.rate, unit="rate")
        self.speeds = Axis(tick=words.speed, value=words.speed, unit="bytes")
        self.times = Axis(tick=words.duration, value=words.duration, unit="rate")

    def screens(self, title: str, draw: Callable[[Frame], str], wide: int = HALF, height: int = 210) -> Html:
        """A chart for desktops and for phones."""

        def at(width: int) -> str:
            return draw(Frame(title=title, width=width, height=height, empty=self.words.say("no data")))

        return Html(for_screens(at, wide, _NARROW))

    # Fewer than two values compare nothing: these are told, not drawn.

    def bars(self, title: str, bars: Sequence[Bar], axis: Axis, wide: int = HALF) -> Html | Fact:
        """Named amounts as horizontal bars."""
        some = [bar for bar in bars if bar.amount]
        if len(some) < 2:
            return self._told((bar.name, axis.value(bar.amount)) for bar in some)
        return self.screens(title, lambda frame: bar_chart(frame, bars, axis), wide)

    def counted(
        self, title: str, counts: Sequence[tuple[str, int]], tone: int = 0, whole: int = 0
    ) -> Html | Fact:
        """Bars of counts with their shares of the sum, or of `whole`."""
        whole = whole or sum(count for _, count in counts)
        bars = [
            Bar(self.words.term(name), count, self.words.share(count, whole), tone) for name, count in counts
        ]
        return self.bars(title, bars, self.counts)

    def shares(self, title: str, shares: Sequence[Share], wide: int = HALF) -> Html | Fact:
        """Parts of a whole in one bar."""
        some = [share for share in shares if share.amount]
        if len(some) < 2:
            return self._told((share.name, self.counts.value(share.amount)) for share in some)
        return self.screens(title, lambda frame: share_bar(frame, shares, self.counts), wide)

    def _told(self, values: Iterable[tuple[str, str]]) -> Fact:
        return Fact(join(Html(f"{foreign(name)} \u00b7 {text(value)}") for name, value in values))

    def histogram(
        self, title: str, figures: Histogram, edge: Callable[[float], str], tone: int = 0
    ) -> Html | Fact:
        """Columns of counts; heights by logarithm if the counts differ much."""
        if sum(map(bool, figures.counts)) < 2:
            columns = zip(figures.edges, figures.counts, strict=False)
            return self._told((f"\u2265 {edge(least)}", self.counts.value(n)) for least, n in columns if n)
        edges, counts = figures.edges[:_MOST_COLUMNS], list(figures.counts[:_MOST_COLUMNS])
        if len(figures.counts) > len(counts):
            counts[-1] += sum(figures.counts[_MOST_COLUMNS:])
        names = [edge(each) for each in edges]
        frequent = sorted(count for count in counts if count)
        log = bool(frequent) and frequent[-1] > 50 * frequent[0]
        return self.screens(
            title, lambda frame: histogram(frame, names, counts, self.counts, log=log, tone=tone)
        )

    def table(self, heads: Sequence[str], rows: Sequence[Sequence[Html]], numbers: str) -> Html:
        """A table; `numbers` has an `n` for each column of numbers, else a blank or a dot."""
        named = [(self.words.say(head), mark == "n") for head, mark in zip(heads, numbers, strict=True)]
        return table(named, rows, self.words.say("none"))

    def number(self, value: float) -> Html:
        """A number in a cell."""
        return text(self.words.number(value))

    def size(self, value: float) -> Html:
        """An amount of bytes in a cell."""
        return text(self.words.size(value))

    def time(self, value: float) -> Html:
        """A duration in a cell."""
        return text(self.words.duration(value))

    def pages(self, lines: Sequence[PageLine]) -> Html:
        """A table of single answers."""
        rows = [
            (
                Html(address(line.url) + (f"<br/>{foreign(line.title, 160)}" if line.title else "")),
                self.number(line.status),
                foreign(line.media_type, 60),
                self.size(line.size),
                self.time(max(line.seconds, 0.0)),
            )
            for line in lines
        ]
        return self.table(("url", "status", "type", "size", "time"), rows, ".n.nn")

    def gaps(self, hosts: Sequence[HostFigures]) -> Html:
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
        return self.table(("host", "visits", "gap", "due"), rows, ".nnn")
