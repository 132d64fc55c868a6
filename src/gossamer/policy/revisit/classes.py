"""Classes of pages whose visits are worth the same after the same time.

A class is a number of 16 bits: how often its pages change (a factor of 1.5 from one to the next), how sure that is
(a factor of 2 in the belief's shape), what they weigh (2) and how many of their changes nobody tells of (2). Within
one the page that has waited longest is worth most, so a first-in-first-out queue per class and host has the best of
it in front, whatever the threshold is; nothing moves when that does.
"""

import math
from bisect import bisect
from functools import lru_cache

from gossamer.policy.revisit.history import History
from gossamer.policy.revisit.rates import Belief
from gossamer.policy.revisit.threshold import worth_of_step
from gossamer.policy.revisit.value import age_at, age_when_told, worth

_RATES, _SHAPES, _WEIGHTS, _SILENCES = 64, 8, 16, 8
_BASE = math.log(1.5)
_SLOWEST = math.log(1e-12)
_SHAPE_OF_0 = 0.25
_WEIGHT_OF_0 = 2.0**-8
_FIXED = _SILENCES - 1
"""What is never a silence: the class is a fixed interval, by its other 13 bits."""
_LIKELY = 0.5
_MANTISSA = 8
LEAST_UNANNOUNCED = 2.0**-5
LONGEST = 16.0
"""Mean intervals between visits that no page waits longer than: what is never worth a visit costs a sixteenth."""


def _digamma(at: float) -> float:
    """The derivative of the logarithm of the gamma function."""
    less = 0.0
    while at < 8:
        less += 1 / at
        at += 1
    square = 1 / (at * at)
    return math.log(at) - 0.5 / at - square * (1 / 12 - square * (1 / 120 - square / 252)) - less


def _trigamma(at: float) -> float:
    """Its second derivative."""
    more = 0.0
    while at < 8:
        more += 1 / (at * at)
        at += 1
    square = 1 / (at * at)
    return more + 1 / at + square / 2 + square / at * (1 / 6 - square * (1 / 30 - square / 42))


_SHAPE = tuple(_SHAPE_OF_0 * 2.0**each for each in range(_SHAPES))
_MEAN_LOG = tuple(_digamma(shape) for shape in _SHAPE)
_BORDERS = tuple(-_trigamma(_SHAPE_OF_0 * 2.0 ** (each + 0.5)) for each in range(_SHAPES - 1))
"""The negative variances of the logarithm between two shapes."""


def classify(belief: Belief, weight: float = 1.0, unannounced: float = 1.0) -> int:
    """The class of a page.

    Args:
        belief: of its rate.
        weight: what a second of its freshness is worth, 1 for most; beyond 2^-8 to 2^7 it is cut off.
        unannounced: the part of its changes that nobody tells of; less than 1/32 is taken for that.
    """
    shape = bisect(_BORDERS, -belief.variance)
    scale = belief.mean - _MEAN_LOG[shape]
    rate = round((scale - _SLOWEST) / _BASE)
    rate = 0 if rate < 0 else _RATES - 1 if rate >= _RATES else rate
    heavy = min(max(round(math.log2(weight)) + 8, 0), _WEIGHTS - 1) if weight != 1.0 else 8
    silence = 0 if unannounced >= 1 else round(-math.log2(max(unannounced, LEAST_UNANNOUNCED)))
    return ((rate * _SHAPES + shape) * _WEIGHTS + heavy) * _SILENCES + silence


def fixed(seconds: float) -> int:
    """The class of pages that the user wants again after so many seconds, whatever is known of them.

    Kept to one part in 512, from 1 second on; 17,000 years stand for more.
    """
    whole = max(1, round(seconds))
    shift = max(0, whole.bit_length() - _MANTISSA - 1)
    # From 256 on the first bit is always set, and goes without saying: it counts as one shift more.
    code = (shift << _MANTISSA) + round(whole / (1 << shift))
    return min(code, (1 << 13) - 1) * _SILENCES + _FIXED


def is_fixed(place: int) -> bool:
    """Whether the class is a fixed interval, and says nothing of changes."""
    return place % _SILENCES == _FIXED


def fixed_interval(place: int) -> float | None:
    """The seconds of such a class; `None` if it is of those that are learned."""
    code, silence = divmod(place, _SILENCES)
    if silence != _FIXED:
        return None
    shift, mantissa = divmod(code, 1 << _MANTISSA)
    return float(mantissa if not shift else (mantissa + 256) << (shift - 1))


