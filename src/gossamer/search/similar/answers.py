"""What is asked of the index of near-duplicates: clusters, the copies of a text, the text of a page."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec
import numpy as np

from gossamer.datasets.derived import FOLDER as DOCUMENTS
from gossamer.model.errors import StorageError
from gossamer.search.similar.clusters import Clusters, clusters_of
from gossamer.search.similar.copies import PASSAGE, Copied, Given, copies_of
from gossamer.search.similar.indexing import url_key
from gossamer.search.similar.postings import latest
from gossamer.search.similar.state import FOLDER, State
from gossamer.search.similar.store import DamagedError, Known, opened
from gossamer.search.similar.texts import Place, Tables

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


class _Crawl(msgspec.Struct, frozen=True):
    folder: Path
    state: State
    known: Known
    tables: Tables


class _Chosen(msgspec.Struct, frozen=True):
    """A cluster that is shown: some of its pages, and how much each resembles another."""

    crawl: _Crawl
    size: int
    pages: list[int]
    values: list[float]


class SimilarPages:
    """The indexes of several crawls, or of the agents of one, as they are committed now."""

    def __init__(self, crawls: Sequence[Path]) -> None:
        """`crawls`: their folders; those without an index are left out.

        Raises:
            StorageError: an index is damaged.
        """
        self._crawls = []
        for crawl in crawls:
            try:
                index = opened(crawl / FOLDER)
            except DamagedError as error:
                raise _damaged(crawl, error) from error
            if index is not None:
                self._crawls.append(_Crawl(crawl, *index, Tables(crawl / DOCUMENTS)))
        self._clusters: list[Clusters] | None = None

    def __bool__(self) -> bool:
        """Whether any has an index."""
        return bool(self._crawls)

    def _grouped(self) -> list[Clusters]:
        if self._clusters is None:
            self._clusters = []
            for crawl in self._crawls:
                try:
                    self._clusters.append(clusters_of(crawl.known))
                except DamagedError as error:
                    raise _damaged(crawl.folder, error) from error
        return self._clusters

    def counts(self) -> Counts:
        """How much there is.

        Raises:
            StorageError: an index is damaged.
        """
        near, copies = zip(*(crawl.state.bytes for crawl in self._crawls), strict=True) if self else ((), ())
        return Counts(
            sum(crawl.state.pages for crawl in self._crawls),
            sum(clusters.count for clusters in self._grouped()),
            sum(len(clusters.pages) for clusters in self._grouped()),
            (sum(near), sum(copies)),
        )

    def clusters(self, most: int, members: int) -> Iterator[Cluster]:
        """The largest clusters, at most so many, with so many of the members of each.

        Raises:
            StorageError: an index or a table cannot be read.
        """
        chosen: list[_Chosen] = []
        for crawl, clusters in zip(self._crawls, self._grouped(), strict=True):
            for number, (_, pages, values) in enumerate(clusters):
                if number == most:
                    break
                chosen.append(_Chosen(crawl, len(pages), pages[:members].tolist(), values[:members].tolist()))
        chosen.sort(key=lambda one: -one.size)
        at = 0
        while at < min(most, len(chosen)):
            end, count = at, 0
            while end < min(most, len(chosen)) and count < _AT_ONCE:
                count += len(chosen[end].pages)
                end += 1
            yield from _named(chosen[at:end])
            at = end

    def copies(self, text: str, *, least: int = PASSAGE, itself: str = "") -> list[Copied]:
        """The pages of all crawls that contain or resemble a text; arguments as those of `copies_of`.

        Raises:
            StorageError: an index or a table cannot be read.
        """
        given, found = Given(text), []
        for crawl in self._crawls:
            try:
                found += copies_of(given, crawl.known, crawl.tables, least=least, itself=itself)
            except DamagedError as error:
                raise _damaged(crawl.folder, error) from error
        return sorted(found, key=lambda one: (-one.containment, -one.resemblance, one.url))

    def text_of(self, url: str) -> str | None:
        """The main text of the last capture of a URL; `None` if it is not in an index.

        Raises:
            StorageError: an index or a table cannot be read.
        """
        key = url_key(url)
        for crawl in self._crawls:
            known = crawl.known
            short = np.array([key >> 32], np.uint32)
            pages = [int(page[0]) for _, page in latest(known.urls, short, np.array([known.count]))]
            for row in _rows(crawl, sorted(pages, reverse=True), ["url", "text"]):
                if row.get("url") == url:
                    return str(row["text"] or "")
        return None


def _named(chosen: list[_Chosen]) -> Iterator[Cluster]:
    """The clusters with the URLs of their pages, which are read together."""
    rows: dict[tuple[Path, int], dict[str, object]] = {}
    for crawl in {one.crawl.folder: one.crawl for one in chosen}.values():
        pages = [page for one in chosen if one.crawl is crawl for page in one.pages]
        found = _rows(crawl, pages, ["url", "title"])
        rows |= {(crawl.folder, page): row for page, row in zip(pages, found, strict=True)}
    for one in chosen:
        listed = []
        for page, value in zip(one.pages, one.values, strict=True):
            if row := rows[one.crawl.folder, page]:
                listed.append(Member(str(row["url"]), str(row["title"] or ""), round(value, 4)))
        yield Cluster(listed[0].url if listed else "", one.size, tuple(listed))


def _rows(crawl: _Crawl, pages: list[int], columns: list[str]) -> list[dict[str, object]]:
    """The rows of these pages, in their order; empty where a table has none."""
    try:
        records = crawl.known.records(np.array(pages, np.int64))
    except DamagedError as error:
        raise _damaged(crawl.folder, error) from error
    places: list[Place] = [(int(one["serial"]), int(one["offset"])) for one in records]
    found = dict(crawl.tables.rows(places, columns))
    return [found.get(place, {}) for place in places]


def _damaged(crawl: Path, error: DamagedError) -> StorageError:
    return StorageError(f"{error}. 'gossamer index {crawl}' makes the index again.")
