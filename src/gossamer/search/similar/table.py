"""The table of near-duplicates, written when it is asked for and the index has changed."""

import time
from collections.abc import Iterator
from pathlib import Path

import msgspec
import xxhash

from gossamer.datasets import all_tables, snapshot
from gossamer.datasets.beside import prove_documents
from gossamer.datasets.parquet import write_table
from gossamer.datasets.tables import NEAR_DUPLICATES
from gossamer.documents.config import DocumentsConfig
from gossamer.inspect.inspection import Inspection
from gossamer.search.similar.near_duplicate import NearDuplicate
from gossamer.search.similar.state import FOLDER, state_of

__all__ = ["near_duplicates", "tables_of"]

_KEPT_FOR = 20.0
"""Times as long as it took to write may a table be used that is kept."""


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
    states = [state_of(part.folder.path / FOLDER) for part in inspection.each.values()]
    of = xxhash.xxh3_128_hexdigest(msgspec.json.encode(states))
    with snapshot.alone(folder):
        written = _written(mark) if path.exists() else None
        young = written is not None and keep and 0 <= time.time() - written.at < _KEPT_FOR * written.took
        if written is None or (written.of != of and not young):
            began = time.monotonic()
            write_table(NEAR_DUPLICATES, near_duplicates(inspection), path)
            mark.write_bytes(msgspec.json.encode(_Written(of, time.time(), time.monotonic() - began)))
    files[NEAR_DUPLICATES.name] = [path]
    return files


def _written(mark: Path) -> _Written | None:
    try:
        return msgspec.json.decode(mark.read_bytes(), type=_Written)
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError):
        return None


def near_duplicates(inspection: Inspection) -> Iterator[NearDuplicate]:
    """The pages of a crawl's clusters; of a cluster of machines those of all agents that are here.

    Raises:
        ConfigError: there is an index, and the extra 'documents' is not installed.
        StorageError: an index or a table of documents cannot be read.
    """
    crawls = [part.folder.path for part in inspection.each.values()]
    if all(state_of(crawl / FOLDER) is None for crawl in crawls):
        return
    prove_documents(DocumentsConfig(follow=True), "near-duplicates")
    from gossamer.search.similar.answers import SimilarPages

    yield from SimilarPages(crawls).near_duplicates()
