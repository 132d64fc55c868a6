"""The main text of a page as Markdown: its tree without the rest, converted.

A page may ask for Markdown that is far longer than itself: cells over a thousand columns, lines in a hundred
quotations. What it asks for is counted first, in linear time.
"""

from functools import lru_cache
from importlib.metadata import version

import msgspec
from selectolax.lexbor import LexborHTMLParser, LexborNode

from gossamer.documents.markup.blocks import Segments
from gossamer.documents.markup.main_text import MainText
from gossamer.documents.said import Derived

__all__ = ["markdown_of"]

_LEAST_KEPT = 0.6
"""Words of the text that its Markdown must have at least."""
_SILENT = ["script", "style", "template", "iframe", "svg", "button", "select", "textarea"]
_MEANINGLESS = ["noscript", "span"]
"""Replaced by what is in them: the converter, unlike us, takes scripts to run; it breaks code where a span in it ends
at a blank, and takes as long for a span as for a link."""
_SPANS = ("colspan", "rowspan")
_WIDE = 200
"""Places of a table's grid up to which nobody minds how many of them are empty."""
_EMPTY = 8
"""Places for each cell from which on the spans of a table are not meant."""
_WIDEST = 1_000
_FILL = 3
"""Characters of an empty place of a grid."""
_INDENT = 2
"""Characters that a list or quotation puts before each line."""
_INDENTING = frozenset(("li", "dd", "blockquote"))
_MOST_TIMES = 4
"""Times the characters that are kept: as many are made at most."""


def markdown_of(tree: LexborHTMLParser, found: MainText, base: str, text: Derived, most: int) -> Derived:
    """Convert what was chosen of a page. The tree is of no use afterwards.

    Args:
        tree: of the page.
        found: the main text.
        base: links are relative to it.
        text: the same as plain text; stands in where Markdown would lose words or be far too long.
        most: characters kept.

    Raises:
        ImportError, PackageNotFoundError: the converter is not installed.
    """
    from html_to_markdown import ConversionOptions, convert

    library = _converter_version()
    body = tree.body
    instead = msgspec.structs.replace(text, fallback=True)
    if body is None or not found.kept:
        return msgspec.structs.replace(text, text="", extractor="html-to-markdown", version=library)
    _prune(found.segments, {id(block) for block in found.kept})
    body.strip_tags(_SILENT)
    body.unwrap_tags(_MEANINGLESS)
    for node in body.css('[hidden], [aria-hidden="true"], [style*="display"]'):
        for name in ("hidden", "aria-hidden", "style"):
            if name in node.attributes:
                del node.attrs[name]
    html = body.html or ""
    narrowed, longest = _within_reason(body, html, found.segments)
    if longest > _MOST_TIMES * most:
        return instead
    options = ConversionOptions(extract_metadata=False, base_url=base or None, skip_images=True)
    markdown = (convert((body.html or "") if narrowed else html, options).content or "").strip()
    if len(markdown.split()) < _LEAST_KEPT * len(text.text.split()):
        # A text that was lost is worse than one without its headings.
        return instead
    return Derived(
        text=markdown[:most],
        extractor="html-to-markdown",
        version=library,
        confidence=text.confidence,
        cut=text.cut or narrowed or len(markdown) > most,
    )


@lru_cache(maxsize=1)
def _converter_version() -> str:
    """Looked up once: each time takes as long as parsing a page, because the package's files are read."""
    return version("html-to-markdown")


def _prune(segments: Segments, kept: set[int]) -> None:
    """Take out of the tree what holds no chosen block: the topmost such elements, then single texts."""
    elements = segments.elements
    needed = [False] * len(elements)
    for block in segments.blocks:
        at = block.element
        if id(block) in kept:
            while at >= 0 and not needed[at]:
                needed[at] = True
                at = elements[at].parent
    for block in segments.blocks:
        if id(block) not in kept and (block.element < 0 or needed[block.element]):
            for node in block.nodes:
                node.decompose()
    for number, element in enumerate(elements):
        if not needed[number] and (element.parent < 0 or needed[element.parent]):
            element.node.decompose()


def _within_reason(body: LexborNode, html: str, segments: Segments) -> tuple[bool, int]:
    """Take the spans out of tables that are mostly empty for them.

    Returns:
        whether there were such; and how many characters of Markdown the page makes, roughly and at most.
    """
    rows, cells = html.count("<tr"), html.count("<td") + html.count("<th")
    spans = any(f"{name}=" in html for name in _SPANS)
    narrowed, filled = False, 0
    if rows and (spans or rows * cells > _WIDE):
        for table in _tables(body).values():
            grid = _grid(table)
            if grid > max(_WIDE, _EMPTY * sum(map(len, table))):
                narrowed = True
                for cell in (cell for row in table for cell in row):
                    for name in _SPANS:
                        if name in cell.attributes:
                            del cell.attrs[name]
                grid = _grid(table)
            filled += grid
    return narrowed, len(html) + _FILL * filled + _indented(html, segments)


def _tables(body: LexborNode) -> dict[int, list[list[LexborNode]]]:
    """The cells of each row of each table, without those of tables in it."""
    tables: dict[int, list[list[LexborNode]]] = {}
    for row in body.css("tr"):
        table = row.parent
        if table is not None and table.tag != "table":
            table = table.parent
        if table is None:
            continue
        cells, cell = [], row.child
        while cell is not None:
            if cell.tag in ("td", "th"):
                cells.append(cell)
            cell = cell.next
        tables.setdefault(table.mem_id, []).append(cells)
    return tables


def _grid(table: list[list[LexborNode]]) -> int:
    """Places of a table: its rows times the widest of them."""
    widest = reaching = 0
    ending: dict[int, int] = {}
    for number, row in enumerate(table):
        reaching -= ending.pop(number, 0)
        width = reaching
        for cell in row:
            attributes = cell.attributes
            columns = _span(attributes.get("colspan"))
            width += columns
            if (lines := _span(attributes.get("rowspan"))) > 1:
                reaching += columns
                ending[number + lines] = ending.get(number + lines, 0) + columns
        widest = max(widest, width)
    return widest * len(table)


def _span(value: str | None) -> int:
    digits = (value or "").strip()[:6]
    return min(max(int(digits), 1), _WIDEST) if digits.isdecimal() and digits.isascii() else 1


def _indented(html: str, segments: Segments) -> int:
    """Characters before lines, if all stood where lists and quotations are deepest."""
    depths: list[int] = []
    for element in segments.elements:
        around = depths[element.parent] if element.parent >= 0 else 0
        depths.append(around + (element.tag in _INDENTING))
    return _INDENT * max(depths, default=0) * (html.count("\n") + html.count("<br"))
