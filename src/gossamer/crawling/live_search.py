"""Crawls until a query is answered: towards what promises to be about it, each hit as it comes."""

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Iterable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import cast

from gossamer.config.settings import merge
from gossamer.crawling.interface import CrawledPage, crawl
from gossamer.documents.said import DocumentText
from gossamer.model.errors import ConfigError
from gossamer.search.query.asked import All, Asked, Words
from gossamer.search.query.asked import Any as AnyOf
from gossamer.search.query.parser import Unreadable
from gossamer.search.searching import Hit
from gossamer.search.text.asking import read
from gossamer.search.text.fleeting import FleetingIndex
from gossamer.search.text.snippets import Marker

__all__ = ["search_live"]


async def search_live(
    query: str, seeds: Iterable[str], *, limit: int, folder: Path | None, settings: Mapping[str, object]
) -> AsyncGenerator[Hit, None]:
    """Crawl from seeds until so many documents have answered, or the crawl ends.

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
    index, found = FleetingIndex(), 0
    towards: dict[str, object] = {"engine.order": "focused", "order.focus.query": about[:1_000]}
    pages = crawl(*seeds, folder=folder, config=merge({}, towards | dict(settings)))
    async with contextlib.aclosing(cast("AsyncGenerator[CrawledPage, None]", pages)):
        async for page in pages:
            said = await asyncio.to_thread(_document, page)
            hit = _hit(page, said, asked, index) if said is not None else None
            if hit is not None:
                yield hit
                found += 1
                if found >= limit:
                    break


def _document(page: CrawledPage) -> DocumentText | None:
    return page.document


def _words(asked: Asked) -> Iterable[str]:
    match asked:
        case Words(text, pattern=False):
            yield text
        case All(parts) | AnyOf(parts):
            for part in parts:
                yield from _words(part)


def _hit(page: CrawledPage, said: DocumentText, asked: Asked, index: FleetingIndex) -> Hit | None:
    now = datetime.now(UTC)
    row = {
        "url": page.url, "time": now, "serial": 0, "offset": 0, "type": said.media_type,
        "title": said.metadata.title, "language": said.language, "published": said.metadata.published,
        "modified": said.metadata.modified, "description": said.metadata.description,
        "text": said.text.text, "markdown": said.markdown.text, "bytes": said.size,
    }  # fmt: skip
    if not index.fits(row, asked):
        return None
    marker = Marker(asked, [said.language])
    return Hit(
        url=page.url,
        crawl="",
        title=marker.marked(said.metadata.title[:300], said.language),
        snippet=marker.passage(said.text.text, said.language),
        type=said.media_type,
        language=said.language,
        dated=now.timestamp(),
        captured=now.timestamp(),
        size=said.size,
        score=0.0,
    )
