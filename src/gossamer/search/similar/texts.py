"""Reads rows of single documents out of the committed tables, by their places in the archive."""

import bisect
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from gossamer.datasets.derived import DamagedTables, files_of

__all__ = ["Place", "Tables"]

Place = tuple[int, int]
"""(serial, offset) in the archive."""
_AT_ONCE = 64
"""Rows whose texts are in memory."""


class _Group:
    """A row group of a file: from which place on, and the places of its rows once they were needed."""

    def __init__(self, path: Path, number: int, first: Place) -> None:
        self.path, self.number, self.first = path, number, first
        self.rows: dict[Place, int] | None = None


class Tables:
    """The table `documents` of one crawl."""

    def __init__(self, folder: Path) -> None:
        """`folder`: `documents/` of a crawl."""
        self._folder = folder
        self._files: dict[Path, list[_Group]] = {}
        self._groups: list[_Group] = []
        self._firsts: list[Place] = []

    def rows(self, places: Sequence[Place], columns: Sequence[str]) -> Iterator[tuple[Place, dict[str, Any]]]:
        """The rows with these places, in the order of the archive; those that are not there are left out.

        Raises:
            DamagedTables: the tables cannot be read.
        """
        from pyarrow import ArrowException

        wanted = sorted(set(places))
        for again in (True, True, False):
            try:
                for place, row in self._rows(wanted, columns):
                    yield place, row
                    wanted = wanted[bisect.bisect_right(wanted, place) :]
            except (OSError, ArrowException) as error:
                if again and isinstance(error, FileNotFoundError):  # merged into another just now
                    continue
                raise DamagedTables(self._folder, error) from error
            return

    def _rows(self, places: list[Place], columns: Sequence[str]) -> Iterator[tuple[Place, dict[str, Any]]]:
        self._look()
        wanted: dict[int, list[Place]] = {}
        for place in places:
            at = bisect.bisect_right(self._firsts, place) - 1
            if at >= 0:
                wanted.setdefault(at, []).append(place)
        for at, some in wanted.items():
            yield from self._of_group(self._groups[at], some, columns)

    def _of_group(
        self, group: _Group, places: list[Place], columns: Sequence[str]
    ) -> Iterator[tuple[Place, dict[str, Any]]]:
        from pyarrow import parquet

        with parquet.ParquetFile(group.path, page_checksum_verification=True) as file:
            if group.rows is None:
                held = file.read_row_group(group.number, columns=["serial", "offset"])
                pairs = zip(held["serial"].to_pylist(), held["offset"].to_pylist(), strict=True)
                group.rows = {place: row for row, place in enumerate(pairs)}
            rows = sorted((group.rows[place], place) for place in places if place in group.rows)
            at = 0
            batches = file.iter_batches(_AT_ONCE, row_groups=[group.number], columns=list(columns))
            for batch in batches if rows else ():
                while rows and rows[0][0] < at + len(batch):
                    row, place = rows.pop(0)
                    yield place, batch.slice(row - at, 1).to_pylist()[0]
                at += len(batch)
                if not rows:
                    break

    def _look(self) -> None:
        """Take what is committed now."""
        files = files_of(self._folder).get("documents", ())
        if list(files) == list(self._files):
            return
        self._files = {path: self._files.get(path) or _groups_of(path) for path in files}
        self._groups = [group for groups in self._files.values() for group in groups]
        self._firsts = [group.first for group in self._groups]


def _groups_of(path: Path) -> list[_Group]:
    """The row groups of a file. Rows stand in the order of the archive."""
    from pyarrow import parquet

    groups = []
    with parquet.ParquetFile(path) as file:
        names = file.schema_arrow.names
        serial, offset = names.index("serial"), names.index("offset")
        for number in range(file.num_row_groups):
            held = file.metadata.row_group(number)
            if not held.num_rows:
                continue
            low, first = held.column(serial).statistics, held.column(offset).statistics
            if low is not None and first is not None and low.min == low.max:
                groups.append(_Group(path, number, (low.min, first.min)))
            else:  # of two archive files: the least offset may be the second's
                rows = file.read_row_group(number, columns=["serial", "offset"])
                groups.append(_Group(path, number, (rows["serial"][0].as_py(), rows["offset"][0].as_py())))
    return groups
