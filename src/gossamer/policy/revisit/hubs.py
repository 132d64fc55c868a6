"""What pages weigh that lead to new ones: what a change of theirs brings, on the mean of the last few.

A page that is one of many weighs 1. A front page whose changes bring five links to new URLs, or a sitemap whose
changes tell of twenty pages, is worth that many: whoever visits it late is late with all of them. Its history keeps the
mean so far, as a power of two.
"""

import math

_SHARE = 0.6
"""Of the last change in the mean; less would be lost in rounding to powers of two."""
MOST = 128

LIST_BRINGS = 8
"""Pages that a change of a sitemap or feed with dates leads to, until it is known."""


def brings_after(brings: int, brought: int) -> int:
    """How many pages a change of a page leads to, after it had changed again.

    Args:
        brings: before; a power of 2, as what is returned.
        brought: new URLs that it led to, and pages that it told of.
    """
    mean = brings + _SHARE * (max(1, brought) - brings)
    return int(min(1 << round(math.log2(max(mean, 1.0))), MOST))
