"""Writes records as Parquet, some thousand rows in memory at a time. Needs pyarrow."""

from collections.abc import Iterable, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from gossamer.datasets.tables import Table
from gossamer.model.errors import ConfigError, StorageError
from gossamer.state.whole_files import sync_file

ROWS = 5_000
"""Rows that are put together in memory."""
_GROUP = 100_000
_PAGE = 64 << 10
"""Bytes of a page, which is unpacked to read one text of it (cells.py). Four times as much takes more than twice as
long, and saves 1.5% of the disk."""
_LONG = frozenset({"text", "markdown"})
"""Columns whose values are long and each another: not put into dictionaries, so that one can be read alone."""
_LOOKED_AT = 8
"""Long values after which it is seen whether a page is full. Where all values are short, the many looks would double
the time of writing."""


def needed() -> Any:
    """The library `pyarrow`.

    Raises:
        ConfigError: it is not installed.
    """
    try:
        import pyarrow
    except ImportError:
        raise ConfigError(
            "tables need pyarrow: pip install 'gossamer[documents]', or 'gossamer[sql]'"
        ) from None
    return pyarrow


def schema_of(table: Table) -> Any:
    """The Arrow schema of a table, with what its columns mean."""
    arrow = needed()
    types = {
        "text": arrow.string(),
        "whole": arrow.int64(),
        "number": arrow.float64(),
        "yes": arrow.bool_(),
        "time": arrow.timestamp("ms", tz="UTC"),
    }
    return arrow.schema(
        [
            arrow.field(column.name, types[column.kind], metadata={"meaning": column.meaning})
            for column in table.columns
        ]
    )


def parquet_writer(path: Path, schema: Any) -> Any:
    """A writer of a Parquet file, for Arrow tables of one schema, with pages small enough to read single texts.

    Raises:
        OSError: the disk refuses.
    """
    from pyarrow import parquet

    return parquet.ParquetWriter(
        path,
        schema,
        compression="zstd",
        use_dictionary=[name for name in schema.names if name not in _LONG],
        data_page_size=_PAGE,
        write_batch_size=_LOOKED_AT if not _LONG.isdisjoint(schema.names) else None,
        write_page_checksum=True,
    )


def write_table(table: Table, records: Iterable[object], path: Path) -> int:
    """Write records to a file, whole or not at all; how many there were.

    Raises:
        ConfigError: `pyarrow` is not installed.
        StorageError: the disk refuses.
    """
    arrow = needed()
    partial = path.with_name(path.name + ".partial")
    schema, count, held = schema_of(table), 0, []
    records = iter(records)
    try:
        with parquet_writer(partial, schema) as out:
            while rows := list(islice(records, ROWS)):
                count += len(rows)
                held.append(_batch(arrow, table, rows, schema))
                if len(held) * ROWS >= _GROUP:
                    out.write_table(arrow.Table.from_batches(held, schema))
                    held.clear()
            out.write_table(arrow.Table.from_batches(held, schema))
        sync_file(partial)
        partial.replace(path)
    except OSError as error:
        partial.unlink(missing_ok=True)
        raise StorageError(f"{path}: cannot be written ({error.strerror}). Free some space.") from error
    return count


def _batch(arrow: Any, table: Table, rows: Sequence[object], schema: Any) -> Any:
    """Rows as columns of Arrow."""
    values = [_of_kind(column.kind, [*map(column.of, rows)]) for column in table.columns]
    try:
        return arrow.record_batch(values, schema=schema)
    except UnicodeEncodeError:  # found by the conversion itself: to look at each text takes as long again
        return arrow.record_batch([[*map(_sound, column)] for column in values], schema=schema)


def _of_kind(kind: str, values: list[Any]) -> list[object]:
    if kind == "time":
        return [None if value is None else int(value * 1_000) for value in values]
    return values


def _sound(value: object) -> object:
    """A text without halves of surrogate pairs, as hostile pages have them, which are no text in any other program."""
    return value.encode("utf-8", "replace").decode() if isinstance(value, str) else value
