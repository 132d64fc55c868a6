"""The media type of a document, from its header and its first bytes.

Source: WHATWG Fetch, "extract a MIME type"; WHATWG MIME Sniffing, sections 5-8, less audio and video
containers, which are leaves to us either way. Deviations: XML of unknown vocabulary stays what the server
said; XHTML, feeds and sitemaps are known as such, whatever text or data they are called; PDF, RTF, office files
and books are, where the server says no more than that it has a file.
"""

import re

from gossamer.extract.encodings.charset import charset_parameter
from gossamer.model.exchange import Headers

__all__ = ["declared_type", "media_type"]

_HEADER_BYTES = 1445
_ESSENCE = re.compile(
    r"[ \t]*([!#$%&'*+.^_`|~0-9A-Za-z-]{1,127}/[!#$%&'*+.^_`|~0-9A-Za-z-]{1,127})[ \t]*(?:;|$)"
)
_VALUE = re.compile(r"(?:[^,\"]++|\"(?:[^\"\\]++|\\.)*+(?:\"|\\?\Z))++", re.DOTALL)
"""One of several values that commas part; a comma in quotes is part of its value."""
_UNKNOWN = frozenset({"", "unknown/unknown", "application/unknown", "*/*"})
_ANY_FILE = frozenset(
    {"application/octet-stream", "binary/octet-stream", "application/zip", "application/x-zip-compressed"}
    | {"application/download", "application/x-download", "application/force-download"}
)
"""What servers say of a file that they do not know."""
_ANY_XML = frozenset({"text/xml", "application/xml"})
_FEEDS = frozenset({"application/rss+xml", "application/atom+xml", "application/feed+json"})
_PLAIN = frozenset(
    {
        "text/plain",
        "text/plain; charset=ISO-8859-1",
        "text/plain; charset=iso-8859-1",
        "text/plain; charset=UTF-8",
    }
)
"""Values that old servers send for files of any kind (section 5.3)."""

_BINARY = re.compile(rb"[\x00-\x08\x0b\x0e-\x1a\x1c-\x1f]")
_MARKUP = re.compile(
    rb"[\t\n\f\r ]*+<(?:!DOCTYPE HTML|HTML|HEAD|SCRIPT|IFRAME|H1|DIV|FONT|TABLE|A|STYLE|TITLE|B|BODY|BR|P)"
    rb"[\t\n\f\r />]",
    re.IGNORECASE,
)
_COMMENT = re.compile(rb"[\t\n\f\r ]*+<!--")
_XML = re.compile(rb"[\t\n\f\r ]*+<\?xml")
_PROLOGUE = (
    rb"(?:\xef\xbb\xbf)?[\t\n\f\r ]*+(?:<\?[^>]*+>[\t\n\f\r ]*+|<!--(?:[^-]++|-(?!->))*+-->[\t\n\f\r ]*+%b)*+"
)
_DOCTYPE = rb"|<!DOCTYPE[^\[>]*+(?:\[[^\]]*+\][^>]*+)?+>[\t\n\f\r ]*+"
_ROOT = re.compile(
    _PROLOGUE % _DOCTYPE + rb"<(?:[\w-]++:)?+(rss|feed|RDF|urlset|sitemapindex)(?=[\t\n\f\r >])"
)
_XHTML = re.compile(
    _PROLOGUE % _DOCTYPE + rb"<html[\t\n\f\r ][^>]*?xmlns=[\"']http://www\.w3\.org/1999/xhtml[\"']"
)
_ROOT_TYPES = {
    b"rss": "application/rss+xml",
    b"feed": "application/atom+xml",
    b"urlset": "text/xml",
    b"sitemapindex": "text/xml",
}
_RSS_1 = b"http://purl.org/rss/1.0/", b"http://my.netscape.com/rdf/simple/0.9/"
"""Namespaces that make RDF a feed."""
_JSON_FEED = re.compile(
    rb'(?:\xef\xbb\xbf)?\s*+\{[^{}]*?"version"\s*+:\s*+"https?:(?:\\?/){2}jsonfeed\.org\\?/version'
)
_MAY_BE_FEED = re.compile(r"text/(?!css|javascript)|[^/]*/(?:.*[+-])?(?:xml|json|rss|atom|feed|rdf)\b")
"""Types that feeds are sent as, by those that do not call them by their own; HTML among them."""
_SIGNATURES = (
    (b"%PDF-", "application/pdf"),
    (b"%!PS-Adobe-", "application/postscript"),
    (b"\xfe\xff", "text/plain"),
    (b"\xff\xfe", "text/plain"),
    (b"\xef\xbb\xbf", "text/plain"),
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
    (b"BM", "image/bmp"),
    (b"\x00\x00\x01\x00", "image/x-icon"),
    (b"\x00\x00\x02\x00", "image/x-icon"),
    (b"\x1f\x8b\x08", "application/x-gzip"),
    (b"PK\x03\x04", "application/zip"),
    (b"Rar!\x1a\x07\x00", "application/x-rar-compressed"),
    (b"OggS\x00", "application/ogg"),
    (b"ID3", "audio/mpeg"),
    (b"\x1a\x45\xdf\xa3", "video/webm"),
    (b"wOFF", "font/woff"),
    (b"wOF2", "font/woff2"),
)


