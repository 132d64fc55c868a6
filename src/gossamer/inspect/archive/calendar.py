"""When a URL was captured, by years and days, in bounded time however often that was."""

from collections import Counter
from collections.abc import Iterator
from itertools import islice

import msgspec

from gossamer.archive.cdxj import capture_prefix
from gossamer.inspect.inspection import Inspection
from gossamer.model.url import Url
from gossamer.state.environment import Family

__all__ = ["MOST_A_DAY", "Calendar", "calendar_of"]

MOST_A_DAY = 500
"""Captures of a day that are counted."""
_YEAR, _DAY = len("2026"), len("20260131")


class Calendar(msgspec.Struct, frozen=True):
    """When a URL was captured.

    Attributes:
        years: in which it was, the earliest first.
        year: whose days are told; empty if there are none.
        days: captures of each day that has any, by day (`2026-01-31`), in order.
        most: captures that are counted of a day; one that has them may have more.
    """

    years: list[str]
    year: str
    days: dict[str, int]
    most: int = MOST_A_DAY


def calendar_of(inspection: Inspection, url: Url, year: str = "") -> Calendar:
    """The calendar of a year, of the last with captures if that has none."""
    prefix = capture_prefix(url)
    years: set[str] = set()
    days: Counter[str] = Counter()
    for crawl in inspection.together:
        years.update(_periods(crawl, prefix, _YEAR))
    shown = year if year in years else max(years, default="")
    for crawl in inspection.together if shown else ():
        for day in _periods(crawl, prefix + shown.encode("ascii"), _DAY - _YEAR):
            entries = crawl.environment.scan(Family.CAPTURES, prefix=prefix + f"{shown}{day}".encode("ascii"))
            days[f"{shown}-{day[:2]}-{day[2:]}"] += sum(1 for _ in islice(entries, MOST_A_DAY))
    return Calendar(sorted(years), shown, {day: min(days[day], MOST_A_DAY) for day in sorted(days)})


def _periods(crawl: Inspection, prefix: bytes, digits: int) -> Iterator[str]:
    """The next digits of the times that follow `prefix`, each once: one seek for each."""
    start = prefix
    while True:
        key = next(crawl.environment.scan(Family.CAPTURES, start, prefix), (b"", b""))[0]
        if not key:
            return
        period = key[len(prefix) : len(prefix) + digits]
        yield period.decode("ascii")
        start = prefix + period + b"~"
