"""Links inside SVG and MathML, where HTML's tokenizer follows other rules.

Source: WHATWG HTML 13.2.6.5. In foreign content `script`, `style` and `title` hold markup, `<![CDATA[` is
what it says, and the start tag of an HTML element such as `div` leads out again. Within `foreignObject`,
`desc` and `title` HTML is allowed; its elements with links are taken for what they are, all else in there
for foreign still.
"""

import re

from gossamer.extract.html.tag_grammar import (
    SPACE,
    TAG_NAME,
    Tag,
    Tokens,
    end_of_attributes,
    end_of_declaration,
    may_style_lead,
)

__all__ = ["BREAKOUT", "end_of_other", "skip_foreign"]

BREAKOUT = frozenset(
    b"b big blockquote body br center code dd div dl dt em embed h1 h2 h3 h4 h5 h6 head hr i img li listing "
    b"menu meta nobr ol p pre ruby s small span strong strike sub sup table tt u ul var".split()
)
_INTEGRATION = frozenset(b"foreignobject desc title annotation-xml mi mo mn ms mtext".split())
_WITH_LINKS = frozenset(b"a image use feimage script".split())
_HTML_WITH_LINKS = frozenset(
    b"area audio embed form frame iframe img input link object source track video".split()
)

_SHAPE = rb"(?:path|polygon|g|text|tspan|rect|circle|line|polyline|ellipse|defs|marker)"
"""The commonest elements without links; any other would do no harm here but the sets above."""
_HARMLESS_STYLE = rb"[^\"(&@]*+(?:(?<![lL])\([^\"(&@]*+)*+"
"""A value without what `may_style_lead` looks for."""
_HARMLESS = rb"[a-rt-zA-RT-Z][a-zA-Z0-9:_-]*+=\"[^\"]*+\"|s[a-z-]*+=\"" + _HARMLESS_STYLE + rb"\""
_ATTRIBUTES = rb"(?:" + SPACE + rb"++(?:" + _HARMLESS + rb"))*+"
_shapes = re.compile(
    # At most so many tags in one step: the interpreter lock is held during a step.
    rb"(?:[^<]*+<(?:/" + _SHAPE + rb">|" + _SHAPE + _ATTRIBUTES + SPACE + rb"*+/?+>)){0,1000}+"
).match
"""Runs over shapes, of which a drawing has thousands; matches at any position, if only the empty string."""


def skip_foreign(content: bytes, position: int, tokens: Tokens) -> int:
    """Read on behind an `svg` or `math` start tag; where HTML begins again, or -1 at the end of the file.

    Tags with links are added to `tokens.found`.
    """
    depth = 1
    integration = 0
    while True:
        tokens.steps += 1
        shapes = _shapes(content, position)
        assert shapes is not None
        position = content.find(b"<", shapes.end())
        if position < 0:
            return -1
        name = TAG_NAME.match(content, position)
        if name is None:
            position = end_of_other(content, position)
            if position < 0:
                return -1
            continue
        what = name[1].lower()
        closing = content[position + 1] == 47
        if not closing and what in BREAKOUT and not integration:
            return position
        end = end_of_attributes(content, name.end(), tokens)
        if end < 0:
            return -1
        attributes = content[name.end() : end - 1]
        step = 0 if attributes.endswith(b"/") else -1 if closing else 1
        if what == b"svg" or what == b"math":
            depth += step
        elif what in _INTEGRATION:
            integration = max(0, integration + step)
        elif not closing:
            if what in _WITH_LINKS or may_style_lead(attributes):
                tokens.add(Tag(what, attributes, foreign=True), name.end())
            elif integration and what in _HTML_WITH_LINKS:
                tokens.add(Tag(what, attributes), name.end())
            elif what == b"style":
                tokens.add(Tag(what, attributes, _first_text(content, end), foreign=True), name.end())
        position = end
        if depth == 0:
            return position


def _first_text(content: bytes, position: int) -> bytes:
    """What stands between `position` and the next tag; a CDATA section is text, too."""
    end = position
    while (end := content.find(b"<", end)) >= 0 and content.startswith(b"<![CDATA[", end):
        end = content.find(b"]]>", end)
    return content[position : end if end >= 0 else len(content)]


def end_of_other(content: bytes, position: int) -> int:
    """Where a `<` without a name ends that may begin a CDATA section; -1 if it never does."""
    if content.startswith(b"<![CDATA[", position):
        end = content.find(b"]]>", position)
        return end + 3 if end >= 0 else -1
    return end_of_declaration(content, position)
