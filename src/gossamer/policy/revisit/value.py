"""What a visit is worth, as the time since the last one grows.

A page that changes at rate r, and was visited t ago, is still as it was seen with probability exp(-rt). By a visit
every t it is fresh for (1 - exp(-rt))/r of them, and what one more visit in a long time is worth is

    V(t) = (1 - exp(-rt))/r - t exp(-rt) = R(rt)/r,   R(x) = 1 - exp(-x)(1 + x),

in seconds of freshness. Visiting whoever has the highest is optimal (Azar et al., PNAS 2018; Busa-Fekete et al.,
WWW 2025). Here r is not known; it is distributed like Gamma(a, b), so V is a mean over that, which has a closed form:

    G(t) = E[(1 - exp(-rt))/r] = b (1 - u^(a-1))/(a - 1),   u = b/(b + t),   V(t) = G(t) - t u^a.

While nothing is known of any page all have one curve, so the oldest goes first; and who has changed at each visit is
not given up, because it may be slower than it looks.

Where changes are announced and only a part s of them is not, silence says that the page is as it was, with probability
exp(-srt), and a visit is worth V(t) = (G(st) - s G(t))/(1 - s): the renewal ends at the next announcement, too.
"""

import math
from bisect import bisect_right
from functools import lru_cache

_LOWEST, _HIGHEST = -24, 40
_FINENESS = 2


def kept(shape: float, age: float) -> float:
    """The probability that a page has not changed; `age`: in units of the belief's scale, b."""
    return math.exp(-shape * math.log1p(age))


def fresh_time(shape: float, age: float) -> float:
    """G: for how much of that time it was fresh on average, in the same units."""
    logarithm = math.log1p(age)
    if abs(shape - 1) < 1e-9:
        return logarithm
    return -math.expm1((1 - shape) * logarithm) / (shape - 1)


def worth(shape: float, age: float, unannounced: float = 1.0) -> float:
    """V: what a visit is worth, in the same units; never decreases with `age`.

    Args:
        shape: of the belief, a.
        age: since the last visit, in units of its scale, b.
        unannounced: the part of its changes that nobody tells of, above 0 to 1.
    """
    if age < 1e-4:
        return shape * unannounced * age * age / 2
    if unannounced >= 1:
        return fresh_time(shape, age) - age * kept(shape, age)
    part = fresh_time(shape, unannounced * age) - unannounced * fresh_time(shape, age)
    return part / (1 - unannounced)


def age_at(worth_of_visit: float, shape: float, unannounced: float = 1.0) -> float:
    """The age at which a visit is worth that much; infinite if it never is. Within 1%."""
    worths = _curve(shape, unannounced)
    at = bisect_right(worths, worth_of_visit)
    if at == 0:
        return math.sqrt(2 * max(worth_of_visit, 0.0) / (shape * unannounced))
    if at == len(worths):
        return math.inf
    low, high = worths[at - 1], worths[at]
    part = math.log(worth_of_visit / low) / math.log(high / low)
    return float(2.0 ** (_LOWEST + (at - 1 + part) / _FINENESS))


@lru_cache(maxsize=256)
def _curve(shape: float, unannounced: float) -> list[float]:
    worths: list[float] = []
    for each in range((_HIGHEST - _LOWEST) * _FINENESS):
        value = worth(shape, 2.0 ** (_LOWEST + each / _FINENESS), unannounced)
        if worths and value <= worths[-1] * (1 + 1e-9):
            break
        worths.append(value)
    return worths


def age_when_told(shape: float, age: float, unannounced: float, precision: float) -> float:
    """The age without a signal at which a visit would be worth what it is now that there is one.

    If the signal is right, with probability p, the page is stale, and a visit is worth E[1/r] seconds of freshness; and
    that it has just changed is evidence that it does change, so the shape is one more. If not, nothing is other.
    """
    right = (1 + unannounced * age) / shape
    if precision <= 0:
        return age
    worth_now = precision * right + (1 - precision) * worth(shape, age, unannounced)
    return max(age, min(age_at(worth_now, shape, unannounced), 2.0**_HIGHEST))
