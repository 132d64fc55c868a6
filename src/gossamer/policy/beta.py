"""Probabilities of an unknown share, from successes and failures seen (field.md 6.6)."""

from functools import lru_cache
from math import exp, fsum, lgamma, log, log1p


@lru_cache(maxsize=16_384)
def chance_below(limit: float, successes: int, failures: int) -> float:
    """How probable it is that the share of successes lies below `limit`, all shares equally likely before.

    That is the distribution function of Beta(1 + s, 1 + f) at `limit`. For whole numbers it equals the
    chance of more than s successes in s + f + 1 trials that each succeed with probability `limit`: a sum of
    s + 1 terms. `limit` lies between 0 and 1, both excluded.
    """
    trials = successes + failures + 1
    yes, no = log(limit), log1p(-limit)
    whole = lgamma(trials + 1)
    terms = (
        exp(whole - lgamma(wins + 1) - lgamma(trials - wins + 1) + wins * yes + (trials - wins) * no)
        for wins in range(successes + 1)
    )
    return min(1.0, max(0.0, 1.0 - fsum(terms)))


def surely_below(limit: float, successes: int, failures: int, certain: float) -> bool:
    """Whether `chance_below` is above `certain`, at no cost where the share seen is twice the limit."""
    if certain >= 0.5 and successes > 2 * limit * (successes + failures):
        return False
    return chance_below(limit, successes, failures) > certain
