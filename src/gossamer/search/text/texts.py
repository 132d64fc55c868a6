"""Fetches single texts out of the tables of documents, for the passages that hits show."""

from collections import OrderedDict
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from gossamer.datasets.derived import FOLDER, files_of
from gossamer.search.feed import last_place

_HELD = 32 << 20
"""Characters of texts that are kept for the next question."""
Place = tuple[int, int]


class Texts:
    """The texts of one crawl's documents. One caller at a time."""

    def __init__(self, crawl: Path) -> None:
        self._folder = crawl / FOLDER
        self._files: dict[Path, Any] = {}
        self._groups: list[tuple[Place, Path, int]] = []
        self._held: OrderedDict[tuple[Path, int], dict[Place, str]] = OrderedDict()
        self._size = 0

    def of(self, places: Iterable[Place]) -> dict[Place, str]:
        """The texts of captures, by their places in the archive; those that cannot be read are left out."""
        from pyarrow import ArrowException

        found: dict[Place, str] = {}
        try:
            self._refresh()
            for place in places:
                text = self._text(place)
                if text is not None:
                    found[place] = text
        except (OSError, ArrowException):  # merged or damaged just now: a hit is worth showing without, too
            self._files.clear()
        return found

    def _refresh(self) -> None:
        """Open the files of the last commit."""
        paths = files_of(self._folder).get("documents", [])
        if list(self._files) == paths:
            return
        from pyarrow import parquet

        files = {path: self._files.get(path) or parquet.ParquetFile(path) for path in paths}
        for path in self._files.keys() - files.keys():
            self._files[path].close()
        self._files = files
        self._groups = [
            (last_place(file.metadata.row_group(number)), path, number)
            for path, file in files.items()
            for number in range(file.num_row_groups)
        ]

    def _text(self, place: Place) -> str | None:
        from bisect import bisect_left

        number = bisect_left(self._groups, place, key=lambda group: group[0])
        if number == len(self._groups):
            return None
        _, path, group = self._groups[number]
        return self._group(path, group).get(place)

    def _group(self, path: Path, number: int) -> dict[Place, str]:
        texts = self._held.get((path, number))
        if texts is None:
            table = self._files[path].read_row_group(number, ["serial", "offset", "text"], use_threads=False)
            columns = (table.column(name).to_pylist() for name in ("serial", "offset", "text"))
            texts = {(serial, offset): text or "" for serial, offset, text in zip(*columns, strict=True)}
            self._held[path, number] = texts
            self._size += sum(map(len, texts.values()))
            while self._size > _HELD and len(self._held) > 1:
                _, old = self._held.popitem(last=False)
                self._size -= sum(map(len, old.values()))
        self._held.move_to_end((path, number))
        return texts
