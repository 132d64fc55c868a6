"""The table of near-duplicates, written when it is asked for and the index has changed."""

import time
from collections.abc import Iterator
from pathlib import Path

import msgspec
import xxhash

from gossamer.datasets import all_tables, snapshot
from gossamer.datasets.beside import prove_documents
from gossamer.datasets.derived import FOLDER as DOCUMENTS
from gossamer.datasets.parquet import write_table
from gossamer.datasets.tables import NEAR_DUPLICATES
from gossamer.documents.config import DocumentsConfig
from gossamer.inspect.inspection import Inspection
from gossamer.model.errors import StorageError
from gossamer.search.similar.state import FOLDER, State, state_of

__all__ = ["NearDuplicate", "near_duplicates", "tables_of"]

_KEPT_FOR = 20.0
"""Times as long as it took to write may a table be used that is kept."""


class NearDuplicate(msgspec.Struct, frozen=True):
    """A row: a page in a cluster, by the capture that stands for its URL.

    Attributes:
        url: of the page.
        time: of the capture, seconds since 1970.
        serial, offset: place of the capture in the archive.
        cluster: URL of the first page of the cluster.
        size: pages of the cluster.
        resemblance: to the page that it resembles most, 0 to 1.
    """

    url: str
    time: float
    serial: int
    offset: int
    cluster: str
    size: int
    resemblance: float


class _Written(msgspec.Struct):
    """As of what the table was written: a digest of the indexes, when, and how long it took (seconds)."""

    of: str
    at: float
    took: float


def tables_of(inspection: Inspection, *, keep: bool = False) -> dict[str, list[Path]]:
    """Files of each table by its name, that of near-duplicates too; see `all_tables.tables_of`.

    Raises:
        ConfigError: the extra 'sql' is not installed.
        StorageError: the disk refuses, or an index is damaged.
    """
    files = all_tables.tables_of(inspection, keep=keep)
    folder = inspection.folder.path / snapshot.FOLDER
    path, mark = folder / f"{NEAR_DUPLICATES.name}.parquet", folder / f"{NEAR_DUPLICATES.name}.json"
    crawls = [part.folder.path for part in inspection.each.values()]
    states: list[State | None] = [state_of(crawl / FOLDER) for crawl in crawls]
    of = xxhash.xxh3_128_hexdigest(msgspec.json.encode(states))
    with snapshot.alone(folder):
        written = _written(mark) if path.exists() else None
        young = written is not None and keep and 0 <= time.time() - written.at < _KEPT_FOR * written.took
        if written is None or (written.of != of and not young):
            began = time.monotonic()
            write_table(NEAR_DUPLICATES, (row for crawl in crawls for row in near_duplicates(crawl)), path)
            mark.write_bytes(msgspec.json.encode(_Written(of, time.time(), time.monotonic() - began)))
    files[NEAR_DUPLICATES.name] = [path]
    return files


def _written(mark: Path) -> _Written | None:
    try:
        return msgspec.json.decode(mark.read_bytes(), type=_Written)
    except (OSError, msgspec.MsgspecError):
        return None


def near_duplicates(crawl: Path) -> Iterator[NearDuplicate]:
    """The pages of a crawl's clusters, in the order of the archive.

    Raises:
        ConfigError: there is an index, and the extra 'documents' is not installed.
        StorageError: the index or the tables of documents cannot be read.
    """
    if state_of(crawl / FOLDER) is None:
        return
    prove_documents(DocumentsConfig(follow=True), "near-duplicates")
    from gossamer.search.similar.clusters import clusters_of
    from gossamer.search.similar.store import DamagedError, opened
    from gossamer.search.similar.texts import Tables

    try:
        index = opened(crawl / FOLDER)
        if index is None:
            return
        _, known = index
        clusters = clusters_of(known)
        records = known.records(clusters.pages)
    except DamagedError as error:
        raise StorageError(f"{error}. 'gossamer index {crawl}' makes the index again.") from error
    sizes: dict[int, int] = {}
    for first in clusters.first:
        sizes[int(first)] = sizes.get(int(first), 0) + 1
    members: dict[tuple[int, int], tuple[int, float]] = {}
    for record, first, value in zip(records, clusters.first, clusters.resemblance, strict=True):
        members[int(record["serial"]), int(record["offset"])] = int(first), float(value)
    named: dict[int, str] = {}  # the first page of a cluster comes before its others
    for place, row in Tables(crawl / DOCUMENTS).rows(list(members), ["url", "time"]):
        first, value = members[place]
        cluster = named.setdefault(first, row["url"])
        yield NearDuplicate(
            row["url"], row["time"].timestamp(), *place, cluster, sizes[first], round(value, 4)
        )
