"""Reads the three spellings of a date in HTTP (RFC 9110, 5.6.7), without regard to the locale."""

import re
from datetime import UTC, datetime

_NAMES = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTHS = {name: number for number, name in enumerate(_NAMES, 1)}
_PARTS = "day", "month", "year", "hour", "minute", "second"
_CLOCK = r"(?P<hour>\d\d):(?P<minute>\d\d):(?P<second>\d\d)"
_SPELLINGS = tuple(
    re.compile(spelling, re.IGNORECASE | re.ASCII)
    for spelling in (
        # Sun, 06 Nov 1994 08:49:37 GMT (also without the weekday, and with UTC or +0000, as some write)
        rf"(?:[a-z]{{3,9}},? +)?(?P<day>\d\d?) (?P<month>[a-z]{{3}}) (?P<year>\d{{4}}) {_CLOCK}"
        r"(?: +(?:GMT|UTC|Z|[+-]0000))?",
        # Sunday, 06-Nov-94 08:49:37 GMT
        rf"(?:[a-z]{{3,9}},? +)?(?P<day>\d\d?)-(?P<month>[a-z]{{3}})-(?P<year>\d{{2}}|\d{{4}}) {_CLOCK}"
        r"(?: +(?:GMT|UTC|Z|[+-]0000))?",
        # Sun Nov  6 08:49:37 1994
        rf"[a-z]{{3,9}} +(?P<month>[a-z]{{3}}) +(?P<day>\d\d?) {_CLOCK} (?P<year>\d{{4}})",
    )
)
LONGEST = 64
"""Characters of the longest text that is looked at."""

_HALF_CENTURY = 50


def parse_http_date(text: str, now: float) -> float | None:
    """Wall time in seconds since 1970 of a date, or `None` for anything else.

    Args:
        text: the field's value.
        now: wall time; a year of two digits that would lie more than 50 years ahead means the past.
    """
    text = text.strip()
    if len(text) > LONGEST:
        return None
    for spelling in _SPELLINGS:
        if (parts := spelling.fullmatch(text)) is not None:
            return _seconds(parts, now)
    return None


def _seconds(parts: re.Match[str], now: float) -> float | None:
    day, month, written, hour, minute, second = parts.group(*_PARTS)
    if (number := _MONTHS.get(month.lower())) is None:
        return None
    year = int(written)
    if len(written) == 2:
        this_year = datetime.fromtimestamp(now, UTC).year
        year += this_year - this_year % 100
        if year > this_year + _HALF_CENTURY:
            year -= 100
    # A leap second is like its predecessor to those who wait for it.
    seconds = 59 if second == "60" else int(second)
    try:
        return datetime(year, number, int(day), int(hour), int(minute), seconds, tzinfo=UTC).timestamp()
    except ValueError:
        return None
