"""Fetches single texts out of the tables of documents, for the passages that hits show."""

import contextlib
from bisect import bisect_left
from collections import OrderedDict
from collections.abc import Iterable
from pathlib import Path
from typing import Any, BinaryIO

from gossamer.datasets.cells import TextColumn
from gossamer.datasets.derived import FOLDER, files_of
from gossamer.search.feed import last_place

__all__ = ["Texts"]

_GROUPS = 500
"""Row groups whose pages are known at a time, some 10 KB each."""
Place = tuple[int, int]


class Texts:
    """The texts of one crawl's documents. One caller at a time."""

    def __init__(self, crawl: Path) -> None:
        self._folder = crawl / FOLDER
        self._files: dict[Path, tuple[Any, BinaryIO]] = {}
        self._ends: list[tuple[Place, Path, int]] = []
        self._groups: OrderedDict[tuple[Path, int], _Group] = OrderedDict()

    def of(self, places: Iterable[Place]) -> dict[Place, str]:
        """The texts of captures, by their places in the archive; those that cannot be read are left out."""
        from pyarrow import ArrowException

        found: dict[Place, str] = {}
        try:
            try:
                self._refresh()
            except FileNotFoundError:  # merged into another just now
                self._refresh()
            for place in places:
                text = self._text(place)
                if text is not None:
                    found[place] = text
        except (OSError, ArrowException):  # damaged: a hit is worth showing without, too
            self.close()
        return found

    def close(self) -> None:
        """Close the files; what is asked for later opens them again."""
        for file, stream in self._files.values():
            file.close()
            stream.close()
        self._files, self._ends = {}, []
        self._groups.clear()

    def _refresh(self) -> None:
        """Open the files of the last commit."""
        paths = files_of(self._folder).get("documents", [])
        if list(self._files) == paths:
            return
        from pyarrow import parquet

        self.close()
        with contextlib.ExitStack() as opened:
            for path in paths:
                stream = opened.enter_context(path.open("rb"))
                file = opened.enter_context(parquet.ParquetFile(path))
                self._files[path] = file, stream
                groups = range(file.num_row_groups)
                self._ends += [(last_place(file.metadata.row_group(one)), path, one) for one in groups]
            opened.pop_all()

    def _text(self, place: Place) -> str | None:
        number = bisect_left(self._ends, place, key=lambda end: end[0])
        if number == len(self._ends):
            return None
        key = self._ends[number][1:]
        if key not in self._groups:
            self._groups[key] = _Group(*self._files[key[0]], key[1])
            if len(self._groups) > _GROUPS:
                self._groups.popitem(last=False)
        self._groups.move_to_end(key)
        return self._groups[key].text(place)


class _Group:
    """One row group."""

    def __init__(self, file: Any, stream: BinaryIO, number: int) -> None:
        table = file.read_row_group(number, ["serial", "offset"], use_threads=False)
        places = zip(table.column("serial").to_pylist(), table.column("offset").to_pylist(), strict=True)
        self._rows = {place: row for row, place in enumerate(places)}
        self._texts = TextColumn(file, number, "text", stream)

    def text(self, place: Place) -> str | None:
        row = self._rows.get(place)
        return None if row is None else self._texts.text(row)
