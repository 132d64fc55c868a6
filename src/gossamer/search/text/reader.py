"""Asks the index of one crawl, also while it is being written."""

import math
import os
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec

from gossamer.archive.follower import KEPT, Mark
from gossamer.model.command_line import command_line
from gossamer.model.errors import StorageError
from gossamer.search.extra import needed
from gossamer.search.query.asked import Asked
from gossamer.search.text.asking import Asking, scores
from gossamer.search.text.errors import reporting
from gossamer.search.text.kept import FOLDER, Damage, Kept, damage, read_kept, versions_of
from gossamer.search.text.schema import VERSION, Stored, dated_and_rank, stored_of
from gossamer.search.text.spelling import spelt
from gossamer.search.text.texts import Texts
from gossamer.search.text.words import ways_of
from gossamer.state.scratch import Scratch
from gossamer.state.whole_files import Version, version_of

__all__ = ["FACETS", "Found", "Missing", "Reader"]

FACETS = {"site": "host", "type": "type", "language": "language", "year": "year"}
"""The column of each."""
_LANGUAGES = 1_000
"""That are told, the most frequent ones."""
_EQUAL = 2.0**-19
"""Part by which scores of equals differ: sums of 32 bits depend on the order of their terms, which is another in each
segment. Seen is 2**-23; what pages say hardly ever makes less than 2**-18."""
_LOOKED_AT = 256
_TIED = 1 << 16
"""Answers, at most, of which it is told which are as good as each other; of more the first that come."""


class Missing(Exception):  # noqa: N818 (never leaves the room)
    """There is no index yet."""


class Found(msgspec.Struct, frozen=True):
    """One document that answers.

    Attributes:
        order: by what it is ordered, the higher the better; equal if nothing tells them apart.
        rank: of its URL, by which equals are ordered, the highest first.
        document: what is kept of it.
    """

    order: float
    rank: int
    document: Stored

    @property
    def place(self) -> tuple[float, int, str]:
        """What answers are sorted by, so that their order is the same however the index was written."""
        return -self.order, -self.rank, self.document.url


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
        self._links: Scratch | None = None
        self._versions: tuple[Version, ...] = ()
        try:
            self._open()
        except BaseException:
            self.close()
            raise

    def _open(self) -> None:
        while True:
            before = version_of(self._folder / KEPT)
            try:
                self._open_now()
            except StorageError:
                if version_of(self._folder / KEPT) == before:  # else another took its place just now
                    raise
            else:
                return

    def _open_now(self) -> None:
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
                f"{self._folder}: cannot be used: {why}. '{command_line('index', self.crawl)}' makes it anew."
            ) from None
        with reporting(self._folder):
            self._index = needed().Index.open(str(self._place(kept)))
            self._index.config_reader("manual")
            self._index.reload()
            self._searcher = self._index.searcher()
        self._at(kept)

    def _place(self, kept: Kept) -> Path:
        """Where tantivy opens the index: it makes a file to lock, so where it must not write it has links elsewhere."""
        index = self._folder / kept.index
        self._unlink()
        if os.access(index, os.W_OK) or not index.exists():
            return index
        try:
            self._links = Scratch()
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
        self._languages = self._counted_languages()
        self._asking = Asking(self._index.schema, self._languages, self._searcher)

    def _counted_languages(self) -> dict[str, int]:
        """Documents of each language, the most frequent first."""
        wanted = {"language": {"terms": {"field": FACETS["language"], "size": _LANGUAGES}}}
        with reporting(self._folder):
            found = self._searcher.aggregate(needed().Query.all_query(), wanted)
        counts = {_named(each["key"]): int(each["doc_count"]) for each in found["language"]["buckets"]}
        return dict(sorted(counts.items(), key=lambda one: (-one[1], one[0])))

    def refresh(self) -> None:
        """See what was committed meanwhile.

        Raises:
            Missing, StorageError: as when it was opened.
        """
        versions = versions_of(self._folder, self._kept.index)
        if versions == self._versions:
            return
        try:
            kept = read_kept(self._folder)
        except Damage:
            kept = None
        if kept is None or (kept.version, kept.made_of, kept.index) != (
            VERSION,
            self._kept.made_of,
            self._kept.index,
        ):
            self._open()
        elif self._links is not None:  # links are of the files of one commit
            if kept.commit != self._kept.commit:
                self._open()
        elif kept.commit != self._kept.commit:
            with reporting(self._folder):
                self._index.reload()
                self._searcher = self._index.searcher()
            self._at(kept)
        self._versions = versions

    @property
    def languages(self) -> Sequence[str]:
        """Tags of the languages in it."""
        return tuple(self._languages)

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
            count, best = self._best(query, most) if scores(asked) else self._newest(query, most)
            found = [Found(order, rank, stored_of(self._searcher.doc(at))) for order, rank, at in best]
            return count, sorted(found, key=lambda one: one.place)

    def spelt(self, words: Sequence[str], most: int) -> list[Found]:
        """Documents whose titles have these words or such as are spelt almost so, the best first.

        Raises:
            StorageError: the index is damaged.
        """
        with reporting(self._folder):
            query = spelt(self._index.schema, words, ways_of(self._languages))
            return [
                Found(order, rank, stored_of(self._searcher.doc(at)))
                for order, rank, at in self._best(query, most)[1]
            ]

    def _newest(self, query: Any, most: int) -> tuple[int, list[tuple[float, int, Any]]]:
        """How many there are, and (seconds, rank, address) of the newest."""
        result = self._searcher.search(query, most, order_by_field="newest")
        each = ((*dated_and_rank(newest), at) for newest, at in result.hits)
        return result.count, [(float(dated), rank, at) for dated, rank, at in each]

    def _best(self, query: Any, most: int) -> tuple[int, list[tuple[float, int, Any]]]:
        """How many there are, and (score, rank, address) of the best.

        As many are looked at as it takes to have all that are as good as the last.
        """
        looked_at = max(2 * most, _LOOKED_AT)
        while True:
            result = self._searcher.search(query, looked_at)
            hits = result.hits
            levels = [*_levelled([score for score, _ in hits], most)]
            if len(levels) < len(hits) or result.count <= len(hits) or looked_at >= _TIED:
                break
            looked_at *= 8
        addresses = [at for _, at in hits[: len(levels)]]
        newest = self._searcher.fast_field_values("newest", addresses)
        ranked = [
            (score, dated_and_rank(number)[1], at)
            for score, number, at in zip(levels, newest, addresses, strict=True)
        ]
        ranked.sort(key=lambda one: (-one[0], -one[1]))
        return result.count, ranked[:most]

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


def _levelled(scores: Iterable[float], most: int) -> Iterator[float]:
    """Scores from the best on, where those that are equal but for rounding are the same.

    Ends behind `most` of them, where the next is another.
    """
    first = math.inf
    for number, score in enumerate(scores):
        if score < first * (1 - _EQUAL):
            if number >= most:
                return
            first = score
        yield first


def _named(key: object) -> str:
    return str(int(key)) if isinstance(key, float) else str(key)
