"""Searches one crawl or many: the hits of all, best first, near-duplicates as one.

The interface of this room. `Searching` keeps the indexes open for whoever asks often; `search` asks once.
"""

import time
from collections.abc import Iterable, Mapping, Sequence
from datetime import MAXYEAR, UTC, datetime
from pathlib import Path

import msgspec

from gossamer.datasets.cells import Text
from gossamer.inspect.clusters.whole import crawls_in
from gossamer.inspect.inspection import crawl_in, state_of
from gossamer.inspect.lag import Lag, lag_behind
from gossamer.model.command_line import command_line
from gossamer.model.errors import ConfigError
from gossamer.model.reasons.reason import Reason
from gossamer.search.clusters import cluster_of
from gossamer.search.counting import Answered, counted
from gossamer.search.query.asked import All as AllOf
from gossamer.search.query.asked import Asked, Filter, Kind, Span
from gossamer.search.query.parser import Unreadable
from gossamer.search.text.asking import read, several_words
from gossamer.search.text.reader import FACETS, Found, Missing, Reader
from gossamer.search.text.schema import Stored
from gossamer.search.text.snippets import Marker, Piece, shown
from gossamer.state.environment import StateConfig

__all__ = [
    "DEEPEST", "FACETS", "FacetValue", "Hit", "Piece", "ResultSums", "Results", "Searching", "Suggestion",
    "parts_of", "search",
]  # fmt: skip

DEEPEST = 1_000
"""Hits that can be paged to; a query says more in fewer."""
FACET_VALUES = 10
_LOOK = 5.0
"""Seconds after which it is looked again how far the archive has come."""


class Hit(msgspec.Struct, frozen=True, kw_only=True):
    """One document that answers.

    Attributes:
        url: of the document, as it was requested.
        crawl: the folder that was searched.
        title: its words marked; empty if it has none.
        snippet: a passage, its words marked; empty without text, or if none was asked for.
        type: media type.
        language: BCP 47 tag; may be empty.
        dated: when it was published, else modified, else captured: seconds since 1970.
        captured: seconds since 1970.
        size: bytes of its content.
        score: of hits of one answer the higher is the better; of queries without words it is `dated`.
        similar: further hits that are near-duplicates of it, and not shown.
        also: further crawls that have it.
        some: it has some of the words only, because no document has all.
    """

    url: str
    crawl: str
    title: tuple[Piece, ...]
    snippet: tuple[Piece, ...]
    type: str
    language: str
    dated: float
    captured: float
    size: int
    score: float
    similar: int = 0
    also: tuple[str, ...] = ()
    some: bool = False


class FacetValue(msgspec.Struct, frozen=True):
    """One site, type, language or year, and how many answers are of it."""

    value: str
    count: int


class ResultSums(msgspec.Struct, frozen=True, kw_only=True):
    """What an answer says of all its hits together, and of where they were looked for.

    Attributes:
        total: documents that answer, near-duplicates counted each, a page that several crawls have once.
        estimated: `total` and `facets` are rough, because many pages of several crawls answer.
        documents: in the indexes that were searched.
        facets: by `FACETS`, the most frequent values first; empty if not asked for.
        behind: pages that were archived and are not yet in the index.
        behind_seconds: since the first of them was archived.
        some: no document has all the words; these have some.
        problem: why the query is refused; then there are no hits.
        seconds: that it took.
    """

    total: int = 0
    estimated: bool = False
    documents: int = 0
    facets: dict[str, list[FacetValue]] = {}
    behind: int = 0
    behind_seconds: float = 0.0
    some: bool = False
    problem: Reason | None = None
    seconds: float = 0.0


class Results(ResultSums, frozen=True, kw_only=True):
    """An answer to `query`, as it was typed: the hits from the offset on, best first."""

    query: str
    hits: list[Hit] = []


class Suggestion(msgspec.Struct, frozen=True):
    """A page whose title goes on as was typed, or almost so."""

    title: str
    url: str


