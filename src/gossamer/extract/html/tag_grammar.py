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
    "AttributePlace",
    "Tag",
    "Token",
    "Tokens",
    "attribute_places",
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
        starts: where in the document each of `found` begins, the address of a plain link or the attributes of a
            tag; `None` unless asked for, because a crawl does not want them.
    """

    found: list[Token] = []
    fragments: bool = False
    hidden: list[tuple[int, int]] = []
    steps: int = 0
    whole: bool = True
    starts: list[int] | None = None

    def add(self, tag: Tag, start: int) -> None:
        """Take in a tag whose attributes begin at `start`."""
        self.found.append(tag)
        if self.starts is not None:
            self.starts.append(start)


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


class AttributePlace(msgspec.Struct, frozen=True, gc=False):
    """Where one attribute stands in the source of a tag's attributes.

    Attributes:
        name: lower case.
        start, end: of the whole attribute, with the blanks before it.
        value: (start, end) of its value within quotes, as it stands; empty at the end if there is none.
        quote: around it, empty if none is.
    """

    name: str
    start: int
    end: int
    value: tuple[int, int]
    quote: bytes


def attribute_places(source: bytes) -> Iterator[AttributePlace]:
    """The attributes of a tag in their order, as `attributes_of` reads them; of doubles the first counts."""
    position, names = 0, set[str]()
    while (match := _ATTRIBUTE.match(source, position)) and len(names) < MOST_ATTRIBUTES:
        name = match[1].decode("latin-1").lower()
        if name not in names:
            names.add(name)
            group = match.lastindex if match.lastindex and match.lastindex > 1 else 0
            value = match.span(group) if group else (match.end(), match.end())
            yield AttributePlace(name, position, match.end(), value, (b"", b"", b'"', b"'", b"")[group])
        position = match.end()


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
