"""Reads one page for what an audit wants to know of it: links with their words, places, title, structure."""

import re
from collections import Counter
from collections.abc import Iterator

import ada_url
import msgspec
from selectolax.lexbor import LexborHTMLParser, LexborNode

from gossamer.audit.tags import wrong_tags
from gossamer.documents.markup.nesting import fits_a_tree
from gossamer.extract.addresses import refresh_address, srcset_addresses
from gossamer.extract.encodings.charset import charset_of, decode
from gossamer.extract.html.tokens import tokenize
from gossamer.extract.media_type import declared_type, media_type
from gossamer.extract.relations import kind_of_relation
from gossamer.model.document import HTML_TYPES
from gossamer.model.exchange import Exchange
from gossamer.model.link import LinkKind
from gossamer.model.url import DEFAULT_PORTS, Url
from gossamer.policy.linkcheck.fragments import PagePlaces, slug

__all__ = ["LONGEST_CONTENT", "AuditedPage", "PageLink", "page_of", "read_links", "read_page"]

LONGEST_CONTENT = 8 << 20
"""Bytes of a page that are read; a browser takes seconds for more."""
MOST_LINKS = 50_000
"""Of a page, as a crawl has it."""
LONGEST_URL = 8_192
LONGEST_TEXT = 200
LONGEST_FACT = 1_000
MOST_NAMES = 100_000
_SPACES = re.compile(r"\s+")
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")
_NOT_ASKED = frozenset(
    "mailto tel sms javascript data blob about cid news callto skype whatsapp facetime geo xmpp magnet view-source"
    " intent market chrome edge urn maps bitcoin ethereum webcal ms-settings vscode slack zoommtg tg viber irc ircs"
    " git ssh file ws wss matrix web+ap".split()
)
"""Schemes of what is no page, or not on the web."""
_DOM = re.compile(
    r"innerHTML|insertAdjacent|createElement|document\.write|setAttribute|\.id\b|customElements"
)
_HEADINGS = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})
_NO_TEXT = frozenset(
    {"script", "style", "noscript", "template", "head", "title", "textarea", "select", "iframe"}
)
_ADDRESSES: dict[str, tuple[str, ...]] = {
    "a": ("href",),
    "area": ("href",),
    "audio": ("src",),
    "embed": ("src",),
    "frame": ("src",),
    "iframe": ("src",),
    "img": ("src", "srcset"),
    "image": ("href", "xlink:href"),
    "object": ("data",),
    "script": ("src",),
    "source": ("src", "srcset"),
    "track": ("src",),
    "use": ("href", "xlink:href"),
    "video": ("src", "poster"),
}
_ACTIVE = frozenset({"script", "iframe", "frame", "object", "embed", "link"})
"""What is loaded with a page and may change it."""


class PageLink(msgspec.Struct, frozen=True):
    """One address on a page.

    Attributes:
        url: resolved, without fragment; as written where it is none.
        fragment: without `#`; percent-encoded as WHATWG has it.
        valid: it is a URL.
        element: that holds it: `a`, `img`, `link`.
        kind: how it is mentioned.
        text: what a reader sees of it.
    """

    url: str
    fragment: str
    valid: bool
    element: str
    kind: LinkKind
    text: str = ""

    @property
    def address(self) -> str:
        """The whole, with its fragment."""
        return f"{self.url}#{self.fragment}" if self.fragment else self.url

    @property
    def active(self) -> bool:
        """It is loaded with the page and may change it."""
        return (self.element in _ACTIVE and self.kind is not LinkKind.NAVIGATION) or self.element == "iframe"


class AuditedPage(msgspec.Struct, kw_only=True):
    """What an audit knows of one page.

    Attributes:
        links: each address once, with the first words of it.
        places: where fragments may lead.
        titles, headings: texts of `title` and `h1` elements; `levels` of all headings, in order.
        description: of the meta element; `None` without one.
        language: of the root; empty if it has none.
        canonical: addresses that the page says are its own.
        hreflang: languages with the addresses of translations.
        robots: contents of meta robots elements, lower case.
        doubled: ids that several elements have.
        without_alt: addresses of images without an `alt`.
        text: what a reader sees, blanks joined.
        wrong_tags: that close nothing, or are never closed.
        problems: why it is not wholly read: `deep`, `long`, `links`.
    """

    links: list[PageLink]
    places: PagePlaces
    titles: list[str] = []
    headings: list[str] = []
    levels: list[int] = []
    description: str | None = None
    language: str = ""
    canonical: list[str] = []
    hreflang: list[tuple[str, str]] = []
    robots: str = ""
    doubled: list[str] = []
    without_alt: list[str] = []
    text: str = ""
    wrong_tags: list[str] = []
    problems: list[str] = []


