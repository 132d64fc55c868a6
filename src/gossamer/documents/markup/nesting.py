"""How deep and wide a tree a page would make, from above, in linear time.

Tree builders are quadratic in the depth of elements, the attributes of a tag and the options of a select:
lexbor takes 17 ms for 4,000 nested `div`, seconds for 40,000. So pages are measured first.

The estimate errs upwards: where a tree builder might ignore an end tag, the scan ignores it, too. End tags do
not reach out of the elements that bound scopes (`table`, `object`, ...); inside `svg` and `math`, where other
rules hold, everything counts that might.
"""

import re

from gossamer.extract.html.tokens import RAW_TEXT, end_of_raw_text

__all__ = ["ATTRIBUTE", "TAG", "TAG_OR_COMMENT", "fits_a_tree"]

DEEPEST = 512
MOST_OPTIONS = 4_000
MOST_ATTRIBUTES = 1_000
MOST_TAGS = 300_000
MOST_WALKED = 8_000_000
"""Tags times depth: each stray end tag may walk the stack of open elements, each paragraph open `b` anew."""

_SPACE = rb"[\t\n\f\r ]"
_NAME = rb"(?:=[^\t\n\f\r />=]*+|[^\t\n\f\r />=]++)"
_VALUE = rb"(?:\"[^\"]*+\"|'[^']*+'|[^\t\n\f\r >\"'][^\t\n\f\r >]*+|(?=>))"
_ATTRIBUTES = (
    rb"(?:[\t\n\f\r /]*+" + _NAME + rb"(?:" + _SPACE + rb"*+=" + _SPACE + rb"*+" + _VALUE
    + rb"|(?!" + _SPACE + rb"*+=)))*+[\t\n\f\r /]*+"
)  # fmt: skip
_COMMENT = rb"!--(?:-?+>|(?:[^-]++|-(?!-!?+>))*+(?:--!?+>)?+)"
_LEAF = (
    rb"((?:a|b|em|h[1-6]|i|li|p|small|span|strong|t[dh]|div|label))(?=[\t\n\f\r />])"
    + _ATTRIBUTES.replace(b")*+[", b"){0,20}+[", 1)
    + rb">[^<]*+</\1>"
)
"""An element with nothing but text in it, of two in five tags, leaves no trace but one more level."""
TAG_OR_COMMENT = re.compile(
    rb"<(?:"
    + _LEAF
    + rb"|(/?+[a-zA-Z][^\t\n\f\r />]*+)("
    + _ATTRIBUTES
    + rb")>?+|"
    + _COMMENT
    + rb"|(!\[CDATA\[)|(?:[!?]|/[^a-zA-Z>])[^>]*+>?+)"
)
TAG = re.compile(rb"<([a-zA-Z][^\t\n\f\r />]*+)(" + _ATTRIBUTES + rb")")
ATTRIBUTE = re.compile(_NAME + rb"(?:" + _SPACE + rb"*+=" + _SPACE + rb"*+" + _VALUE + rb")?+")
_TAG_START = re.compile(rb"<[a-zA-Z]")
_LONG = 2 * MOST_ATTRIBUTES

_VOID = frozenset(
    b"area base br col embed hr img input link meta source track wbr frame param keygen bgsound "
    b"option optgroup colgroup rt rp head body html a nobr".split()
)
"""Elements that hold none, or end each other wherever they stand."""
_TABLE_PARTS = b"caption tbody thead tfoot tr td th".split()
_ENDING_EACH_OTHER = {
    b"p": b"p",
    b"li": b"li",
    b"dd": b"dd",
    b"dt": b"dd",
    **dict.fromkeys(_TABLE_PARTS, b"tr"),
}
"""Elements of which an open one is ended by the next of its group."""
_ENDED = {b"p": (b"p",), b"li": (b"p", b"li"), b"dd": (b"p", b"dd"), b"tr": (b"p", b"li", b"dd", b"tr")}
_FORMATTING = frozenset(b"b big code em font form i s small strike strong tt u".split())
"""Elements that their end tags take out of the stack from below others."""
_FOREIGN = frozenset({b"svg", b"math"})
_INTEGRATION = frozenset(b"foreignobject desc title annotation-xml mi mo mn ms mtext".split())
"""Elements of svg and math that hold HTML."""
_SCOPES = frozenset(b"table object marquee applet template select svg math".split())
"""Elements out of which no end tag reaches but of their own kind."""
_SPECIAL = (
    frozenset(
        b"address article aside blockquote button center details dir div dl fieldset figcaption figure "
        b"footer form frameset h1 h2 h3 h4 h5 h6 header hgroup iframe listing main menu nav noembed noframes "
        b"noscript ol plaintext pre script search section style summary textarea title ul xmp".split()
    )
    | _SCOPES
)
"""Elements that no end tag of an ordinary element reaches through (WHATWG HTML 13.2.4.2)."""
_WITH_TABLE = 4
"""Elements that a table nests: itself, a body, a row, a cell."""


