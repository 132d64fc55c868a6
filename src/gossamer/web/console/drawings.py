"""The charts of the console's pages, with their words in the reader's language."""

import re
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any, Literal, NamedTuple

from markupsafe import Markup

from gossamer.daemon.reading.orders import SqlAnswer, SqlColumn
from gossamer.inspect.freshness import CrawlFreshness
from gossamer.report.charts import (
    Axis,
    Bar,
    Frame,
    Series,
    Share,
    bar_chart,
    for_screens,
    histogram,
    share_bar,
    time_chart,
)
from gossamer.report.freshness import predicted_bars, shares, site_bars
from gossamer.report.parts import Axes
from gossamer.web.console.story import sentence
from gossamer.words.catalogue import Words

HALF = 480
"""Width of a chart that stands beside another."""
TALL = 190
ROWS = 16
"""Bars shown of a list; the rest becomes one."""
_NUMBER = re.compile(r"U?(TINY|SMALL|BIG|HUGE)?INT(EGER)?$|FLOAT$|DOUBLE$|DECIMAL|NUMBER$")
_HOST_TONES = {"ready": 1, "lent": 0, "resting": 5, "waiting": 2, "parked": 3, "empty": 7}


class Drawing(NamedTuple):
    """A chart and what stands above it."""

    title: str
    svg: Markup


def drawn(svg: str) -> Markup:
    """A chart of `report.charts`, which escapes all it is given."""
    return Markup(svg)  # noqa: S704 - made by report.charts only, see above


class History:
    """The rows of `history` as columns over time."""

    def __init__(self, answer: Mapping[str, Any]) -> None:
        names: Sequence[str] = answer.get("columns") or ()
        rows: Sequence[Sequence[float]] = answer.get("rows") or ()
        self._columns = {name: [row[place] for row in rows] for place, name in enumerate(names)}
        self.times: list[float] = [_seconds(at) for at in next(iter(self._columns.values()), [])]

    def __len__(self) -> int:
        return len(self.times)

    def amounts(self, name: str) -> list[float]:
        """At the end of each interval; 0 if it was not counted."""
        return [float(value or 0) for value in self._columns.get(name, [0] * len(self.times))[1:]]

    def rates(self, name: str) -> list[float]:
        """A second, in each interval; a count that fell (the crawl began anew) shows as 0."""
        values = self._columns.get(name, [0] * len(self.times))
        spans = zip(values, values[1:], self.times, self.times[1:], strict=False)
        return [max(0.0, (after - before) / max(end - begin, 1e-6)) for before, after, begin, end in spans]


def over_time(history: History, t: Words) -> list[Drawing]:
    """Pages, bytes, the queue, and errors or else hosts that are held, over time."""
    if len(history) < 2:
        return []
    axes = Axes(t)

    def chart(key: str, series: list[Series], axis: Axis) -> Drawing:
        return _drawing(t, key, lambda frame: time_chart(frame, history.times, series, axis))

    errors = history.rates("errors")
    hosts = [
        Series(t.said("state", "resting"), history.amounts("resting"), 5),
        Series(t.said("state", "parked"), history.amounts("parked"), 3),
    ]
    return [
        chart("pages", [Series(t("chart.pages"), history.rates("pages"), 0)], axes.rates),
        chart("bytes", [Series(t("chart.bytes"), history.rates("bytes"), 1)], axes.speeds),
        chart("queued", [Series(t("chart.queued"), history.amounts("queued"), 4)], axes.counts),
        # Where nothing has failed, an empty chart would say less than what hosts do.
        chart("errors", [Series(t("chart.errors"), errors, 3)], axes.rates)
        if any(errors)
        else chart("held_hosts", hosts, axes.counts),
    ]


def hosts_by_state(states: Mapping[str, int], t: Words) -> Markup | str:
    """One bar of all hosts."""
    shares = [Share(t.said("state", name), states.get(name, 0), tone) for name, tone in _HOST_TONES.items()]
    if not any(share.amount for share in shares):
        return ""
    return _both(t, "hosts", lambda frame: share_bar(frame, shares, Axes(t).counts), wide=980)


