"""Links inside SVG and MathML, where HTML's tokenizer follows other rules.

Source: WHATWG HTML 13.2.6.5. In foreign content `script`, `style` and `title` hold markup, `<![CDATA[` is
what it says, and the start tag of an HTML element such as `div` leads out again. Within `foreignObject`,
`desc` and `title` HTML is allowed; the scan treats it as foreign still, which finds the same links.
"""

from gossamer.extract.tag_grammar import TAG_NAME, Tag, Tokens, end_of_attributes, end_of_declaration

__all__ = ["BREAKOUT", "skip_foreign"]

BREAKOUT = frozenset(
    b"b big blockquote body br center code dd div dl dt em embed h1 h2 h3 h4 h5 h6 head hr i img li listing "
    b"menu meta nobr ol p pre ruby s small span strong strike sub sup table tt u ul var".split()
)
_INTEGRATION = frozenset(b"foreignobject desc title annotation-xml mi mo mn ms mtext".split())
_WITH_LINKS = frozenset(b"a image use feimage script".split())


def skip_foreign(content: bytes, position: int, tokens: Tokens) -> int:
    """Read on behind an `svg` or `math` start tag; where HTML begins again, or -1 at the end of the file.

    Tags with links are added to `tokens.found`.
    """
    depth = 1
    integration = 0
    while True:
        tokens.steps += 1
        position = content.find(b"<", position)
        if position < 0:
            return -1
        name = TAG_NAME.match(content, position)
        if name is None:
            position = _end_of_other(content, position)
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
        elif not closing and (what in _WITH_LINKS or b"style" in attributes.lower()):
            tokens.found.append(Tag(what, attributes, foreign=True))
        position = end
        if depth == 0:
            return position


def _end_of_other(content: bytes, position: int) -> int:
    if content.startswith(b"<![CDATA[", position):
        end = content.find(b"]]>", position)
        return end + 3 if end >= 0 else -1
    return end_of_declaration(content, position)
