"""How much a name of the backward zone weighs (Z6)."""

WORTH = 3_600.0
"""Seconds that a slow resolution, or a long time to live, can prolong a name's stay at most."""

_HALF_COST = 1.0
_HALF_LIFE = 3_600.0


def weigh(seconds: float, ttl: float, accessed: float) -> float:
    """The weight of a name: the wall time until which it is worth its place.

        accessed + WORTH * seconds / (seconds + 1 s) + WORTH * ttl / (ttl + 1 h)

    It grows with each argument: a name used lately will be used again; what took long to find is dear to
    find again; what lives long is good for long. A name is *light* once its weight lies before now.

    The last access stands in it as a time, not as an age, so that names nobody touches keep their order
    while time passes and the area need not be weighed anew (the inflation of GreedyDual: Young 1994; Cao
    and Irani 1997). The other two are bounded because a hostile name server chooses both: however slow
    it is and whatever it promises, it gains an hour by each, half of it with 1 s and with a TTL of 1 h.

    Args:
        seconds: how long the last resolution took, at least 0.
        ttl: time to live of its answer in seconds, at least 0.
        accessed: wall time of the last access.
    """
    return accessed + WORTH * (seconds / (seconds + _HALF_COST) + ttl / (ttl + _HALF_LIFE))
