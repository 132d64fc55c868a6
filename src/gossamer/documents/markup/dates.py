"""Dates as pages write them, for machines and for readers, in the languages that are written most.

Nothing is guessed: of `04/05/2006` nobody knows the month unless the language of the page says it, and then it is
no date.
"""

import re
import unicodedata
from collections.abc import Iterator
from datetime import UTC, date, datetime

__all__ = ["date_in", "iso_date"]

_MONTHS = {
    # English, German, French, Spanish, Italian, Portuguese, Dutch; without accents, as far as they must be told apart.
    1: "jan gen ene",
    2: "feb fev",
    3: "mar mae mrt maa",
    4: "apr abr avr",
    5: "may mai mag mei",
    6: "jun juin giu",
    7: "jul juil lug",
    8: "aug aou ago",
    9: "sep set",
    10: "oct okt ott out",
    11: "nov",
    12: "dec dez dic",
}
_BY_NAME = {name: number for number, names in _MONTHS.items() for name in names.split()}
_NOON = "\u4e0b\u5348|\uc624\ud6c4"
_HOUR_WORDS = rf"um|at|a las|kl\.?|om|-|\u2013|\u00e0s?|alle|\u4e0a\u5348|\uc624\uc804|(?P<noon>{_NOON})"
_TIME = (
    rf"(?:[T,.\s]*(?:(?:{_HOUR_WORDS})\s*)?(?P<hour>\d\d?)(?:[:h]|\u65f6|\u6642|\uc2dc\s?)(?P<minute>\d\d)"
    r"(?::(?P<second>\d\d)(?:[.,]\d{1,9})?)?\s*(?P<half>[ap]\.?m\b\.?)?"
    r"\s*(?P<zone>Z\b|[+-]\d\d:?(?:\d\d)?\b|UTC|GMT)?)?"
)
_NAME = r"(?P<name>[^\W\d_]{3,12})"
_DAY = r"(?P<day>\d{1,2})"
_YEAR = r"(?P<year>(?:1[6-9]|20|21)\d\d)"
_FORMS = tuple(
    re.compile(r"(?<![\d/.-])" + form + r"(?!\d|[./]\d)" + _TIME, re.IGNORECASE)
    for form in (
        _YEAR + r"-(?P<month>\d\d?)-(?P<day>\d\d?)",
        _YEAR + r"[/.]\s?(?P<month>\d\d?)[/.]\s?(?P<day>\d\d?)",
        _YEAR + r"\s?[\u5e74\ub144]\s?(?P<month>\d\d?)\s?[\u6708\uc6d4]\s?(?P<day>\d\d?)\s?[\u65e5\u53f7\u865f\uc77c]?",
        rf"{_DAY}(?:st|nd|rd|th|er|\u00ba|\u00aa|\.)?[\s-]*(?:de\s|of\s)?\s*{_NAME}\.?,?[\s-]*(?:del?\s)?\s*{_YEAR}",
        _NAME + r"\.?\s+" + _DAY + r"(?:st|nd|rd|th)?,?\s+" + _YEAR,
        r"(?P<day>\d\d?)\.\s?(?P<month>\d\d?)\.\s?" + _YEAR,
        r"(?P<one>\d\d?)/(?P<other>\d\d?)/" + _YEAR,
    )
)  # fmt: skip
_COMPACT = re.compile(
    r"\s*(?P<year>(?:19|20)\d\d)(?P<month>[01]\d)(?P<day>[0-3]\d)"
    r"(?:T?(?P<hour>\d\d)(?P<minute>\d\d)(?P<second>\d\d)?)?(?P<zone>Z|[+-]\d\d:?\d\d)?(?!\d)"
)
_ROUGH = re.compile(r"\s*((?:1[6-9]|20|21)\d\d)(?:-(0[1-9]|1[0-2]))?\s*\Z")
_STAMP = re.compile(r"\s*(1\d{9})(?:\d{3})?\s*\Z")
_LONGEST = 200
_FIRST_WORDS = 40
"""Characters of other words that may stand before a date that was given as one."""
_MONTH_FIRST = ("en-us", "en-ca", "en-ph")


def iso_date(value: str, language: str = "") -> str:
    """A date, with its time where it has one, as ISO 8601, of the precision that was found; empty if it is none.

    Args:
        value: what was given as a date and nothing else.
        language: BCP 47 tag of the page, which decides between day and month where figures do not.
    """
    value = value[:_LONGEST]
    if rough := _ROUGH.match(value):
        return "-".join(filter(None, rough.groups()))
    if stamp := _STAMP.match(value):
        return datetime.fromtimestamp(int(stamp[1]), UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    if compact := _COMPACT.match(value):
        return _written(compact, language)
    return next((found for place, found in _dates(value, language) if place <= _FIRST_WORDS), "")


def date_in(text: str, language: str = "") -> str:
    """The first date in some words, as `iso_date` gives it; empty if there is none."""
    return next((found for _, found in _dates(text[:_LONGEST], language)), "")


def _dates(text: str, language: str) -> Iterator[tuple[int, str]]:
    """Dates in a text with where they stand, the first first."""
    found = []
    for form in _FORMS:
        for match in form.finditer(text):
            if written := _written(match, language):
                found.append((match.start(), written))
                break
    yield from sorted(found)


def _written(match: re.Match[str], language: str) -> str:
    part = match.groupdict()
    year = int(part["year"])
    if "one" in part:
        month, day = _month_and_day(int(part["one"]), int(part["other"]), language.lower())
    else:
        month = int(part["month"]) if part.get("month") else _month(part["name"])
        day = int(part["day"])
    try:
        written = date(year, month, day).isoformat()
    except ValueError:
        return ""
    if not 1600 <= year <= 2200:
        return ""
    hour, minute = int(part["hour"] or -1), int(part["minute"] or 0)
    half = "p" if part.get("noon") else (part.get("half") or "").lower()[:1]
    if half and 1 <= hour <= 12:
        hour = hour % 12 + 12 * (half == "p")
    if not 0 <= hour <= 23 or minute > 59:
        return written
    zone = (part["zone"] or "").upper().replace("UTC", "Z").replace("GMT", "Z")
    if len(zone) == 5:
        zone = f"{zone[:3]}:{zone[3:]}"
    return f"{written}T{hour:02}:{minute:02}:{part['second'] or '00'}{zone}"


def _month(name: str) -> int:
    """The number of a month by its name; 0 if it is none."""
    plain = "".join(c for c in unicodedata.normalize("NFD", name.lower()) if not unicodedata.combining(c))
    return _BY_NAME.get(plain[:4], 0) or _BY_NAME.get(plain[:3], 0)


def _month_and_day(one: int, other: int, language: str) -> tuple[int, int]:
    """Month and day of two figures; month 0 where nobody knows which is which."""
    if one > 12 or one == other:
        return other, one
    if other > 12:
        return one, other
    if language.startswith(_MONTH_FIRST):
        return one, other
    return (0, 0) if language in ("", "en") else (other, one)