class _Links:
    """Resolves addresses, and keeps each once."""

    def __init__(self, base: str) -> None:
        self.base = base
        self.found: dict[str, PageLink] = {}
        self.full = False

    def add(self, written: str, element: str, kind: LinkKind, text: str = "") -> PageLink | None:
        """Take in an address; `None` if it is of no page."""
        link = _link(written, self.base, element, kind, text)
        if link is None:
            return None
        known = self.found.get(link.address)
        if known is not None:
            if not known.text and text:
                self.found[link.address] = msgspec.structs.replace(known, text=text)
            return known
        if len(self.found) >= MOST_LINKS:
            self.full = True
            return None
        self.found[link.address] = link
        return link


def _link(written: str, base: str, element: str, kind: LinkKind, text: str) -> PageLink | None:
    written = written.strip("\t\n\f\r ")
    scheme = written[:40].partition(":")[0].lower()
    if scheme in _NOT_ASKED:
        return None
    if len(written) > LONGEST_URL:
        shown = _shown(written[:LONGEST_URL])
        return PageLink(shown, "", True, element, kind, text)
    try:
        href = ada_url.join_url(base, written)
    except ValueError:
        return PageLink(_shown(written), "", False, element, kind, text)
    whole, _, fragment = href.partition("#")
    if whole.partition(":")[0] not in DEFAULT_PORTS:
        return PageLink(_shown(whole), "", True, element, kind, text)
    url = Url.parse(whole)
    if url is None:
        return PageLink(_shown(written), "", False, element, kind, text)
    return PageLink(url.text, fragment, True, element, kind, text)


def _shown(written: str) -> str:
    return _CONTROL.sub(lambda found: f"%{ord(found[0]):02X}", written)


def page_of(exchange: Exchange, content: bytes) -> AuditedPage | None:
    """The page that a response holds; `None` of what is no page. `content`: codings undone."""
    declared = declared_type(exchange.headers)
    kind = media_type(declared, content)
    if kind not in HTML_TYPES:
        return None
    charset = charset_of(content, declared, kind, exchange.url.host.rpartition(".")[2])
    page = read_page(content, charset, exchange.url.text)
    if exchange.is_part:
        page.places = msgspec.structs.replace(page.places, whole=False)
    return page


def read_page(content: bytes, charset: str, url: str) -> AuditedPage:
    """Read a page; nothing is raised, and time and memory are bounded by `LONGEST_CONTENT`.

    Args:
        content: codings undone.
        charset: as `charset_of` tells it.
        url: where it was fetched.
    """
    problems = []
    if len(content) > LONGEST_CONTENT:
        content = content[:LONGEST_CONTENT]
        problems.append("long")
    text = decode(content, charset)
    encoded = text.encode("utf-8", "replace")
    if not fits_a_tree(encoded):
        page = AuditedPage(
            links=read_links(encoded, url),
            places=PagePlaces(whole=False, scripts=True),
            problems=[*problems, "deep"],
        )
    else:
        page = _Reading(text, url).page
        page.wrong_tags = wrong_tags(encoded) if not problems else []
        page.problems[:0] = problems
        if problems:
            page.places = msgspec.structs.replace(page.places, whole=False)
    if len(page.links) >= MOST_LINKS:
        page.problems.append("links")
    return page


def read_links(content: bytes, url: str) -> list[PageLink]:
    """Links of a page that would take a tree builder too long, by the scanner of the crawl; without words."""
    links = _Links(url)
    for found in tokenize(content, 4 * MOST_LINKS).found:
        if isinstance(found, bytes):
            links.add(found.decode("utf-8", "replace"), "a", LinkKind.NAVIGATION)
    return list(links.found.values())


