"""A document as handed to extractors, and what one extractor finds in it."""

import msgspec

from gossamer.model.exchange import Headers
from gossamer.model.link import Link
from gossamer.model.url import Url

HTML_TYPES = frozenset({"text/html", "application/xhtml+xml"})
SCRIPT_TYPES = frozenset(
    f"{major}/{minor}"
    for major in ("text", "application")
    for minor in ("javascript", "x-javascript", "ecmascript")
)
"""What scripts are, or were, served as (WHATWG MIME Sniffing, 4.6, as far as anybody does)."""


class Document(msgspec.Struct, frozen=True):
    """Decoded content with what is known about it.

    Attributes:
        url: where it was fetched; links resolve against it unless the document says otherwise.
        media_type: essence in lower case, sniffed where the header is missing or wrong.
        charset: WHATWG name of the encoding, lower case; empty if the content is not text.
        headers: of the response.
        content: content codings undone, at most `extract.max_content` bytes.
        listed: a robots file or a sitemap led to it, so that it may be a sitemap by any name.
        file: path of a file with all of it, where `content` is only its beginning; for extractors that say
            `whole = True`, and only while they are called.
    """

    url: Url
    media_type: str
    charset: str
    headers: Headers
    content: bytes
    listed: bool = False
    file: str | None = None


class Findings(msgspec.Struct, frozen=True):
    """What one extractor found. Empty text means that it has nothing to say.

    Attributes:
        robots: contents of meta robots elements as (product token in lower case, directives),
            e.g. `("robots", "noindex, nofollow")`.
        fields: anything else, by name; values must be plain (text, numbers, lists, dicts of them).
        hub, topic: where changes of the document are told of, and by which address it is known there (WebSub);
            as written.
        problems: why these are less than the document holds, a few words each; they stand in the page's problems.
    """

    title: str = ""
    description: str = ""
    author: str = ""
    language: str = ""
    text_length: int = 0
    links: tuple[Link, ...] = ()
    robots: tuple[tuple[str, str], ...] = ()
    fields: dict[str, object] = {}
    hub: str = ""
    topic: str = ""
    problems: tuple[str, ...] = ()
