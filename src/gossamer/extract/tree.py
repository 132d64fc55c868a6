"""A tree of an HTML document, for extractors that want one, unless building it would take too long.

Lexbor's time is quadratic in the depth of elements, the attributes of a tag and the options of a select.
Measured here: 4,000 nested `div` 17 ms, 4,000 attributes 27 ms, 4,000 options 27 ms, each four times that for twice
as much; 200 KB of `<div>` take seconds. Hence the limits, checked by a linear scan beforehand.
"""

import re
from collections import Counter

from selectolax.lexbor import LexborHTMLParser, SelectolaxError

from gossamer.extract.html_tokens import RAW_TEXT, end_of_raw_text
from gossamer.extract.tag_grammar import TAG_NAME, Tokens, end_of_attributes, end_of_declaration

__all__ = ["fits_a_tree", "guarded_tree"]

DEEPEST = 512
MOST_OPTIONS = 4_000
MOST_EQUALS = 256
"""`=` and white space in one tag, an upper bound of its attributes that is cheap to count."""

_NOT_NESTING = frozenset(
    b"area base br col embed hr img input link meta source track wbr "  # void
    b"p li dt dd td th tr tbody thead tfoot option colgroup rt rp head body html".split()  # end each other
)
_ATTRIBUTE = re.compile(rb"[\t\n\f\r /]++[^\t\n\f\r />]|=")


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


def fits_a_tree(content: bytes) -> bool:
    """Whether lexbor's time for the document is about linear."""
    opened: Counter[bytes] = Counter()
    depth = deepest = tags = options = 0
    position = content.find(b"<")
    while position >= 0:
        name = TAG_NAME.match(content, position)
        if name is None:
            end = end_of_declaration(content, position)
        else:
            end = end_of_attributes(content, name.end(), Tokens())
            if end - name.end() > MOST_EQUALS and _attributes(content, name.end(), end) > MOST_EQUALS:
                return False
            what = name[1].lower()
            closing = content[position + 1] == 47
            if closing and opened[what]:
                opened[what] -= 1
                depth -= 1
            elif not closing and what not in _NOT_NESTING:
                opened[what] += 1
                depth += 1
            tags += 1
            deepest = max(deepest, depth)
            options += what == b"option"
            if end >= 0 and what in RAW_TEXT and not closing:
                end = end_of_raw_text(content, what, end)
        if deepest > DEEPEST or options > MOST_OPTIONS:
            return False
        position = content.find(b"<", end) if end >= 0 else -1
    # Each stray end tag may walk the whole stack of open elements.
    return deepest * tags <= DEEPEST * 100_000


def _attributes(content: bytes, start: int, end: int) -> int:
    return sum(1 for _ in _ATTRIBUTE.finditer(content, start, end))
