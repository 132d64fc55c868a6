"""Data in a page: JSON-LD, microdata, microformats2, and the properties of `meta` elements.

Sources: JSON-LD 1.1 (embedding in HTML), WHATWG HTML 5 (microdata), microformats.org (microformats2 parsing,
of which h-entry, h-card, h-event, h-review, h-product and h-recipe and the like are read, and the
old class names of hAtom, hCard, hCalendar and hReview).
"""

import json
import re
from collections.abc import Iterator
from html import unescape

from selectolax.lexbor import LexborHTMLParser, LexborNode

from gossamer.documents.gathered import absolute
from gossamer.documents.limits import Budget

__all__ = ["json_ld", "meta_properties", "microdata", "microformats"]

Item = dict[str, object]

_LONGEST_BLOCK = 512 << 10
_LONGEST_VALUE = 10_000
_MOST_PROPERTIES = 500
_MOST_NODES = 20_000
_DEEPEST = 20
_TRAILING = re.compile(r",(\s*[\]}])")
_WRAPPING = re.compile(
    r"\A\s*(?:<!--|(?://|/\*)?\s*<!\[CDATA\[(?:\s*\*/)?)|(?:-->|(?://|/\*)?\s*\]\]>(?:\s*\*/)?)\s*;?\s*\Z"
)
_QUOTE = re.compile(r'\\.|"', re.DOTALL)
_AFTER_STRING = re.compile(r"\s*(?:[:}\]]|,\s*[\"{\[\d]|,\s*(?:true|false|null)\b|\Z)")
_LINKED = {
    "a": "href",
    "area": "href",
    "link": "href",
    "img": "src",
    "audio": "src",
    "embed": "src",
    "iframe": "src",
}
_LINKED |= {"source": "src", "track": "src", "video": "src", "object": "data"}
_OLD_ROOTS = {"hentry": "h-entry", "vcard": "h-card", "vevent": "h-event", "hreview": "h-review"}
_OLD_ROOTS |= {"hproduct": "h-product", "hrecipe": "h-recipe"}
_OLD_PROPERTIES = {
    "entry-title": "p-name",
    "entry-summary": "p-summary",
    "entry-content": "e-content",
    "published": "dt-published",
    "updated": "dt-updated",
    "fn": "p-name",
    "org": "p-org",
    "tel": "p-tel",
    "email": "u-email",
    "url": "u-url",
    "photo": "u-photo",
    "adr": "p-adr",
    "locality": "p-locality",
    "summary": "p-name",
    "dtstart": "dt-start",
    "dtend": "dt-end",
    "location": "p-location",
    "rating": "p-rating",
    "reviewer": "p-author",
    "author": "p-author",
    "price": "p-price",
}


def json_ld(scripts: list[LexborNode], budget: Budget) -> list[object]:
    """Every item of every block, lists and `@graph` flattened; blocks that are no JSON are left out."""
    found: list[object] = []
    for script in scripts:
        if (script.attributes.get("type") or "").lower() != "application/ld+json":
            continue
        source = script.text(deep=True)
        if not source:
            continue
        if len(source) > _LONGEST_BLOCK:
            budget.cut = True
            continue
        for item in _flattened(_lenient(source)):
            if len(found) >= budget.limits.max_data:
                budget.cut = True
                return found
            found.append(item)
    return found


def _lenient(source: str) -> object:
    """JSON with the mistakes of pages: comments around it, commas too many, raw line ends, references."""
    text = _WRAPPING.sub("", source.strip())
    for attempt in (text, _TRAILING.sub(r"\1", text), _TRAILING.sub(r"\1", unescape(text))):
        try:
            return json.loads(attempt, strict=False, parse_constant=lambda _: None)
        except (ValueError, RecursionError):
            continue
    for attempt in (text, _with_inner_quotes(text)):
        try:  # something stands behind it
            return json.JSONDecoder(strict=False).raw_decode(attempt)[0]
        except (ValueError, RecursionError):
            continue
    return None


