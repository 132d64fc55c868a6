"""Asks the index of one crawl, also while it is being written."""

import os
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

from gossamer.archive.follower import Mark
from gossamer.model.errors import StorageError
from gossamer.search.extra import needed
from gossamer.search.query.asked import Asked
from gossamer.search.text.asking import Asking, scores
from gossamer.search.text.errors import reporting
from gossamer.search.text.kept import FOLDER, INDEX, Damage, Kept, damage, read_kept
from gossamer.search.text.schema import VERSION, Stored, stored_of
from gossamer.search.text.texts import Texts

__all__ = ["FACETS", "Found", "Missing", "Reader"]

FACETS = {"site": "host", "type": "type", "language": "language", "year": "year"}
"""The column of each."""


class Missing(Exception):  # noqa: N818 (never leaves the room)
    """There is no index yet."""


class Found(msgspec.Struct, frozen=True):
    """One document that answers: by what it is ordered (the higher, the better), and what is kept of it."""

    order: float
    document: Stored


class Reader:
    """The index of one crawl, opened for reading. One caller at a time."""

    def __init__(self, crawl: Path) -> None:
        """Open it.

        Raises:
            Missing: there is none.
            ConfigError: the extra is not installed.
            StorageError: it is damaged, or of another version.
        """
        self.crawl = crawl
        self.texts = Texts(crawl)
        self._folder = crawl / FOLDER
        self._index: Any = None
        self._links: tempfile.TemporaryDirectory[str] | None = None
        try:
            self._open()
        except BaseException:
            self.close()
            raise

    def _open(self) -> None:
        try:
            kept = read_kept(self._folder)
            if kept is None:
                raise Missing
            if kept.version != VERSION:
                raise Damage("it is of another version")
            if why := damage(self._folder, kept, thorough=False):
                raise Damage(why)
        except Damage as why:
            raise StorageError(
                f"{self._folder}: cannot be used: {why}. 'gossamer index {self.crawl}' makes it anew."
            ) from None
        with reporting(self._folder):
            self._index = needed().Index.open(str(self._place()))
            self._index.config_reader("manual")
            self._index.reload()
            self._searcher = self._index.searcher()
        self._at(kept)

    def _place(self) -> Path:
        """Where tantivy opens the index: it makes a file to lock, so where it must not write it has links elsewhere."""
        index = self._folder / INDEX
        self._unlink()
        if os.access(index, os.W_OK) or not index.exists():
            return index
        try:
            self._links = tempfile.TemporaryDirectory(prefix="gossamer-search-")
            for path in index.resolve().iterdir():
                if not path.name.startswith("."):
                    (Path(self._links.name) / path.name).symlink_to(path)
        except FileNotFoundError:  # taken away just now, of which the library tells
            return index
        except OSError as error:
            raise StorageError(
                f"{index}: must not be written, and {tempfile.gettempdir()}, where it would be locked instead,"
                f" cannot be ({error.strerror}). TMPDIR names another folder."
            ) from error
        return Path(self._links.name)

    def _unlink(self) -> None:
        links, self._links = self._links, None
        if links is not None:
            links.cleanup()

    def close(self) -> None:
        """Close the files of the tables; those of the index go with the last reference."""
        self.texts.close()
        self._unlink()

    def _at(self, kept: Kept) -> None:
        self._kept = kept
        self._asking = Asking(self._index.schema, kept.languages, self._searcher)

    def refresh(self) -> None:
        """See what was committed meanwhile.

        Raises:
            Missing, StorageError: as when it was opened.
        """
        try:
            kept = read_kept(self._folder)
        except Damage:
            kept = None
        if kept is None or kept.made_of != self._kept.made_of:
            self._open()
        elif self._links is not None:  # links are of the files of one commit
            if kept.commit != self._kept.commit:
                self._open()
        elif kept.commit != self._kept.commit:
            with reporting(self._folder):
                self._index.reload()
                self._searcher = self._index.searcher()
            self._at(kept)

    @property
    def languages(self) -> Sequence[str]:
        """Tags of the languages in it."""
        return tuple(self._kept.languages)

    @property
    def mark(self) -> Mark:
        """How far it has come."""
        return self._kept.mark

    @property
    def documents(self) -> int:
        """How many are in it."""
        return int(self._searcher.num_docs)

    def has(self, url: str) -> bool:
        """Whether a document of this URL is in it, or was until the last merge of its segments.

        Raises:
            StorageError: the index is damaged.
        """
        with reporting(self._folder):
            return int(self._searcher.doc_freq("url", url)) > 0

    def find(self, asked: Asked, most: int, *, some: bool = False) -> tuple[int, list[Found]]:
        """How many documents answer, and the best of them, best first; the newest where nothing tells better.

        Raises:
            StorageError: the index is damaged.
        """
        with reporting(self._folder):
            query = self._asking.query(asked, some=some)
            by = None if scores(asked) else "dated"
            result = self._searcher.search(query, most, order_by_field=by)
            return result.count, [
                Found(float(order), stored_of(self._searcher.doc(address))) for order, address in result.hits
            ]

    def facets(self, asked: Asked, most: int, *, some: bool = False) -> dict[str, dict[str, int]]:
        """How many of the documents that answer are of each site, type, language and year.

        Raises:
            StorageError: the index is damaged.
        """
        wanted = {name: {"terms": {"field": column, "size": most}} for name, column in FACETS.items()}
        with reporting(self._folder):
            found = self._searcher.aggregate(self._asking.query(asked, some=some), wanted)
        return {
            name: {_named(bucket["key"]): bucket["doc_count"] for bucket in found[name]["buckets"]}
            for name in FACETS
        }


def _named(key: object) -> str:
    return str(int(key)) if isinstance(key, float) else str(key)
