"""Reads feeds: RSS, Atom and JSON Feed.

Source: RFC 4287 (Atom), RSS 2.0 and RSS 1.0 (RDF) with its module `content`; XML Base, as far as RFC 4287
section 2 wants it.
"""

from typing import Any

import msgspec

from gossamer.extract.config import ExtractConfig
from gossamer.extract.encodings.charset import decode
from gossamer.extract.feeds.json_feed import json_feed, json_hub, json_mentions, text_of
from gossamer.extract.feeds.moments import moment
from gossamer.extract.feeds.xml_elements import Element, elements
from gossamer.extract.html.tag_grammar import Tag
from gossamer.extract.html.tags import inner_mentions, meaning_of
from gossamer.extract.links import Dated, LinkMaker, Mention
from gossamer.extract.relations import kind_of_relation
from gossamer.model.document import HTML_TYPES, Document, Findings
from gossamer.model.link import LinkKind
from gossamer.model.url import Url

__all__ = ["FeedExtractor"]

_ROOTS = frozenset({"rss", "feed", "RDF"})
_HOLDERS = frozenset({"channel", "entry", "item"})
"""Elements whose `xml:base` holds up to the next of them."""
_INLINE = frozenset({"a", "area", "audio", "embed", "iframe", "img", "object", "source", "track", "video"})
"""Elements of HTML in entries of `type="xhtml"`, or where somebody forgot to escape it."""
_ENTRIES = frozenset({"entry", "item"})
_ESCAPED = frozenset({"html", "text/html"})
_CHANGED = frozenset({"updated", "modified"})
_PUBLISHED = frozenset({"pubdate", "published", "date", "issued", "created"})
"""Atom, RSS 2.0, Dublin Core, Atom 0.3."""
_NOT_PAGES = frozenset({"self", "hub", "replies", "edit", "search"})


class FeedExtractor:
    """Links, title and description of a feed."""

    name = "feed"
    media_types = frozenset(
        {
            "application/rss+xml",
            "application/atom+xml",
            "application/feed+json",
            "application/json",
            "text/xml",
            "application/xml",
        }
    )

    def __init__(self, config: ExtractConfig, links: LinkMaker) -> None:
        self._config = config
        self._links = links

    def extract(self, document: Document) -> Findings:
        """Say what the feed lists; nothing if the document is none."""
        text = decode(document.content, document.charset)
        if document.media_type.endswith("json"):
            return self._of_json(json_feed(text), document)
        walk = elements(text)
        root = next(walk, None)
        if root is None or root.name not in _ROOTS:
            return Findings()
        home = _Home(document.url, root)
        mentions: list[Mention] = []
        named: dict[str, str] = {}
        entry = _Entry(mentions)
        for element in walk:
            if element.name in _ENTRIES:
                entry.end()
                entry = _Entry(mentions, within=True)
            if element.name in ("title", "description", "subtitle", "language") and element.text:
                named.setdefault(element.name, element.text)
            home.enter(element)
            said = _mentions(element)
            entry.take(element, len(said))
            mentions += [home.resolved(mention, element) for mention in said]
            relation = _relation(element)
            if relation in ("hub", "self"):
                named.setdefault(relation, element.attributes()["href"])
            if len(mentions) >= self._config.max_links:
                break
        entry.end()
        return Findings(
            title=named.get("title", ""),
            description=named.get("description", "") or named.get("subtitle", ""),
            language=named.get("language", ""),
            hub=named.get("hub", ""),
            topic=named.get("self", ""),
            links=self._links.make(mentions, document.url, "utf-8"),
        )

    def _of_json(self, feed: dict[str, Any] | None, document: Document) -> Findings:
        if feed is None:
            return Findings()
        return Findings(
            title=text_of(feed, "title"),
            description=text_of(feed, "description"),
            language=text_of(feed, "language"),
            hub=json_hub(feed),
            topic=text_of(feed, "feed_url"),
            links=self._links.make(json_mentions(feed), document.url, "utf-8"),
        )


