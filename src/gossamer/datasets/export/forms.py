"""Forms of an export's files: JSON lines, CSV, Parquet. Those of texts in WARC files are in `wet`."""

import gzip
from collections.abc import Sequence
from datetime import datetime
from typing import Any

import msgspec

from gossamer.datasets.export.csv_cells import csv_lines
from gossamer.datasets.export.parts import Writer
from gossamer.datasets.export.places import CountedFile
from gossamer.datasets.parquet import needed, schema_of
from gossamer.datasets.tables import Table

_GROUP_ROWS, _GROUP_BYTES = 50_000, 32 << 20
_LEVEL = 6


class LinesForm:
    """Rows as lines: JSON (RFC 8259) or CSV (RFC 4180, with a header in each file), UTF-8, gzip if wanted."""

    def __init__(self, kind: str, table: Table, *, packed: bool) -> None:
        self.name = f"{kind}{' gzip' if packed else ''}"
        self.suffix = f".{kind}{'.gz' if packed else ''}"
        self._csv = kind == "csv"
        self._packed = packed
        self._names = [column.name for column in table.columns]

    def open(self, out: CountedFile) -> Writer:
        """Begin a file of such rows."""
        packed = gzip.GzipFile("", "wb", _LEVEL, out, mtime=0) if self._packed else None
        return _Csv(out, packed, self._names) if self._csv else _JsonLines(out, packed)


class _Lines:
    def __init__(self, out: CountedFile, packed: gzip.GzipFile | None) -> None:
        self._out: Any = out if packed is None else packed
        self._packed = packed

    def close(self) -> None:
        if self._packed is not None:
            self._packed.close()


class _JsonLines(_Lines):
    def write(self, batch: Any) -> None:
        encode = msgspec.json.Encoder().encode
        for row in batch.to_pylist():
            self._out.write(encode({name: plain(value) for name, value in row.items()}) + b"\n")


class _Csv(_Lines):
    def __init__(self, out: CountedFile, packed: gzip.GzipFile | None, names: Sequence[str]) -> None:
        super().__init__(out, packed)
        self._lines([names])

    def write(self, batch: Any) -> None:
        self._lines([[_cell(value) for value in row.values()] for row in batch.to_pylist()])

    def _lines(self, rows: Sequence[Sequence[object]]) -> None:
        self._out.write("".join(f"{line}\n" for line in csv_lines(rows)).encode())


def _cell(value: object) -> object:
    """No other program reads a NUL in CSV."""
    value = plain(value)
    return without_nul(value) if isinstance(value, str) else value


def plain(value: object) -> object:
    """A value of a row as JSON has it; times are `2026-01-31T12:00:00.000Z`."""
    if isinstance(value, datetime):
        return value.replace(tzinfo=None).isoformat(timespec="milliseconds") + "Z"
    return value


def without_nul(text: str) -> str:
    """The text with U+FFFD where it has NUL."""
    return text.replace("\0", "\N{REPLACEMENT CHARACTER}")


class ParquetForm:
    """Rows as Parquet, compressed by zstd."""

    name = "parquet"
    suffix = ".parquet"

    def __init__(self, table: Table, split: int) -> None:
        """Args:
        table: gives the columns.
        split: bytes of a file; groups of rows are no larger.
        """
        self._schema = schema_of(table)
        self._most = min(split or _GROUP_BYTES, _GROUP_BYTES)

    def open(self, out: CountedFile) -> Writer:
        """Begin a file of such rows."""
        return _Parquet(out, self._schema, self._most)


class _Parquet:
    def __init__(self, out: CountedFile, schema: Any, most: int) -> None:
        from pyarrow import parquet

        self._arrow, self._schema, self._most = needed(), schema, most
        self._writer = parquet.ParquetWriter(out, schema, compression="zstd")
        self._held: list[Any] = []
        self._rows = self._bytes = 0

    def write(self, batch: Any) -> None:
        self._held.append(batch)
        self._rows += batch.num_rows
        self._bytes += batch.nbytes
        if self._rows >= _GROUP_ROWS or self._bytes >= self._most:
            self._group()

    def close(self) -> None:
        self._group()
        self._writer.close()

    def _group(self) -> None:
        if self._held:
            self._writer.write_table(self._arrow.Table.from_batches(self._held, self._schema))
        self._held.clear()
        self._rows = self._bytes = 0
