"""Numbers, sizes and times as people read them."""

import math
import time
from datetime import UTC, datetime

from gossamer.words.catalogue import Words

NOTHING = "\u2013"
_SIZES = ("B", "KiB", "MiB", "GiB", "TiB", "PiB")
_LARGE = ((1e9, "G"), (1e6, "M"), (1e4, "k"))


def number(value: float | None) -> str:
    """`1234567` as `1,234,567`; fractions keep two significant digits."""
    if value is None or not math.isfinite(value):
        return NOTHING
    if float(value).is_integer():
        return f"{int(value):,}"
    if abs(value) >= 100:
        return f"{value:,.0f}"
    return f"{value:.1f}" if abs(value) >= 10 else f"{value:.2f}"


def short(value: float | None) -> str:
    """`1234567` as `1.2M`, for where there is little room; below 10,000 in full."""
    if value is None or not math.isfinite(value):
        return NOTHING
    for unit, letter in _LARGE:
        if abs(value) >= unit:
            scaled = value / (1e3 if letter == "k" else unit)
            return f"{scaled:.{0 if scaled >= 100 else 1}f}".removesuffix(".0") + letter
    return number(value)


def size(value: float | None) -> str:
    """Bytes in binary units: `12.3 MiB`."""
    if value is None or not math.isfinite(value):
        return NOTHING
    step = 0
    while abs(value) >= 1024 and step < len(_SIZES) - 1:
        value /= 1024
        step += 1
    digits = 0 if step == 0 or value >= 100 else 1
    return f"{value:.{digits}f}".removesuffix(".0") + f" {_SIZES[step]}"


def share(value: float | None) -> str:
    """A fraction as per cent."""
    if value is None or not math.isfinite(value):
        return NOTHING
    if 0 < value < 0.001:
        return "<0.1%"
    percent = value * 100
    return f"{percent:.0f}%" if percent >= 10 or percent == 0 else f"{percent:.1f}%"


def duration(seconds: float | None, t: Words) -> str:
    """Seconds in the two largest units that matter: `3 h 12 min`."""
    if seconds is None or not math.isfinite(seconds):
        return NOTHING
    if seconds < 1:
        return t("unit.ms", n=f"{seconds * 1000:.0f}") if seconds > 0 else t("unit.s", n="0")
    if seconds < 10:
        return t("unit.s", n=f"{seconds:.1f}".removesuffix(".0"))
    whole = round(seconds)
    if whole < 60:
        return t("unit.s", n=whole)
    if whole < 3600:
        return _two(t("unit.min", n=whole // 60), whole % 60 and t("unit.s", n=whole % 60))
    if whole < 86400:
        return _two(t("unit.h", n=whole // 3600), whole % 3600 // 60 and t("unit.min", n=whole % 3600 // 60))
    hours = whole % 86400 // 3600
    return _two(t("unit.d", n=f"{whole // 86400:,}"), hours and t("unit.h", n=hours))


def _two(large: str, small: str | int) -> str:
    return f"{large} {small}" if small else large


def moment(stamp: float | str | None) -> str:
    """Unix seconds, or a time in ISO 8601, as `2026-11-21 20:15:09` in UTC."""
    when = _parsed(stamp)
    return when.strftime("%Y-%m-%d %H:%M:%S") if when else NOTHING


def clock(stamp: float | str | None) -> str:
    """The time of day alone, for lists of the newest things."""
    when = _parsed(stamp)
    return when.strftime("%H:%M:%S") if when else NOTHING


def machine_time(stamp: float | str | None) -> str:
    """For the `datetime` attribute of a time."""
    when = _parsed(stamp)
    return when.strftime("%Y-%m-%dT%H:%M:%SZ") if when else ""


def ago(stamp: float | None, t: Words) -> str:
    """How long since a time; `in 5 min` for one to come."""
    if not stamp:
        return NOTHING
    seconds = time.time() - stamp
    if seconds < -1:
        return t("unit.ahead", time=duration(-seconds, t))
    return t("unit.ago", time=duration(max(1, round(seconds)), t))


_SECONDS = frozenset(("min_delay", "max_delay"))
_BYTES = frozenset(("max_bytes", "max_speed"))


def as_field(name: str, value: float, t: Words) -> str:
    """A setting of a host, in the unit that its name stands for."""
    if name in _SECONDS:
        return duration(value, t)
    return size(value) if name in _BYTES else number(value)


def _parsed(stamp: float | str | None) -> datetime | None:
    try:
        if isinstance(stamp, str):
            return datetime.fromisoformat(stamp).astimezone(UTC) if stamp else None
        return datetime.fromtimestamp(stamp, UTC) if stamp else None
    except (ValueError, OverflowError, OSError):
        return None
