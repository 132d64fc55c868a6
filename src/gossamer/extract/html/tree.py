"""A tree of an HTML document, for extractors that want one, unless building it would take too long.

Lexbor's time is quadratic in the depth of elements, the attributes of a tag and the options of a select.
Measured here: 4,000 nested `div` 17 ms, 4,000 attributes 27 ms, 4,000 options 27 ms, each four times that
for twice as much; 200 KB of `<div>` take seconds. Hence the limits, checked by a linear scan beforehand.
"""

from selectolax.lexbor import LexborHTMLParser, SelectolaxError

from gossamer.extract.html.nesting import fits_a_tree

__all__ = ["fits_a_tree", "guarded_tree"]


def guarded_tree(content: bytes | str) -> LexborHTMLParser | None:
    """The tree, or `None` for a document that is too deep or too wide to parse in reasonable time.

    Args:
        content: text, or bytes in UTF-8.
    """
    raw = content.encode("utf-8", "replace") if isinstance(content, str) else content
    if not fits_a_tree(raw):
        return None
    try:
        return LexborHTMLParser(raw)
    except SelectolaxError:
        return None
