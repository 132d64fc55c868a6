"""Groups of pages that resemble each other, directly or through others.

A pair counts while both captures stand for their URLs. A cluster is named after its first page in the order of the
archive. Nothing is dropped for being in one, and its links are followed like all others.
"""

from collections.abc import Iterator

import msgspec
import numpy as np
from numpy.typing import NDArray

from gossamer.search.similar.postings import Pages
from gossamer.search.similar.store import PAIR, Known

__all__ = ["Clusters", "clusters_of"]


class Clusters(msgspec.Struct, frozen=True):
    """Pages in clusters; arrays of the same length, by cluster and page.

    Attributes:
        pages: number of each in the index.
        first: number of the first page of its cluster.
        resemblance: to the page of its cluster that it resembles most, of those that it was paired with.
    """

    pages: Pages
    first: Pages
    resemblance: NDArray[np.float64]

    def __iter__(self) -> Iterator[tuple[int, Pages, NDArray[np.float64]]]:
        """(first page, pages, resemblances) of each cluster, the largest first."""
        borders = np.flatnonzero(np.diff(self.first, prepend=-1))
        sizes = np.diff(borders, append=len(self.first))
        for at in np.lexsort((borders, -sizes)):
            span = slice(borders[at], borders[at] + sizes[at])
            yield int(self.first[borders[at]]), self.pages[span], self.resemblance[span]

    @property
    def count(self) -> int:
        """How many clusters there are."""
        return int((self.pages == self.first).sum())


def clusters_of(known: Known) -> Clusters:
    """The clusters as they stand."""
    pairs = np.concatenate([np.zeros(0, PAIR), *known.pairs])
    ends, places = np.unique(np.concatenate([pairs["page"], pairs["other"]]), return_inverse=True)
    pages = ends.astype(np.int64)
    stands = known.standing(pages, np.full(len(pages), known.count)) == pages
    one, other = places[: len(pairs)], places[len(pairs) :]
    both = stands[one] & stands[other]
    one, other = one[both], other[both]
    label = _joined(len(pages), one, other)
    nearest = np.zeros(len(pages))
    for end in (one, other):
        np.maximum.at(nearest, end, pairs["resemblance"][both])
    member = np.unique(np.concatenate([one, other]))
    order = member[np.lexsort((member, label[member]))]
    return Clusters(pages[order], pages[label[order]], nearest[order])


def _joined(count: int, one: Pages, other: Pages) -> Pages:
    """For each of `count` nodes the least that it is joined with by these edges, over others too."""
    label = np.arange(count)
    while True:
        least = np.minimum(label[one], label[other])
        before = label.copy()
        for end in (one, other):
            np.minimum.at(label, label[end], least)  # the root of each end, so that long chains halve
            np.minimum.at(label, end, least)
        while not np.array_equal(label, shorter := label[label]):
            label = shorter
        if np.array_equal(label, before):
            return label
