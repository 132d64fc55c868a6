"""Looks up which pages are like one, in many crawls that know nothing of each other.

Each crawl's own clusters count; those whose first pages have the same URL are one. What resembles what across crawls
is not looked for: that takes a second for each pair of large ones, and most pages that crawls of one machine share are
the same page.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import msgspec
import numpy as np
from numpy.typing import NDArray

from gossamer.model.command_line import command_line
from gossamer.model.errors import StorageError
from gossamer.search.similar.answers import Cluster, Member
from gossamer.search.similar.clusters import Clusters
from gossamer.search.similar.indexing import url_key
from gossamer.search.similar.postings import Pages
from gossamer.search.similar.store import DamagedError
from gossamer.search.similar.whole import Whole

__all__ = ["Alike"]


class _Crawl(msgspec.Struct, frozen=True):
    folder: Path
    whole: Whole
    clusters: Clusters

    def urls(self, pages: Pages) -> NDArray[np.uint64]:
        """The keys of the URLs of pages."""
        found: NDArray[np.uint64] = self.whole.indexes[0].known.records(pages)["url"]
        return found


class Alike:
    """The clusters of several crawls, as they are committed now."""

    def __init__(self, crawls: Sequence[Path]) -> None:
        """`crawls`: their folders; those without an index are left out.

        Raises:
            StorageError: an index is damaged.
        """
        self._crawls = []
        for folder in crawls:
            with _reporting(folder):
                whole = Whole([folder])
                if whole.indexes:
                    self._crawls.append(_Crawl(folder, whole, whole.clusters()))

    def clusters(self, url: str, most: int) -> list[tuple[Path, Cluster]]:
        """The cluster that a page is in, in each crawl that has it, with the first of its pages, at most so many.

        Raises:
            StorageError: an index or a table cannot be read.
        """
        key, names = url_key(url), np.zeros(0, np.uint64)
        for crawl in self._crawls:
            with _reporting(crawl.folder):
                here = crawl.urls(crawl.clusters.pages) == key
                names = np.union1d(names, crawl.urls(crawl.clusters.first[here]))
        found = []
        for crawl in self._crawls:
            with _reporting(crawl.folder):
                of = np.isin(crawl.urls(crawl.clusters.first), names)
                if of.any():
                    found.append((crawl.folder, _cluster(crawl, of, most)))
        return found


def _cluster(crawl: _Crawl, of: NDArray[np.bool_], most: int) -> Cluster:
    pages, values = crawl.clusters.pages[of][:most], crawl.clusters.resemblance[of][:most].tolist()
    rows = {at: row for at, _, row in crawl.whole.rows(pages, ["url", "title"])}
    listed = tuple(
        Member(str(rows[at]["url"]), str(rows[at]["title"] or ""), round(value, 4))
        for at, value in enumerate(values)
        if rows.get(at)
    )
    return Cluster(listed[0].url if listed else "", int(of.sum()), listed)


@contextmanager
def _reporting(folder: Path) -> Iterator[None]:
    try:
        yield
    except DamagedError as error:
        raise StorageError(f"{error}. '{command_line('index', folder)}' makes it again.") from error
