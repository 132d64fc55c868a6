"""Puts documents into the index, and finds the earlier ones that each resembles.

Candidates are pages that share a band; sketches say how much they resemble each other; where that is in doubt the
texts are compared. What is found depends on the documents before in the archive alone, never on how they were
batched, so that an index that was killed twenty times equals one that was made at once.
"""

from collections import OrderedDict
from collections.abc import Sequence
from typing import Any

import msgspec
import numpy as np
import xxhash
from numpy.typing import NDArray

from gossamer.archive.follower import Mark
from gossamer.search.similar.postings import Pages, Postings, once, postings, sought
from gossamer.search.similar.shingles import (
    Signature,
    distinct,
    estimates,
    fingerprints,
    once_each,
    resemblance,
    shingles,
    signature,
)
from gossamer.search.similar.store import PAGE, PAIR, Fresh, Known, Store
from gossamer.search.similar.texts import Place, Tables
from gossamer.search.similar.words import Hashes, words

__all__ = ["COMPARED", "DOUBT", "THRESHOLD", "Document", "Indexing", "url_key"]

THRESHOLD = 0.6
"""Resemblance from which on two pages are near-duplicates."""
DOUBT = 0.14
"""Three standard deviations of an estimate: so near to the threshold the texts are compared."""
_PAIRS = 4
"""Earlier pages that a page is paired with."""
COMPARED = 8
"""Earlier pages whose texts are compared with a page's, at most."""
_CACHED = 64 << 20
"""Bytes of shingles of earlier pages that are kept."""
_ESTIMATED = 1 << 16
"""Pairs that are estimated at a time."""


class Document(msgspec.Struct, frozen=True):
    """One captured document: its URL, its place in the archive, its main text."""

    url: str
    serial: int
    offset: int
    text: str


def url_key(url: str) -> int:
    """64 bits of a URL."""
    return xxhash.xxh3_64_intdigest(url.encode("utf-8", "surrogatepass"))


class _Taken(msgspec.Struct, frozen=True):
    """A batch as it will be written, and the shingles of its texts."""

    fresh: Fresh
    signatures: list[Signature]
    sets: list[Hashes]