@lru_cache(maxsize=1 << 12)
def _parts(place: int) -> tuple[float, float, float, float]:
    """Scale (seconds), shape, weight and unannounced part of a class."""
    place, silence = divmod(place, _SILENCES)
    place, heavy = divmod(place, _WEIGHTS)
    rate, shape = divmod(place, _SHAPES)
    return math.exp(-_SLOWEST - rate * _BASE), _SHAPE[shape], _WEIGHT_OF_0 * 2.0**heavy, 2.0**-silence


def weight(place: int) -> float:
    """What pages of the class weigh, a power of two; 1 where the class is a fixed interval."""
    return 1.0 if place % _SILENCES == _FIXED else _parts(place)[2]


def wanted(place: int) -> tuple[float | None, float]:
    """What is not learned from visits: (seconds of a fixed interval, weight)."""
    return fixed_interval(place), weight(place)


def rate(place: int, age: float) -> float:
    """Changes a second of a page of the class that has not been visited, or told of, for `age` seconds.

    Where the interval is fixed, as often as somebody wants to look.
    """
    if place % _SILENCES == _FIXED:
        return 1 / (fixed_interval(place) or 1.0)
    scale, shape, _, unannounced = _parts(place)
    return shape / (scale + unannounced * age)


def hazard(place: int, age: float) -> float:
    """Minus the logarithm of the probability that a page of the class is as it was `age` seconds ago.

    Of a class that is learned; a fixed interval says nothing of changes.
    """
    scale, shape, _, unannounced = _parts(place)
    return shape * math.log1p(unannounced * age / scale)


@lru_cache(maxsize=1 << 15)
def interval(place: int, step: int) -> float:
    """Seconds after its last visit at which a page of the class is worth the threshold; may be infinite.

    `step`: of the threshold.
    """
    scale, shape, weight, unannounced = _parts(place)
    return scale * age_at(worth_of_step(step) / (scale * weight), shape, unannounced)


def worth_after(place: int, age: float) -> float:
    """What a visit is worth, `age` seconds after the last one: seconds of freshness by weight."""
    scale, shape, weight, unannounced = _parts(place)
    return weight * scale * worth(shape, age / scale, unannounced)


def worth_now(place: int, age: float, longest: float, factor: float = 1.0) -> float:
    """What a visit is worth where a site is as active as `due` has it; infinite of a page that waits no longer."""
    if place % _SILENCES == _FIXED or age >= longest:
        return math.inf
    return worth_after(place, age * factor)


def due(place: int, since: float, step: int, longest: float, factor: float = 1.0) -> float:
    """When a page of the class is due; no page waits longer than `longest` seconds.

    `factor`: how much faster than usual pages of its site change now (`activity`).
    """
    if place % _SILENCES == _FIXED:
        # `since` is cut to whole seconds: never sooner than was asked for.
        return since + 1.0 + (fixed_interval(place) or 0.0)
    return since + min(interval(place, step) / factor, longest)


def due_of(history: History, step: int, longest: float, factor: float = 1.0) -> float:
    """When a page is due: `due`, but not before it was told of, though it was put back in its class then."""
    told_at = history.last + history.heard * 3_600 if history.heard else 0.0
    return max(due(history.place, history.since, step, longest, factor), told_at)


def told(history: History, now: float, source: int, precision: float, longest: float) -> History:
    """After a signal of a source: since when the page would have waited, to be worth what the signal makes it now.

    It is judged as if it were the first one since the last visit, and the best of them counts: who says the same again
    at each reading of a list, or pings without rest, adds nothing.

    Put back by at most half of the longest wait, so that who would not be visited for all its changes is not for the
    news of them.
    """
    interval_ = fixed_interval(history.place)
    if interval_ is not None:
        # Who wants it every hour wants news at once, if they are more likely true than not.
        since = int(now - interval_ - 1.0) if precision > _LIKELY else history.since
        return history.told(now, since, source)
    scale, shape, _, unannounced = _parts(history.place)
    age = scale * age_when_told(shape, max(0.0, now - history.last) / scale, unannounced, precision)
    return history.told(now, round(max(now - age, history.last - longest / 2)), source)
