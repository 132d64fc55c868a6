"""Goes through what was crawled once: notes what is wrong with each page, and all that it links to."""

from collections.abc import Callable, Mapping
from types import MappingProxyType

import msgspec
import xxhash

from gossamer.archive.reader import read_record
from gossamer.audit.page import LONGEST_CONTENT, AuditedPage, page_of
from gossamer.audit.page_rules import Carried, page_findings
from gossamer.audit.rules import Rule
from gossamer.audit.soft import is_like, looks_missing
from gossamer.audit.store import AuditStore
from gossamer.datasets.tables import host_of
from gossamer.extract.reader import Reader
from gossamer.extract.registry import builtin_extractors
from gossamer.fetch.decoding import Decoded, content_codings, decode_content
from gossamer.inspect.archive.captures import Capture, capture_of, captures
from gossamer.inspect.archive.latest import Latest
from gossamer.inspect.inspection import Inspection
from gossamer.model.errors import StorageError
from gossamer.model.link import LinkKind, ends_at_robots, listed
from gossamer.model.url import Url
from gossamer.policy.linkcheck.fragments import judge_fragment
from gossamer.policy.robots.file import PRODUCT_TOKEN
from gossamer.policy.visits.retry import redirect_location
from gossamer.state.records import PageRecord

__all__ = ["Gathering", "archived_page"]

_COMMIT_EVERY = 500
LEAST_WORDS = 20
"""Of pages that can be duplicates of each other."""


class _Read(msgspec.Struct, frozen=True):
    """A page with the size of what it was read from."""

    page: AuditedPage
    content: int
    digest: bytes


class Gathering:
    """One pass over a crawl's archive.

    Args:
        missing: by origin, what it says where there is nothing, if it says that with status 200.
        changed: leave out pages that say what they said at the last audit.
        tell: hears how far it is, in pages.
    """

    def __init__(
        self,
        inspection: Inspection,
        store: AuditStore,
        *,
        missing: Mapping[str, str] = MappingProxyType({}),
        changed: bool = False,
        tell: Callable[[int], None] = lambda _: None,
    ) -> None:
        self._inspection = inspection
        self._store = store
        self._missing = missing
        self._changed = changed
        self._tell = tell
        self._sitemaps = Reader(
            inspection.config.extract, PRODUCT_TOKEN, builtin_extractors(inspection.config.extract)
        )
        self.pages = 0
        self.problems: list[str] = []

    def run(self) -> None:
        """Read all that was captured last.

        Raises:
            StorageError: the disk refuses.
        """
        try:
            for crawl in self._inspection.each.values():
                latest = Latest(crawl)
                for capture in captures(crawl, self.problems):
                    if not ends_at_robots(capture.hops) and latest(capture):
                        self._take(capture, latest.record(capture))
        finally:
            self._sitemaps.close()
        self._store.commit()

    def _take(self, capture: Capture, record: PageRecord | None) -> None:
        exchange = capture.exchange
        url = exchange.url.text
        last = record.visits[-1] if record is not None and record.visits else None
        status = last.status if last is not None else exchange.status
        location = redirect_location(exchange.status, exchange.headers)
        target = Url.parse(location, url) if location is not None else None
        self._store.do(
            "insert or replace into visited values(?,?,?)",
            (url, status, target.text if target is not None else location or ""),
        )
        if not (exchange.is_readable and exchange.body.size):
            return
        if listed(capture.hops):
            self._list(capture)
        read = _read(self._inspection, capture)
        if read is not None:
            size, seconds = (last.size, last.elapsed) if last is not None else (exchange.body.size, 0.0)
            packed = bool(content_codings(exchange.headers))
            self._page(url, read, Carried(size, seconds, read.content, packed))

    def _list(self, capture: Capture) -> None:
        """Take in the entries of a sitemap."""
        decoded = decode_content(
            capture.exchange.body, capture.exchange.headers, self._inspection.config.fetch
        )
        if isinstance(decoded, Decoded):
            for link in self._sitemaps.read(capture.exchange, decoded.content, listed=True).links:
                if link.kind is LinkKind.SITEMAP:
                    values = (link.url.text, capture.exchange.url.text)
                    self._store.do("insert or ignore into listed values(?,?)", values)

    def _page(self, url: str, read: _Read, carried: Carried) -> None:
        page = read.page
        before = self._store.do("select digest from before where url=?", (url,)).fetchone()
        is_same = before is not None and before[0] == read.digest
        words = page.text.count(" ") + 1 if page.text else 0
        text = xxhash.xxh3_128_digest(page.text.encode("utf-8", "replace")) if words >= LEAST_WORDS else None
        number = self._store.do(
            "insert or replace into"
            " pages(url, title, description, digest, noindex, canonical, hreflang, words, changed, whole)"
            " values(?,?,?,?,?,?,?,?,?,?) returning id",
            (
                url,
                next(filter(None, page.titles), ""),
                page.description or "",
                text,
                "noindex" in page.robots or "none" in page.robots.split(),
                page.canonical[0] if page.canonical else "",
                msgspec.json.encode(page.hreflang).decode() if page.hreflang else "",
                words,
                not is_same,
                read.digest,
            ),
        ).fetchone()[0]
        self.pages += 1
        if self.pages % _COMMIT_EVERY == 0:
            self._store.commit()
        self._tell(self.pages)
        if self._changed and is_same:
            return
        for rule, detail in page_findings(url, page, carried):
            self._store.add_finding(rule, url, detail)
        if looks_missing(page):
            self._store.add_finding(Rule.SOFT_404, url, {"title": next(iter(page.titles), "")})
        elif self._missing and is_like(page.text, self._missing.get(_origin(url), "")):
            self._store.add_finding(Rule.SOFT_404, url, {"like": _origin(url)})
        self._store.add_links(number, page.links, host_of)
        self._here(url, page)

    def _here(self, url: str, page: AuditedPage) -> None:
        """Judge links to places of the page itself at once, while it is at hand."""
        for link in page.links:
            if link.fragment and link.url == url:
                judged = judge_fragment(link.fragment, page.places)
                verdict, code = (judged.verdict.value, judged.code.value) if judged is not None else ("", "")
                values = (url, link.fragment, verdict, code)
                self._store.do("insert or replace into here values(?,?,?,?)", values)


def archived_page(inspection: Inspection, record: PageRecord) -> AuditedPage | None:
    """A page as it was captured last; `None` of what is no page, or cannot be read any more."""
    if record.place is None:
        return None
    for crawl in inspection.together:
        try:
            stored = read_record(crawl.folder.archive, record.place.file, record.place.offset)
            capture = capture_of(inspection, stored) if stored.url == record.url else None
        except StorageError:
            continue
        if capture is not None:
            read = _read(inspection, capture)
            return read.page if read is not None else None
    return None


def _origin(address: str) -> str:
    url = Url.from_serialised(address)
    return url.origin if url is not None else ""


def _read(inspection: Inspection, capture: Capture) -> _Read | None:
    """The page that was captured; `None` of what is no page."""
    exchange = capture.exchange
    decoded = decode_content(exchange.body, exchange.headers, inspection.config.fetch, LONGEST_CONTENT + 1)
    if not isinstance(decoded, Decoded):
        return None
    page, content = page_of(exchange, decoded.content), decoded.content
    return _Read(page, len(content), xxhash.xxh3_128_digest(content)) if page is not None else None
