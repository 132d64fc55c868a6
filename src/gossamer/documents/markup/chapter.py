"""A page that is all text, such as a chapter of a book: every block is kept."""

import re
from collections.abc import Callable

from selectolax.lexbor import LexborHTMLParser

from gossamer.documents.gathered import Gathered
from gossamer.documents.markup.blocks import segments_of
from gossamer.documents.markup.main_text import MOST_NODES, lines_of
from gossamer.documents.markup.nesting import fits_a_tree
from gossamer.documents.markup.visible_only import visible_only
from gossamer.documents.said import Mark

__all__ = ["read_chapter"]

_HEADINGS = {f"h{level}": level for level in range(1, 7)}
_EMPTY = {
    name: re.compile(rf"<{name}(?:\s[^<>]{{0,2000}})?/>")
    for name in ("title", "script", "style", "iframe", "textarea")
}


def read_chapter(html: str, gathered: Gathered, leads_out: Callable[[str], bool]) -> None:
    """Take in text and links of a chapter.

    Args:
        html: XHTML or HTML, decoded.
        gathered: takes both.
        leads_out: whether an address is kept as a link.
    """
    content = _without_empty_elements(html).encode("utf-8", "replace")
    if not fits_a_tree(content):
        gathered.mark(Mark.TOO_COMPLEX)
        gathered.add(visible_only(content, gathered).text.text)
        return
    tree = LexborHTMLParser(content)
    for node in tree.css("a[href]"):
        address = node.attributes.get("href") or ""
        if leads_out(address):
            gathered.link(address, node.text(deep=True, separator=" ") or "")
    if not gathered.wants_text:
        return
    segments = segments_of(tree, MOST_NODES)
    gathered.budget.cut = gathered.budget.cut or segments.cut
    blocks = segments.blocks
    for block, line in zip(blocks, lines_of(blocks), strict=True):
        if block.tag in _HEADINGS:
            gathered.heading(line, _HEADINGS[block.tag])
        elif block.tag == "li":
            gathered.item(line)
        elif block.tag == "pre":
            gathered.add(line, f"```\n{line}\n```")
        else:
            gathered.add(line)


def _without_empty_elements(html: str) -> str:
    """HTML without what XHTML may close at once: `<title/>`, `<script/>` would hide the rest of the page."""
    for name, pattern in _EMPTY.items():
        if f"<{name}" in html:
            html = pattern.sub("", html)
    return html