def fits_a_tree(content: bytes) -> bool:
    """Whether the time of tree builders for the page is about linear.

    Args:
        content: in an encoding whose ASCII bytes are ASCII characters.
    """
    estimate = _Estimate()
    position = 0
    while position >= 0:
        position = _stretch(content, position, estimate)
    return estimate.fits


def _stretch(content: bytes, position: int, estimate: "_Estimate") -> int:
    """Read on up to the end of the next raw text; where that is, or -1 at the end of the page."""
    for step in TAG_OR_COMMENT.finditer(content, position):
        name = step[2]
        if name is None:
            if step[4] and not estimate.foreign:  # a comment
                return content.find(b">", step.end()) + 1 or -1
            if step[4]:
                estimate.distrust()
            continue
        if name[0] == 47:
            estimate.close(name[1:].lower())
            continue
        lower = name.lower()
        attributes = step[3]
        if len(attributes) > _LONG and len(ATTRIBUTE.findall(attributes)) > MOST_ATTRIBUTES:
            estimate.attributes = True
            return -1
        if lower in RAW_TEXT:
            end = end_of_raw_text(content, lower, step.end())
            if estimate.foreign:  # there it is no raw text
                estimate.add(
                    len(_TAG_START.findall(content, step.end(), end if end >= 0 else len(content))) + 1
                )
            return end
        estimate.open(lower, empty=attributes[-1:] == b"/")
        if estimate.deepest > DEEPEST:
            return -1
    return -1


class _Estimate:
    """The stack of open elements, roughly as a tree builder keeps it.

    Attributes:
        tags: start tags so far.
        deepest: most elements open at any time, too many rather than too few.
        foreign: `svg` and `math` that are open.
        attributes: a tag has too many.
    """

    def __init__(self) -> None:
        self.tags = self.deepest = self.foreign = 0
        self.attributes = False
        self._depth = self._options = 0
        self._open: list[bytes] = []
        self._trusted = True

    @property
    def fits(self) -> bool:
        """Whether nothing grew too large."""
        return (
            not self.attributes
            and self.deepest <= DEEPEST
            and self._options <= MOST_OPTIONS
            and self.tags <= MOST_TAGS
            and self.deepest * self.tags <= MOST_WALKED
        )

    def distrust(self) -> None:
        """From here on end tags may be hidden where this scan sees them: they no longer count."""
        self._trusted = False

    def add(self, elements: int) -> None:
        """Count elements that may be open for the rest of the page."""
        self._depth += elements
        self.deepest = max(self.deepest, self._depth)

    def open(self, name: bytes, *, empty: bool) -> None:
        """Take in a start tag; `empty` if it ends in a slash."""
        self.tags += 1
        self._options += name == b"option"
        # `<path/>` is empty inside svg; elsewhere the slash means nothing.
        if (self.foreign and empty) or (not self.foreign and name in _VOID):
            return
        group = _ENDING_EACH_OTHER.get(name)
        if group and not self.foreign:
            for ended in _ENDED[group]:
                if self._open and self._open[-1] == ended:
                    self._pop()
            name = group
        self._open.append(name)
        self.foreign += name in _FOREIGN
        self._depth += _WITH_TABLE if name == b"table" else 1
        if self._depth > self.deepest:
            self.deepest = self._depth

    def close(self, name: bytes) -> None:
        """Take in an end tag."""
        if not self._trusted or not self._open:
            return
        if not self.foreign:
            name = _ENDING_EACH_OTHER.get(name, name)
        if self._open[-1] == name:  # as nearly always
            self._pop()
            return
        at = len(self._open) - 1
        stops = _SPECIAL if name not in _SPECIAL and name not in _ENDED else _SCOPES
        if name in _SCOPES:
            stops = frozenset()
        elif name in _FORMATTING:
            stops = _SCOPES
        while at >= 0 and self._open[at] != name:
            here = self._open[at]
            through = here not in stops and not (here in _ENDED and stops is _SPECIAL)
            if not through or (self.foreign and here in _INTEGRATION):
                return
            at -= 1
        if at < 0:
            return
        if name in _FORMATTING:
            del self._open[at]
            self._depth -= 1
        else:
            while len(self._open) > at:
                self._pop()

    def _pop(self) -> None:
        closed = self._open.pop()
        self.foreign -= closed in _FOREIGN
        self._depth -= _WITH_TABLE if closed == b"table" else 1
