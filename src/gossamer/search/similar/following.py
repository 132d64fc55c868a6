"""Brings the index of near-duplicates of one crawl up to date with its tables of documents."""

from collections.abc import Callable
from pathlib import Path

import msgspec

from gossamer.archive.follower import Rewound
from gossamer.datasets.derived import FOLDER as DOCUMENTS
from gossamer.datasets.derived import VERSION, state_of
from gossamer.model.errors import StorageError
from gossamer.search.feed import changes
from gossamer.search.similar.indexing import Document, Indexing
from gossamer.search.similar.state import FOLDER
from gossamer.search.similar.store import DamagedError, Store
from gossamer.search.similar.texts import Tables

__all__ = ["SimilarFollower"]

ROWS = 512
"""Documents of one commit, at most."""
TEXT = 16 << 20
"""Characters of text of one commit, roughly at most."""


class SimilarFollower:
    """Keeps `similar/` of one crawl's folder up to date. One process at a time."""

    def __init__(self, crawl: Path, tell: Callable[[str], None] = lambda _: None) -> None:
        """Open the index, made if it is not there.

        Args:
            crawl: folder of the crawl, of one agent.
            tell: told, in a sentence, if the index is made anew, and why.

        Raises:
            ConfigError: another process makes it, or the folder is somebody else's.
            StorageError: the disk refuses.
        """
        self._crawl = crawl
        self._tell = tell
        self._open()

    def _open(self) -> None:
        self._store = Store(self._crawl / FOLDER, self._made_of())
        self._indexing = Indexing(self._store, Tables(self._crawl / DOCUMENTS))
        if self._store.remade:
            self._tell(f"{self._store.remade}; the index of near-duplicates is made anew")

    @property
    def pages(self) -> int:
        """How many captures are in the index."""
        return self._store.state.pages

    def close(self) -> None:
        """Let other processes write here."""
        self._store.close()

    def catch_up(self, stop: Callable[[], bool]) -> None:
        """Take in what the tables tell by now, until `stop` says so. What was committed stays.

        Raises:
            StorageError: the disk refuses, or the tables cannot be read; the next time goes on.
        """
        if self._made_of() != self._store.state.made_of:
            self._store.close()
            self._open()
        for again in (False, True):
            try:
                self._take(stop)
            except DamagedError as error:
                if again:
                    raise StorageError(f"{error}, again and again. Is the disk sound?") from error
                self._store.start_over()
                self._tell(f"{error}; the index of near-duplicates is made anew")
            else:
                return

    def _made_of(self) -> str:
        state = state_of(self._crawl / DOCUMENTS)
        return msgspec.json.encode([VERSION, state.source if state is not None else ""]).decode()

    def _take(self, stop: Callable[[], bool]) -> None:
        held: list[Document] = []
        size, mark, stopped = 0, self._store.state.mark, False
        for change in changes(self._crawl, mark, ["text"]):
            if stopped := stop():
                break
            if isinstance(change, Rewound):
                self._indexing.rewind(change.to)
                mark = change.to
                continue
            for row in change.rows:
                text = row["text"] or ""
                held.append(Document(row["url"], row["serial"], row["offset"], text))
                size += len(text)
            mark = change.after
            if len(held) >= ROWS or size >= TEXT:
                self._indexing.add(held, mark)
                held, size = [], 0
        if held or mark != self._store.state.mark:
            self._indexing.add(held, mark)
        if not stopped:
            self._store.publish()
