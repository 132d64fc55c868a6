"""Tells pages of members from those of guests, by what the operator says is on them.

One rule: an answer is *doubtful* if it has the mark of being out, or lacks that of being in, or asks for a log-in
by its status or its redirect. Whether the session has ended then tells the page that the log-in led to: a doubtful
answer of a session that stands is what members get there.
"""

from urllib.parse import urljoin

import msgspec

from gossamer.documents.markup.nesting import fits_a_tree
from gossamer.extract.encodings.charset import charset_of, decode
from gossamer.extract.fields.selector import Parsed, Selector, read_selector
from gossamer.extract.html.character_references import unescape_text
from gossamer.extract.html.forms import Forms, forms_of
from gossamer.extract.media_type import declared_type, media_type
from gossamer.fetch.config import FetchConfig
from gossamer.fetch.decoding import Decoded, decode_content
from gossamer.model.document import HTML_TYPES
from gossamer.model.errors import ConfigError
from gossamer.model.exchange import Exchange
from gossamer.model.url import Url
from gossamer.policy.scope.sessions import is_page
from gossamer.policy.visits.retry import redirect_location

_MOST = 4 << 20
"""Bytes of a page that are looked at."""
_FIRST = 2_048
_TEXT, _URL = "text:", "url:"
_NOT_FOR_US = frozenset({401, 403})


class Mark(msgspec.Struct, frozen=True):
    """What tells something of a page; one of the three.

    Attributes:
        text: stands in it.
        selector: finds something in it.
        address: redirects lead to what begins so.
    """

    text: str = ""
    selector: Selector | None = None
    address: str = ""


def read_mark(written: str) -> Mark | None:
    """The mark that somebody wrote; `None` if there is none.

    Raises:
        ConfigError: the selector cannot be read.
    """
    if not written:
        return None
    if written.startswith(_TEXT):
        return Mark(text=written.removeprefix(_TEXT).strip())
    if written.startswith(_URL):
        return Mark(address=written.removeprefix(_URL).strip())
    selector = read_selector(written)
    # An element counts also if no text is in it.
    return Mark(
        selector=selector if selector.attribute else msgspec.structs.replace(selector, convert="html")
    )


def mark_problem(written: str) -> str | None:
    """What is wrong with one, if anything is."""
    try:
        return "it is empty" if read_mark(written) == Mark() else None
    except ConfigError as error:
        return str(error)


class Look(msgspec.Struct, frozen=True):
    """What a page shows.

    Attributes:
        media_type: found out from its content.
        forms: of HTML; `None`: it is none.
        doubtful: it may be one for guests.
        marked: it has the mark of being in.
    """

    media_type: str
    forms: Forms | None
    doubtful: bool
    marked: bool


class Marks:
    """Looks at answers.

    Args:
        page: of the log-in.
        logged_in, logged_out: as written.
        config: bounds of decoding.
    """

    def __init__(self, page: Url, logged_in: str, logged_out: str, config: FetchConfig) -> None:
        self._page, self._config = page, config
        self._in, self._out = read_mark(logged_in), read_mark(logged_out)
        self._guests = urljoin(page.text, self._out.address) if self._out and self._out.address else ""

    @property
    def proves(self) -> bool:
        """Whether there is a mark of being in."""
        return self._in is not None

    def leads_out(self, exchange: Exchange) -> bool:
        """Whether status or redirect tell that one is a guest."""
        location = redirect_location(exchange.status, exchange.headers)
        target = None if location is None else Url.parse(location, exchange.url.text)
        if target is not None:
            return is_page(target, self._page) or bool(self._guests and target.text.startswith(self._guests))
        return exchange.status in _NOT_FOR_US

    def look(self, exchange: Exchange) -> Look:
        """What it shows. Parses: not to be called on the event loop.

        What is not HTML tells nothing by its content.
        """
        out = self.leads_out(exchange)
        if redirect_location(exchange.status, exchange.headers) is not None:
            return Look("", None, out, marked=False)
        kind, content = self._content(exchange)
        if content is None:
            return Look(kind, None, out, marked=False)
        charset = charset_of(content, exchange.headers.get("content-type"), kind)
        text = decode(content, charset)
        parsed = Parsed(text.encode(), "utf-8")
        tree = fits_a_tree(content)
        marked = self._in is not None and _has(self._in, text, parsed, tree=tree)
        guest = self._out is not None and _has(self._out, text, parsed, tree=tree)
        lacking = self._in is not None and not marked
        return Look(kind, forms_of(content, charset), out or guest or lacking, marked)

    def _content(self, exchange: Exchange) -> tuple[str, bytes | None]:
        """The media type with the content of HTML."""
        first = self._decoded(exchange, _FIRST)
        kind = media_type(declared_type(exchange.headers), first)
        if kind not in HTML_TYPES or not first:
            return kind or "empty", None
        return kind, self._decoded(exchange, _MOST)

    def _decoded(self, exchange: Exchange, most: int) -> bytes:
        found = decode_content(exchange.body, exchange.headers, self._config, most)
        return found.content if isinstance(found, Decoded) else b""


def _has(mark: Mark, text: str, parsed: Parsed, *, tree: bool) -> bool:
    """Whether a page bears a mark; of one that no tree can be made of in time it is not known, so it does not."""
    if mark.text:
        return mark.text in text or mark.text in unescape_text(text)
    return mark.selector is not None and tree and bool(parsed.values(mark.selector))
