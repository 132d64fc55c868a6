"""A page of HTML: guarded, parsed once, and asked for all that it says."""

import re
from importlib.metadata import PackageNotFoundError

from selectolax.lexbor import LexborHTMLParser, LexborNode, SelectolaxError

from gossamer.documents.gathered import Gathered, absolute
from gossamer.documents.limits import Budget, ReadingLimits
from gossamer.documents.markup.ballast import without_ballast
from gossamer.documents.markup.facts import alternates_of, metadata_of
from gossamer.documents.markup.main_text import EXTRACTOR, MainText, extractor_version, main_text
from gossamer.documents.markup.markdown import markdown_of
from gossamer.documents.markup.named import Named, named
from gossamer.documents.markup.nesting import fits_a_tree
from gossamer.documents.markup.page_type import page_features
from gossamer.documents.markup.structured import json_ld, meta_properties, microdata, microformats
from gossamer.documents.markup.visible_only import PageSaid, visible_only
from gossamer.documents.said import Derived, Dimensions, Mark, Medium, Picture
from gossamer.extract.addresses import srcset_addresses

__all__ = ["page_facts", "read_page"]

_SIZE = re.compile(r"\s*(\d{1,5})(?:px)?\s*\Z")


def read_page(html: str, url: str, gathered: Gathered) -> PageSaid:
    """Take in a page; one that would take a parser too long is read by the token scanner alone.

    Args:
        html: decoded.
        url: where it was found; its own `base` is minded.
        gathered: takes links, images, media, metadata and marks.
    """
    limits = gathered.budget.limits
    content = html.encode("utf-8", "replace")
    if len(content) > limits.max_markup:
        content = without_ballast(content)
    if len(content) > limits.max_markup:
        gathered.budget.cut = True
        content = content[: limits.max_markup]
    cut = gathered.budget.cut
    tree = None
    if fits_a_tree(content):
        try:
            tree = LexborHTMLParser(content)
        except SelectolaxError:
            gathered.mark(Mark.BROKEN)
    else:
        gathered.mark(Mark.TOO_COMPLEX)
    if tree is None:
        return visible_only(content, gathered)
    by_name = named(tree)
    bases = [base.attributes for base in by_name.bases if "href" in base.attributes]
    home = absolute((bases[0]["href"] or "") if bases else "", url) or url
    properties = meta_properties(by_name.metas, gathered.budget)
    data = json_ld(by_name.scripts, gathered.budget)
    gathered.metadata = metadata_of(tree, by_name, home, properties, data)
    gathered.rebase(home)
    _links(by_name.anchors, gathered)
    _images(by_name, home, gathered)
    items = microdata(tree, home, gathered.budget)
    formats = microformats(tree, home, gathered.budget)
    alternates = alternates_of(by_name.links, home, gathered.budget)
    if gathered.wants_text:
        found = main_text(tree, *_page_facts(by_name, url, data, properties))
        text, markdown = _texts(tree, found, home, gathered, cut=cut)
    else:
        text = markdown = Derived()
    return PageSaid(
        text=text,
        markdown=markdown,
        alternates=alternates,
        json_ld=tuple(data),
        microdata=tuple(items),
        microformats=tuple(formats),
        properties=properties,
    )


def page_facts(tree: LexborHTMLParser, url: str) -> tuple[str, dict[str, float]]:
    """Title and features of a page, as `main_text` asks for them."""
    budget, by_name = Budget(ReadingLimits()), named(tree)
    data, properties = json_ld(by_name.scripts, budget), meta_properties(by_name.metas, budget)
    return _page_facts(by_name, url, data, properties)


def _page_facts(
    by_name: Named, url: str, data: list[object], properties: dict[str, list[str]]
) -> tuple[str, dict[str, float]]:
    node = next(iter(by_name.titles), None)
    types = {kind for item in data if isinstance(item, dict) for kind in _types(item)}
    shared = next(iter(properties.get("og:type", [])), "")
    return (node.text(deep=True) or "") if node else "", page_features(url, types, shared)


def _types(item: dict[str, object]) -> list[str]:
    kind = item.get("@type")
    kinds = kind if isinstance(kind, list) else [kind]
    return [each.rpartition("/")[2] for each in kinds if isinstance(each, str)]


def _texts(
    tree: LexborHTMLParser, found: MainText, base: str, gathered: Gathered, *, cut: bool
) -> tuple[Derived, Derived]:
    """Text and Markdown; `cut`: the page itself was."""
    most = gathered.budget.limits.max_text
    cut = cut or found.cut or len(found.text) > most
    text = Derived(
        text=found.text[:most],
        extractor=EXTRACTOR,
        version=extractor_version(),
        confidence=round(found.expected, 3),
        cut=cut,
    )
    gathered.budget.cut = gathered.budget.cut or cut
    try:
        markdown = markdown_of(tree, found, base, text, most)
    except (ImportError, PackageNotFoundError):
        gathered.mark(Mark.MISSING_LIBRARY)
        return text, Derived()
    gathered.budget.cut = gathered.budget.cut or markdown.cut
    return text, markdown


def _links(anchors: list[LexborNode], gathered: Gathered) -> None:
    for node in anchors:
        attributes = node.attributes
        if "href" not in attributes:
            continue
        address = attributes.get("href") or ""
        text = node.text(deep=True, separator=" ") or ""
        if not text.strip() and node.child is not None:
            image = node.css_first("img[alt]")
            text = (image.attributes.get("alt") or "") if image else ""
        gathered.link(address, text or attributes.get("title") or "", (attributes.get("rel") or "").lower())


def _images(by_name: Named, base: str, gathered: Gathered) -> None:
    for node in by_name.images:
        attributes = node.attributes
        address = attributes.get("src") or ""
        if not address or address.startswith("data:"):
            lazy = (
                attributes.get("data-src")
                or attributes.get("data-lazy-src")
                or attributes.get("data-original")
            )
            address = lazy or next(iter(srcset_addresses(attributes.get("srcset") or "")), "")
        if url := absolute(address, base):
            size = Dimensions(_pixels(attributes.get("width")), _pixels(attributes.get("height")))
            gathered.picture(Picture(url, " ".join((attributes.get("alt") or "")[:2_000].split()), size))
    for node in by_name.played:
        attributes = node.attributes
        places = [node, *node.css("source[src]")[:20]]
        for place in places:
            own = place.attributes
            if url := absolute(own.get("src") or "", base):
                kind = own.get("type") or ""
                gathered.medium(Medium(url, node.tag or "", kind, attributes.get("title") or ""))


def _pixels(value: str | None) -> int:
    match = _SIZE.match(value[:20]) if value else None
    return int(match[1]) if match else 0
