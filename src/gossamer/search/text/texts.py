"""Fetches single texts out of the tables of documents, for the passages that hits show."""

import contextlib
import os
from bisect import bisect_left
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO

from gossamer.archive.follower import KEPT
from gossamer.datasets.cells import Text, TextColumn
from gossamer.datasets.derived import FOLDER, files_of
from gossamer.search.feed import last_place
from gossamer.state.whole_files import Version, version_of

__all__ = ["Texts"]

_GROUPS = 500
"""Row groups whose pages are known at a time, some 10 KB each."""
_BEGINNING = 32 << 10
"""Bytes of a text that are read at first: most passages stand there, and to unpack all of a long text takes longer than
all else that is done with it."""
Place = tuple[int, int]


class Texts:
    """The texts of one crawl's documents. One caller at a time."""

    def __init__(self, crawl: Path) -> None:
        self._folder = crawl / FOLDER
        self._version: Version = None
        self._files: dict[Path, _File] = {}
        self._ends: list[tuple[Place, Path, int]] = []
        self._groups: OrderedDict[tuple[Path, int], _Group] = OrderedDict()

    def of(self, places: Iterable[Place]) -> dict[Place, Text]:
        """The texts of captures, by their places in the archive; those that cannot be read are left out."""
        from pyarrow import ArrowException

        found: dict[Place, Text] = {}
        try:
            try:
                self._refresh()
            except FileNotFoundError:  # merged into another just now
                self._refresh()
            for place in places:
                text = self._text(place)
                if text is not None:
                    found[place] = Text(text.beginning, text.more and partial(_more, text))
        except (OSError, ArrowException):  # damaged: a hit is worth showing without, too
            self.close()
        return found

    def close(self) -> None:
        """Close the files; what is asked for later opens them again."""
        self._close_all_but([])

    def _close_all_but(self, paths: Sequence[Path]) -> None:
        """Close files, and forget what is known of them."""
        self._version = None
        for path in self._files.keys() - {*paths}:
            self._files.pop(path).close()
        for key in [key for key in self._groups if key[0] not in self._files]:
            del self._groups[key]

    def _refresh(self) -> None:
        """Have the files of the last commit open; beside a crawl most of them are those of the one before."""
        if (version := version_of(self._folder / KEPT)) == self._version:
            return
        paths = files_of(self._folder).get("documents", [])
        if list(self._files) != paths:
            self._close_all_but([path for path in paths if path in self._files and self._files[path].stands])
            for path in paths:
                if path not in self._files:
                    self._files[path] = _File(path)
            self._files = {path: self._files[path] for path in paths}
            self._ends = [end for file in self._files.values() for end in file.ends]
        self._version = version

    def _text(self, place: Place) -> Text | None:
        number = bisect_left(self._ends, place, key=lambda end: end[0])
        if number == len(self._ends):
            return None
        key = self._ends[number][1:]
        if key not in self._groups:
            opened = self._files[key[0]]
            self._groups[key] = _Group(opened.file, opened.stream, key[1])
            if len(self._groups) > _GROUPS:
                self._groups.popitem(last=False)
        self._groups.move_to_end(key)
        return self._groups[key].text(place)


class _File:
    """One file, open; `ends`: the last place of each of its row groups, with the path and the group's number."""

    def __init__(self, path: Path) -> None:
        """Open it.

        Raises:
            OSError, pyarrow.ArrowException: it is damaged, or not there.
        """
        from pyarrow import parquet

        self._path = path
        with contextlib.ExitStack() as opened:
            self.stream = opened.enter_context(path.open("rb"))
            self.file: Any = opened.enter_context(parquet.ParquetFile(path))
            groups = range(self.file.num_row_groups)
            self.ends = [(last_place(self.file.metadata.row_group(one)), path, one) for one in groups]
            opened.pop_all()

    @property
    def stands(self) -> bool:
        """Whether its path leads to it yet: tables that are made anew have the names of earlier ones."""
        try:
            return os.path.samestat(self._path.stat(), os.fstat(self.stream.fileno()))
        except OSError:
            return False

    def close(self) -> None:
        """Free it."""
        self.file.close()
        self.stream.close()


class _Group:
    """One row group."""

    def __init__(self, file: Any, stream: BinaryIO, number: int) -> None:
        table = file.read_row_group(number, ["serial", "offset"], use_threads=False)
        places = zip(table.column("serial").to_pylist(), table.column("offset").to_pylist(), strict=True)
        self._rows = {place: row for row, place in enumerate(places)}
        self._texts = TextColumn(file, number, "text", stream)

    def text(self, place: Place) -> Text | None:
        row = self._rows.get(place)
        return None if row is None else self._texts.text(row, _BEGINNING)


def _more(text: Text, least: int) -> str:
    """So many characters of it; its beginning if they cannot be read."""
    from pyarrow import ArrowException

    assert text.more is not None
    try:
        return text.more(least)
    except (OSError, ValueError, ArrowException):  # damaged, or closed because another was
        return text.beginning
