"""How deep and wide a tree a document would make, estimated from above in linear time.

Inside `svg` and `math` other rules hold (`foreign`). As long as such parts are well-formed they are followed
exactly; from the first oddity on the document is *murky*, and everything counts that might.
"""

import re
from collections import Counter

from gossamer.extract.html.foreign import BREAKOUT
from gossamer.extract.html.tag_grammar import TAG_NAME, Tokens, end_of_attributes, end_of_declaration
from gossamer.extract.html.tokens import RAW_TEXT, end_of_raw_text

__all__ = ["fits_a_tree"]

DEEPEST = 512
MOST_OPTIONS = 4_000
MOST_ATTRIBUTES = 256
MOST_WALKED = 50_000_000
"""Tags times depth: each stray end tag may walk the whole stack of open elements."""
MOST_HIDDEN = 500
"""Tags in the raw text of a murky document."""
LONGEST_HIDDEN = 4 << 10

_NOT_NESTING = frozenset(
    b"area base br col embed hr img input link meta source track wbr "  # void
    b"p li dt dd td th tr tbody thead tfoot option colgroup rt rp head body html a nobr button".split()
)
"""Elements that cannot hold others, or that end each other."""
_FOREIGN_ROOTS = frozenset({b"svg", b"math"})
_LEADS_TO_HTML = {
    b"svg": frozenset({b"foreignobject", b"desc", b"title"}),
    b"math": frozenset({b"mi", b"mo", b"mn", b"ms", b"mtext"}),
}
_AMBIGUOUS = frozenset({b"font", b"annotation-xml"})
"""Elements whose meaning inside foreign content depends on their attributes."""
_ATTRIBUTE = re.compile(rb"[\t\n\f\r /]++[^\t\n\f\r />]|=")
_TAG = re.compile(rb"<[a-zA-Z]")


def fits_a_tree(content: bytes) -> bool:
    """Whether lexbor's time for the document is about linear."""
    stack = _Stack()
    tags = hidden = 0
    position = content.find(b"<")
    while position >= 0:
        name = TAG_NAME.match(content, position)
        if name is None:
            end = end_of_declaration(content, position)
        else:
            tags += 1
            what = name[1].lower()
            raw = what in RAW_TEXT and not stack.foreign
            end = end_of_attributes(content, name.end(), Tokens())
            if end > 0 and _attributes(content, name.end(), end) > MOST_ATTRIBUTES:
                return False
            if content[position + 1] == 47:
                stack.close(what)
            elif end > 0:
                stack.open(what, empty=content[end - 2] == 47)
                if raw:
                    start, end = end, end_of_raw_text(content, what, end)
                    if stack.murky:
                        hidden += _hidden(content, start, end)
        if (end < 0 and stack.murky) or hidden > MOST_HIDDEN or not stack.fits:
            return False
        position = content.find(b"<", end) if end >= 0 else -1
    return stack.deepest * tags <= MOST_WALKED


class _Stack:
    """What is open.

    Attributes:
        deepest: most elements open at any time, too many rather than too few.
        murky: the document did something odd inside foreign content.
    """

    def __init__(self) -> None:
        self.deepest = 0
        self.murky = False
        self._depth = 0
        self._opened: Counter[bytes] = Counter()
        self._options = 0
        self._contexts: list[bytes] = []

    @property
    def foreign(self) -> bool:
        """Whether the rules of foreign content hold here."""
        return bool(self._contexts) and self._contexts[-1] in _FOREIGN_ROOTS

    @property
    def fits(self) -> bool:
        """Whether nothing grew too large."""
        return self.deepest <= DEEPEST and self._options <= MOST_OPTIONS

    def open(self, name: bytes, *, empty: bool) -> None:
        """Take in a start tag; `empty` if it ends in a slash."""
        foreign = self.foreign
        root = self._contexts[-1] if foreign else b""
        if (foreign and (name in BREAKOUT or name in _AMBIGUOUS)) or (self._contexts and not foreign):
            self.murky = True
        # `<path/>` is empty inside svg; elsewhere the slash means nothing.
        if empty and not self.murky and (foreign or name in _FOREIGN_ROOTS):
            return
        if name in _FOREIGN_ROOTS or (foreign and name in _LEADS_TO_HTML[root]):
            self._contexts.append(name)
        self._options += name == b"option"
        if name in _NOT_NESTING and not foreign and not self.murky:
            return
        self._opened[name] += 1
        self._depth += 1
        self.deepest = max(self.deepest, self._depth)

    def close(self, name: bytes) -> None:
        """Take in an end tag."""
        if self._contexts:
            if self._contexts[-1] == name:
                self._contexts.pop()
            elif name in self._contexts or name in (b"p", b"br"):
                self.murky = True
        if self._opened[name]:
            self._opened[name] -= 1
            self._depth -= 1


def _attributes(content: bytes, start: int, end: int) -> int:
    """An upper bound that is cheap to count."""
    if end - start <= MOST_ATTRIBUTES:
        return 0
    return sum(1 for _ in _ATTRIBUTE.finditer(content, start, end))


def _hidden(content: bytes, start: int, end: int) -> int:
    if end < 0 or end - start > LONGEST_HIDDEN:
        return MOST_HIDDEN + 1
    return len(_TAG.findall(content, start, end))
