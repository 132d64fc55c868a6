"""Several indexes as one: those of the agents of a cluster, whose pages may resemble each other, too.

Each agent knows its own hosts only. What resembles what across them is found when it is asked for, from the bands of
both; pages are numbered through, those of the first index first.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec
import numpy as np
from numpy.typing import NDArray

from gossamer.datasets.derived import FOLDER as DOCUMENTS
from gossamer.search.similar.clusters import Clusters, Pairs, grouped, standing_pairs
from gossamer.search.similar.indexing import COMPARED, DOUBT, THRESHOLD
from gossamer.search.similar.postings import Pages, once, sought
from gossamer.search.similar.shingles import distinct, estimates, resemblance
from gossamer.search.similar.state import FOLDER, State
from gossamer.search.similar.store import Known, opened
from gossamer.search.similar.texts import Place, Tables
from gossamer.search.similar.words import Hashes, words

__all__ = ["Index", "Whole"]

_AT_ONCE = 1 << 15
"""Postings that are looked up at a time."""
_TEXTS = 512
"""Pairs of texts that are compared at a time."""
_HALF = np.uint64(32)
_PAGE = np.uint64(2**32 - 1)


class Index(msgspec.Struct, frozen=True):
    """The index of one crawl, and where its texts stand."""

    folder: Path
    state: State
    known: Known
    tables: Tables


class Whole:
    """The indexes of several crawls, as they are committed now."""

    def __init__(self, crawls: Sequence[Path]) -> None:
        """`crawls`: their folders; those without an index are left out.

        Raises:
            DamagedError: a part of an index is missing or cut.
        """
        self.indexes: list[Index] = []
        for crawl in crawls:
            if (index := opened(crawl / FOLDER)) is not None:
                self.indexes.append(Index(crawl, *index, Tables(crawl / DOCUMENTS)))
        self._bases = np.cumsum([0, *(index.known.count for index in self.indexes)])

    def clusters(self) -> Clusters:
        """The clusters over all indexes.

        Raises:
            DamagedError: an index contradicts itself.
            DamagedTables: a table of documents cannot be read.
        """
        found = []
        for number, index in enumerate(self.indexes):
            base = int(self._bases[number])
            found.append(standing_pairs(index.known).moved(base, base))
            for before in range(number):
                between = _between(self.indexes[before], index)
                found.append(between.moved(base, int(self._bases[before])))
        return grouped(found)

    def places(self, pages: Pages) -> list[tuple[int, Place]]:
        """(number of its index, place in its archive) of each page.

        Raises:
            DamagedError: there is no such page.
        """
        numbers = np.searchsorted(self._bases, pages, "right") - 1
        found: list[tuple[int, Place]] = [(0, (0, 0))] * len(pages)
        for number, index in enumerate(self.indexes):
            here = np.flatnonzero(numbers == number)
            records = index.known.records(pages[here] - self._bases[number])
            for at, record in zip(here.tolist(), records, strict=True):
                found[at] = number, (int(record["serial"]), int(record["offset"]))
        return found

    def rows(self, pages: Pages, columns: Sequence[str]) -> Iterator[tuple[int, Place, dict[str, object]]]:
        """(place in `pages`, place in the archive, row) of pages, index by index in the order of the archive.

        Raises:
            DamagedError: there is no such page.
            DamagedTables: a table of documents cannot be read.
        """
        wanted: dict[int, dict[Place, int]] = {}
        for at, (number, place) in enumerate(self.places(pages)):
            wanted.setdefault(number, {})[place] = at
        for number, some in sorted(wanted.items()):
            for place, row in self.indexes[number].tables.rows(list(some), columns):
                yield some[place], place, row


def _between(one: Index, other: Index) -> Pairs:
    """Pairs of near-duplicates of which the first page is in `other` and the second in `one`."""
    later, earlier, values = _likely(one.known, other.known)
    order = np.lexsort((earlier, -values, later))
    later, earlier, values = later[order], earlier[order], values[order]
    rank = np.arange(len(later)) - np.searchsorted(later, later)
    sure = values >= THRESHOLD + DOUBT
    doubtful = np.flatnonzero(~sure & (rank < COMPARED))
    for at in range(0, len(doubtful), _TEXTS):
        some = doubtful[at : at + _TEXTS]
        theirs, mine = _sets(other, later[some]), _sets(one, earlier[some])
        for place, first, second in zip(some, theirs, mine, strict=True):
            values[place] = resemblance(first, second)
            sure[place] = values[place] >= THRESHOLD
    return Pairs(later[sure], earlier[sure], values[sure])


def _likely(one: Known, other: Known) -> tuple[Pages, Pages, NDArray[np.float64]]:
    """(page of `other`, page of `one`, estimated resemblance) of pages that share a band and may be near-duplicates."""
    laters, earliers, estimated = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)], [np.zeros(0)]
    ends = one.count, other.count
    for segment in other.bands:
        for at in range(0, len(segment), _AT_ONCE):
            codes = segment[at : at + _AT_ONCE]
            asked, pages = sought(one.bands, (codes >> _HALF).astype(np.uint32), np.full(len(codes), ends[0]))
            later, earlier = once((codes[asked] & _PAGE).astype(np.int64), pages)
            stand = (one.standing(earlier, np.full(len(earlier), ends[0])) == earlier) & (
                other.standing(later, np.full(len(later), ends[1])) == later
            )
            later, earlier = later[stand], earlier[stand]
            second, first = other.records(later), one.records(earlier)
            values = estimates(second["sketch"], first["sketch"])
            least, most = np.minimum(second["size"], first["size"]), np.maximum(second["size"], first["size"])
            kept = (
                (values >= THRESHOLD - DOUBT) & (least >= THRESHOLD * most) & (second["url"] != first["url"])
            )
            laters.append(later[kept])
            earliers.append(earlier[kept])
            estimated.append(values[kept])
    theirs, mine, likely = np.concatenate(laters), np.concatenate(earliers), np.concatenate(estimated)
    _, kept = np.unique(theirs.astype(np.uint64) << _HALF | mine.astype(np.uint64), return_index=True)
    return theirs[kept], mine[kept], likely[kept]


def _sets(index: Index, pages: Pages) -> list[Hashes]:
    """The shingles of the texts of these pages."""
    records = index.known.records(pages)
    places = [(int(record["serial"]), int(record["offset"])) for record in records]
    made = {
        place: distinct(words(row["text"] or "").hashes) for place, row in index.tables.rows(places, ["text"])
    }
    return [made.get(place, np.zeros(0, np.uint64)) for place in places]