def counted(key: str, counts: Mapping[str, int], t: Words, name: Callable[[str], str] = str) -> Drawing:
    """Named counts as bars, the largest first unless their order means something."""
    whole = sum(counts.values())
    listed = sorted(counts.items(), key=lambda item: -item[1])
    bars = [Bar(name(label), n, t.share(n, whole)) for label, n in listed[:ROWS]]
    if rest := sum(n for _, n in listed[ROWS:]):
        bars.append(Bar(t("chart.rest"), rest, t.share(rest, whole), 7))
    return _drawing(t, key, lambda frame: bar_chart(frame, bars, Axes(t).counts))


def in_order(key: str, counts: Mapping[str, int], t: Words, most: int = 24) -> Drawing:
    """Counts by depth, level or size: bars in the order of their names."""
    whole = sum(counts.values())
    listed = sorted(counts.items(), key=lambda item: _ordinal(item[0]))
    bars = [Bar(str(label), n, t.share(n, whole)) for label, n in listed[:most]]
    if rest := sum(n for _, n in listed[most:]):
        bars.append(Bar(t("chart.deeper"), rest, t.share(rest, whole), 7))
    return _drawing(t, key, lambda frame: bar_chart(frame, bars, Axes(t).counts))


def queue_charts(sizes: Mapping[str, Any], t: Words) -> list[Drawing]:
    """The queue by depth, by level and by domain."""
    drawings = []
    if depths := sizes.get("by_depth"):
        drawings.append(in_order("by_depth", depths, t))
    levels = (sizes.get("by_level") or {}).get("levels", ())
    bars = [
        Bar(sentence(line.get("clauses", ()), line["name"], t), line["urls"])
        for line in levels
        if line["urls"]
    ][: 2 * ROWS]
    if bars:
        drawings.append(_drawing(t, "by_level", lambda frame: bar_chart(frame, bars, Axes(t).counts)))
    domains = (sizes.get("by_domain") or {}).get("domains", ())
    if counts := {line["name"]: line["queued"] + line["waiting"] for line in domains}:
        drawings.append(counted("by_domain", counts, t))
    return drawings


def codes(found: Mapping[str, Any], t: Words) -> list[Drawing]:
    """Visits by status, fault, type, size, depth and language; what there is none of is left out."""
    drawings = [
        counted(key, found[source], t, name)
        for key, source, name in (
            ("statuses", "statuses", str),
            ("faults", "faults", t.failure),
            ("types", "media_types", lambda kind: kind or t("codes.no_type")),
        )
        if found.get(source)
    ]
    if sizes := found.get("sizes"):
        names = [t.size(least) for least, _, _ in sizes]
        visits = [count for _, _, count in sizes]
        drawings.append(
            _drawing(t, "sizes", lambda frame: histogram(frame, names, visits, Axes(t).counts, tone=1))
        )
    if depths := found.get("depths"):
        drawings.append(in_order("depths", depths, t))
    if languages := found.get("languages"):
        drawings.append(
            counted(
                "languages", languages, t, lambda name: t.tongue(name) if name else t("codes.no_language")
            )
        )
    return drawings


def freshness(found: CrawlFreshness, t: Words) -> list[Drawing]:
    """What was predicted against what was seen, and how much is stale by site."""
    axis = shares(t)
    predicted, sites = predicted_bars(found.bins, t), site_bars(found.sites, t, ROWS)
    return [
        _drawing(t, "predicted", lambda frame: bar_chart(frame, predicted, axis)),
        _drawing(t, "stale_by_site", lambda frame: bar_chart(frame, sites, axis)),
    ]