def _with_inner_quotes(text: str) -> str:
    """JSON whose strings hold quotes that nobody escaped: only one that something may follow ends a string."""
    pieces, done, inside = [], 0, False
    for match in _QUOTE.finditer(text):
        place = match.start()
        if not inside:
            inside = text[place] == '"'
        elif text[place] == '"':
            if _AFTER_STRING.match(text, place + 1):
                inside = False
            else:
                pieces.append(text[done:place] + "\\")
                done = place
    return "".join([*pieces, text[done:]])


def _flattened(value: object) -> Iterator[object]:
    if isinstance(value, list):
        for each in value:
            yield from _flattened(each) if isinstance(each, list | dict) else ()
    elif isinstance(value, dict):
        graph = value.get("@graph")
        if isinstance(graph, list) and set(value) <= {"@context", "@graph", "@id", "@type"}:
            yield from _flattened(graph)
        elif value:
            yield value


def meta_properties(metas: list[LexborNode], budget: Budget) -> dict[str, list[str]]:
    """`meta` elements by `property`, `name` or `itemprop` in lower case, values in order."""
    found: dict[str, list[str]] = {}
    count = 0
    for meta in metas:
        attributes = meta.attributes
        name = (
            attributes.get("property") or attributes.get("name") or attributes.get("itemprop") or ""
        ).strip()
        value = (attributes.get("content") or "").strip()
        if name and value and len(name) <= 200:
            found.setdefault(name.lower(), []).append(value[:_LONGEST_VALUE])
            count += 1
            if count >= _MOST_PROPERTIES:
                budget.cut = True
                break
    return found


def microdata(tree: LexborHTMLParser, base: str, budget: Budget) -> list[Item]:
    """Top-level items; `itemref` is followed to elements that stand elsewhere, once each."""
    found: list[Item] = []
    room = _Room(budget)
    for node in tree.css("[itemscope]:not([itemprop])"):
        if not room.left or not room.holds(found):
            break
        found.append(_item(node, tree, base, room, 0))
    return [item for item in found if item["properties"]]


class _Room:
    """Elements that may still be looked at, so that items within items stay linear; and items."""

    def __init__(self, budget: Budget) -> None:
        self.left = _MOST_NODES
        self._budget = budget

    def take(self) -> bool:
        """Whether there was room for one more element."""
        self.left -= 1
        self._budget.cut = self._budget.cut or self.left <= 0
        return self.left > 0

    def holds(self, found: list[Item]) -> bool:
        """Whether there is room for one more item."""
        full = len(found) >= self._budget.limits.max_data
        self._budget.cut = self._budget.cut or full
        return not full


def _item(scope: LexborNode, tree: LexborHTMLParser, base: str, room: _Room, depth: int) -> Item:
    attributes = scope.attributes
    properties: dict[str, list[object]] = {}
    item: Item = {"type": (attributes.get("itemtype") or "").split(), "properties": properties}
    if identity := attributes.get("itemid"):
        item["id"] = identity
    nodes = list(_children(scope))
    for reference in (attributes.get("itemref") or "").split()[:20]:
        if re.fullmatch(r"[A-Za-z][\w-]{0,100}", reference):
            nodes += tree.css(f"#{reference}")[:1]
    nodes.reverse()
    while nodes and room.take():
        node = nodes.pop()
        own = node.attributes
        names = (own.get("itemprop") or "").split()
        inner = "itemscope" in own
        if names:
            value = (
                _item(node, tree, base, room, depth + 1) if inner and depth < _DEEPEST else _value(node, base)
            )
            for name in names[:20]:
                properties.setdefault(name, []).append(value)
        if not inner:
            nodes += reversed(list(_children(node)))
    return item


def _children(node: LexborNode) -> Iterator[LexborNode]:
    child = node.child
    while child is not None:
        if child.is_element_node:
            yield child
        child = child.next


