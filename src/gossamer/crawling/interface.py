"""The Python interface: the pages of a crawl as an asynchronous iterator."""

import asyncio
import contextlib
import warnings
from collections.abc import AsyncIterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import msgspec

from gossamer.assembly.disks import unmoved
from gossamer.assembly.extensions import Extensions, handed_in, schemes_of
from gossamer.assembly.folder import CrawlFolder
from gossamer.assembly.seeds import Seeds, with_own_folders
from gossamer.config.config import CrawlConfig
from gossamer.config.options import OPTIONS, overrides
from gossamer.config.presets import with_preset
from gossamer.config.settings import Tree, load, merge, read_toml, to_toml
from gossamer.crawling.run import prove_store, reopen, run, start
from gossamer.datasets.one_document import DocumentReader
from gossamer.documents.config import DocumentsConfig
from gossamer.documents.markup.nesting import fits_a_tree
from gossamer.documents.said import DocumentText
from gossamer.engine.crawl import Crawl
from gossamer.extract.encodings.charset import decode
from gossamer.extract.fields.selector import Parsed, Selector, read_selector
from gossamer.extract.isolation.processes import Unanswered
from gossamer.fetch.config import FetchConfig
from gossamer.fetch.decoding import Decoded, decode_content
from gossamer.model.candidate import Candidate
from gossamer.model.errors import ConfigError, PluginWarning, UnreachableWarning, UnreadableWarning
from gossamer.model.events import Event, ProblemFound, Visited
from gossamer.model.exchange import Headers
from gossamer.model.link import HOP_LETTERS, LinkKind, further
from gossamer.model.outcome import Failed, Fetched
from gossamer.model.page import Page
from gossamer.model.reasons.codes import EndCode
from gossamer.model.reasons.ends import UNREACHABLE
from gossamer.model.reasons.reason import Reason
from gossamer.model.url import Url
from gossamer.ports import Extractor, Observer, ScopeRule
from gossamer.state.scratch import Scratch
from gossamer.state.whole_files import write_whole

AHEAD = 16
"""Pages that may wait for the consumer; then the crawl waits, so memory stays bounded."""

HOSTS_NAMED = 5

_WITHOUT_CHOICE = frozenset({LinkKind.SEED, LinkKind.REDIRECT, LinkKind.ROBOTS, LinkKind.REQUISITE})
"""Kinds of URLs that are visited without `follow`, too; requisites as the scope has them."""


