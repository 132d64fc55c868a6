"""Where the ticks of an axis stand, so that their labels are round numbers."""

import math
from datetime import UTC, datetime

_MINUTE, _HOUR, _DAY = 60, 3600, 86_400
_TIME_STEPS = (
    1, 2, 5, 10, 15, 30,
    _MINUTE, 2 * _MINUTE, 5 * _MINUTE, 10 * _MINUTE, 15 * _MINUTE, 30 * _MINUTE,
    _HOUR, 2 * _HOUR, 3 * _HOUR, 6 * _HOUR, 12 * _HOUR,
)  # fmt: skip
EARLIEST, LATEST = 0.0, 253_402_300_799.0
"""Times that can be written, seconds since 1970: until the end of the year 9999."""


def finite(value: float) -> float:
    """`value` if a chart can show it: 0 in place of what is negative, endless or not a number."""
    return float(value) if 0 < value < 1e300 else 0.0


def nice_step(least: float, *, binary: bool = False, whole: bool = False) -> float:
    """The smallest round step of at least `least`: 1, 2 or 5 times a power of ten.

    Args:
        least: above 0.
        binary: times a power of 1,024, for bytes.
        whole: not below 1, for what cannot be halved.
    """
    unit = 1.0
    if binary:
        unit = 1024.0 ** max(0, math.floor(math.log(least, 1024)))
        whole = True  # no parts of a byte, nor less than 1 of a unit
    size = max(least / unit, 1.0 if whole else 0.0)
    power = 10.0 ** math.floor(math.log10(size))
    step = next(factor * power for factor in (1, 2, 5, 10, 20) if factor * power >= size * (1 - 1e-9))
    return unit * (1024 if binary and step == 1000 else step)


def nice_ticks(top: float, most: int, *, binary: bool = False, whole: bool = False) -> list[float]:
    """Ticks from 0 to at least `top`, some `most` of them."""
    if top <= 0:
        return [0.0, 1.0]
    step = nice_step(top / max(most, 1), binary=binary, whole=whole)
    return [step * number for number in range(math.ceil(top / step * (1 - 1e-9)) + 1)]


def time_ticks(first: float, last: float, most: int) -> tuple[list[float], float]:
    """(times, step) of at most `most` ticks between two times, at full minutes, hours, days of UTC."""
    span = max(last - first, 1e-3)
    least = span / max(most, 1)
    step = next((float(step) for step in _TIME_STEPS if step >= least), 0.0)
    if not step:
        step = _DAY * nice_step(least / _DAY, whole=True)
    begin = math.ceil(first / step - 1e-9)
    count = min(math.floor(last / step + 1e-9) - begin + 1, most + 1)
    return [step * (begin + number) for number in range(count)], step


def time_label(at: float, step: float) -> str:
    """A tick in UTC as short as its step allows; midnight is written as the date."""
    moment = datetime.fromtimestamp(min(max(at, EARLIEST), LATEST), UTC)
    if step >= _DAY or (moment.hour, moment.minute, moment.second) == (0, 0, 0):
        return f"{moment:%m-%d}" if step < 200 * _DAY else f"{moment:%Y-%m}"
    return f"{moment:%H:%M}" if step >= _MINUTE else f"{moment:%H:%M:%S}"


def spread(places: list[float], widths: list[float], gap: float) -> list[bool]:
    """Which labels, centred on ascending `places`, can stand in a row without touching; the first does."""
    shown, end = [], -math.inf
    for place, width in zip(places, widths, strict=True):
        fits = place - width / 2 >= end + gap
        shown.append(fits)
        if fits:
            end = place + width / 2
    return shown
