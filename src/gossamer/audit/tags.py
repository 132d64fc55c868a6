"""Finds tags that do not fit each other, in linear time: a tree builder mends them and says nothing.

Only what the standard calls an error without exception (WHATWG HTML 13.2.6: end tags that close nothing or close past
others), of elements whose end tags may not be left out (13.1.2.4). The stack is looked through to a bounded depth.
"""

from gossamer.extract.html.tag_grammar import TAG_NAME, Tokens, end_of_attributes, end_of_declaration
from gossamer.extract.html.tokens import RAW_TEXT, end_of_raw_text

__all__ = ["wrong_tags"]

MOST = 100
DEEPEST = 200
_STRICT = frozenset(
    b"a abbr address article aside audio b blockquote button code div dl em fieldset figcaption figure footer form"
    b" h1 h2 h3 h4 h5 h6 header i label main nav ol pre section select small span strong sub sup table u ul"
    b" video".split()
)
"""Elements that both tags are asked of."""
_FOREIGN = frozenset({b"svg", b"math"})


def wrong_tags(content: bytes) -> list[str]:
    """Tags that fit nothing, in the order of the page: `</b>` closes nothing or past others, `<div>` is never closed.

    Args:
        content: in an encoding whose ASCII bytes are ASCII characters.
    """
    found: list[str] = []
    open_: list[bytes] = []
    position, steps = 0, Tokens()
    while len(found) < MOST and (start := content.find(b"<", position)) >= 0:
        named = TAG_NAME.match(content, start)
        if named is None:
            position = end_of_declaration(content, start)
        else:
            position = end_of_attributes(content, named.end(), steps)
        if position < 0:
            return found  # what follows is hidden from every reader
        if named is None:
            continue
        name, closes = named[1].lower(), content.startswith(b"</", start)
        if name in _STRICT:
            _take(found, open_, name, closes=closes)
        elif not closes and (name in RAW_TEXT or name in _FOREIGN):
            raw = name in RAW_TEXT
            position = (
                end_of_raw_text(content, name, position) if raw else content.find(b"</" + name, position)
            )
            if position < 0:
                return found
    found += [f"<{name.decode()}>" for name in open_[:MOST]]
    return found[:MOST]


def _take(found: list[str], open_: list[bytes], name: bytes, *, closes: bool) -> None:
    if not closes:
        open_.append(name)
    elif open_ and open_[-1] == name:
        open_.pop()
    elif name in open_[-DEEPEST:]:
        at = len(open_) - 1 - open_[::-1].index(name)
        found += [f"<{one.decode()}>" for one in open_[at + 1 :]]
        del open_[at:]
    else:
        found.append(f"</{name.decode()}>")