def declared_type(headers: Headers) -> str:
    """The value of the Content-Type header; of several, in one line or more, the one that browsers go by.

    That is the last one that is a type and not `*/*`. It takes over the charset of those before it if they
    are of the same type.
    """
    values = headers.get_all("content-type")
    if not values:
        return ""
    if len(values) == 1 and "," not in values[0]:
        return values[0]
    chosen = charset = essence = ""
    for value in _VALUE.findall(",".join(values)):
        match = _ESSENCE.match(value)
        if match is None or match[1] == "*/*":
            continue
        if match[1].lower() != essence:
            charset, essence = "", match[1].lower()
        own = charset_parameter(value)
        chosen = value.strip() if own or not charset else f"{value.strip()};charset={charset}"
        charset = own or charset
    return chosen or values[0]


def media_type(declared: str, content: bytes) -> str:
    """Essence in lower case; `application/octet-stream` if nothing fits.

    Args:
        declared: as `declared_type` gives it, may be empty or nonsense.
        content: the start of the decoded content at least.
    """
    match = _ESSENCE.match(declared)
    essence = match[1].lower() if match else ""
    head = content[:_HEADER_BYTES]
    if essence in _UNKNOWN:
        return _sniff(head)
    if essence in _ANY_FILE:
        return _document(content[:_PACKED_BYTES]) or essence
    if essence in _ANY_XML:
        return "application/xhtml+xml" if _XHTML.match(head) else essence
    if essence not in _FEEDS and _MAY_BE_FEED.match(essence) and (feed := _feed(head)):
        return feed
    if declared in _PLAIN:
        return "text/plain" if _is_text(head) else _signature(head) or "application/octet-stream"
    if essence.startswith("image/") and not essence.endswith("xml"):
        found = _signature(head)
        return found if found.startswith("image/") else essence
    return essence


def _sniff(head: bytes) -> str:
    """Section 7.1, for content of which nothing is known."""
    if feed := _feed(head):
        return feed
    unmarked = head.removeprefix(b"\xef\xbb\xbf")
    if _MARKUP.match(unmarked) or _COMMENT.match(unmarked):
        return "text/html"
    if _XML.match(unmarked):
        return "application/xhtml+xml" if _XHTML.match(unmarked) else "text/xml"
    return _signature(head) or ("application/octet-stream" if _BINARY.search(head) else "text/plain")


def _feed(head: bytes) -> str:
    """What feed or sitemap it is by its first element; empty if it is none."""
    if root := _ROOT.match(head):
        if root[1] != b"RDF":
            return _ROOT_TYPES[root[1]]
        return "application/rss+xml" if any(namespace in head for namespace in _RSS_1) else ""
    return "application/feed+json" if _JSON_FEED.match(head) else ""


_PACKED_BYTES = 64 << 10
"""Of a package; those of its members that tell what it is stand among the first."""
_MEMBER = re.compile(
    rb"PK\x03\x04.{26}(?:(word|ppt|xl)/|META-INF/container\.xml"
    rb"|mimetype.{0,64}?(application/(?:epub\+zip|vnd\.oasis\.opendocument\.[a-z-]++)))",
    re.DOTALL,
)
_OFFICE_TYPES = {
    b"word": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    b"ppt": "application/vnd.openxmlformats-officedocument.presentationml.presentation",
    b"xl": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
}


def _document(head: bytes) -> str:
    """PDF, RTF, office file or book, by magic bytes or the first members of a package; empty if it is none."""
    if head.startswith(b"%PDF-"):
        return "application/pdf"
    if head.startswith(b"{\\rtf"):
        return "application/rtf"
    if not head.startswith(b"PK\x03\x04") or (member := _MEMBER.search(head)) is None:
        return ""
    return (member[2] or b"").decode() or _OFFICE_TYPES.get(member[1], "application/epub+zip")


def _is_text(head: bytes) -> bool:
    return head.startswith((b"\xfe\xff", b"\xff\xfe", b"\xef\xbb\xbf")) or not _BINARY.search(head)


def _signature(head: bytes) -> str:
    for mark, essence in _SIGNATURES:
        if head.startswith(mark):
            return essence
    if head.startswith(b"RIFF"):
        return {b"WEBPVP": "image/webp", b"WAVE": "audio/wave", b"AVI ": "video/avi"}.get(
            head[8:14] if head[8:12] == b"WEBP" else head[8:12], ""
        )
    return ""
