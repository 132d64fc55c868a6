"""What one HTML page says to a crawler, read by lexbor and by nothing of Gossamer's.

An independent second opinion: the HTML parser is selectolax (a whole HTML5 tree builder),
URLs are resolved by ada. Only links that default rules follow are returned.
"""

import codecs
import re
from html.parser import HTMLParser

import ada_url
import msgspec
from selectolax.lexbor import LexborHTMLParser, SelectolaxError

MAX_DEPTH = 512
"""Pages nested deeper are read by the standard library's flat parser: lexbor is quadratic in depth."""

REQUISITE_RELS = frozenset({"stylesheet", "icon", "manifest", "preload", "modulepreload", "prefetch"})
"""`link` types that a browser loads by itself; `alternate stylesheet` is one of them."""

FOLLOWED_RELS = frozenset({
    "canonical", "alternate", "amphtml", "shortlink",
    "next", "prev", "previous", "up", "first", "last", "start", "top", "begin", "end", "home", "parent",
    "index", "contents", "toc", "glossary", "chapter", "section", "subsection", "appendix", "bookmark",
    "help", "search", "author", "license", "copyright", "privacy-policy", "terms-of-service", "archives",
    "tag", "child", "related", "sitemap",
})  # fmt: skip
"""`link` types that lead to another document (HTML Standard 4.6.7, HTML 4.01 6.12); no others do."""

_NOT_NESTING = frozenset({
    "area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr",
    "p", "li", "dt", "dd", "td", "th", "tr", "tbody", "thead", "tfoot", "option", "colgroup",
})  # fmt: skip
"""Void elements, and those whose end tag may be left out: they end each other."""

_TAG = re.compile(rb"<(/?)([a-zA-Z][a-zA-Z0-9]*)")
_REFRESH = re.compile(r"[\s\d.]*[;,\s]\s*(?:url\s*=\s*)?(?:'([^']*)|\"([^\"]*)|(\S.*))", re.I | re.S)
_META_CHARSET = re.compile(rb"<meta[^>]+charset\s*=\s*[\"']?\s*([a-zA-Z0-9_:.-]+)", re.I)
_WHATWG_NAMES = {"iso-8859-1": "cp1252", "us-ascii": "cp1252", "ascii": "cp1252", "latin1": "cp1252"}


class Element(msgspec.Struct, frozen=True):
    """A start tag that may hold a link."""

    tag: str
    attributes: dict[str, str | None]

    def get(self, name: str) -> str:
        """The attribute's value; empty if it has none."""
        return self.attributes.get(name) or ""

    def tokens(self, name: str) -> set[str]:
        """The attribute's value as a set of lower-case tokens."""
        return set(self.get(name).lower().split())


class Reading(msgspec.Struct, frozen=True):
    """Absolute URLs without fragment, in the order first seen; empty where the page forbids to follow."""

    links: list[str]
    follow: bool


def read_page(content: bytes, url: str) -> Reading:
    """Read a page that was served at `url`."""
    elements = _elements(content)
    if not _allows_following(elements):
        return Reading([], follow=False)
    base = url
    for element in elements:
        if element.tag == "base" and "href" in element.attributes:
            base = _resolve(element.get("href"), url) or url
            break
    found: dict[str, None] = {}
    for element in elements:
        reference = _reference(element)
        if reference is not None and (target := _resolve(reference, base)):
            found[target.partition("#")[0]] = None
    return Reading(list(found), follow=True)


def _reference(element: Element) -> str | None:
    """What the element links to, as written; `None` where it links to nothing that is followed."""
    rel = element.tokens("rel")
    if "nofollow" in rel:
        return None
    match element.tag:
        case "a" | "area":
            return element.attributes.get("href")
        case "link":
            leads_on = rel & FOLLOWED_RELS and not rel & REQUISITE_RELS
            return element.attributes.get("href") if leads_on else None
        case "frame" | "iframe":
            return element.attributes.get("src")
        case "object" | "embed" if _says_html(element):
            return element.attributes.get("data" if element.tag == "object" else "src")
        case "form":
            sends = element.get("method").lower() in ("post", "dialog")
            return None if sends else element.attributes.get("action")
        case "meta" if element.get("http-equiv").strip().lower() == "refresh":
            match_ = _REFRESH.match(element.get("content"))
            return next((group for group in match_.groups() if group is not None), None) if match_ else None
    return None


def _says_html(element: Element) -> bool:
    """HTML Standard 4.8.6 and 4.8.7: HTML in an `embed` or `object` is navigated to, as in a frame.

    Only the `type` tells before it is fetched.
    """
    essence = element.get("type").partition(";")[0].strip().lower()
    return essence in ("text/html", "application/xhtml+xml")


def _allows_following(elements: list[Element]) -> bool:
    for element in elements:
        if element.tag == "meta" and element.get("name").strip().lower() in ("robots", "gossamer"):
            said = {token.strip() for token in element.get("content").lower().split(",")}
            if said & {"nofollow", "none"}:
                return False
    return True


def _resolve(reference: str, base: str) -> str | None:
    try:
        target = ada_url.join_url(base, reference)
    except ValueError:
        return None
    return target if target.startswith(("http://", "https://")) else None


# Parsing


def _elements(content: bytes) -> list[Element]:
    text = decode(content)
    if tag_depth(content) > MAX_DEPTH:
        return _flat(text)
    try:
        tree = LexborHTMLParser(text)
    except SelectolaxError:
        return _flat(text)
    nodes = tree.css("a, area, link, base, frame, iframe, object, embed, form, meta")
    return [Element(node.tag or "", dict(node.attributes)) for node in nodes]


def decode(content: bytes) -> str:
    """Text by byte-order mark, then `meta`, then UTF-8 if it is valid, then windows-1252."""
    if content.startswith(codecs.BOM_UTF8):
        return content[3:].decode("utf-8", "replace")
    declared = _META_CHARSET.search(content[:1024])
    if declared is not None:
        name = declared[1].decode("ascii").lower()
        try:
            return content.decode(_WHATWG_NAMES.get(name, name), "replace")
        except LookupError:
            pass
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError:
        return content.decode("cp1252", "replace")


def tag_depth(content: bytes) -> int:
    """About the tree's depth, from the tags alone."""
    depth = deepest = 0
    for closing, name in _TAG.findall(content):
        if closing:
            depth = max(0, depth - 1)
        elif name.lower().decode("ascii") not in _NOT_NESTING:
            depth += 1
            deepest = max(deepest, depth)
    return deepest


class _FlatParser(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[Element] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        first: dict[str, str | None] = {}
        for name, value in attrs:
            first.setdefault(name, value)
        self.elements.append(Element(tag, first))


def _flat(text: str) -> list[Element]:
    parser = _FlatParser()
    parser.feed(text)
    parser.close()
    return parser.elements
