"""How a tag is spelled, and what a scan of tags gives.

Source: the tag and attribute states of WHATWG HTML 13.2.5, over bytes. Quantifiers are possessive: linear
time.
"""

import re
from collections.abc import Iterator

import msgspec

from gossamer.extract.html.character_references import unescape_attribute

__all__ = [
    "SPACE",
    "TAG_NAME",
    "Tag",
    "Token",
    "Tokens",
    "attribute_spans",
    "attributes_of",
    "end_of_attributes",
    "end_of_declaration",
    "may_style_lead",
]

SPACE = rb"[\t\n\f\r ]"
TAG_NAME = re.compile(rb"</?+([a-zA-Z][^\t\n\f\r />]*+)")

_NAME = rb"=[^\t\n\f\r />=]*+|[^\t\n\f\r />=]++"
_BEFORE_VALUE = SPACE + rb"*+=" + SPACE + rb"*+"
_BARE_VALUE = rb"[^\t\n\f\r >\"'][^\t\n\f\r >]*+"
_SKIP_ATTRIBUTES = re.compile(
    # At most so many attributes in one step: the interpreter lock is held during a step.
    # Where `=` follows a name a value must, or else a quotation without end would be read as more names.
    rb"(?:[\t\n\f\r /]*+(?:" + _NAME + rb")"
    rb"(?:" + _BEFORE_VALUE + rb"(?:\"[^\"]*+\"|'[^']*+'|" + _BARE_VALUE + rb"|(?=>))"
    rb"|(?!" + SPACE + rb"*+=))){0,1000}+"
)
_TAG_END = re.compile(rb"[\t\n\f\r /]*+>")
_ATTRIBUTE = re.compile(
    rb"[\t\n\f\r /]*+(" + _NAME + rb")"
    rb"(?:" + _BEFORE_VALUE + rb"(?:\"([^\"]*+)\"|'([^']*+)'|(" + _BARE_VALUE + rb")|\Z))?+"
)
_COMMENT_END = re.compile(rb"--!?>")

MOST_ATTRIBUTES = 200
"""Attributes of one tag that are looked at."""


class Tag(msgspec.Struct, frozen=True, gc=False):
    """A start tag.

    Attributes:
        name: lower case.
        attributes: the source between name and `>`.
        content: of `title` and `style`, up to the end tag; empty for others.
        foreign: stands inside `svg` or `math`.
    """

    name: bytes
    attributes: bytes
    content: bytes = b""
    foreign: bool = False


Token = bytes | tuple[bytes, bytes] | Tag
"""What a scan hands out: of a plain `<a href="...">` only the address as it stands, of other simple tags
name and
attributes, of the rest a `Tag`. Two in three are of the first sort, nearly all others of the second."""


class Tokens(msgspec.Struct):
    """What a scan found.

    Attributes:
        found: in document order.
        fragments: there are links into the document itself.
        hidden: stretches (start, end) of scripts, styles and other raw text, in order.
        steps: turns of all loops, the scan's own measure of its work.
        whole: false if the scan ended at its limit.
    """

    found: list[Token] = []
    fragments: bool = False
    hidden: list[tuple[int, int]] = []
    steps: int = 0
    whole: bool = True


def end_of_attributes(content: bytes, position: int, tokens: Tokens) -> int:
    """Position behind the `>` of the tag whose name ends at `position`; -1 if there is none."""
    while True:
        tokens.steps += 1
        run = _SKIP_ATTRIBUTES.match(content, position)
        assert run is not None  # it matches the empty string
        end = _TAG_END.match(content, run.end())
        if end:
            return end.end()
        if run.end() == position:
            return -1
        position = run.end()


def end_of_declaration(content: bytes, position: int) -> int:
    """Where a comment, doctype or other `<` without a name ends; -1 if it never does."""
    if content.startswith(b"<!--", position):
        if content.startswith(b">", position + 4):
            return position + 5
        if content.startswith(b"->", position + 4):
            return position + 6
        end = _COMMENT_END.search(content, position + 4)
        return end.end() if end else -1
    if content[position + 1 : position + 2] in (b"!", b"?", b"/"):
        return content.find(b">", position) + 1 or -1
    return position + 1


def may_style_lead(attributes: bytes) -> bool:
    """Whether a `style` among `attributes` may hold an address: most do not, and drawings have thousands.

    In CSS each has `url(` or `@`, and in HTML these may be spelled by character references.
    """
    lower = attributes.lower()
    return b"style" in lower and (b"url(" in lower or b"&" in lower or b"@" in lower)


def attributes_of(tag: Tag, codec: str) -> dict[str, str]:
    """The attributes by lower-case name, character references replaced; of doubles the first counts."""
    found: dict[str, str] = {}
    source = tag.attributes
    position = 0
    while (match := _ATTRIBUTE.match(source, position)) and len(found) < MOST_ATTRIBUTES:
        position = match.end()
        name, double, single, bare = match.groups()
        key = name.decode("latin-1").lower()
        if key not in found:
            value = double or single or bare
            found[key] = unescape_attribute(value.decode(codec, "replace")) if value else ""
    return found


def attribute_spans(content: bytes, start: int, end: int) -> Iterator[tuple[bytes, int, int]]:
    """Where the values of a tag's attributes stand: (name in lower case, start, end), quotes left out.

    At most `MOST_ATTRIBUTES`; one without a value stands behind its name, with nothing in it.

    Args:
        content: the document.
        start, end: where the attributes stand in it, as a scan of tags tells.
    """
    position, source = 0, content[start:end]
    for _ in range(MOST_ATTRIBUTES):
        match = _ATTRIBUTE.match(source, position)
        if match is None:
            return
        position = match.end()
        group = match.lastindex or 1
        first, last = match.span(group) if group > 1 else (match.end(1), match.end(1))
        yield match[1].lower(), start + first, start + last
