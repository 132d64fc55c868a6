"""The Python interface: the pages of a crawl as an asynchronous iterator."""

import asyncio
import contextlib
import tempfile
import warnings
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from gossamer.assembly.extensions import Extensions, handed_in, schemes_of
from gossamer.assembly.folder import CrawlFolder, write_whole
from gossamer.assembly.seeds import Seeds
from gossamer.config.config import CrawlConfig
from gossamer.config.options import OPTIONS, overrides
from gossamer.config.settings import Tree, load, merge, read_toml, to_toml
from gossamer.crawling.run import reopen, run, start
from gossamer.engine.crawl import Crawl
from gossamer.engine.visiting.dispatch import UNREACHABLE
from gossamer.fetch.config import FetchConfig
from gossamer.fetch.decoding import Decoded, decode_content
from gossamer.model.errors import ConfigError, PluginWarning, UnreachableWarning
from gossamer.model.events import Event, ProblemFound, Visited
from gossamer.model.exchange import Headers
from gossamer.model.link import LinkKind
from gossamer.model.outcome import Failed, Fetched
from gossamer.model.page import Page
from gossamer.ports import Extractor, Observer, ScopeRule, Sink

AHEAD = 16
"""Pages that may wait for the consumer; then the crawl waits, so memory stays bounded."""

HOSTS_NAMED = 5


class CrawledPage(msgspec.Struct, frozen=True):
    """One archived page of a crawl.

    Attributes:
        url: as requested.
        status: of the response; 0 by a protocol that has none.
        headers: of the response.
        page: what was read from it: title, links, charset, ...
        content: the body with content codings undone, at most `extract.max_content` bytes.
        depth: links followed from the seed.
        via: the URL that mentioned it; empty for seeds.
        result: how the visit ended by a protocol without HTTP statuses: `ftp 226`.
    """

    url: str
    status: int
    headers: Headers
    page: Page
    content: bytes
    depth: int
    via: str
    result: str = ""

    @property
    def text(self) -> str:
        """The content as text, by its charset; what does not decode is replaced."""
        return self.content.decode(self.page.charset or "utf-8", errors="replace")


async def crawl(
    *seeds: str,
    folder: str | Path | None = None,
    config: Mapping[str, object] | None = None,
    scope_rules: Sequence[ScopeRule] = (),
    extractors: Sequence[Extractor] = (),
    observers: Sequence[Observer] = (),
    **options: object,
) -> AsyncIterator[CrawledPage]:
    """Crawl from `seeds` and yield each page after it is archived and committed.

    Leaving the loop stops the crawl well: what is lent is finished, and `folder` can be taken up again.

    Args:
        seeds: URLs or bare host names.
        folder: of the crawl. One that holds a crawl already is resumed with the configuration it holds, over
            which goes what is given here: the same call goes on, one with a larger `max_pages` goes further,
            further seeds are added. Without one the archive goes to a temporary folder and is gone
            afterwards.
        config: settings as nested dictionaries, as in the TOML file.
        scope_rules: functions of a candidate: `True` admits, `False` rejects, `None` has no opinion.
        extractors: further extractors (see `gossamer.ports.Extractor`).
        observers: functions that hear every event.
        options: the command line's options by their names: `max_pages=100`, `min_delay=0`, ...; and the
            other extension points: `sinks`, `protocol_modules`, `address_rules`, `resolver`, `name_cache`,
            `ordering`, `revisits` (see `gossamer.ports`).

    Raises:
        ConfigError: lists every problem of the configuration.
        StorageError: what was fetched cannot be kept.

    Warns:
        PluginWarning: a scope rule, an extractor or an observer raised; once for each.
        UnreachableWarning: no seed could be reached; no error, as a failing web is none.
    """
    given = handed_in(options, scope_rules=scope_rules, extractors=extractors, observers=observers)
    tree = _tree(seeds, _laid_over(config or {}, schemes_of(given)), options)
    with _place(folder) as place:
        resumed = place.used
        settings = _reopened(place, tree) if resumed else start(place, load(CrawlConfig, tree))
        pages: asyncio.Queue[CrawledPage | None] = asyncio.Queue(AHEAD)
        ending = _Ending()
        observers, sinks = (ending.hear, *observers), (*given.sinks, _sink(pages, settings))
        extensions = msgspec.structs.replace(given, observers=observers, sinks=sinks)
        async with _running(place, settings, extensions, pages, ending, resumed=resumed):
            while (crawled := await pages.get()) is not None:
                ending.warn()
                yield crawled
    ending.warn()


def _sink(pages: asyncio.Queue[CrawledPage | None], settings: CrawlConfig) -> Sink:
    """What hands each page that counts to the consumer, and waits until there is room."""

    async def hand_over(visit: Visited) -> None:
        crawled = _crawled(visit, settings.fetch, settings.extract.max_content)
        if crawled is not None:
            await pages.put(crawled)

    return hand_over


