"""How far an index is behind the archive."""

from pathlib import Path

from gossamer.archive.committed import committed
from gossamer.archive.follower import Mark, standing
from gossamer.inspect.inspection import inspect


def behind(crawl: Path, mark: Mark, documents: int) -> int:
    """Documents that are archived beyond a mark, estimated from bytes, some 20 ms; 0 if there are none.

    Args:
        crawl: folder of the crawl, of one agent.
        mark: up to which the index tells.
        documents: in the index.

    Raises:
        ConfigError: no crawl lives there.
        StorageError: its state cannot be read.
    """
    with inspect(crawl) as inspection:
        view = committed(inspection.environment)
    place = standing(mark, view).place
    told = untold = 0
    for file in view.files:
        before = min(max(place[1], 0), file.length) if file.serial == place[0] else 0
        before = file.length if file.serial < place[0] else before
        told += before
        untold += file.length - before
    each = told / documents if documents and told else _TYPICAL
    return int(untold / each)  # less than one: the request of the last document


_TYPICAL = 10_000
"""Bytes of a document in an archive, packed, where nothing else is known."""
