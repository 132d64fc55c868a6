"""Reads when something changed, as sitemaps and feeds write it.

Source: W3C-DTF, a profile of ISO 8601 (sitemaps, RFC 4287 3.3, JSON Feed); RFC 5322 3.3 and 4.3 with the zones by name
(RSS). A time without a zone is taken for UTC; what names a year, month or day only, for its beginning.
"""

import re
from datetime import UTC, datetime
from functools import lru_cache

__all__ = ["moment"]

_LONGEST = 64
"""Characters that are looked at."""
_W3C = re.compile(
    r"(\d{4})(?:-?(\d\d)(?:-?(\d\d)(?:[Tt ]\s*+(\d\d):?(\d\d)(?::?(\d\d)(?:[.,]\d++)?)?"
    r"\s*+(?:(?:UTC|GMT)|[Zz]|([+\u2212-])(\d\d):?(\d\d)?)?)?)?)?",
    re.ASCII,
)


@lru_cache(maxsize=1 << 12)
def moment(text: str) -> float:
    """Seconds since 1970; 0 if the text is no time, or one before that."""
    text = text.strip()[:_LONGEST]
    found = _W3C.fullmatch(text)
    try:
        return max(0.0, _by_w3c(found) if found else _by_mail(text))
    except (ValueError, OverflowError, TypeError, IndexError):
        return 0.0


def _by_w3c(found: re.Match[str]) -> float:
    year, month, day, hour, minute, second, sign, hours, minutes = found.groups()
    # The leap second is the last one once more; midnight at the end of a day is written as 24:00, too.
    whole = datetime(
        int(year), int(month or 1), int(day or 1), int(hour or 0) % 24, int(minute or 0),
        min(int(second or 0), 59), tzinfo=UTC,
    ).timestamp()  # fmt: skip
    if hour == "24":
        whole += 86_400
    offset = int(hours or 0) * 3_600 + int(minutes or 0) * 60
    return whole + offset if sign in ("-", "\u2212") else whole - offset


def _by_mail(text: str) -> float:
    from email.utils import mktime_tz, parsedate_tz  # few crawls read a feed that writes so

    parts = parsedate_tz(text)
    return 0.0 if parts is None else float(mktime_tz(parts))
