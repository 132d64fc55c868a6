"""A page cut into blocks: stretches of text that no block-level tag parts, with where each stands.

One walk over the tree, in time linear in its nodes. The names of classes and ids are read as hints, by the
words that authors use for parts of a page; what a hint is worth is learned (`block_model`), not said here.
"""

import re
from functools import lru_cache

import msgspec
from selectolax.lexbor import LexborHTMLParser, LexborNode

__all__ = ["HINTS", "PLACES", "TAGS", "WORD", "Block", "Element", "Segments", "normal_words", "segments_of"]

WORD = re.compile(r"\w+")
_WORDS = bytes(place if chr(place).isalnum() or place == ord("_") else 32 for place in range(128)).ljust(256)
"""For `bytes.translate`, of ASCII: words, and for all else a blank. A pattern takes two to four times as long."""

_UNREAD = frozenset(
    "script style template iframe svg math head object embed canvas video audio select datalist textarea map "
    "button input -comment -doctype -cdata-section -processing-instruction".split()
)
"""Elements whose text is not shown as text, or is a control; `noscript` is read because we run no scripts."""
_INLINE = frozenset(
    "a abbr acronym b bdi bdo big cite code data del dfn em font i ins kbd label mark nobr q rp rt ruby s "
    "samp small span strike strong sub sup time tt u var wbr img".split()
)
TAGS = tuple("p li h1 h2 h3 h4 h5 td th dt dd div pre blockquote figcaption section article main".split())
PLACES = tuple(
    "main article nav header footer aside form table ul ol section figure dl details blockquote "
    "noscript".split()
)
_PLACE = {name: 1 << number for number, name in enumerate(PLACES)}
_ROLES = {
    "main": "main",
    "navigation": "nav",
    "banner": "header",
    "contentinfo": "footer",
    "complementary": "aside",
    "search": "form",
    "article": "article",
    "dialog": "form",
}
HINTS: dict[str, str] = {
    "content": r"content|article|story|body|entry|text|prose|markdown|rich",
    "post": r"post|blog|single|detail|description|desc\b",
    "main": r"main|primary|page",
    "nav": r"nav|menu|breadcrumb|crumb|toc|pagin|pager|skip|tabs",
    "side": r"side|aside|widget|rail|secondary",
    "foot": r"foot|copyright|legal|bottom",
    "head": r"head|masthead|topbar|hero|banner|logo",
    "related": r"relat|recommend|more|similar|also|popular|trending|latest|recent|next|prev|upsell|cross",
    "social": r"share|social|follow|like|vote|reaction",
    "advert": r"\bads?\b|advert|promo|sponsor|cta|newsletter|subscri|signup|sign-up|optin",
    "hidden": r"modal|popup|overlay|cookie|consent|gdpr|dialog|toast|notice|alert|login|drawer|offcanvas|"
    r"hidden|sr-only|screen-reader|visually",
    "comment": r"comment|respon|reply|disqus|discuss|thread|message",
    "meta": r"meta|author|byline|date|tag|categor|bio|profile|avatar|user|info",
    "product": r"product|price|cart|buy|shop|sku|variant|option|swatch|filter|facet|sort|rating|review|star",
    "list": r"list|grid|card|item|tile|teaser|result|collection|gallery|carousel|slider|swiper",
    "form": r"form|field|search|input|select",
    "faq": r"faq|accord|collaps|question|answer",
    "part": r"feature|section|block|column|col-|row|container|wrap",
}
_HINT_PATTERNS = [re.compile(pattern) for pattern in HINTS.values()]
_LONGEST_NAME = 300
_TOP = -1


class Block(msgspec.Struct):
    """A stretch of text.

    Attributes:
        nodes: its text nodes, in order.
        text: theirs, as written, with `\\n` for `br`.
        words: in it; `linked` of them in links.
        tag: of the block-level element it stands in, of number `element` (-1 is the body).
        places: bits of `PLACES` that it stands in, at any depth.
        own, around: bits of `HINTS` of that element and inline ones; of all elements around it.
        hidden: not displayed, by attributes of its own or of elements around it.
        depth: block-level elements around it.
    """

    nodes: list[LexborNode]
    text: str
    words: int
    linked: int
    tag: str
    element: int
    places: int
    own: int
    around: int
    hidden: bool
    depth: int


class Element(msgspec.Struct):
    """A block-level element: its name; words, linked words and words of paragraphs in it, and those before it."""

    node: LexborNode
    tag: str
    parent: int
    before: int
    linked_before: int
    prose_before: int
    words: int = 0
    linked: int = 0
    prose: int = 0


class Segments(msgspec.Struct):
    """The blocks of a page in order, the elements that they stand in, and their sums; `cut`: there were more."""

    blocks: list[Block]
    elements: list[Element]
    words: int
    linked: int
    prose: int
    cut: bool


