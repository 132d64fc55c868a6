"""Gives whatever is made of the tables of documents their rows: each once, in order, from a mark on.

The tables are what `gossamer index` commits (datasets/derived.py), and follow the archive. A reader keeps a mark
of how far it has come, in the same commit as what it made; after any end it begins there again. It never reads
the archive. Where the archive went back to an earlier place, the reader is told first, and drops what it made of
records from there on.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec

from gossamer.archive.committed import committed
from gossamer.archive.follower import Mark, Rewound, standing
from gossamer.datasets.derived import FOLDER, DamagedTables, State, files_of, state_of
from gossamer.inspect.inspection import inspect

ROWS = 64
"""Rows of one batch, at most."""
_PLACE = ("serial", "offset")


class Rows(msgspec.Struct, frozen=True):
    """Some rows of the table `documents`, as dictionaries, and the mark to keep once they are dealt with."""

    rows: list[dict[str, Any]]
    after: Mark


def changes(crawl: Path, mark: Mark, columns: Sequence[str]) -> Iterator[Rows | Rewound]:
    """What the tables of a crawl tell beyond `mark`, as far as they are committed now.

    The last is a batch with the tables' own mark, maybe without rows; there is none if nothing has changed.

    Args:
        crawl: its folder; of a cluster that of one agent.
        mark: what was kept last; `START` for all.
        columns: of the table `documents`; time, serial, offset and url come in any case.

    Raises:
        DamagedTables: a file cannot be read.
        StorageError: the crawl's state cannot be read.
    """
    folder = crawl / FOLDER
    state = state_of(folder)
    if state is None or state.mark == mark:
        return
    if mark.history != state.mark.history:
        with inspect(crawl) as inspection:
            standing_yet = standing(mark, committed(inspection.environment))
        if standing_yet.place < mark.place:
            yield Rewound(standing_yet)
            mark = standing_yet
    if mark.place > state.mark.place:
        return  # tables that are being made anew, and have not come so far again
    names = list(dict.fromkeys(("url", "time", *_PLACE, *columns)))
    for batch in _rows_after(folder, mark.place, names):
        rows = [row for row in batch if _place(row) < state.mark.place]
        if rows:
            serial, offset = _place(rows[-1])
            yield Rows(rows, Mark(serial, offset + 1, state.mark.history))
        if len(rows) < len(batch):  # committed meanwhile: the next time
            break
    yield Rows([], state.mark)


def _place(row: dict[str, Any]) -> tuple[int, int]:
    return row["serial"], row["offset"]


def _rows_after(folder: Path, place: tuple[int, int], columns: list[str]) -> Iterator[list[dict[str, Any]]]:
    """Rows from a place on, in the order of the archive."""
    done: set[Path] = set()
    while True:
        paths = [path for path in files_of(folder).get("documents", []) if path not in done]
        if not paths:
            return
        path = paths[0]
        try:
            for batch in _of_file(path, place, columns):
                yield batch
                serial, offset = _place(batch[-1])
                place = (serial, offset + 1)
        except FileNotFoundError:
            if path in files_of(folder).get("documents", []):
                raise DamagedTables(path, "it is not there") from None
            continue  # merged into another meanwhile
        done.add(path)


def _of_file(path: Path, place: tuple[int, int], columns: list[str]) -> Iterator[list[dict[str, Any]]]:
    from pyarrow import ArrowException, parquet

    try:
        with parquet.ParquetFile(path, page_checksum_verification=True) as file:
            for group in range(file.num_row_groups):
                if last_place(file.metadata.row_group(group)) < place:
                    continue
                for batch in file.iter_batches(ROWS, row_groups=[group], columns=columns, use_threads=False):
                    rows = [row for row in batch.to_pylist() if _place(row) >= place]
                    if rows:
                        yield rows
    except FileNotFoundError:
        raise
    except (ArrowException, OSError, UnicodeDecodeError) as error:
        raise DamagedTables(path, error) from error


def last_place(group: Any) -> tuple[int, int]:
    """A place that no row of a row group stands behind, from the statistics of its columns."""
    most: dict[str, int] = {}
    for number in range(group.num_columns):
        column = group.column(number)
        if column.path_in_schema in _PLACE and column.statistics is not None:
            most[column.path_in_schema] = column.statistics.max
    return most.get("serial", 1 << 62), most.get("offset", 1 << 62)


def tables_of(crawl: Path) -> State | None:
    """What is committed of the tables of a crawl; `None` if nothing is."""
    return state_of(crawl / FOLDER)
