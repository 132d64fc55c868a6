"""Which pages are near-duplicates of each other, as far as that was found out."""

import threading
from collections import OrderedDict
from collections.abc import Sequence
from pathlib import Path

import msgspec
import numpy as np
from numpy.typing import NDArray

from gossamer.archive.follower import KEPT
from gossamer.search.similar.clusters import clusters_of
from gossamer.search.similar.indexing import url_key
from gossamer.search.similar.state import FOLDER
from gossamer.search.similar.store import DamagedError, opened
from gossamer.state.whole_files import Version, version_of

_CRAWLS = 64
"""Crawls whose clusters are kept in memory, some 24 bytes for each page that is in one."""


class _Kept(msgspec.Struct, frozen=True):
    """As of a commit: keys of the URLs that are in a cluster, sorted, and that of the first page of each's cluster."""

    version: Version
    urls: NDArray[np.uint64]
    first: NDArray[np.uint64]


_kept: OrderedDict[Path, _Kept] = OrderedDict()
_lock = threading.Lock()


def cluster_of(crawl: Path, urls: Sequence[str]) -> list[str | None]:
    """A name of the cluster of near-duplicates that each URL is in; `None` if it is in none.

    Pages of one cluster are one hit. The same name from two crawls means the same cluster.
    """
    clusters = _clusters(crawl)
    if clusters is None or not len(clusters.urls):
        return [None] * len(urls)
    keys = np.array([url_key(url) for url in urls], np.uint64)
    places = np.minimum(np.searchsorted(clusters.urls, keys), len(clusters.urls) - 1)
    there = clusters.urls[places] == keys
    return [
        f"{int(clusters.first[place]):016x}" if known else None
        for place, known in zip(places, there, strict=True)
    ]


def _clusters(crawl: Path) -> _Kept | None:
    """Those of the last commit; `None` without an index, or if it is damaged: whoever writes next makes it anew."""
    with _lock:
        kept = _kept.get(crawl)
        version = version_of(crawl / FOLDER / KEPT)
        if kept is None or kept.version != version:
            try:
                index = opened(crawl / FOLDER)
                if index is None:
                    return None
                _, known = index
                found = clusters_of(known)
                urls, first = known.records(found.pages)["url"], known.records(found.first)["url"]
            except DamagedError:
                return None
            order = np.argsort(urls)
            kept = _Kept(version, urls[order], first[order])
        _kept[crawl] = kept
        _kept.move_to_end(crawl)
        while len(_kept) > _CRAWLS:
            _kept.popitem(last=False)
        return kept