def names(found: Mapping[str, Any], t: Words) -> list[Drawing]:
    """How long names took, which took longest, and what failed."""
    drawings = []
    latencies = [one for one in found.get("latencies", ()) if one["up_to"] is not None]
    if any(one["names"] for one in latencies):
        bounds = [t.duration(one["up_to"]) for one in latencies]
        counts = [one["names"] for one in latencies]
        drawings.append(
            _drawing(t, "latencies", lambda frame: histogram(frame, bounds, counts, Axes(t).counts))
        )
    if slowest := found.get("slowest"):
        listed = sorted(slowest.items(), key=lambda item: -item[1])[:ROWS]
        bars = [Bar(name, seconds) for name, seconds in listed]
        drawings.append(_drawing(t, "slowest", lambda frame: bar_chart(frame, bars, Axes(t).times)))
    if failures := found.get("failures"):
        drawings.append(counted("name_failures", failures, t, t.failure))
    if by_tld := (found.get("kept") or {}).get("by_tld"):
        drawings.append(counted("kept_names", by_tld, t, lambda tld: f".{tld}" if tld else t("names.other")))
    if failing := found.get("failing"):
        drawings.append(counted("failing", failing, t))
    return drawings


def answer_chart(answer: SqlAnswer, t: Words) -> Markup | str:
    """An answer with one column of texts or times and one of numbers, as bars or over time; else nothing."""
    kinds = [kind_of(column) for column in answer.columns]
    if sorted(kinds) not in (["number", "text"], ["number", "time"]) or len(answer.rows) < 2:
        return ""
    numbers, names = kinds.index("number"), 1 - kinds.index("number")
    pairs = [(row[names], _amount(row[numbers])) for row in answer.rows]
    points = [(name, amount) for name, amount in pairs if name is not None and amount is not None]
    if len(points) < 2 or any(amount < 0 for _, amount in points):
        return ""
    title = " / ".join(answer.columns[place].name for place in (names, numbers))
    if kinds[names] == "text":
        bars = [Bar(str(name), amount) for name, amount in points[: 2 * ROWS]]

        def draw(frame: Frame) -> str:
            return bar_chart(frame, bars, Axes(t).counts)
    else:
        try:
            moments = dict(sorted((datetime.fromisoformat(str(at)).timestamp(), n) for at, n in points))
        except ValueError:
            return ""
        times, amounts = list(moments), list(moments.values())
        if len(times) < 2:
            return ""
        edges = [*times, 2 * times[-1] - times[-2]]
        series = [Series(answer.columns[numbers].name, amounts)]

        def draw(frame: Frame) -> str:
            return time_chart(frame, edges, series, Axes(t).counts)

    empty = t("chart.empty")
    return drawn(
        for_screens(lambda width: draw(Frame(title=title, width=width, height=TALL, empty=empty)), wide=980)
    )


def kind_of(column: SqlColumn) -> Literal["number", "time", "text", "other"]:
    """What a column of an answer holds, by DuckDB's name of its type."""
    if _NUMBER.match(column.type):
        return "number"
    if column.type.startswith(("TIMESTAMP", "DATE")):
        return "time"
    return "text" if column.type in ("VARCHAR", "STRING") else "other"


def _amount(value: object) -> float | None:
    try:
        return float(value) if isinstance(value, int | float | str) else None
    except ValueError:
        return None


def binding_hosts(binding: Sequence[Mapping[str, Any]], t: Words) -> Markup:
    """How long each host still needs."""
    bars = [Bar(one["host"], one["seconds"] or 0) for one in binding[:10]]
    return _both(t, "binding", lambda frame: bar_chart(frame, bars, Axes(t).times), wide=980)


def _drawing(t: Words, key: str, draw: Callable[[Frame], str]) -> Drawing:
    return Drawing(t(f"chart.{key}"), _both(t, key, draw))


def _both(t: Words, key: str, draw: Callable[[Frame], str], wide: int = HALF) -> Markup:
    title, empty = t(f"chart.{key}"), t("chart.empty")
    return drawn(
        for_screens(lambda width: draw(Frame(title=title, width=width, height=TALL, empty=empty)), wide=wide)
    )


def _ordinal(label: str) -> tuple[float, str]:
    digits = label.replace(",", "").lstrip("<>=~ ").split("-")[0]
    try:
        return float(digits), label
    except ValueError:
        return float("inf"), label


def _seconds(at: object) -> float:
    if isinstance(at, str):
        return datetime.fromisoformat(at).timestamp()
    return float(at) if isinstance(at, int | float) else 0.0
