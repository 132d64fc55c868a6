"""Writes numbers, sizes and times as people read them, in each language."""

import math
import time
from datetime import UTC, datetime
from typing import Final

LANGUAGES: Final = {"en": "English", "zh": "中文"}
"""Language by its code, each in its own words."""
DEFAULT: Final = "en"
TAGS: Final = {"en": "en", "zh": "zh-Hans"}
"""Of a page in the language (BCP 47)."""
NOTHING: Final = "\u2013"
"""What stands where nothing is known."""
_SIZES: Final = ("B", "KiB", "MiB", "GiB", "TiB", "PiB")
_SHORT: Final = {
    "en": ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")),
    "zh": ((1e12, "万亿"), (1e8, "亿"), (1e4, "万")),
}
_SPANS: Final = {"en": (" d", " h", " min", " s", " ms"), "zh": (" 天", " 小时", " 分", " 秒", " 毫秒")}
_PER_SECOND: Final = {"en": "/s", "zh": "/秒"}
_AGO: Final = {"en": ("{} ago", "in {}"), "zh": ("{}前", "{}后")}


class Amounts:
    """Writes amounts in one language; what is unknown (`None`) or endless is a dash.

    Args:
        language: its code, one of `LANGUAGES`.
    """

    def __init__(self, language: str) -> None:
        self.language = language

    def number(self, value: float | None) -> str:
        """In full: `12,345`; below 100 with as many digits as say something."""
        if value is None or not math.isfinite(value):
            return NOTHING
        if value == int(value) or abs(value) >= 100:
            return f"{value:,.0f}"
        return f"{value:.3g}" if abs(value) < 10 else f"{value:.1f}"

    def short(self, value: float | None) -> str:
        """A number where there is little room: `12k`, `1.2万`."""
        if value is None or not math.isfinite(value):
            return NOTHING
        for unit, name in _SHORT[self.language]:
            if abs(value) >= unit:
                return f"{value / unit:.3g}{name}"
        return f"{value:.3g}" if value < 1 else f"{value:.4g}"

    def size(self, value: float | None) -> str:
        """An amount of bytes: `3.4 MiB`."""
        if value is None or not math.isfinite(value):
            return NOTHING
        power = 0
        while abs(value) >= 1023.95 and power < len(_SIZES) - 1:
            value /= 1024
            power += 1
        digits = 0 if not power or value == int(value) or value >= 100 else 1
        return f"{value:,.{digits}f} {_SIZES[power]}"

    def speed(self, value: float | None) -> str:
        """An amount of bytes in a second: `3.4 MiB/s`."""
        return self.size(value) + _PER_SECOND[self.language]

    def rate(self, value: float | None) -> str:
        """A number in a second: `12.3/s`."""
        return self.number(value) + _PER_SECOND[self.language]

    def share(self, part: float | None, whole: float = 1.0) -> str:
        """`part` of `whole` as per cent; nothing of nothing is 0%."""
        return NOTHING if part is None else percent(part / whole if whole else 0.0)

    def duration(self, seconds: float | None) -> str:
        """A time in one or two units: `2 h 05 min`, `340 ms`."""
        if seconds is None or not math.isfinite(seconds):
            return NOTHING
        day, hour, minute, second, milli = _SPANS[self.language]
        sign, seconds = ("-", -seconds) if seconds < 0 else ("", seconds)
        if seconds < 0.9995:
            return f"{sign}{seconds * 1000:.3g}{milli}" if seconds else f"0{second}"
        if seconds < 59.5:
            return f"{sign}{seconds:.3g}{second}"
        minutes, rest = divmod(round(seconds), 60)
        if minutes < 60:
            return f"{sign}{minutes}{minute} {rest:02d}{second}"
        hours, minutes = divmod(minutes, 60)
        if hours < 48:
            return f"{sign}{hours}{hour} {minutes:02d}{minute}"
        return f"{sign}{hours // 24:,}{day} {hours % 24}{hour}"

    def ago(self, stamp: float | None) -> str:
        """How long since a wall time: `5 min 00 s ago`; `in 5 min 00 s` for one to come."""
        if not stamp or not math.isfinite(stamp):
            return NOTHING
        seconds = time.time() - stamp
        past, to_come = _AGO[self.language]
        if seconds < -1:
            return to_come.format(self.duration(round(-seconds)))
        return past.format(self.duration(max(1, round(seconds))))


def percent(share: float) -> str:
    """A share from 0 to 1; what is there at all is never 0%, what is missing never 100%."""
    if not math.isfinite(share):
        return NOTHING
    if 0 < share < 0.001:
        return "<0.1%"
    if 0.999 < share < 1:
        return ">99.9%"
    return f"{100 * share:.1f}%".replace(".0%", "%") if share < 0.1 else f"{100 * share:.0f}%"


def moment(stamp: float | str | None) -> str:
    """Unix seconds, or a time in ISO 8601, as `2026-11-21 20:15:09` in UTC."""
    when = _parsed(stamp)
    return f"{when:%Y-%m-%d %H:%M:%S}" if when else NOTHING


def clock(stamp: float | str | None) -> str:
    """The time of day alone, for lists of the newest things."""
    when = _parsed(stamp)
    return f"{when:%H:%M:%S}" if when else NOTHING


def machine_time(stamp: float | str | None) -> str:
    """As `2026-11-21T20:15:09Z`, for programs; empty for no time."""
    when = _parsed(stamp)
    return f"{when:%Y-%m-%dT%H:%M:%SZ}" if when else ""


def _parsed(stamp: float | str | None) -> datetime | None:
    try:
        if isinstance(stamp, str):
            return datetime.fromisoformat(stamp).astimezone(UTC) if stamp else None
        return datetime.fromtimestamp(stamp, UTC) if stamp else None
    except (ValueError, OverflowError, OSError):
        return None
