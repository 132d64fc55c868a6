"""Writes the index of one crawl, from its tables of documents. One process at a time.

The newest capture of a URL stands in the index. All of it can be made again: what is damaged or of another version
is deleted first. What was made of other tables can be asked until all of the new ones is in.
"""

import contextlib
import os
import shutil
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Literal

import msgspec

from gossamer.archive.follower import KEPT, KEPT_ANEW, START, Mark, Rewound
from gossamer.assembly.folder_lock import lock_folder
from gossamer.config.search_config import SearchConfig
from gossamer.model.errors import StorageError
from gossamer.search.extra import needed
from gossamer.search.feed import Rows, changes, tables_of
from gossamer.search.text.errors import reporting
from gossamer.search.text.kept import (
    FOLDER,
    INDEX,
    OTHER,
    Damage,
    Kept,
    damage,
    noted,
    read_kept,
    write_kept,
)
from gossamer.search.text.schema import COLUMNS, VERSION, document_of, place_number, schema, stored_of

ROWS = 2_000
"""Documents of one commit, at most."""
TEXT = 8 << 20
"""Characters of one commit, roughly at most; their words may wait in memory, ten times as large."""


class TextIndex:
    """Brings the index of one crawl's folder up to date with its tables."""

    def __init__(
        self, crawl: Path, config: SearchConfig | None = None, tell: Callable[[str], None] = lambda _: None
    ) -> None:
        """Open it for writing, made if it is not there.

        Args:
            crawl: folder of the crawl; its tables of documents must be there.
            config: if not the default.
            tell: told, in a sentence, if the index is made anew, and why.

        Raises:
            Busy: another process writes this index.
            ConfigError: the extra is not installed.
            StorageError: the disk refuses.
        """
        needed()
        self._crawl = crawl
        self._folder = crawl / FOLDER
        self._memory = (config or SearchConfig()).memory
        self._tell = tell
        self._lock = lock_folder(self._folder, "makes this index")
        self._writer: Any = None
        self._last: Kept | None = None
        """What readers have while all is made anew."""
        try:
            self._open()
        except BaseException:
            self.close()
            raise

    def _open(self) -> None:
        """Open what is there, or begin anew."""
        made_of = self._made_of()
        try:
            self._open_kept(KEPT)
            if (self._folder / KEPT_ANEW).exists():
                self._open_new(made_of)
        except (Damage, StorageError) as why:
            if str(why):
                self._tell(f"{self._folder}: made anew: {why}")
            self._last = None
            self._begin(made_of)

    def _open_new(self, made_of: str) -> None:
        """Go on with the index that is to take the place of the one that was opened, if that is wanted."""
        last = self._kept
        if last.made_of == made_of:
            self._clear({KEPT, last.index})
            return
        try:
            self._open_kept(KEPT_ANEW)
            self._last = last
        except (Damage, StorageError):
            self._open_kept(KEPT)

    def _open_kept(self, name: str) -> None:
        """Open the index of a mark for writing.

        Raises:
            Damage: it is to be made anew.
            StorageError: the disk refuses.
        """
        self._end_writer()
        kept = read_kept(self._folder, name)
        if kept is None:
            raise Damage("")
        if kept.version != VERSION:
            raise Damage("it is of another version")
        if why := damage(self._folder, kept, thorough=True):
            raise Damage(why)
        self._kept = kept
        self._open_writer()

    def _open_writer(self) -> None:
        with reporting(self._folder):
            self._index = needed().Index(schema(), path=str(self._folder / self._kept.index))
            self._index.config_reader("manual")  # no thread that opens files whenever something is committed
            self._writer = self._index.writer(self._memory, 1)

    def _made_of(self) -> str:
        state = tables_of(self._crawl)
        return "" if state is None else state.source

    def _begin(self, made_of: str) -> None:
        """An empty index.

        Raises:
            StorageError: the disk refuses.
        """
        self._end_writer()
        held = set() if self._last is None else {KEPT, self._last.index}
        fresh: Literal["index", "index-2"] = "index-2" if INDEX in held else "index"
        self._kept = Kept(version=VERSION, made_of=made_of, index=fresh)
        try:
            self._clear(held)
            (self._folder / fresh).mkdir()
            self._open_writer()
            with reporting(self._folder):
                commit = self._writer.commit()
            self._keep(msgspec.structs.replace(self._kept, commit=commit))
        except OSError as error:
            raise StorageError(
                f"{self._folder}: cannot be written ({error.strerror}). Free some space."
            ) from error

    def _clear(self, held: set[str]) -> None:
        """Remove all but what is held."""
        # Under another name first: readers make a lock file for a moment where they know the index to be.
        for index in {INDEX, OTHER} - held:
            gone = self._folder / f"{index}.gone"
            shutil.rmtree(gone, ignore_errors=True)
            with contextlib.suppress(FileNotFoundError):
                (self._folder / index).rename(gone)
        for path in self._folder.iterdir():
            if path.name not in held:
                shutil.rmtree(path) if path.is_dir() else path.unlink()

    def _keep(self, kept: Kept) -> None:
        self._kept = kept
        write_kept(self._folder, kept, KEPT if self._last is None else KEPT_ANEW)

    def _publish(self) -> None:
        """All of the tables is in: if the index was made anew, let it take the place of the one before."""
        if self._last is not None:
            self._last = None
            self._keep(self._kept)
            self._clear({KEPT, self._kept.index})

    def close(self) -> None:
        """Wait until merges have ended, and free the folder for another process."""
        self._end_writer()
        if self._lock >= 0:
            os.close(self._lock)
            self._lock = -1

    def _end_writer(self) -> None:
        writer, self._writer = self._writer, None
        if writer is not None:
            with contextlib.suppress(StorageError), reporting(self._folder):
                writer.wait_merging_threads()
            del writer
            with contextlib.suppress(OSError, Damage, AttributeError):
                self._note_files()

    @property
    def mark(self) -> Mark:
        """How far it has come."""
        return self._kept.mark

    @property
    def documents(self) -> int:
        """How many are in it, as of the last commit."""
        with reporting(self._folder):
            self._index.reload()
            return int(self._index.searcher().num_docs)

    def catch_up(self, stop: Callable[[], bool] = lambda: False) -> int:
        """Take what the tables have by now, or until `stop` says so; how many rows came.

        Raises:
            DamagedTables: a file of the tables cannot be read.
            StorageError: the disk refuses, or the crawl's state cannot be read. What was committed stays.
        """
        if self._kept.made_of != (made_of := self._made_of()):
            if self.mark != START:
                self._tell(f"{self._folder}: made anew: the tables of documents are others now")
                self._end_writer()
                self._last = self._last or self._kept
            self._begin(made_of)
        count = 0
        taken = _Taken()
        for change in changes(self._crawl, self.mark, COLUMNS):
            if isinstance(change, Rewound):
                self._rewind(change.to)
                continue
            self._add(change.rows)
            taken.add(change.rows)
            count += len(change.rows)
            taken.after = change.after
            if taken.rows >= ROWS or taken.size > TEXT or stop():
                self._commit(taken.after)
                taken = _Taken()
                if stop():
                    return count
        if taken.after is not None and taken.after != self.mark:
            self._commit(taken.after)
        self._publish()
        return count

    def _add(self, rows: Sequence[dict[str, Any]]) -> None:
        """Put rows into the index, in place of earlier captures of their URLs."""
        newest = {row["url"]: row for row in rows}
        with reporting(self._folder):
            for url, row in newest.items():
                self._writer.delete_documents_by_term("url", url)
                self._writer.add_document(document_of(row))

    def _commit(self, mark: Mark) -> None:
        """Make what was added and deleted stand, together with the mark.

        Raises:
            StorageError: the disk refuses.
        """
        try:
            if mark != self._kept.next:
                self._keep(msgspec.structs.replace(self._kept, next=mark))
            with reporting(self._folder):
                commit = self._writer.commit()
            self._kept = msgspec.structs.replace(self._kept, commit=commit, mark=mark, next=mark)
            self._note_files()
        except OSError as error:
            raise StorageError(
                f"{self._folder}: cannot be written ({error.strerror}). Free some space."
            ) from error

    def _note_files(self) -> None:
        files = noted(self._folder / self._kept.index, self._kept.files)
        self._keep(msgspec.structs.replace(self._kept, files=files))

    def _rewind(self, to: Mark) -> None:
        """Take out what was captured from a place on; the captures before it of the same URLs stand again.

        Raises:
            StorageError: the disk refuses.
        """
        if to.place <= START.place:
            self._begin(self._kept.made_of)
            return
        tantivy = needed()
        with reporting(self._folder):
            since = tantivy.Query.range_query(
                self._index.schema, "place", tantivy.FieldType.Unsigned, lower_bound=place_number(*to.place)
            )
            self._index.reload()
            searcher = self._index.searcher()
            count = searcher.search(since, 1).count
            hits = searcher.search(since, count).hits if count else []
            gone = {stored_of(searcher.doc(address)).url for _, address in hits}
            self._writer.delete_documents_by_query(since)
        for rows in _rows_before(self._crawl, to):
            self._add([row for row in rows if row["url"] in gone])
        self._commit(to)


class _Taken:
    """What was put into the index since the last commit, and the mark behind it."""

    def __init__(self) -> None:
        self.rows, self.size = 0, 0
        self.after: Mark | None = None

    def add(self, rows: Sequence[dict[str, Any]]) -> None:
        """Count rows."""
        self.rows += len(rows)
        self.size += sum(len(row["text"] or "") for row in rows)


def _rows_before(crawl: Path, mark: Mark) -> Iterator[list[dict[str, Any]]]:
    for change in changes(crawl, Mark(*START.place, mark.history), COLUMNS):
        if isinstance(change, Rows):
            rows = [row for row in change.rows if (row["serial"], row["offset"]) < mark.place]
            yield rows
            if len(rows) < len(change.rows):
                return
