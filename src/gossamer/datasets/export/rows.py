"""The rows that an export is of, in an order that stays as long as the crawl's tables do."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import msgspec

from gossamer.datasets.parquet import needed, schema_of
from gossamer.datasets.sql import asked
from gossamer.datasets.tables import DOCUMENTS, TABLES, Table
from gossamer.model.errors import ConfigError, StorageError

TEXT_COLUMNS = ("url", "time", "title", "language", "extractor", "confidence", "cut", "text")
"""What an export of texts has unless columns are chosen."""
_WEEK = 7 * 86_400.0
_MANY, _FEW = 200, 16
"""Rows in memory at once: of small ones, and of those that may have 10 MB of text each."""


class Source(msgspec.Struct, frozen=True):
    """Rows of one table.

    Attributes:
        what: as it was asked for: a table's name, or `text`.
        table: the columns that are wanted of it.
        where: a condition in DuckDB's SQL; empty for all rows.
        files: Parquet files of every table.
    """

    what: str
    table: Table
    where: str
    files: Mapping[str, Sequence[Path]]

    @property
    def made_of(self) -> list[list[str | int]]:
        """Names, sizes and times of the files that are read; other ones mean other rows."""
        tables = sorted(self.files) if self.where else [self.table.name]
        read = [path for name in tables for path in self.files[name]]
        return [[path.name, found.st_size, found.st_mtime_ns] for path in read if (found := path.stat())]

    def batches(self, skip: int = 0) -> Iterator[Any]:
        """Arrow record batches, some rows at a time, without the first `skip` rows.

        Raises:
            ConfigError: the condition is none, or `duckdb` is not installed.
            StorageError: a file cannot be read.
        """
        for batch in self._filtered() if self.where else self._all():
            if skip >= batch.num_rows:
                skip -= batch.num_rows
            else:
                yield batch.slice(skip)
                skip = 0

    @property
    def _most(self) -> int:
        return _FEW if self.table.name == DOCUMENTS.name else _MANY

    def _all(self) -> Iterator[Any]:
        arrow = needed()
        from pyarrow import compute, parquet

        schema = schema_of(self.table)
        with ExitStack() as stack:
            try:
                # All at once, because they may be replaced while the first is read.
                opened = [stack.enter_context(path.open("rb")) for path in self.files[self.table.name]]
                for file in opened:
                    for batch in parquet.ParquetFile(file).iter_batches(
                        self._most, columns=schema.names, use_threads=False
                    ):
                        rows = batch.select(schema.names)
                        if self.what == "text":
                            rows = rows.filter(compute.is_valid(rows.column("text")))
                        yield arrow.RecordBatch.from_arrays(rows.columns, schema=schema)
            except (OSError, arrow.ArrowException) as error:
                raise StorageError(
                    f"{self.files[self.table.name][0].parent}: a table cannot be read ({error}); try again,"
                    " or delete the folder: it is made again"
                ) from error

    def _filtered(self) -> Iterator[Any]:
        arrow = needed()
        schema = schema_of(self.table)
        names = ", ".join(f'"{name}"' for name in schema.names)
        has_text = " and text is not null" if self.what == "text" else ""
        # Whatever the condition is, this DuckDB reads the tables only, and writes nothing.
        question = f'select {names} from "{self.table.name}" where (\n{self.where}\n){has_text}'  # noqa: S608
        # One thread, so that the rows come in the same order again.
        with asked(self.files, question, seconds=_WEEK, threads=1) as answer:
            held: list[dict[str, object]] = []
            for row in answer.rows:
                held.append(dict(zip(answer.columns, row, strict=True)))
                if len(held) >= self._most:
                    yield arrow.RecordBatch.from_pylist(held, schema=schema)
                    held = []
            if held:
                yield arrow.RecordBatch.from_pylist(held, schema=schema)


def source_of(what: str, columns: str, where: str, files: Mapping[str, Sequence[Path]]) -> Source:
    """The rows that are asked for.

    Args:
        what: a table's name, or `text`.
        columns: their names with commas between; empty for the usual ones.
        where: a condition in DuckDB's SQL; empty for all rows.
        files: Parquet files of every table.

    Raises:
        ConfigError: there is no such column.
    """
    table = next(one for one in TABLES if one.name == ("documents" if what == "text" else what))
    known = {column.name: column for column in table.columns}
    usual = TEXT_COLUMNS if what == "text" else tuple(known)
    names = list(dict.fromkeys(name.strip() for name in columns.split(","))) if columns else list(usual)
    if unknown := [name for name in names if name not in known]:
        raise ConfigError(
            f"--columns {', '.join(unknown)}: {table.name} has no such column; it has {', '.join(known)}"
        )
    if what == "text" and "text" not in names:
        raise ConfigError("--columns: texts without 'text'; export 'documents' instead")
    return Source(what, Table(table.name, table.row, [known[name] for name in names]), where, files)
