"""Dates in the cells of a workbook, which are numbers of days with a format that says so.

Source: ECMA-376 part 1, 18.8.30 (formats that need no code), 18.17.4 (the two calendars).
"""

import re
from datetime import datetime, time, timedelta

import msgspec

__all__ = ["Styles", "written"]

_BUILT_IN = frozenset(map(str, (*range(14, 23), *range(27, 37), 45, 47, *range(50, 59))))
_ASIDE = re.compile(r'"[^"]*"|\\.|_.|\*.|\[(?:\$|[A-Z])[^\]]*\]', re.IGNORECASE)
"""What in the code of a format is no part of a date: quotations, fillers, colours and places."""
_ELAPSED = re.compile(r"\[[hms]+\]", re.IGNORECASE)
_PART = re.compile(r"[dmyhs]", re.IGNORECASE)
_MOST = 100_000
"""Formats of cells and their codes, each."""
_BEGIN, _BEGIN_1904 = datetime(1899, 12, 30), datetime(1904, 1, 1)
_FICTION = 61
"""Days until the calendar of 1900 has a 29th of February, which that year had not."""
_DAYS = 2_958_466
"""To the end of 9999."""


class Styles(msgspec.Struct):
    """Which formats of cells are of dates; `start` and `end` take in the tags of the part `styles.xml`."""

    dates: set[str] = msgspec.field(default_factory=set)
    _codes: set[str] = msgspec.field(default_factory=set)
    _inside: bool = False
    _count: int = 0

    def start(self, element: str, attributes: dict[str, str]) -> None:
        """Take in a start tag: the codes of formats come first, then the formats of cells, known by their place."""
        name = element.rpartition(" ")[2]
        if name == "cellXfs":
            self._inside = True
        elif name == "numFmt" and len(self._codes) < _MOST and _is_date(attributes.get("formatCode", "")):
            self._codes.add(attributes.get("numFmtId", ""))
        elif name == "xf" and self._inside:
            kind = attributes.get("numFmtId", "")
            if self._count < _MOST and (kind in _BUILT_IN or kind in self._codes):
                self.dates.add(str(self._count))
            self._count += 1

    def end(self, element: str) -> None:
        """Take in an end tag."""
        if element.rpartition(" ")[2] == "cellXfs":
            self._inside = False


def _is_date(code: str) -> bool:
    code = code[:255].partition(";")[0]
    return not _ELAPSED.search(code) and _PART.search(_ASIDE.sub("", code)) is not None


def written(number: str, *, since_1904: bool) -> str:
    """The date or time of day that a number of days stands for, as ISO 8601 writes them; the number if it is none."""
    try:
        days = float(number)
    except ValueError:
        return number
    if not 0 <= days < _DAYS:
        return number
    begin = _BEGIN_1904 if since_1904 else _BEGIN
    if days < _FICTION and not since_1904:
        days += days >= 1
    moment = begin + timedelta(seconds=round(days * 86_400))
    if days < 1:
        return moment.time().isoformat()
    return moment.date().isoformat() if moment.time() == time.min else moment.isoformat(" ")