class CrawledPage(msgspec.Struct, frozen=True, dict=True):
    """One archived page of a crawl.

    Selectors are those of `[fields]`: CSS as Scrapy writes it, or XPath, and what is to be made of what they
    find: `.price | number`, `a.next::attr(href) | url`. A page is parsed when it is first asked; in one whose
    nesting would take a parser very long they find nothing, and an `UnreadableWarning` says so.

    Attributes:
        url: as requested.
        status: of the response; 0 by a protocol that has none.
        headers: of the response.
        page: what was read from it: title, links, charset, ...
        content: the body with content codings undone, at most `extract.max_content` bytes.
        depth: links followed from the seed.
        via: the URL that mentioned it; empty for seeds.
        hops: hop path from the seed, a letter for each hop.
        result: how the visit ended by a protocol without HTTP statuses: `ftp 226`.
        truncated: the content is less than the document: it was cut, broke off, or a range of it came.
    """

    url: str
    status: int
    headers: Headers
    page: Page
    content: bytes
    depth: int
    via: str
    hops: str = ""
    _run: "_Run | None" = None
    result: str = ""
    truncated: bool = False

    @property
    def text(self) -> str:
        """The content as text, by its charset; what does not decode is replaced."""
        return self.content.decode(self.page.charset or "utf-8", errors="replace")

    @property
    def fields(self) -> dict[str, object]:
        """What `fields` of the crawl, and extractors, have found."""
        return self.page.fields

    @cached_property
    def document(self) -> DocumentText | None:
        """All that the document says: text, metadata, structured data, links, images; of PDF and office files, too.

        It is read when it is first asked for, in a process with limits of time and memory, which blocks meanwhile:
        where the event loop must go on, `await asyncio.to_thread(lambda: page.document)`. `None` if it passed
        these limits; what else was missing stands in its `marks`.

        Raises:
            ConfigError: the extra 'documents' is not installed.
        """
        reader = self._run.documents if self._run is not None else DocumentReader(DocumentsConfig())
        try:
            said = reader.ask(self.url, self.headers, self.content, part=self.truncated)
        finally:
            if self._run is None or self._run.ended:
                reader.close()
        return None if isinstance(said, Unanswered) else said

    @property
    def main_text(self) -> str:
        """The text that the document is about, without menus and the like; see `document`."""
        return self.document.text.text if self.document is not None else ""

    @property
    def markdown(self) -> str:
        """The same with headings, lists, tables and links, as Markdown; see `document`."""
        return self.document.markdown.text if self.document is not None else ""

    @property
    def json_ld(self) -> tuple[object, ...]:
        """The blocks of JSON-LD, parsed; see `document`."""
        return self.document.json_ld if self.document is not None else ()

    @cached_property
    def _parsed(self) -> Parsed:
        url = Url.from_serialised(self.url)
        if fits_a_tree(decode(self.content, self.page.charset).encode("utf-8", "replace")):
            return Parsed(self.content, self.page.charset, url)
        words = f"{self.url}: too deeply nested to be parsed here, so that selectors find nothing in it"
        warnings.warn(words, UnreadableWarning, stacklevel=4)
        return Parsed(b"", self.page.charset, url)

    def css(self, selector: str) -> list[Any]:
        """All that a selector finds, at most 20,000: texts, or numbers if it says so.

        Raises:
            ConfigError: it cannot be read.
        """
        return self._parsed.values(_every(selector))

    def xpath(self, expression: str) -> list[Any]:
        """As `css`, of an expression that need not begin with a slash. Needs lxml (extra 'documents')."""
        return self._parsed.values(_every(f"xpath:{expression}"))

    def first(self, selector: str) -> Any:
        """The first that a selector of CSS or XPath finds; `None` if there is nothing."""
        found = self._parsed.values(read_selector(selector))
        return found[0] if found else None

    def follow(self, *urls: str) -> int:
        """Let the crawl visit further URLs, found on this page; how many of them were new.

        They go the way of all links: what the scope, robots files or limits forbid is not visited. Relative
        ones refer to this page.
        """
        return self._run.follow(self, urls) if self._run is not None else 0


def _every(selector: str) -> Selector:
    return msgspec.structs.replace(read_selector(selector), all=True)


