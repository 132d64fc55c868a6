"""Durations and sizes as people write them: "10s", "5 min", "1h30min", "64MiB"."""

import re
from fractions import Fraction

from gossamer.model.reasons.codes import ProblemCode
from gossamer.model.reasons.reason import WrongValueError, because

SECONDS = {
    "ms": Fraction(1, 1000),
    "s": Fraction(1),
    "min": Fraction(60),
    "h": Fraction(3600),
    "d": Fraction(86_400),
    "w": Fraction(604_800),
}
_SECONDS_BY_SPELLING = SECONDS | {
    "sec": Fraction(1),
    "second": Fraction(1),
    "seconds": Fraction(1),
    "m": Fraction(60),
    "minute": Fraction(60),
    "minutes": Fraction(60),
    "hour": Fraction(3600),
    "hours": Fraction(3600),
    "day": Fraction(86_400),
    "days": Fraction(86_400),
    "week": Fraction(604_800),
    "weeks": Fraction(604_800),
}
BYTES = {
    "B": Fraction(1),
    "kB": Fraction(10**3),
    "MB": Fraction(10**6),
    "GB": Fraction(10**9),
    "TB": Fraction(10**12),
    "KiB": Fraction(1 << 10),
    "MiB": Fraction(1 << 20),
    "GiB": Fraction(1 << 30),
    "TiB": Fraction(1 << 40),
}
_WHOLE_SECONDS = {unit: SECONDS[unit] for unit in ("w", "d", "h", "min", "s")}
_SIZES = {unit: BYTES[unit] for unit in ("TiB", "GiB", "MiB", "KiB", "TB", "GB", "MB", "kB", "B")}
_BYTES_BY_SPELLING = {unit.lower(): factor for unit, factor in BYTES.items()}

_NUMBER = r"[0-9]{1,40}(?:\.[0-9]{1,40})?(?:e[+-]?[0-9]{1,3})?"
_TERM = re.compile(rf"\s*({_NUMBER})\s*([a-z]*)\s*", re.IGNORECASE)


def parse_duration(text: str) -> float:
    """Seconds in e.g. `10s`, `250 ms`, `5 min`, `1h30min`, `2 days`; a bare number counts seconds.

    Raises:
        ValueError: it is no duration.
    """
    total = _parse(text, _SECONDS_BY_SPELLING, "s")
    if total is None:
        raise WrongValueError(because(ProblemCode.DURATION, text))
    try:
        return float(total)
    except OverflowError:
        raise ValueError(f"{text!r} is too long a time") from None


def parse_size(text: str) -> int:
    """Bytes in e.g. `64MiB`, `1 GB` (1,000,000,000), `1.5 KiB`; a bare number counts bytes. Case is ignored.

    Raises:
        ValueError: it is no size, or no whole number of bytes.
    """
    total = _parse(text, _BYTES_BY_SPELLING, "b")
    if total is None:
        raise WrongValueError(because(ProblemCode.SIZE, text))
    if total.denominator != 1:
        raise WrongValueError(because(ProblemCode.BYTES, text))
    return int(total)


def print_duration(seconds: float) -> str:
    """The shortest exact writing: `parse_duration` gives the same float back. Finite, not negative."""
    if seconds == 0:
        return "0s"
    units = _WHOLE_SECONDS if seconds >= 1 else {"ms": SECONDS["ms"]}
    return _whole(seconds, units) or f"{seconds!r}s"


def print_size(size: int) -> str:
    """The shortest exact writing: `parse_size` gives the same number back. Not negative."""
    return _whole(size, _SIZES) or f"{size}B"


def _parse(text: str, factors: dict[str, Fraction], bare: str) -> Fraction | None:
    """The exact sum of `number unit` terms; only a lone number may lack its unit."""
    total = Fraction(0)
    position = 0
    while position < len(text) and len(text) <= 100:
        term = _TERM.match(text, position)
        unit = term[2].lower() if term else ""
        if term is None or (unit and unit not in factors) or (not unit and term[0] != text):
            return None
        total += Fraction(term[1]) * factors[unit or bare]
        position = term.end()
    return total if position and position == len(text) else None


def _whole(value: float, units: dict[str, Fraction]) -> str:
    """`value` as a whole number of the unit that needs the fewest digits, the first of equals; or nothing."""
    best, digits = "", 16
    for unit, factor in units.items():
        nearest = round(Fraction(value) / factor)
        if nearest <= 0 or len(str(nearest)) >= digits:
            continue
        total = nearest * factor
        # 100 ms are no exact float, so floats are compared as floats.
        if value == (float(total) if isinstance(value, float) else total):
            best, digits = f"{nearest}{unit}", len(str(nearest))
    return best