class _Context(msgspec.Struct, frozen=True, gc=False):
    """What holds for text at a place in the tree."""

    element: int = _TOP
    tag: str = "body"
    places: int = 0
    hidden: bool = False
    linked: bool = False
    own: int = 0
    around: int = 0
    depth: int = 0


def normal_words(text: str) -> list[str]:
    """The words of a text in lower case."""
    if text.isascii():
        return text.lower().encode().translate(_WORDS).decode().split()
    return WORD.findall(text.lower())


@lru_cache(maxsize=20_000)
def _hints(names: str) -> int:
    lower = names.lower()
    return sum(1 << number for number, pattern in enumerate(_HINT_PATTERNS) if pattern.search(lower))


def segments_of(tree: LexborHTMLParser, most: int) -> Segments:
    """Cut a page into its blocks.

    Args:
        tree: of the page; must be one that `fits_a_tree`.
        most: nodes that are looked at; what follows them is left out.
    """
    walk = _Walk()
    body = tree.body
    if body is not None and body.child is not None:
        walk.run(body.child, most)
    return Segments(walk.blocks, walk.elements, walk.words, walk.linked, walk.prose, walk.cut)


class _Walk:
    """Depth first, with a stack of its own."""

    def __init__(self) -> None:
        self.blocks: list[Block] = []
        self.elements: list[Element] = []
        self.words = self.linked = self.prose = 0
        self.cut = False
        self._nodes: list[LexborNode] = []
        self._pieces: list[str] = []
        self._count = self._count_linked = 0
        self._at = _Context()

    def run(self, first: LexborNode, most: int) -> None:
        """Visit `first`, its later siblings and all that is in them."""
        context = _Context()
        stack: list[tuple[LexborNode | None, _Context, int]] = []
        node: LexborNode | None = first
        for _ in range(most):
            while node is None and stack:
                node, context, element = stack.pop()
                if element >= 0:
                    self._close(self.elements[element])
            if node is None:
                break
            if node.is_text_node:
                text = node.text_content or ""
                if not text.isspace():
                    self._text(node, text, context)
                elif self._pieces:
                    self._pieces.append(" ")
                node = node.next
                continue
            tag = node.tag
            child = None if tag in _UNREAD else node.child
            if child is None:
                if tag == "br":
                    self._pieces.append("\n")
                node = node.next
                continue
            if tag in _INLINE:
                stack.append((node.next, context, -1))
                if tag == "a" and not context.linked:
                    context = _Context(
                        context.element,
                        context.tag,
                        context.places,
                        context.hidden,
                        True,
                        context.own,
                        context.around,
                        context.depth,
                    )
            else:
                stack.append((node.next, context, len(self.elements)))
                context = self._open(node, tag or "", context)
            node = child
        else:
            self.cut = True
        self._flush()
        while stack:
            _, _, element = stack.pop()
            if element >= 0:
                self._close(self.elements[element])

    def _open(self, node: LexborNode, tag: str, around: _Context) -> _Context:
        if self._pieces:
            self._flush()
        places = around.places | _PLACE.get(tag, 0)
        hidden = around.hidden
        own = 0
        attributes = node.attributes
        if attributes:
            names = f"{attributes.get('class') or ''} {attributes.get('id') or ''}"
            if len(names) > 1:
                own = _hints(names[:_LONGEST_NAME])
            style = attributes.get("style")
            if (
                "hidden" in attributes
                or attributes.get("aria-hidden") == "true"
                or (style and "none" in style and "display" in style)
            ):
                hidden = True
            role = attributes.get("role")
            if role in _ROLES:
                places |= _PLACE[_ROLES[role]]
        number = len(self.elements)
        self.elements.append(Element(node, tag, around.element, self.words, self.linked, self.prose))
        return _Context(
            number, tag, places, hidden, around.linked, own, around.around | own, around.depth + 1
        )

    def _close(self, element: Element) -> None:
        if self._pieces:
            self._flush()
        element.words = self.words - element.before
        element.linked = self.linked - element.linked_before
        element.prose = self.prose - element.prose_before

    def _text(self, node: LexborNode, text: str, context: _Context) -> None:
        words = len(text.encode().translate(_WORDS).split() if text.isascii() else WORD.findall(text))
        if not self._count:
            self._at = context
        self._pieces.append(text)
        self._nodes.append(node)
        self._count += words
        self.words += words
        if context.linked:
            self._count_linked += words
            self.linked += words
        if context.tag == "p":
            self.prose += words

    def _flush(self) -> None:
        if self._count:
            at = self._at
            self.blocks.append(
                Block(
                    self._nodes,
                    "".join(self._pieces),
                    self._count,
                    self._count_linked,
                    at.tag,
                    at.element,
                    at.places,
                    at.own,
                    at.around,
                    at.hidden,
                    at.depth,
                )
            )
        self._nodes, self._pieces = [], []
        self._count = self._count_linked = 0
