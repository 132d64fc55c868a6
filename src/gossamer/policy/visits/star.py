"""Budgets of registrable domains by who links to them, and the rounds that they admit a URL to (K18, W16).

STAR (field.md 6.3) gives a domain a budget by the number of other registrable domains that link to it, for
those cost money where hosts and pages cost nothing. IRLbot ranks all domains and interpolates between the
smallest and the largest budget over the first ten thousand. Here the budget grows by a fixed slope with each
linking domain, between the same bounds: a ranking needs a walk over all domains, or an index that every link
moves, and a domain's budget would change though nothing was learned of it. What is lost is that the slope
does not adapt itself to the size of the crawl; it is a setting.

BEAST spends the budgets: with budget B, a domain's first B URLs wait in the first queue, the next 2B in the
second, the next 4B in the third. Here the queues are rounds, the low bits of the grade above the level of the
ordering: every URL of an earlier round goes before all of later ones, whichever domain has them. So each
domain advances at the rate of its own budget, and what is beyond it is put back, never lost. As the rounds
double, sixteen of them suffice: at the smallest budget the last one begins with URL 327,671.
"""

from gossamer.policy import distinct
from gossamer.policy.visits.budget import BudgetConfig

SMALLEST = 10
LARGEST = 10_000
LAST_ROUND = 15


def star_budget(config: BudgetConfig, linkers: bytes, *, seeded: bool) -> int:
    """URLs that a domain may have in its first round, `SMALLEST` to `LARGEST`.

    Args:
        config: says what a linking domain, and a seed, are worth.
        linkers: the domains that link to it, as `distinct` counts them.
        seeded: whether a seed lies in it; a crawl of a site of one's own must not be held back.
    """
    supporters = distinct.count(linkers) + (config.star_seed if seeded else 0)
    return min(LARGEST, SMALLEST + int(config.star_slope * supporters))


def round_of(earlier: int, budget: int) -> int:
    """The round of a URL before which its domain admitted `earlier` ones.

    Round r holds numbers from `budget * (2^r - 1)` on, `budget * 2^r` of them; the last one all others.
    """
    return min((earlier // budget + 1).bit_length() - 1, LAST_ROUND)