class _Entry:
    """An entry of a feed while it is read: which of the mentions is its own page, and when that changed."""

    def __init__(self, mentions: list[Mention], *, within: bool = False) -> None:
        """`within`: not before the first entry, where what is said is of the feed."""
        self._mentions = mentions
        self._within = within
        self._own: list[int] = []
        self._changed = self._published = 0.0

    def take(self, element: Element, said: int) -> None:
        """Hear of an element, of which so many mentions are added next."""
        if not self._within:
            return
        name = element.name.lower()
        if name in _CHANGED:
            self._changed = self._changed or moment(element.text)
        elif name in _PUBLISHED:
            self._published = self._published or moment(element.text)
        elif said and (name == "guid" or (name == "link" and _relation(element) in ("", "alternate"))):
            self._own.append(len(self._mentions))

    def end(self) -> None:
        """Date what is its own. A page changes when it is published, too."""
        date = max(self._changed, self._published)
        for place in self._own if date else ():
            mention = self._mentions[place]
            self._mentions[place] = Dated(mention.element, mention.kind, mention.address, lastmod=date)


def _relation(element: Element) -> str:
    """Of a `link` with an address in an attribute; empty if it has none."""
    if element.name != "link" or "href" not in element.source:
        return ""
    attributes = element.attributes()
    return attributes.get("rel", "alternate").lower() if "href" in attributes else ""


class _Home:
    """What relative addresses are relative to, where elements say so by `xml:base`."""

    def __init__(self, url: Url, root: Element) -> None:
        self._url = url
        self._feed = self._here = _based(root, url)

    def enter(self, element: Element) -> None:
        """Go on to the next element; ends are not known, so each entry begins at the feed's base."""
        if element.name in _HOLDERS:
            self._here = _based(element, self._feed)
            if element.name == "channel":
                self._feed = self._here

    def resolved(self, mention: Mention, element: Element) -> Mention:
        """The mention with an address that is right in view of the document's own URL."""
        base = _based(element, self._here)
        target = None if base is self._url else Url.parse(mention.address, base.text)
        return mention if target is None else msgspec.structs.replace(mention, address=target.text)


def _based(element: Element, base: Url) -> Url:
    if "xml:base" not in element.source:
        return base
    return Url.parse(element.attributes().get("xml:base", ""), base.text) or base


def _mentions(element: Element) -> list[Mention]:
    """What an element of a feed says, or of the HTML in an entry, escaped or not."""
    mention = _mention(element)
    found = [] if mention is None else [mention]
    if element.name in _INLINE:
        tag = Tag(element.name.encode(), element.source.encode("utf-8", "replace"))
        found += meaning_of(tag, "utf_8").mentions
    elif "<" in element.text and _holds_html(element):
        found += inner_mentions(element.text)
    return found


def _holds_html(element: Element) -> bool:
    if element.name in ("description", "encoded"):
        return True
    return element.name in ("content", "summary") and element.attributes().get("type") in _ESCAPED


def _mention(element: Element) -> Mention | None:
    name = element.name
    if name == "link":
        attributes = element.attributes()
        if "href" not in attributes:
            return Mention("link", LinkKind.NAVIGATION, element.address) if element.address else None
        relation = attributes.get("rel", "alternate")
        if relation in _NOT_PAGES:
            return None
        # In a feed `alternate` is the page that an entry stands for.
        known = (
            LinkKind.NAVIGATION if relation in ("alternate", "via", "related") else kind_of_relation(relation)
        )
        return Mention("link@href", known or LinkKind.REQUISITE, attributes["href"])
    if name == "guid" and element.address.startswith(("http://", "https://")):
        permanent = element.attributes().get("isPermaLink", "true").lower() != "false"
        return Mention("guid", LinkKind.NAVIGATION, element.text) if permanent else None
    if name in ("enclosure", "content", "thumbnail"):
        attributes = element.attributes()
        address = attributes.get("url") or attributes.get("src", "")
        page = name == "content" and attributes.get("type", "").lower() in HTML_TYPES
        kind = LinkKind.NAVIGATION if page else LinkKind.REQUISITE
        return Mention(f"{name}@url", kind, address) if address else None
    return None