class Searching:
    """The indexes of crawls, kept open; a context manager that closes them. One caller at a time."""

    def __init__(self, folders: Iterable[Path]) -> None:
        """Open them.

        Args:
            folders: of crawls, or of clusters, whose agents on this machine are searched together; one that is
                given twice is searched once.

        Raises:
            ConfigError: no crawl lives in one, or none has an index; the extra is not installed.
            StorageError: an index is damaged.
        """
        self._readers: list[tuple[str, Reader]] = []
        self._look_again = 0.0
        self._lags: list[Lag] = []
        without: list[Path] = []
        opened: set[Path] = set()
        for folder in folders:
            found = False
            for part in parts_of(folder):
                if part.resolve() in opened:
                    found = True
                    continue
                try:
                    self._readers.append((str(folder), Reader(part)))
                    found = True
                    opened.add(part.resolve())
                except Missing:
                    continue
            if not found:
                without.append(folder)
        self.without = tuple(without)
        """Folders that have no index yet."""
        if not self._readers:
            raise ConfigError(
                *[f"{one}: has no search index. '{command_line('index', one)}' makes it." for one in without]
            )

    def __enter__(self) -> "Searching":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the indexes and of the tables of documents; nothing is asked any more."""
        for _, reader in self._readers:
            reader.close()

    def search(
        self,
        query: str,
        *,
        limit: int = 10,
        offset: int = 0,
        facets: bool = False,
        snippets: bool = True,
        only: Mapping[str, str] | None = None,
    ) -> Results:
        """Answer a query (the language: query/parser.py). Nothing anybody types raises.

        Args:
            query: as typed.
            limit: hits, at most.
            offset: hits that are left out before.
            facets: count sites, types, languages and years of all answers.
            snippets: take passages out of the texts, some milliseconds.
            only: values of `FACETS` that all hits have, beside what the query says.

        Raises:
            StorageError: an index is damaged.
        """
        began = time.perf_counter()
        query = query.encode("utf-8", "replace").decode()  # half of a surrogate pair is no text
        self._refresh()
        try:
            asked = _narrowed(read(query), only or {})
            answers, found = self._find(asked, offset + limit, some=False)
        except Unreadable as refused:
            return Results(query=query, problem=refused.why, documents=self.documents)
        some = False
        if not found and several_words(asked):
            answers, found = self._find(asked, offset + limit, some=True)
            some = bool(found)
        counts = counted(answers, asked, some=some, facets=facets)
        shown = found[offset : offset + limit]
        lags = self._behind()
        marker = Marker(asked, self._languages)
        return Results(
            query=query,
            hits=self._hits(shown, marker, snippets=snippets, some=some),
            total=counts.total,
            estimated=counts.estimated,
            documents=self.documents,
            facets=_most_frequent(counts.facets) if facets else {},
            behind=sum(one.pages for one in lags),
            behind_seconds=max((one.seconds for one in lags), default=0.0),
            some=some,
            seconds=time.perf_counter() - began,
        )

    def suggest(self, text: str, *, limit: int = 8) -> list[Suggestion]:
        """Titles that have the words typed so far, the last of which may be unfinished; where none has, those with
        words that are spelt almost so.

        Raises:
            StorageError: an index is damaged.
        """
        text = text.encode("utf-8", "replace").decode()  # half of a surrogate pair is no text
        words = [word for word in text.split() if any(map(str.isalnum, word))][:20]
        if not words:
            return []
        self._refresh()
        *whole, last = words
        told = [f"title:{word}" for word in whole]
        # Titles are kept by the stems of their words, which may end before what was typed does.
        said: dict[str, str] = {}
        for asked, shorter in ((f"{last}*", 0), (last, 0), (f"{last[:-2]}*", 2), (f"{last[:-4]}*", 4)):
            query = " ".join((*told, f"title:{asked}"))
            for hit in self._documents(query, limit * 4):
                title = shown(hit.title).strip()
                if title and (not shorter or last.casefold() in title.casefold()):
                    said.setdefault(title, hit.url)
            if said or len(last) < shorter + 5:
                break
        if not said:
            found = [one for _, reader in self._readers for one in reader.spelt(words, limit * 4)]
            for one in sorted(found, key=lambda one: one.place):
                said.setdefault(shown(one.document.title).strip(), one.document.url)
        return [Suggestion(title, url) for title, url in said.items()][:limit]

    @property
    def documents(self) -> int:
        """How many can be found, in all indexes together, as of the last search."""
        return sum(reader.documents for _, reader in self._readers)

    @property
    def _languages(self) -> list[str]:
        return list(dict.fromkeys(one for _, reader in self._readers for one in reader.languages))

    def _refresh(self) -> None:
        for _, reader in self._readers:
            try:
                reader.refresh()
            except Missing:  # just being made anew
                continue

    def _behind(self) -> list[Lag]:
        """Looked at anew every few seconds: it takes longer than a query."""
        now = time.monotonic()
        if now >= self._look_again:
            self._lags = [_lag(reader.crawl) for _, reader in self._readers]
            self._look_again = now + _LOOK
        return self._lags

    def _find(self, asked: Asked, wanted: int, *, some: bool) -> tuple[list[Answered], list["_Folded"]]:
        """What each index answers, and the first that are wanted, with their near-duplicates folded into them."""
        most = min(max(2 * wanted, 20), DEEPEST)
        while True:
            answers = [
                Answered(folder, reader, *reader.find(asked, most, some=some))
                for folder, reader in self._readers
            ]
            folded = _folded(answers)
            whole = all(one.count <= most for one in answers)
            if len(folded) >= wanted or whole or most == DEEPEST:
                return answers, folded
            most = min(2 * most, DEEPEST)

    def _documents(self, query: str, most: int) -> list[Stored]:
        """The first that have all the words, and no more of them; none if the query is refused."""
        try:
            found = self._find(read(query), most, some=False)[1]
        except Unreadable:
            return []
        return [one.found.document for one in found[:most]]

    def _hits(self, shown: Sequence["_Folded"], marker: Marker, *, snippets: bool, some: bool) -> list[Hit]:
        texts: dict[tuple[int, tuple[int, int]], Text] = {}
        if snippets:
            for reader in {id(one.reader): one.reader for one in shown}.values():
                places = [one.place for one in shown if one.reader is reader]
                texts |= {(id(reader), place): text for place, text in reader.texts.of(places).items()}
        hits = []
        for one in shown:
            document = one.found.document
            text = texts.get((id(one.reader), one.place)) or Text("", None)
            hits.append(
                Hit(
                    url=document.url,
                    crawl=one.folder,
                    title=marker.marked(document.title, document.language),
                    snippet=marker.passage(
                        text.beginning or document.description, document.language, text.more
                    )
                    if snippets
                    else (),
                    type=document.type,
                    language=document.language,
                    dated=document.dated,
                    captured=document.captured,
                    size=document.size,
                    score=one.found.order,
                    similar=one.similar,
                    also=tuple(one.also),
                    some=some,
                )
            )
        return hits


def _lag(crawl: Path) -> Lag:
    """How far the index of one crawl is behind its archive."""
    folder = crawl_in(crawl)
    with state_of(folder, StateConfig()) as environment:
        return lag_behind(folder, environment, "words")


def _most_frequent(facets: Mapping[str, Mapping[str, int]]) -> dict[str, list[FacetValue]]:
    return {
        name: [
            FacetValue(value, count)
            for value, count in sorted(counts.items(), key=lambda one: (-one[1], one[0]))[:FACET_VALUES]
        ]
        for name, counts in facets.items()
    }


def search(
    folders: Iterable[Path], query: str, *, limit: int = 10, offset: int = 0, facets: bool = False
) -> Results:
    """Open the indexes of crawls, and answer one query; as `Searching` and its `search`."""
    with Searching(folders) as searching:
        return searching.search(query, limit=limit, offset=offset, facets=facets)


def parts_of(folder: Path) -> list[Path]:
    """The folders of crawls in a folder: itself, or those of a cluster's agents on this machine.

    Raises:
        ConfigError: no crawl lives there.
        StorageError: a state is gone.
    """
    return [part.path for part in crawls_in(folder)]


class _Folded(msgspec.Struct):
    folder: str
    reader: Reader
    found: Found
    similar: int = 0
    also: list[str] = []

    @property
    def place(self) -> tuple[int, int]:
        return self.found.document.serial, self.found.document.offset


def _folded(answers: Iterable[Answered]) -> list[_Folded]:
    """The hits of all, best first: the best of each cluster only, and a page that several crawls have once.

    So which page stands for a cluster depends on what the pages say and what their URLs are, nothing else.
    """
    named: list[tuple[_Folded, str | None]] = []
    for each in answers:
        names = cluster_of(each.reader.crawl, [one.document.url for one in each.found])
        named += [
            (_Folded(each.folder, each.reader, one), name)
            for one, name in zip(each.found, names, strict=True)
        ]
    named.sort(key=lambda one: one[0].found.place)
    pages: dict[str, _Folded] = {}
    best: dict[str, _Folded] = {}
    folded = []
    for one, name in named:
        if (same := pages.setdefault(one.found.document.url, one)) is not one:
            same.also.append(one.folder)
            continue
        if name is not None and (first := best.setdefault(name, one)) is not one:
            first.similar += 1
            continue
        folded.append(one)
    return folded


_KINDS = {"site": Kind.SITE, "type": Kind.TYPE, "language": Kind.LANGUAGE}
"""By the names of facets."""


def _narrowed(asked: Asked, only: Mapping[str, str]) -> Asked:
    """What is asked for, where all that answers has these values of facets."""
    parts: list[Asked] = [Filter(kind, only[name].lower()) for name, kind in _KINDS.items() if only.get(name)]
    if only.get("year"):
        year = int(only["year"])
        begins = [datetime(one, 1, 1, tzinfo=UTC).timestamp() for one in (year, year + 1) if one <= MAXYEAR]
        parts.append(Span(*begins))
    if not parts:
        return asked
    return AllOf((*(asked.parts if isinstance(asked, AllOf) else (asked,)), *parts))
