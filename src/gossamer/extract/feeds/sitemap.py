"""Reads sitemaps: XML, index, plain text, each also as gzip.

Source: sitemaps.org protocol; `xhtml:link` as search engines take it, for other versions of a page. Read
leniently: wrong namespaces, broken XML and a byte-order mark are common.
"""

import re
import zlib

from gossamer.extract.config import ExtractConfig
from gossamer.extract.encodings.charset import charset_of, decode
from gossamer.extract.feeds.moments import moment
from gossamer.extract.feeds.xml_elements import elements
from gossamer.extract.links import Dated, LinkMaker, Mention
from gossamer.extract.relations import kind_of_relation, nofollow
from gossamer.model.document import HTML_TYPES, Document, Findings
from gossamer.model.link import LinkKind

__all__ = ["SitemapExtractor"]

MOST_LOCATIONS = 50_000
"""Entries of one file, by the protocol."""
LONGEST_FILE = 50 << 20
"""Bytes of one file before compression, by the protocol."""

_ROOTS = {"urlset": "urlset", "sitemapindex": "sitemap"}
_HOLDERS = frozenset({"loc", "url", "sitemap"})
"""Elements whose text is an address; some leave out `loc`, or put an `url` into it."""
_SCHEME = re.compile(r"(?:https?:)?//", re.IGNORECASE)
_HOST = re.compile(r"[^/?#:\s]+")
_XML = frozenset({"text/xml", "application/xml"})
_GZIP = b"\x1f\x8b"
_BEGINNING = 1_000


class SitemapExtractor:
    """Locations in sitemaps, as links of kind `SITEMAP` with element `urlset` or `sitemap` (in an index).

    Other versions of a page, in other languages say, are links of kind `ALTERNATE` as on the page itself.
    """

    name = "sitemap"
    # Storage services send files as `binary/octet-stream`, and others by names of their own.
    media_types = frozenset({"*/*"})

    def __init__(self, config: ExtractConfig, links: LinkMaker) -> None:
        self._config = config
        self._links = links

    def extract(self, document: Document) -> Findings:
        """Say what the sitemap lists; nothing if the document is none."""
        content, charset = document.content, document.charset
        expected = document.listed or _is_named(document)
        if not expected and document.media_type not in _XML:
            return Findings()
        if content.startswith(_GZIP):
            if not _may_be_sitemap(_unzip(content, _BEGINNING)):
                return Findings()
            content, charset = _unzip(content, min(LONGEST_FILE, self._config.max_content)), ""
        elif not charset and not _may_be_sitemap(content):
            return Findings()
        text = decode(content, charset or charset_of(content, "", "text/xml"))
        if text[:_BEGINNING].lstrip()[:1] == "<":
            mentions = _located(text, document.url.host)
        else:
            alone = not _is_named(document) or document.media_type in HTML_TYPES
            mentions = _listed(text, document.url.host, alone=alone) if expected else []
        return Findings(links=self._links.make(mentions, document.url, "utf-8"))


def _is_named(document: Document) -> bool:
    address = document.url.text.lower()
    return "sitemap" in address or "urllist" in address


def _may_be_sitemap(content: bytes) -> bool:
    """Whether it begins like markup or a list of addresses."""
    beginning = content[:_BEGINNING].removeprefix(b"\xef\xbb\xbf").lstrip()
    return beginning.startswith((b"<", b"http", b"\xff\xfe", b"\xfe\xff"))


def _address(text: str, host: str) -> str:
    """An absolute address; where its scheme was forgotten, it is the one that the sitemap has.

    Args:
        text: as written.
        host: the sitemap's.
    """
    first = _HOST.match(text)
    name = first[0].lower() if first else ""
    home = host.removeprefix("www.")
    forgotten = name == home or name.endswith(f".{home}") or name.startswith("www.")
    return f"//{text}" if forgotten else text


def _located(text: str, host: str) -> list[Mention]:
    """The `loc` elements of the root's own namespace; `image:loc` and its like are not pages.

    Behind them the `xhtml:link` elements, which are many times as many and mostly say the same again, so
    that a limit cuts them first.
    """
    entries: list[_Entry] = []
    others: dict[str, Mention] = {}
    walk = elements(text)
    root = next(walk, None)
    kind = _ROOTS.get(root.name.lower(), "") if root else ""
    if not root or not kind:
        return []
    entry = _Entry()
    for child in walk:
        name = child.name.lower()
        if child.prefix == root.prefix and name in _HOLDERS:
            if name != "loc" or entry.address:
                entry = _Entry()
            if child.address:
                if len(entries) >= MOST_LOCATIONS:
                    break
                entry.address = _address(child.address, host)
                entries.append(entry)
        elif name == "lastmod":
            entry.lastmod = entry.lastmod or moment(child.text)
        elif name == "publication_date":
            entry.published = entry.published or moment(child.text)
        elif name == "link" and child.prefix != root.prefix and len(others) < MOST_LOCATIONS:
            attributes = child.attributes()
            address, relation = attributes.get("href", ""), attributes.get("rel", "")
            if address and kind_of_relation(relation) is LinkKind.ALTERNATE:
                others[address] = Mention("link@href", LinkKind.ALTERNATE, address, nofollow(relation))
    found = [one.mention(kind) for one in entries]
    for mention in found:
        others.pop(mention.address, None)
    return [*found, *others.values()]


class _Entry:
    """What a sitemap says of one address; `published`: of news and videos, for want of a date of change."""

    __slots__ = ("address", "lastmod", "published")

    def __init__(self) -> None:
        self.address, self.lastmod, self.published = "", 0.0, 0.0

    def mention(self, element: str) -> Mention:
        date = self.lastmod or self.published
        if date:
            return Dated(element, LinkKind.SITEMAP, self.address, lastmod=date)
        return Mention(element, LinkKind.SITEMAP, self.address)


def _listed(text: str, host: str, *, alone: bool) -> list[Mention]:
    """One address a line. Any text could look so, hence only where a sitemap is expected.

    Args:
        text: the file.
        host: where it was found.
        alone: it counts only if it holds nothing else.
    """
    lines = [stripped for line in text.splitlines() if (stripped := line.strip())]
    found: list[Mention] = [
        Mention("urlset", LinkKind.SITEMAP, address)
        for line in lines
        if _SCHEME.match(address := _address(line, host))
    ]
    return [] if alone and len(found) < len(lines) else found[:MOST_LOCATIONS]


def _unzip(content: bytes, most: int) -> bytes:
    """At most `most` bytes of what is packed; as far as it is whole."""
    unpacked = b""
    try:
        while content.startswith(_GZIP) and len(unpacked) < most:
            reader = zlib.decompressobj(wbits=31)
            unpacked += reader.decompress(content, most - len(unpacked))
            content = reader.unused_data
    except zlib.error:
        pass
    return unpacked