class _Reading:
    """One walk through the tree of a page."""

    def __init__(self, text: str, url: str) -> None:
        tree = LexborHTMLParser(text)
        base = tree.css_first("base[href]")
        written = (base.attributes.get("href") or "") if base is not None else ""
        parsed = Url.parse(written, url) if written else None
        self._links = _Links(parsed.text if parsed is not None else url)
        self._url = url
        self._ids: Counter[str] = Counter()
        self._names: set[str] = set()
        self._scripts = False
        self._script_text: list[str] = []
        self._slugs: set[str] = set()
        self._words: list[str] = []
        self.page = AuditedPage(links=[], places=PagePlaces())
        self._walk(tree)
        self._end()

    def _walk(self, tree: LexborHTMLParser) -> None:
        root = tree.root
        if root is None:
            return
        for node in root.traverse(include_text=True):
            name = node.tag or ""
            if name == "-text":
                self._text_of(node)
            elif name[:1] not in "-_!":
                self._element(node, name)

    def _text_of(self, node: LexborNode) -> None:
        parent = node.parent
        if parent is None or parent.tag in _NO_TEXT:
            return
        words = node.text_content
        if words and not words.isspace():
            self._words.append(words)

    def _element(self, node: LexborNode, name: str) -> None:
        attributes = node.attributes
        identifier = attributes.get("id")
        if identifier:
            self._ids[identifier] += 1
        if name == "a" and attributes.get("name"):
            self._names.add(attributes["name"] or "")
        special = getattr(self, f"_on_{name}", None) if name.isalpha() or name in _HEADINGS else None
        if name in _HEADINGS:
            self._heading(node, name)
        elif special is not None:
            special(node, attributes)
        for attribute in _ADDRESSES.get(name, ()):
            value = attributes.get(attribute)
            if value is None or (not value.strip() and name != "a"):
                continue
            self._address(node, name, attribute, value)

    def _address(self, node: LexborNode, name: str, attribute: str, value: str) -> None:
        kind = LinkKind.NAVIGATION if name in ("a", "area", "frame", "iframe") else LinkKind.REQUISITE
        if attribute.endswith("srcset"):
            for address in srcset_addresses(value):
                self._links.add(address, name, kind)
            return
        if name in ("use", "image") and value.startswith("#"):
            return
        self._links.add(value, name, kind, _words_of(node, name))

    def _heading(self, node: LexborNode, name: str) -> None:
        words = _joined(node.text(deep=True))
        self.page.levels.append(int(name[1]))
        if words:
            self._slugs.add(slug(words[:LONGEST_TEXT]))
        if name == "h1":
            self.page.headings.append(words[:LONGEST_FACT])

    def _on_html(self, _: LexborNode, attributes: dict[str, str | None]) -> None:
        self.page.language = (attributes.get("lang") or attributes.get("xml:lang") or "")[:LONGEST_FACT]

    def _on_title(self, node: LexborNode, _: dict[str, str | None]) -> None:
        if node.parent is not None and node.parent.tag in ("head", "html", "body"):
            self.page.titles.append(_joined(node.text(deep=True))[:LONGEST_FACT])

    def _on_img(self, _: LexborNode, attributes: dict[str, str | None]) -> None:
        if "alt" not in attributes and attributes.get("role") not in ("presentation", "none"):
            self.page.without_alt.append(_shown((attributes.get("src") or "")[:LONGEST_TEXT]))

    def _on_meta(self, _: LexborNode, attributes: dict[str, str | None]) -> None:
        name = (attributes.get("name") or "").strip().lower()
        content = attributes.get("content") or ""
        if name == "description" and self.page.description is None:
            self.page.description = _joined(content)[:LONGEST_FACT]
        elif name == "robots":
            self.page.robots = f"{self.page.robots} {content.lower()[:LONGEST_TEXT]}".strip()
        elif (attributes.get("http-equiv") or "").strip().lower() == "refresh":
            address = refresh_address(content)
            if address:
                self._links.add(address, "meta", LinkKind.NAVIGATION)

    def _on_link(self, _: LexborNode, attributes: dict[str, str | None]) -> None:
        relation, written = attributes.get("rel") or "", attributes.get("href") or ""
        kind = kind_of_relation(relation)
        if kind is None or not written.strip():
            return
        link = self._links.add(written, "link", kind)
        if link is None:
            return
        if kind is LinkKind.CANONICAL:
            self.page.canonical.append(link.url)
        elif kind is LinkKind.ALTERNATE and attributes.get("hreflang"):
            self.page.hreflang.append(((attributes["hreflang"] or "").strip(), link.url))

    def _on_script(self, node: LexborNode, attributes: dict[str, str | None]) -> None:
        kind = (attributes.get("type") or "").strip().lower()
        if kind and kind != "module" and "script" not in kind:
            return  # data
        if attributes.get("src"):
            self._scripts = True
            return
        written = node.text(deep=True) or ""
        if _DOM.search(written):
            self._scripts = True
            self._script_text.append(written)

    def _end(self) -> None:
        page = self.page
        page.links = list(self._links.found.values())
        page.text = _joined(" ".join(self._words))
        page.doubled = [name for name, times in self._ids.items() if times > 1][:100]
        names = self._names | set(self._ids)
        page.places = PagePlaces(
            names=names,
            headings=self._slugs,
            scripts=self._scripts,
            script_text="\n".join(self._script_text),
            text_length=len(page.text),
            whole=len(names) <= MOST_NAMES,
        )


def _words_of(node: LexborNode, name: str) -> str:
    attributes = node.attributes
    if name in ("img", "area"):
        return _joined(attributes.get("alt") or "")[:LONGEST_TEXT]
    if name != "a":
        return ""
    words = _joined(node.text(deep=True)[: 20 * LONGEST_TEXT])
    if not words:
        words = attributes.get("aria-label") or attributes.get("title") or _pictured(node)
    return _joined(words)[:LONGEST_TEXT]


def _pictured(node: LexborNode) -> str:
    image = node.css_first("img[alt]")
    return (image.attributes.get("alt") or "") if image is not None else ""


def _joined(text: str) -> str:
    return _SPACES.sub(" ", text).strip()


def mixed(page_url: str, links: list[PageLink]) -> Iterator[PageLink]:
    """What a page of https loads by http (W3C Mixed Content)."""
    if page_url.startswith("https://"):
        for link in links:
            if link.url.startswith("http://") and (
                link.kind is LinkKind.REQUISITE or link.element == "iframe"
            ):
                yield link
