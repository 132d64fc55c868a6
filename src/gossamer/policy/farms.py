"""Tells a link farm by what it cannot have: other registrable domains that link to it (W16).

The pages of a farm hold new text and lead on, so nothing that is learned from pages gives it away. Hosts and
pages cost it nothing, but domains cost money. So a domain may have as many visits as befits the domains that
link to it, and is a suspect beyond: it is visited when nothing better waits, or within the quota of suspects.

This is stricter than STAR (`policy.star`), whose budgets grow in proportion to the linking domains and
double from round to round: there ten farms of one link each get what a site with ten links gets. Here the
allowance grows with the cube: hardly anything for what one or two domains link to, such as a farm of as many
domains that link to each other; hundreds of pages from four on, for no small site is to be taken for a farm.
"""

from math import isqrt

from gossamer.policy.trap_learner import LAST_HANDICAP, SUSPECT, TrapLearnerConfig


def farm_handicap(visits: int, linkers: int, config: TrapLearnerConfig, *, seeded: bool) -> int:
    """Handicap of the hosts of a registrable domain when their turn comes, 0 to `LAST_HANDICAP`.

    Args:
        visits: made so far to all its hosts.
        linkers: other registrable domains that link to it.
        config: says what one of them is worth.
        seeded: a seed lies in it; whoever is told to crawl a site is not to doubt it.
    """
    allowance = config.farm_visits * max(linkers, 1) ** 3
    if seeded or not allowance or visits < allowance:
        return 0
    # Behind the suspects of other hosts; one step more for each factor of sixteen.
    return min(LAST_HANDICAP, SUSPECT + 2 + (isqrt(visits // allowance).bit_length() - 1) // 2)