async def crawl(
    *seeds: str,
    folder: str | Path | None = None,
    config: Mapping[str, object] | None = None,
    scope_rules: Sequence[ScopeRule] = (),
    extractors: Sequence[Extractor] = (),
    observers: Sequence[Observer] = (),
    follow: bool = True,
    **options: object,
) -> AsyncIterator[CrawledPage]:
    """Crawl from `seeds` and yield each page after it is archived and committed.

    Leaving the loop stops the crawl well: what is lent is finished, and `folder` can be taken up again.

    Args:
        seeds: URLs or bare host names.
        folder: of the crawl. One that holds a crawl already is resumed with the configuration it holds, which
            the arguments here override: the same call goes on, one with a larger `max_pages` goes further,
            further seeds are added. Without one the archive goes to a temporary folder and is gone
            afterwards.
        config: settings as nested dictionaries, as in the TOML file.
        scope_rules: functions of a candidate: `True` admits, `False` rejects, `None` has no opinion.
        extractors: further extractors (see `gossamer.ports.Extractor`).
        observers: functions that hear every event.
        follow: visit what pages link to and sitemaps list; off: only seeds, where they redirect to, and what
            `CrawledPage.follow` is given.
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
    with _Place(folder) as held:
        place = held.folder
        resumed = place.used
        settings = (
            _reopened(place, tree) if resumed else start(place, with_own_folders(load(CrawlConfig, tree)))
        )
        ending = _Ending()
        run_ = _Run(settings)
        rules = given.scope_rules
        if not follow:
            rules, settings = (*rules, run_.only_chosen), _without_sitemaps(settings)
        observers, sinks = (ending.hear, *observers), (*given.sinks, run_.hand_over)
        extensions = msgspec.structs.replace(given, scope_rules=rules, observers=observers, sinks=sinks)
        async with _running(held, settings, extensions, run_, ending, resumed=resumed):
            with contextlib.closing(run_):
                while (crawled := await run_.next()) is not None:
                    ending.warn()
                    yield crawled
    ending.warn()


class _Run:
    """What stands between a crawl and the consumer of its pages."""

    def __init__(self, settings: CrawlConfig) -> None:
        self._settings = settings
        self.pages: asyncio.Queue[CrawledPage | None] = asyncio.Queue(AHEAD)
        self._crawl: Crawl | None = None
        self._handed = 0
        self._waits = False
        self._chosen = ""
        self.documents = DocumentReader(settings.documents)
        self.ended = False

    def close(self) -> None:
        """End the process that reads documents."""
        self.ended = True
        self.documents.close()

    def started(self, crawl_: Crawl) -> None:
        """The crawl runs. It does not end while the consumer has a page and may follow links of it."""
        self._crawl = crawl_
        self._handed = crawl_.parts.ledger.counters.visits
        crawl_.parts.dispatch.expect("the consumer of pages", self._may_follow)

    def _may_follow(self) -> bool:
        assert self._crawl is not None
        settled = self._crawl.parts.ledger.counters.visits
        return self._handed < settled or not self.pages.empty() or not self._waits

    async def hand_over(self, visit: Visited) -> None:
        """Hand a visit to the consumer if its page counts, and wait until there is room."""
        crawled = _crawled(visit, self._settings.fetch, self._settings.extract.max_content, self)
        if crawled is not None:
            await self.pages.put(crawled)
        self._handed += 1

    async def next(self) -> CrawledPage | None:
        """The next page for the consumer, who has done with the one before; `None` at the end."""
        self._waits = True
        if self._crawl is not None and self.pages.empty():
            self._crawl.parts.dispatch.pump()
        try:
            return await self.pages.get()
        finally:
            self._waits = False

    def only_chosen(self, candidate: Candidate) -> bool | None:
        """A scope rule: of what is found, only what was chosen is visited, and what belongs to a visit."""
        return None if candidate.kind in _WITHOUT_CHOICE or candidate.url.text == self._chosen else False

    def follow(self, page: CrawledPage, urls: Sequence[str]) -> int:
        """Admit links of a page; how many were new."""
        assert self._crawl is not None
        parts, new = self._crawl.parts, 0
        if parts.dispatch.ended:
            return 0
        with parts.frontier.changes() as batch:
            for text in urls:
                if (url := Url.parse(text, page.url)) is None:
                    continue
                self._chosen = url.text
                hops = further(page.hops, HOP_LETTERS[LinkKind.NAVIGATION])
                link = Candidate(url, LinkKind.NAVIGATION, page.depth + 1, hops, page.url)
                new += parts.admission.admit(link)
            self._chosen = ""
            parts.ledger.enter(batch)
        parts.dispatch.pump()
        return new


class _Ending:
    """Why a crawl ended, and what failed at the first hosts that did."""

    def __init__(self) -> None:
        self.reason: Reason | None = None
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
        settings = "Settings go to config, e.g. config={'fetch': {'cookies': True}}."
        raise ConfigError(
            f"crawl: {', '.join(unknown)}: no such option. There are: {', '.join(sorted(OPTIONS))}. {settings}"
        )
    tree = with_preset(merge(dict(config), overrides(options)))
    return merge(tree, {"seeds": list(seeds)}) if seeds else tree


def _reopened(place: CrawlFolder, tree: Tree) -> CrawlConfig:
    """The configuration of the crawl in `place` with what the caller gave over it, written down."""
    held = reopen(place)
    try:
        both = _laid_over(CrawlConfig.renewed(tree), CrawlConfig.renewed(read_toml(place.config)))
        if seeds := tree.get("seeds"):
            both["seeds"] = list(dict.fromkeys((*held.seeds, *seeds)))
        settings = with_own_folders(load(CrawlConfig, both))
        storage = unmoved(held.storage, settings.storage, place.path)
        settings = msgspec.structs.replace(settings, storage=storage)
        prove_store(settings, place)
        if settings != held:
            Seeds(settings, place.path).prove()
            write_whole(place.config, to_toml(settings))
    except BaseException:
        place.release()
        raise
    return settings


def _without_sitemaps(settings: CrawlConfig) -> CrawlConfig:
    """For this run alone: the folder keeps what was asked for."""
    engine = msgspec.structs.replace(settings.engine, sitemaps=False, guess_sitemap=False)
    return msgspec.structs.replace(settings, engine=engine)


def _laid_over(tree: Mapping[str, Any], under: Mapping[str, Any]) -> Tree:
    """`under` with every value that `tree` has, table by table."""
    both = dict(under)
    for key, value in tree.items():
        below = both.get(key)
        both[key] = (
            _laid_over(value, below) if isinstance(value, Mapping) and isinstance(below, Mapping) else value
        )
    return both


class _Place(contextlib.AbstractContextManager["_Place"]):
    """The crawl's folder; a temporary one is gone once nobody needs it any more.

    That may be later than the consumer has left: where a loop that was broken off is the last that `asyncio.run` has
    to do, the generator is closed without a chance to wait while the crawl still comes to its end.
    """

    def __init__(self, folder: str | Path | None) -> None:
        self._scratch: Scratch | None = None
        if folder is None:
            self._scratch = Scratch()
            folder = Path(self._scratch.name, "crawl")
        self.folder = CrawlFolder(Path(folder))
        self.task: asyncio.Task[None] | None = None
        """The crawl."""

    def __exit__(self, *_: object) -> None:
        if self._scratch is None:
            return
        if self.task is None or self.task.done():
            self._remove()
        else:
            self.task.add_done_callback(lambda _: self._remove())

    def _remove(self) -> None:
        self.folder.discard()
        if self._scratch is not None:
            self._scratch.cleanup()


@contextlib.asynccontextmanager
async def _running(
    place: _Place,
    settings: CrawlConfig,
    extensions: Extensions,
    run_: _Run,
    ending: _Ending,
    *,
    resumed: bool,
) -> AsyncIterator[None]:
    """Run the crawl beside the consumer; `None` in its pages says that it has ended, `ending` why."""
    crawls: list[Crawl] = []
    pages = run_.pages

    def started(crawl_: Crawl) -> None:
        crawls.append(crawl_)
        run_.started(crawl_)

    async def whole() -> None:
        try:
            ending.reason = await run(
                place.folder, settings, extensions, resumed=resumed, on_start=started, handle_signals=False
            )
        finally:
            await pages.put(None)

    task = place.task = asyncio.create_task(whole())
    try:
        yield
    finally:
        while not task.done():
            for crawl_ in crawls:  # none yet, if the consumer left while the crawl was put together
                crawl_.stop(Reason(EndCode.LEFT))
            # What is finished after the consumer has left is archived, but nobody wants to see it.
            with contextlib.suppress(asyncio.QueueEmpty):
                pages.get_nowait()
            await asyncio.wait([task], timeout=0.01)
        await task


def _crawled(visit: Visited, fetch: FetchConfig, limit: int, run_: _Run) -> CrawledPage | None:
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
        candidate.hops,
        run_,
        "" if exchange.result is None else exchange.said,
        exchange.is_part or (isinstance(decoded, Decoded) and decoded.truncated),
    )
