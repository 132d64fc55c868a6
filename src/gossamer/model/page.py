"""What reading a body told us."""

import msgspec

from gossamer.model.link import Link
from gossamer.model.raised import Raised
from gossamer.model.reasons.reason import Reason
from gossamer.model.url import Url


class Directives(msgspec.Struct, frozen=True, gc=False):
    """What the page asks of robots (meta robots and `X-Robots-Tag`, the most restrictive of all)."""

    noindex: bool = False
    nofollow: bool = False
    noarchive: bool = False
    unavailable_after: str = ""


class Page(msgspec.Struct, frozen=True):
    """A document as its extractors read it (the record of K7, less what the frontier knows).

    Attributes:
        url: where it was fetched.
        media_type: essence in lower case, `text/html`.
        charset: WHATWG name of the encoding used, lower case; empty where none applies.
        title, description, author, language: as the page says; at most 1,000 characters each.
        text_length: characters of visible text.
        links: in document order, each URL and kind once, at most 50,000.
        directives: what the page asks of robots.
        content_digest: 64 bits of the decoded content (W10); 0 if it was not read.
        fields: what extractors added, by name.
        hub, topic: where changes of the page are told of, and by which address it is known there (WebSub);
            whole URLs.
        problems: one line for each extractor that failed on the page.
        raised: the same for whoever counts them.
    """

    url: Url
    media_type: str = ""
    charset: str = ""
    title: str = ""
    description: str = ""
    author: str = ""
    language: str = ""
    text_length: int = 0
    links: tuple[Link, ...] = ()
    directives: Directives = Directives()
    content_digest: int = 0
    fields: dict[str, object] = {}
    hub: str = ""
    topic: str = ""
    problems: tuple[Reason | str, ...] = ()
    raised: tuple[Raised, ...] = ()
