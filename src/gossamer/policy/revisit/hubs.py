"""What pages weigh that lead to new ones: what a change of theirs brings, on the mean of the last few.

A page that is one of many weighs 1. A front page whose changes bring five links to new URLs, or a sitemap whose
changes tell of twenty pages, is worth that many: whoever visits it late is late with all of them. Nothing but its class
remembers it: the weight of a class, which is a power of two, is the mean so far.
"""

_SHARE = 0.6
"""Of the last change in the mean; less would be lost in rounding to powers of two."""

LIST_WEIGHT = 8.0
"""Of sitemaps and feeds with dates, until it is known what they bring."""


def weight_after(weight: float, brought: int) -> float:
    """What a page weighs after it had changed.

    Args:
        weight: before.
        brought: new URLs that it led to, and pages that it told of.
    """
    return weight + _SHARE * (max(1, brought) - weight)