def _value(node: LexborNode, base: str) -> str:
    attributes = node.attributes
    tag = node.tag or ""
    if tag == "meta":
        return (attributes.get("content") or "")[:_LONGEST_VALUE]
    if tag in _LINKED:
        address = attributes.get(_LINKED[tag]) or ""
        return absolute(address, base) or address[:_LONGEST_VALUE]
    if tag == "time" and attributes.get("datetime"):
        return (attributes["datetime"] or "").strip()
    if tag in ("data", "meter") and attributes.get("value"):
        return attributes["value"] or ""
    if attributes.get("content"):
        return (attributes["content"] or "")[:_LONGEST_VALUE]
    return " ".join((node.text(deep=True) or "")[:_LONGEST_VALUE].split())


def microformats(tree: LexborHTMLParser, base: str, budget: Budget) -> list[Item]:
    """Items of microformats2 and of the older class names, outermost ones with the others inside."""
    found: list[Item] = []
    room = _Room(budget)
    outermost: set[int] = set()
    for node in tree.css('[class*="h-"], .hentry, .vcard, .vevent, .hreview, .hproduct, .hrecipe'):
        roots = _roots(node)
        if not roots or _stands_in(node, outermost, room):
            continue
        if not room.left or not room.holds(found):
            break
        outermost.add(node.mem_id)
        found.append(_format(node, roots, base, room, 0))
    return [item for item in found if item["properties"]]


def _stands_in(node: LexborNode, outer: set[int], room: _Room) -> bool:
    around = node.parent if outer else None
    while around is not None and room.take():
        if around.mem_id in outer:
            return True
        around = around.parent
    return False


_ROOTS = frozenset(
    f"h-{name}"
    for name in "entry card event review product recipe feed cite adr geo item resume review-aggregate".split()
)


def _classes(node: LexborNode) -> list[str]:
    return ((node.attributes.get("class") or "")[:2_000]).split()


def _roots(node: LexborNode) -> list[str]:
    classes = _classes(node)
    modern = [name for name in classes if name in _ROOTS]
    return modern or [_OLD_ROOTS[name] for name in classes if name in _OLD_ROOTS]


def _format(root: LexborNode, types: list[str], base: str, room: _Room, depth: int) -> Item:
    properties: dict[str, list[object]] = {}
    modern = not _ROOTS.isdisjoint(_classes(root))
    nodes = list(_children(root))
    nodes.reverse()
    while nodes and room.take():
        node = nodes.pop()
        roots = _roots(node)
        names = [n for n in _classes(node) if n[:2] in ("p-", "u-", "e-") or n[:3] == "dt-"]
        if not modern:
            names = [_OLD_PROPERTIES[n] for n in _classes(node) if n in _OLD_PROPERTIES]
        value: object = ""
        if roots and depth < _DEEPEST:
            value = _format(node, roots, base, room, depth + 1)
        for name in names[:20]:
            sort, _, key = name.partition("-")
            properties.setdefault(key, []).append(value or _format_value(node, sort, base))
        if roots and not names:
            properties.setdefault("children", []).append(value)
        if not roots:
            nodes += reversed(list(_children(node)))
    if "name" not in properties and (text := " ".join((root.text(deep=True) or "")[:1_000].split())):
        properties["name"] = [text[:200]]
    return {"type": types, "properties": properties}


def _format_value(node: LexborNode, sort: str, base: str) -> str:
    attributes = node.attributes
    if sort == "u":
        address = attributes.get(_LINKED.get(node.tag or "", "href")) or ""
        if address:
            return absolute(address, base) or address[:_LONGEST_VALUE]
    if sort == "dt" and attributes.get("datetime"):
        return (attributes["datetime"] or "").strip()
    if node.tag == "abbr" and attributes.get("title"):
        return (attributes["title"] or "").strip()
    if node.tag == "img" and attributes.get("alt"):
        return (attributes["alt"] or "").strip()
    return " ".join((node.text(deep=True) or "")[:_LONGEST_VALUE].split())
