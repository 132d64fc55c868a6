"""Makes numbers and dates of what pages write."""

import re
from datetime import UTC, date, datetime

_LONGEST = 200
_NUMBER = re.compile(r"[+\u2212-]?\d[\d.,'\u2019\u00a0\u202f ]*", re.ASCII)
_BLANKS = re.compile(r"['\u2019\u00a0\u202f ]")
_DAY_FIRST = re.compile(r"(\d{1,2})\.\s?(\d{1,2})\.\s?(\d{4})", re.ASCII)
_YEAR_FIRST = re.compile(r"(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})", re.ASCII)
_CHINESE = re.compile(r"(\d{4})年(\d{1,2})月(\d{1,2})日", re.ASCII)
_WORDS = re.compile(
    r"(?:(\d{1,2})(?:st|nd|rd|th)?\.? +)?([A-Za-z]{3,9})\.?,? +(?:(\d{1,2})(?:st|nd|rd|th)?,? +)?(\d{4})",
    re.ASCII,
)
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")


def number(text: str) -> int | float | None:
    """The first number in a text, whichever of point and comma stands for what; `None` without one.

    The last of both is the decimal point; one that stands alone is, unless just three digits follow it and
    one to three stand before: `1,299` and `1.299` are thousands, `12.99` and `0,5` are not.
    """
    found = _NUMBER.search(text[:_LONGEST])
    if found is None:
        return None
    digits = _BLANKS.sub("", found[0]).rstrip(".,").replace("\u2212", "-")
    decimal = _decimal_point(digits)
    if decimal < 0:
        return int(re.sub(r"[.,]", "", digits))
    whole = re.sub(r"[.,]", "", digits[:decimal])
    return float(f"{whole or 0}.{digits[decimal + 1 :]}")


def _decimal_point(digits: str) -> int:
    """Where the decimal point stands; -1 if there is none."""
    point, comma = digits.rfind("."), digits.rfind(",")
    last = max(point, comma)
    if last < 0:
        return -1
    if point >= 0 and comma >= 0:
        return last
    mark = digits[last]
    whole, _, rest = digits.lstrip("+-").partition(mark)
    if digits.count(mark) > 1 or (len(rest) == 3 and 1 <= len(whole) <= 3 and whole != "0"):
        return -1
    return last


def moment(text: str) -> str | None:
    """The date, or date and time with its offset from UTC, that a text begins with or holds, by ISO 8601.

    Read are ISO 8601, RFC 9110 and RFC 5322, `31.12.2026`, `2026/12/31`, `2026年12月31日` and English months.
    """
    text = " ".join(text[:_LONGEST].split())
    try:
        if len(text) == len("2026-12-31"):
            return date.fromisoformat(text).isoformat()
        if _YEAR_FIRST.match(text):  # and not digits alone, which may be anything
            return datetime.fromisoformat(text).isoformat()
    except ValueError:
        pass
    from email.utils import (
        parsedate_to_datetime,  # ten modules, which each command would load with its settings
    )

    try:
        told = parsedate_to_datetime(text)
        return (told if told.tzinfo else told.replace(tzinfo=UTC)).isoformat()
    except (ValueError, TypeError, IndexError, OverflowError):
        pass
    for pattern, order in ((_YEAR_FIRST, (1, 2, 3)), (_DAY_FIRST, (3, 2, 1)), (_CHINESE, (1, 2, 3))):
        if (found := pattern.search(text)) is not None:
            return _day(*(int(found[group]) for group in order))
    for found in _WORDS.finditer(text):
        name, day = found[2][:3].lower(), found[1] or found[3]
        if name in _MONTHS and day:
            return _day(int(found[4]), _MONTHS.index(name) + 1, int(day))
    return None


def _day(year: int, month: int, day: int) -> str | None:
    try:
        return date(year, month, day).isoformat()
    except ValueError:
        return None
