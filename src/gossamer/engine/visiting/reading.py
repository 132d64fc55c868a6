"""Reads the bodies that workers bring: content codings undone, then extracted, off the loop where long."""

import asyncio
import re
from enum import Enum
from functools import partial
from itertools import islice
from pathlib import Path

from gossamer.engine.settlement.spare_time import SpareTime
from gossamer.extract.config import ExtractConfig
from gossamer.extract.html.document import HtmlExtractor
from gossamer.extract.link_header import has_links
from gossamer.extract.media_type import declared_type, media_type
from gossamer.extract.pauses import PAUSE
from gossamer.extract.reader import Reader
from gossamer.fetch.config import FetchConfig
from gossamer.fetch.decoding import Decoded, content_codings, decode_content
from gossamer.model.exchange import Exchange
from gossamer.model.link import LinkKind
from gossamer.model.outcome import Failed
from gossamer.model.page import Page
from gossamer.model.reasons.reason import because
from gossamer.policy.branches.novelty import Said, pieces, shown
from gossamer.policy.robots.access import RobotsConfig
from gossamer.policy.robots.file import RobotsRules, parse_robots

LONG_CODED = 32 << 10
"""Bytes of a body in a content coding, which may hold a hundred times as many, decoded on the event loop."""

SHORT = 64 << 10
"""Bytes of content whose densest takes some 50 ms."""

MOST_LINKS = 6_000
"""Links that content read on the event loop may hold, some 75 ms."""

MANY_LINKS = 2_000
"""Links of a page that is read with pauses, so that the visits of others pass by."""

LONG_PAGES = 3
"""Pages read so at a time, which leaves threads for others."""

Read = tuple[Page | None, Said | None]
"""What the body holds, and what it says."""

_NAVIGATION, _REQUISITE = LinkKind.NAVIGATION, LinkKind.REQUISITE
"""By their own names: to look a member up for each link costs as much as all else that is asked of it."""
_MEDIA = ("img@", "source@", "video@", "audio@", "embed@", "object@")
_MOST_PICTURES = 64
_MOST_NUMBERS = 300
"""Links whose addresses say which numbers of the page are mere addresses."""
_TEXT = re.compile(r"text/|application/(?:[^/]*\+)?(?:xml|json|javascript)$")
"""Media types of what is read as text; images and archives are worth having whatever they say."""
_BINARY = re.compile(rb"[\x00-\x08\x0e-\x1f]")
_GZIP = b"\x1f\x8b"

LONG_ROBOTS = 32_000
"""Bytes of a robots file read on the event loop, some milliseconds; a longer one is read in a thread."""


class _Turn(Enum):
    """What a page waits for that is not read at once."""

    WITH_PAUSES = "so many links that the visits of others are to pass by"
    ISOLATED = "a process that reads such documents"