class _Ending:
    """Why a crawl ended, and what failed at the first hosts that did."""

    def __init__(self) -> None:
        self.reason = ""
        self._unreached: dict[str, Failed] = {}
        self._plugin_problems: list[str] = []

    def hear(self, event: Event) -> None:
        """Take note of a failed visit, and of what code that was handed in raised."""
        match event:
            case Visited(lease=lease, outcome=Failed() as failed) if len(self._unreached) < HOSTS_NAMED:
                self._unreached.setdefault(lease.candidate.url.host, failed)
            case ProblemFound(where, detail, plugin=True):
                self._plugin_problems.append(f"{where} {detail}")

    def warn(self) -> None:
        """Warn the caller's caller of what was heard since the last call."""
        problems, self._plugin_problems = self._plugin_problems, []
        for words in problems:
            warnings.warn(words, PluginWarning, stacklevel=3)
        if self.reason == UNREACHABLE:
            warnings.warn(self.words(), UnreachableWarning, stacklevel=3)

    def words(self) -> str:
        """One line on hosts that could not be reached."""
        hosts = [
            f"{host}: {failed.fault}" + (f" ({failed.detail})" if failed.detail else "")
            for host, failed in self._unreached.items()
        ]
        return f"no seed could be reached: {'; '.join(hosts) or 'see crawl.log'}"


def _tree(seeds: Sequence[str], config: Mapping[str, object], options: Mapping[str, object]) -> Tree:
    unknown = sorted(set(options) - set(OPTIONS))
    if unknown:
        raise ConfigError(
            f"crawl: {', '.join(unknown)}: no such option. There are: {', '.join(sorted(OPTIONS))}."
        )
    tree = merge(dict(config), overrides(options))
    return merge(tree, {"seeds": list(seeds)}) if seeds else tree


def _reopened(place: CrawlFolder, tree: Tree) -> CrawlConfig:
    """The configuration of the crawl in `place` with what the caller gave over it, written down."""
    held = reopen(place)
    try:
        both = _laid_over(tree, read_toml(place.config))
        if seeds := tree.get("seeds"):
            both["seeds"] = list(dict.fromkeys((*held.seeds, *seeds)))
        settings = load(CrawlConfig, both)
        if settings != held:
            Seeds(settings, place.path).prove()
            write_whole(place.config, to_toml(settings))
    except BaseException:
        place.release()
        raise
    return settings


def _laid_over(tree: Mapping[str, Any], under: Mapping[str, Any]) -> Tree:
    """`under` with every value that `tree` has, table by table."""
    both = dict(under)
    for key, value in tree.items():
        below = both.get(key)
        both[key] = (
            _laid_over(value, below) if isinstance(value, Mapping) and isinstance(below, Mapping) else value
        )
    return both


@contextlib.asynccontextmanager
async def _running(
    place: CrawlFolder,
    settings: CrawlConfig,
    extensions: Extensions,
    pages: asyncio.Queue[CrawledPage | None],
    ending: _Ending,
    *,
    resumed: bool,
) -> AsyncIterator[None]:
    """Run the crawl beside the consumer; `None` in `pages` says that it has ended, `ending` why."""
    crawls: list[Crawl] = []

    async def whole() -> None:
        try:
            ending.reason = await run(
                place, settings, extensions, resumed=resumed, on_start=crawls.append, handle_signals=False
            )
        finally:
            await pages.put(None)

    task = asyncio.create_task(whole())
    try:
        yield
    finally:
        while not task.done():
            for crawl_ in crawls:  # none yet, if the consumer left while the crawl was put together
                crawl_.stop("left")
            # What is finished after the consumer has left is archived, but nobody wants to see it.
            with contextlib.suppress(asyncio.QueueEmpty):
                pages.get_nowait()
            await asyncio.wait([task], timeout=0.01)
        await task


@contextlib.contextmanager
def _place(folder: str | Path | None) -> Iterator[CrawlFolder]:
    if folder is not None:
        yield CrawlFolder(Path(folder))
        return
    with tempfile.TemporaryDirectory(prefix="gossamer-") as temporary:
        yield CrawlFolder(Path(temporary) / "crawl")


def _crawled(visit: Visited, fetch: FetchConfig, limit: int) -> CrawledPage | None:
    """The page, if the visit brought one that counts."""
    candidate = visit.lease.candidate
    if visit.page is None or visit.place is None or candidate.kind is LinkKind.ROBOTS:
        return None
    assert isinstance(visit.outcome, Fetched)
    exchange = visit.outcome.exchange
    decoded = decode_content(exchange.body, exchange.headers, fetch, limit)
    content = decoded.content if isinstance(decoded, Decoded) else b""
    return CrawledPage(
        candidate.url.text,
        exchange.status,
        exchange.headers,
        visit.page,
        content,
        candidate.depth,
        candidate.via,
        "" if exchange.result is None else exchange.said,
    )
