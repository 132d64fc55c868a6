"""Where in an HTML page strings stand that a script would read: scripts, data, attributes without a meaning."""

import re
from bisect import bisect_right
from collections.abc import Iterator

from gossamer.extract.html.character_references import unescape_attribute
from gossamer.extract.html.tag_grammar import (
    Tag,
    Tokens,
    attributes_of,
    end_of_attributes,
    end_of_declaration,
)
from gossamer.extract.html.tokens import end_of_raw_text
from gossamer.extract.links import Mention
from gossamer.extract.pauses import with_pauses
from gossamer.extract.scripts.strings import in_markup, in_source, in_value
from gossamer.policy.speculation.form import Where

__all__ = ["in_page"]

_SPOT = re.compile(rb"<(?:!--|[sS][cC][rR][iI][pP][tT](?=[\t\n\f\r />]))")
_VALUE = rb"[\t\n\f\r ]*+=[\t\n\f\r ]*+(?:\"([^\"]*+)\"|'([^']*+)')"
_ATTRIBUTES = (
    re.compile(rb"(on[a-zA-Z]{3,24}+)" + _VALUE),
    re.compile(rb"(data-[a-zA-Z0-9_-]++)" + _VALUE),
    re.compile(rb"(hx-get)" + _VALUE),
    re.compile(rb"(ng-src)" + _VALUE),
    re.compile(rb"<option[\t\n\f\r ]++(?:class=\"[^\"]*+\"[\t\n\f\r ]++)?+(value)" + _VALUE),
)
"""Each begins with letters of its own, which the search leaps to: one expression for all took ten times as long."""
_BEFORE_NAME = b"\t\n\f\r \"'"
_SCRIPTS = re.compile(
    r"(?:module|(?:text|application)/(?:x-)?(?:java|ecma|babel|type|live)?script(?:[;\d].*)?|text/babel|)\Z"
)
_DATA = re.compile(r"(?:application|text)/(?:[\w.-]*\+)?json(?:;.*)?\Z|importmap\Z|speculationrules\Z")
_MARKUP = re.compile(
    r"text/(?:html|template|x-[\w-]*template[\w-]*|ng-template|x-tmpl\b.*)\Z|application/x-template\Z"
)


def in_page(content: bytes, codec: str) -> Iterator[Mention]:
    """The speculative addresses of a page, in order.

    Args:
        content: in an encoding whose ASCII bytes are ASCII characters.
        codec: Python codec of the content.
    """
    starts: list[int] = []
    ends: list[int] = []
    at = 0
    while at >= 0 and (spot := _SPOT.search(content, at)) is not None:
        start, at = spot.start(), spot.end()
        if content[start + 1] == ord("!"):
            at = end_of_declaration(content, start)
        else:
            begin = end_of_attributes(content, at, Tokens())
            if begin < 0:
                break
            start, at = begin, end_of_raw_text(content, b"script", begin)
            kind = attributes_of(Tag(b"script", content[spot.end() : begin - 1]), codec).get("type", "")
            text = content[begin : at if at >= 0 else None].decode(codec, "replace")
            yield from _in_script(kind.strip().lower(), text)
        starts.append(start)
        ends.append(at if at >= 0 else len(content))
    for pattern in _ATTRIBUTES:
        for match in with_pauses(pattern.finditer(content)):
            before = bisect_right(starts, match.start()) - 1
            if before >= 0 and match.start() < ends[before]:
                continue
            if content[match.start(1) - 1] in _BEFORE_NAME:
                value = match[2] if match[2] is not None else match[3]
                text = unescape_attribute(value.decode(codec, "replace"))
                yield from in_value(match[1].decode().lower(), text)


def _in_script(kind: str, text: str) -> Iterator[Mention]:
    if _SCRIPTS.match(kind):
        yield from in_source(text, Where.SCRIPT)
    elif _DATA.match(kind):
        beginnings = "/" if kind == "importmap" else "\n"  # which an import map ends with a slash
        yield from (one for one in in_source(text, Where.DATA) if not one.address.endswith(beginnings))
    elif _MARKUP.match(kind):
        yield from in_markup(text)