class Reading:
    """Decodes and extracts. What would hold the event loop for long goes to a thread."""

    def __init__(
        self,
        reader: Reader,
        fetch: FetchConfig,
        extract: ExtractConfig,
        robots: RobotsConfig,
        product_token: str,
        spare: SpareTime | None = None,
    ) -> None:
        self._reader = reader
        self._fetch = fetch
        self._max_content = extract.max_content
        self._offload_above = extract.offload_above
        self._max_robots = robots.max_size
        self._token = product_token
        self._spare = spare or SpareTime()
        self._long_pages = asyncio.Semaphore(LONG_PAGES)

    async def page(self, exchange: Exchange, *, listed: bool = False, longest_text: int = 0) -> Read:
        """What the response holds; nothing if there is none to read (status other than 2xx, or empty).

        `listed`: a robots file or a sitemap led to it. `longest_text`: also what it
        says, if it has no more bytes.
        """
        if not exchange.is_readable or not (exchange.body.size or has_links(exchange.headers)):
            return None, None
        most = LONG_CODED if content_codings(exchange.headers) else self._offload_above
        waits = False
        if exchange.body.size <= most:
            decoded = self._decode(exchange)
            kind = _kind(exchange, decoded)
            waits = self._reader.waits(kind)
            if not waits and not (isinstance(decoded, Decoded) and self._takes_long(decoded.content, kind)):
                return self._read(exchange, decoded, kind=kind, listed=listed, longest_text=longest_text)
        if not waits:
            read = await asyncio.to_thread(self._page, exchange, listed=listed, longest_text=longest_text)
            if isinstance(read, tuple):
                return read
            waits = read is _Turn.ISOLATED
        if waits and self._reader.isolated is not None:
            work = partial(self._long_page, exchange, listed=listed, longest_text=longest_text)
            return await asyncio.get_running_loop().run_in_executor(self._reader.isolated.threads, work)
        async with self._long_pages:
            with self._spare.in_thread() as pause:
                PAUSE.set(pause)  # the thread has a copy of this task's context
                try:
                    return await asyncio.to_thread(
                        self._long_page, exchange, listed=listed, longest_text=longest_text
                    )
                finally:
                    PAUSE.set(None)

    def _page(self, exchange: Exchange, *, listed: bool, longest_text: int) -> "Read | _Turn":
        """In a thread, unless this is to be read where there are few at a time."""
        decoded = self._decode(exchange)
        kind = _kind(exchange, decoded)
        if self._reader.waits(kind):
            return _Turn.ISOLATED
        if isinstance(decoded, Decoded) and has_many_links(decoded.content):
            return _Turn.WITH_PAUSES
        return self._read(exchange, decoded, kind=kind, listed=listed, longest_text=longest_text)

    def _long_page(self, exchange: Exchange, *, listed: bool, longest_text: int) -> Read:
        # Decoded again, so that of those that wait for their turn only the bodies are kept.
        decoded = self._decode(exchange)
        kind = _kind(exchange, decoded)
        return self._read(exchange, decoded, kind=kind, listed=listed, longest_text=longest_text)

    def _decode(self, exchange: Exchange) -> Decoded | Failed:
        return decode_content(exchange.body, exchange.headers, self._fetch, self._max_content)

    def _read(
        self, exchange: Exchange, decoded: Decoded | Failed, *, kind: str, listed: bool, longest_text: int
    ) -> Read:
        match decoded:
            case Decoded(content=content, truncated=cut):
                # A protocol module's own body may have no file.
                spooled: Path | None = getattr(exchange.body, "path", None)
                file = spooled if cut and not content_codings(exchange.headers) else None
                page = self._reader.read(exchange, content, kind=kind, listed=listed, file=file, cut=cut)
                return page, _said(page, content) if len(content) <= longest_text else None
            case Failed(fault=fault, detail=detail):
                return Page(exchange.url, problems=(because(fault, detail),)), None

    def _takes_long(self, content: bytes, kind: str) -> bool:
        """Whether this is long, packed, or dense: a link costs 12 us, and may be 11 bytes long."""
        if len(content) <= LONG_CODED:
            return False
        if len(content) > self._offload_above or content.startswith(_GZIP):
            return True
        if len(content) <= SHORT:
            return False
        return _most_links(content, kind) > MOST_LINKS

    def close(self) -> None:
        """End the processes that read for us; nothing is read afterwards."""
        self._reader.close()

    async def robots(self, exchange: Exchange) -> RobotsRules | None:
        """What a robots file says to us, as far as it is read; `None` if it cannot be made out."""
        content = robots_text(exchange, self._fetch, self._max_robots)
        if content is None:
            return None
        if len(content) > LONG_ROBOTS:
            return await asyncio.to_thread(self._rules, content)
        return self._rules(content)

    def _rules(self, content: bytes) -> RobotsRules:
        rules = parse_robots(content, self._token, self._max_robots)
        rules.allows("/")  # builds the index, which takes as long again
        return rules


def _kind(exchange: Exchange, decoded: Decoded | Failed) -> str:
    """The media type of what there is to read; empty if it cannot be decoded."""
    if isinstance(decoded, Failed):
        return ""
    return media_type(declared_type(exchange.headers), decoded.content)


def robots_text(exchange: Exchange, config: FetchConfig, most: int) -> bytes | None:
    """The content of a robots file, a little more than `most` bytes at most; `None` if it does not decode.

    Rules may be missing from a stream that broke off. What is plain text under a coding's name was
    mislabelled, and is read as it came.
    """
    decoded = decode_content(exchange.body, exchange.headers, config, most + 1)
    if isinstance(decoded, Decoded):
        broke_off = decoded.truncated and len(decoded.content) <= most and exchange.truncated is None
        return None if broke_off else decoded.content
    content = exchange.body.read(most + 1)
    return None if _BINARY.search(content) else content


def _said(page: Page, content: bytes) -> Said:
    """What a page says; of what is no text every byte counts."""
    if not _TEXT.match(page.media_type):
        return Said(size=len(content))
    media = (link for link in page.links if link.kind is _REQUISITE and link.element.startswith(_MEDIA))
    names = (link.url.path.rpartition("/")[2] for link in islice(media, _MOST_PICTURES))
    linked = (link.url.target for link in page.links if link.kind is _NAVIGATION)
    return Said(pieces(content, page.url.target, islice(linked, _MOST_NUMBERS)), shown(names))


def has_many_links(content: bytes) -> bool:
    """Whether a document as people write them has very many links; there are ways to hide them."""
    return sum(map(content.count, (b"ref=", b"src=", b"REF=", b"<loc", b"<link>"))) > MANY_LINKS


def _most_links(content: bytes, kind: str) -> int:
    """How many links there may be at most: each has a sign of its own, whatever the media type.

    Attributes have `=`, style sheets `(` or `@`, sets of images commas; sitemaps and feeds, which are not
    HTML, `<l`, and plain text lines. In few passes, because every page above `SHORT` takes them; a count for
    each sign took seven.
    """
    # References count, too: with them HTML within an attribute, or a feed, may spell its signs.
    links = len(content) - len(content.translate(None, b"=(@,&"))
    if kind not in HtmlExtractor.media_types:
        links += content.count(b"<l")
        return links if b"<" in content[:1_000] else links + content.count(b"\n")
    # Whether there is such an attribute takes two more passes, and few pages have that many references.
    if links > MOST_LINKS and b"srcdoc" not in content and b"SRCDOC" not in content:
        links -= content.count(b"&")
    return links
