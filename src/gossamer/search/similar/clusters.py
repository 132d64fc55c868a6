"""Groups of pages that resemble each other, directly or through others.

A pair counts while both captures stand for their URLs. A cluster is named after its first page in the order of the
archive. Nothing is dropped for being in one, and its links are followed like all others.
"""

from collections.abc import Iterator, Sequence

import msgspec
import numpy as np
from numpy.typing import NDArray

from gossamer.search.similar.postings import Pages
from gossamer.search.similar.store import PAIR, Known

__all__ = ["Clusters", "Pairs", "clusters_of", "grouped", "standing_pairs"]


class Pairs(msgspec.Struct, frozen=True):
    """Pages, for each another that it resembles, and how much; arrays of the same length."""

    page: Pages
    other: Pages
    resemblance: NDArray[np.float64]

    def moved(self, page: int, other: int) -> "Pairs":
        """The same where pages have other numbers: so much is added to them."""
        return Pairs(self.page + page, self.other + other, self.resemblance)


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


def standing_pairs(known: Known) -> Pairs:
    """The pairs of an index of which both captures stand for their URLs."""
    pairs = np.concatenate([np.zeros(0, PAIR), *known.pairs])
    page, other = pairs["page"].astype(np.int64), pairs["other"].astype(np.int64)
    ends, places = np.unique(np.concatenate([page, other]), return_inverse=True)
    stands = known.standing(ends, np.full(len(ends), known.count)) == ends
    both = stands[places[: len(pairs)]] & stands[places[len(pairs) :]]
    return Pairs(page[both], other[both], pairs["resemblance"][both].astype(np.float64))


def grouped(some: Sequence[Pairs]) -> Clusters:
    """The clusters that pairs make, of which each is given once."""
    page, other, value = (
        np.concatenate([empty, *found])
        for empty, found in (
            (np.zeros(0, np.int64), [pairs.page for pairs in some]),
            (np.zeros(0, np.int64), [pairs.other for pairs in some]),
            (np.zeros(0), [pairs.resemblance for pairs in some]),
        )
    )
    pages, places = np.unique(np.concatenate([page, other]), return_inverse=True)
    one, another = places[: len(page)], places[len(page) :]
    label = _joined(len(pages), one, another)
    nearest = np.zeros(len(pages))
    for end in (one, another):
        np.maximum.at(nearest, end, value)
    order = np.lexsort((pages, label))
    return Clusters(pages[order], pages[label[order]], nearest[order])


def clusters_of(known: Known) -> Clusters:
    """The clusters of one index as they stand."""
    return grouped([standing_pairs(known)])


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
