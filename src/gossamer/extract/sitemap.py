"""Reads sitemaps: XML, index, plain text, each also as gzip.

Source: sitemaps.org protocol. Read leniently: wrong namespaces, broken XML and a byte-order mark are common.
"""

import zlib

from gossamer.extract.charset import charset_of, decode
from gossamer.extract.config import ExtractConfig
from gossamer.extract.links import LinkMaker, Mention
from gossamer.extract.xml_elements import elements
from gossamer.model.document import Document, Findings
from gossamer.model.link import LinkKind

__all__ = ["SitemapExtractor"]

MOST_LOCATIONS = 50_000
"""Entries of one file, by the protocol."""
LONGEST_FILE = 50 << 20
"""Bytes of one file before compression, by the protocol."""

_ROOTS = {"urlset": "urlset", "sitemapindex": "sitemap"}
_GZIP = b"\x1f\x8b"


class SitemapExtractor:
    """Locations in sitemaps, as links of kind `SITEMAP` with element `urlset` or `sitemap` (in an index)."""

    name = "sitemap"
    media_types = frozenset(
        {
            "text/xml",
            "application/xml",
            "text/plain",
            "application/gzip",
            "application/x-gzip",
            "application/octet-stream",
        }
    )

    def __init__(self, config: ExtractConfig, links: LinkMaker) -> None:
        self._config = config
        self._links = links

    def extract(self, document: Document) -> Findings:
        """Say what the sitemap lists; nothing if the document is none."""
        content, charset = document.content, document.charset
        zipped = content.startswith(_GZIP)
        if zipped and "sitemap" in document.url.text.lower():
            content = _unzip(content, min(LONGEST_FILE, self._config.max_content))
            charset = charset_of(content, "", "text/xml")
        elif not charset:
            return Findings()
        if document.media_type == "text/plain" or (
            zipped and not content.lstrip()[:4].startswith((b"<", b"\xef\xbb\xbf"))
        ):
            mentions = _listed(document, decode(content, charset))
        else:
            mentions = _located(decode(content, charset))
        return Findings(links=self._links.make(mentions, document.url, "utf-8"))


def _located(text: str) -> list[Mention]:
    """The `loc` elements of the root's own namespace; `image:loc` and its like are not pages."""
    found: list[Mention] = []
    walk = elements(text)
    root = next(walk, None)
    element = _ROOTS.get(root.name, "") if root else ""
    if not root or not element:
        return found
    for child in walk:
        if child.name == "loc" and child.prefix == root.prefix and child.text:
            found.append(Mention(element, LinkKind.SITEMAP, child.text))
            if len(found) >= MOST_LOCATIONS:
                break
    return found


def _listed(document: Document, text: str) -> list[Mention]:
    """One address a line. Any text could look so, hence only files that are called sitemap or urllist."""
    address = document.url.text.lower()
    if "sitemap" not in address and "urllist" not in address:
        return []
    lines = (line.strip() for line in text.splitlines())
    found: list[Mention] = [
        Mention("urlset", LinkKind.SITEMAP, line)
        for line in lines
        if line.startswith(("http://", "https://"))
    ]
    return found[:MOST_LOCATIONS]


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
