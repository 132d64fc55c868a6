"""What became the same on most pages of a site: a change of the site, be it a new footer or the sum of a poll.

It is no change of each page, so who tells of many pages tells it once.
"""

from collections import Counter
from collections.abc import Sequence
from itertools import chain

from gossamer.policy.change.slots import Placed

__all__ = ["changed_alike"]

_FEWEST = 5
"""Pages that are most of a site; most of fewer says little."""


def changed_alike(pairs: Sequence[tuple[Placed, Placed]]) -> frozenset[str]:
    """The pieces that went from most pages, or came to most, and stayed on none.

    Args:
        pairs: two captures of each of several pages, those too that did not change.
    """
    gone, come, stayed = Counter[str](), Counter[str](), set[str]()
    for before, after in pairs:
        old, new = {*before.pieces}, {*after.pieces}
        gone.update(old - new)
        come.update(new - old)
        stayed |= old & new
    return frozenset(
        piece
        for piece, pages in chain(gone.items(), come.items())
        if pages >= _FEWEST and 2 * pages > len(pairs) and piece not in stayed
    )
