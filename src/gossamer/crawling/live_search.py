"""Crawls until a query is answered: towards what promises to be about it, each hit as it comes."""

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Iterable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, cast

import msgspec

from gossamer.config.settings import merge
from gossamer.crawling.interface import CrawledPage, crawl
from gossamer.documents.said import DocumentText
from gossamer.model.errors import ConfigError
from gossamer.search.query.asked import All, Asked, Words
from gossamer.search.query.asked import Any as AnyOf
from gossamer.search.query.parser import Unreadable
from gossamer.search.searching import Hit
from gossamer.search.similar.indexing import THRESHOLD
from gossamer.search.similar.shingles import distinct, resemblance
from gossamer.search.similar.words import Hashes, words
from gossamer.search.text.asking import read, single_words
from gossamer.search.text.fleeting import FleetingIndex
from gossamer.search.text.snippets import Marker

__all__ = ["Distinct", "search_live"]


async def search_live(
    query: str, seeds: Iterable[str], *, limit: int, folder: Path | None, settings: Mapping[str, object]
) -> AsyncGenerator[Hit, None]:
    """Crawl from seeds until so many documents have answered, or the crawl ends.

    If none has all of the words by then, those that have most of them follow, as many (`Hit.some`). Of documents that
    resemble each other the first alone is told, and counts.

    Args:
        query: as typed.
        seeds: URLs or host names.
        limit: hits after which the crawl is ended well.
        folder: of the crawl; without one nothing is kept.
        settings: of the crawl, by their dotted paths.

    Raises:
        ConfigError: the query is refused or holds no word, an extra is not installed, settings are wrong.
        StorageError: what was fetched cannot be kept.
    """
    try:
        asked = read(query)
    except Unreadable as refused:
        raise ConfigError(f"query: {refused.why}") from None
    about = " ".join(_words(asked))
    if not about:
        raise ConfigError("query: holds no word that a crawl could look for; give one")
    index, found, told = FleetingIndex(), 0, Distinct()
    rest = _Rest(asked, limit)
    towards: dict[str, object] = {"engine.order": "focused", "order.focus.query": about[:1_000]}
    pages = crawl(*seeds, folder=folder, config=merge({}, towards | dict(settings)))
    async with contextlib.aclosing(cast("AsyncGenerator[CrawledPage, None]", pages)):
        async for page in pages:
            said = await asyncio.to_thread(_document, page)
            if said is None:
                continue
            row = _row(page, said)
            index.put(row)
            if index.fits(asked):
                if told.takes(row["text"]):
                    yield _hit(row, asked)
                    found += 1
                    if found >= limit:
                        break
            elif not found:
                rest.offer(row, index)
    if not found:
        for hit in rest.best:
            yield hit


class Distinct:
    """Texts that do not resemble each other, as a search of an index has none twice."""

    def __init__(self) -> None:
        self._taken: list[Hashes] = []

    def takes(self, text: str) -> bool:
        """Whether none that was taken before resembles this one; it is one of them from now on."""
        new = distinct(words(text).hashes)
        if any(resemblance(new, known) >= THRESHOLD for known in self._taken):
            return False
        self._taken.append(new)
        return True


class _Rest:
    """The documents with most of the words, of those that have not all; the first ones of as many."""

    def __init__(self, asked: Asked, most: int) -> None:
        self._asked = asked
        self._most = most
        self._each = single_words(asked)
        self.best: list[Hit] = []
        self._distinct = Distinct()

    def offer(self, row: dict[str, Any], index: FleetingIndex) -> None:
        """Keep a document that is in the index, if it is one of them."""
        if len(self._each) < 2 or not index.fits(self._asked, some=True):
            return
        met = float(sum(index.fits(word) for word in self._each))
        better = len(self.best) < self._most or met > self.best[-1].score
        if better and self._distinct.takes(row["text"]):
            hit = msgspec.structs.replace(_hit(row, self._asked), score=met, some=True)
            self.best = sorted((*self.best, hit), key=lambda one: -one.score)[: self._most]


def _document(page: CrawledPage) -> DocumentText | None:
    return page.document


def _words(asked: Asked) -> Iterable[str]:
    match asked:
        case Words(text, pattern=False):
            yield text
        case All(parts) | AnyOf(parts):
            for part in parts:
                yield from _words(part)


def _row(page: CrawledPage, said: DocumentText) -> dict[str, Any]:
    return {
        "url": page.url, "time": datetime.now(UTC), "serial": 0, "offset": 0, "type": said.media_type,
        "title": said.metadata.title, "language": said.language, "published": said.metadata.published,
        "modified": said.metadata.modified, "description": said.metadata.description,
        "text": said.text.text, "markdown": said.markdown.text, "bytes": said.size,
    }  # fmt: skip


def _hit(row: dict[str, Any], asked: Asked) -> Hit:
    language, now = row["language"], row["time"].timestamp()
    marker = Marker(asked, [language])
    return Hit(
        url=row["url"],
        crawl="",
        title=marker.marked(row["title"][:300], language),
        snippet=marker.passage(row["text"], language),
        type=row["type"],
        language=language,
        dated=now,
        captured=now,
        size=row["bytes"],
        score=0.0,
    )