class Indexing:
    """Adds batches of documents to a store."""

    def __init__(self, store: Store, tables: Tables) -> None:
        """`tables`: where texts of earlier documents stand."""
        self._store = store
        self._tables = tables
        self._sets: OrderedDict[Place, Hashes] = OrderedDict()
        self._cached = 0

    def add(self, documents: Sequence[Document], mark: Mark) -> None:
        """Add documents that follow all others in the archive, and commit with the place up to which all are in.

        A document whose place is in the index already is passed over: what a kill made come again is not twice.

        Raises:
            DamagedError: the index or the tables cannot be read.
            StorageError: the disk refuses.
        """
        held = self._store.known.pages
        last = (
            (int(held[-1][-1]["serial"]), int(held[-1][-1]["offset"])) if held and len(held[-1]) else (-1, 0)
        )
        documents = [one for one in documents if (one.serial, one.offset) > last]
        if not documents:
            self._store.commit(None, mark)
            return
        taken = _taken(documents, self._store.known.count)
        known = self._store.known.with_fresh(taken.fresh)
        pairs = self._pairs(known, taken)
        self._store.commit(msgspec.structs.replace(taken.fresh, pairs=pairs), mark)

    def rewind(self, mark: Mark) -> None:
        """Drop what was made of records from `mark` on.

        Raises:
            StorageError: the disk refuses.
        """
        self._sets.clear()
        self._cached = 0
        self._store.rewind(mark)

    def _pairs(self, known: Known, taken: _Taken) -> NDArray[Any]:
        """Pairs of near-duplicates whose later page is in the batch."""
        first = known.count - len(taken.sets)
        rows, others = _candidates(known, taken, first)
        if not len(rows):
            return np.zeros(0, PAIR)
        records, own = known.records(others), taken.fresh.pages
        sizes, mine = records["size"], own["size"][rows]
        likely = np.minimum(sizes, mine) >= THRESHOLD * np.maximum(sizes, mine)
        rows, others, records = rows[likely], others[likely], records[likely]
        estimated = np.concatenate(
            [np.zeros(0)]
            + [
                estimates(own["sketch"][rows[at : at + _ESTIMATED]], records["sketch"][at : at + _ESTIMATED])
                for at in range(0, len(rows), _ESTIMATED)
            ]
        )
        order = np.lexsort((others, -estimated, rows))
        order = order[estimated[order] >= THRESHOLD - DOUBT]
        wanted: list[tuple[int, int, float]] = []
        doubtful: list[tuple[int, int]] = []
        by_row: dict[int, list[tuple[int, float]]] = {}
        for at in order:
            by_row.setdefault(int(rows[at]), []).append((int(others[at]), float(estimated[at])))
        for row, some in by_row.items():
            sure = [(other, value) for other, value in some if value >= THRESHOLD + DOUBT][:_PAIRS]
            wanted += [(row, other, value) for other, value in sure]
            if len(sure) < _PAIRS:
                rest = [other for other, value in some if value < THRESHOLD + DOUBT]
                doubtful += [(row, other) for other in rest[:COMPARED]]
        wanted += self._compared(known, taken, doubtful, first)
        found = sorted(wanted, key=lambda one: (one[0], -one[2], one[1]))
        best: list[tuple[int, int, float]] = []
        for row, other, value in found:
            if len(best) < _PAIRS or best[-_PAIRS][0] != first + row:
                best.append((first + row, other, value))
        return np.array(best, PAIR)

    def _compared(
        self, known: Known, taken: _Taken, pairs: Sequence[tuple[int, int]], first: int
    ) -> list[tuple[int, int, float]]:
        """Those of the pairs (row of the batch, page) whose texts resemble each other, and how much."""
        if not pairs:
            return []
        records = known.records(np.array([other for _, other in pairs], np.int64))
        places = [
            (int(serial), int(offset))
            for serial, offset in zip(records["serial"], records["offset"], strict=True)
        ]
        earlier: dict[Place, list[tuple[int, int]]] = {}
        found = []
        for (row, other), place in zip(pairs, places, strict=True):
            if other >= first:
                value = resemblance(taken.sets[row], taken.sets[other - first])
                found.append((row, other, value))
            else:
                earlier.setdefault(place, []).append((row, other))
        missing = [place for place in earlier if place not in self._sets]
        for place, some in earlier.items():
            if place in self._sets:
                self._sets.move_to_end(place)
                found += [
                    (row, other, resemblance(taken.sets[row], self._sets[place])) for row, other in some
                ]
        for place, fields in self._tables.rows(missing, ["text"]):
            made = distinct(words(fields["text"] or "").hashes)
            found += [(row, other, resemblance(taken.sets[row], made)) for row, other in earlier[place]]
            self._remember(place, made)
        return [one for one in found if one[2] >= THRESHOLD]

    def _remember(self, place: Place, made: Hashes) -> None:
        self._sets[place] = made
        self._cached += made.nbytes
        while self._cached > _CACHED:
            self._cached -= self._sets.popitem(last=False)[1].nbytes


def _taken(documents: Sequence[Document], first: int) -> _Taken:
    """What is kept of documents, numbered from `first` on."""
    pages = np.zeros(len(documents), PAGE)
    signatures, sets, prints = [], [], []
    for row, one in enumerate(documents):
        found = shingles(words(one.text).hashes)
        sets.append(once_each(found))
        signatures.append(signature(sets[-1]))
        prints.append(fingerprints(found))
        pages[row] = (one.serial, one.offset, url_key(one.url), signatures[-1].size, signatures[-1].sketch)
    numbers = np.arange(first, first + len(documents))
    urls = (pages["url"] >> np.uint64(32)).astype(np.uint32)
    return _Taken(
        Fresh(
            _postings([one.bands for one in signatures], first),
            postings(urls, numbers),
            _postings(prints, first),
            pages,
            np.zeros(0, PAIR),
        ),
        signatures,
        sets,
    )


def _postings(keys: Sequence[NDArray[np.uint32]], first: int) -> Postings:
    numbers = np.repeat(np.arange(first, first + len(keys)), [len(some) for some in keys])
    return postings(np.concatenate(keys), numbers)


def _candidates(known: Known, taken: _Taken, first: int) -> tuple[Pages, Pages]:
    """(row of the batch, earlier page) of pages that share a band, each once, the standing capture of each URL."""
    counts = [len(one.bands) for one in taken.signatures]
    rows = np.repeat(np.arange(len(counts)), counts)
    keys = np.concatenate([one.bands for one in taken.signatures])
    asked, pages = sought(known.bands, keys, rows + first)
    rows, pages = once(rows[asked], pages)
    pages = known.standing(pages, rows + first)
    other = known.records(pages)["url"] != taken.fresh.pages["url"][rows]
    return once(rows[other], pages[other])
