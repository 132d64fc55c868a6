"""What is asked of the index of near-duplicates: clusters, the copies of a text, the text of a page."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from itertools import islice
from pathlib import Path

import msgspec
import numpy as np
from numpy.typing import NDArray

from gossamer.model.errors import StorageError
from gossamer.search.similar.clusters import Clusters
from gossamer.search.similar.copies import PASSAGE, Copied, Given, copies_of
from gossamer.search.similar.indexing import url_key
from gossamer.search.similar.near_duplicate import NearDuplicate
from gossamer.search.similar.postings import Pages, latest
from gossamer.search.similar.store import DamagedError
from gossamer.search.similar.whole import Whole

__all__ = ["Cluster", "Counts", "Member", "SimilarPages"]


_AT_ONCE = 5_000
"""Pages of clusters whose URLs are read together."""


class Counts(msgspec.Struct, frozen=True):
    """How much there is.

    Attributes:
        captures: in the index, older ones of a URL too.
        clusters: of near-duplicates.
        near_duplicates: pages that are in one.
        bytes: of the index on disk, for near-duplicates and for copies of given documents.
    """

    captures: int = 0
    clusters: int = 0
    near_duplicates: int = 0
    bytes: tuple[int, int] = (0, 0)


class Member(msgspec.Struct, frozen=True):
    """A page of a cluster; `resemblance` to the page of it that it resembles most, 0 to 1."""

    url: str
    title: str
    resemblance: float


class Cluster(msgspec.Struct, frozen=True):
    """Pages that resemble each other.

    Attributes:
        cluster: URL of its first page, by which it is called.
        size: pages.
        pages: the first of them, in the order in which they were archived.
    """

    cluster: str
    size: int
    pages: tuple[Member, ...]


class SimilarPages:
    """The indexes of several crawls, or of the agents of one, as they are committed now."""

    def __init__(self, crawls: Sequence[Path]) -> None:
        """`crawls`: their folders; those without an index are left out.

        Raises:
            StorageError: an index is damaged.
        """
        with _reporting():
            self._whole = Whole(crawls)
        self._clusters: Clusters | None = None

    def __bool__(self) -> bool:
        """Whether any has an index."""
        return bool(self._whole.indexes)

    def _grouped(self) -> Clusters:
        if self._clusters is None:
            with _reporting():
                self._clusters = self._whole.clusters()
        return self._clusters

    def counts(self) -> Counts:
        """How much there is.

        Raises:
            StorageError: an index is damaged.
        """
        states = [index.state for index in self._whole.indexes]
        near, copies = zip(*(state.bytes for state in states), strict=True) if states else ((), ())
        clusters = self._grouped()
        return Counts(
            sum(state.pages for state in states),
            clusters.count,
            len(clusters.pages),
            (sum(near), sum(copies)),
        )

    def clusters(self, most: int, members: int) -> Iterator[Cluster]:
        """The largest clusters, at most so many, with so many of the members of each.

        Raises:
            StorageError: an index or a table cannot be read.
        """
        held: list[tuple[int, Pages, NDArray[np.float64]]] = []
        count = 0
        for _, pages, values in islice(self._grouped(), most):
            held.append((len(pages), pages[:members], values[:members]))
            count += len(held[-1][1])
            if count >= _AT_ONCE:
                yield from self._named(held)
                held, count = [], 0
        yield from self._named(held)

    def _named(self, clusters: Sequence[tuple[int, Pages, NDArray[np.float64]]]) -> Iterator[Cluster]:
        """Clusters of (size, some pages, resemblances), with URLs, which are read together."""
        if not clusters:
            return
        pages = np.concatenate([some for _, some, _ in clusters])
        with _reporting():
            rows = {at: row for at, _, row in self._whole.rows(pages, ["url", "title"])}
        at = 0
        for size, some, values in clusters:
            listed = []
            for number, value in enumerate(values.tolist(), at):
                if row := rows.get(number):
                    listed.append(Member(str(row["url"]), str(row["title"] or ""), round(value, 4)))
            at += len(some)
            yield Cluster(listed[0].url if listed else "", size, tuple(listed))

    def near_duplicates(self) -> Iterator[NearDuplicate]:
        """The pages of all clusters, crawl by crawl in the order of the archive.

        Raises:
            StorageError: an index or a table cannot be read.
        """
        clusters = self._grouped()
        firsts, which, sizes = np.unique(clusters.first, return_inverse=True, return_counts=True)
        with _reporting():
            named = {at: str(row["url"]) for at, _, row in self._whole.rows(firsts, ["url"])}
            for at, place, row in self._whole.rows(clusters.pages, ["url", "time"]):
                number = int(which[at])
                captured = row["time"].timestamp() if isinstance(row["time"], datetime) else 0.0
                yield NearDuplicate(
                    str(row["url"]),
                    captured,
                    *place,
                    named.get(number, ""),
                    int(sizes[number]),
                    round(float(clusters.resemblance[at]), 4),
                )

    def copies(self, text: str, *, least: int = PASSAGE, itself: str = "") -> list[Copied]:
        """The pages of all crawls that contain or resemble a text; arguments as those of `copies_of`.

        Raises:
            StorageError: an index or a table cannot be read.
        """
        given, found = Given(text), []
        with _reporting():
            for index in self._whole.indexes:
                found += copies_of(given, index.known, index.tables, least=least, itself=itself)
        return sorted(found, key=lambda one: (-one.containment, -one.resemblance, one.url))

    def text_of(self, url: str) -> str | None:
        """The main text of the last capture of a URL; `None` if it is not in an index.

        Raises:
            StorageError: an index or a table cannot be read.
        """
        key = url_key(url)
        short = np.array([key >> 32], np.uint32)
        with _reporting():
            for index in self._whole.indexes:
                known = index.known
                pages = [page for _, page in latest(known.urls, short, np.array([known.count]))]
                if not pages:
                    continue
                records = known.records(np.concatenate(pages))
                places = [(int(one["serial"]), int(one["offset"])) for one in records if one["url"] == key]
                for _, row in index.tables.rows(sorted(places)[-1:], ["url", "text"]):
                    return str(row["text"] or "")
        return None


@contextmanager
def _reporting() -> Iterator[None]:
    """Raise `StorageError` for an index that is damaged."""
    try:
        yield
    except DamagedError as error:
        raise StorageError(f"{error}. 'gossamer index' makes the index of near-duplicates again.") from error
