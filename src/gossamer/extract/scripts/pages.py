"""Where in an HTML page strings stand that a script would read: scripts, data, attributes without a meaning."""

import re
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
from gossamer.extract.scripts.strings import in_markup, in_source, in_value
from gossamer.policy.speculation.form import Where

__all__ = ["in_page"]

_SPOT = re.compile(
    rb"<(?:(!--)|(script)(?=[\t\n\f\r />]))"
    rb"|[\t\n\f\r \"'](on[a-z]++|data-[a-z0-9_-]++|hx-get|ng-src|value)[\t\n\f\r ]*+=[\t\n\f\r ]*+"
    rb"(?:\"([^\"]*+)\"|'([^']*+)')",
    re.IGNORECASE,
)
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
    at = 0
    while at >= 0 and (spot := _SPOT.search(content, at)) is not None:
        at = spot.end()
        if spot[1]:
            at = end_of_declaration(content, spot.start())
        elif spot[2]:
            begin = end_of_attributes(content, at, Tokens())
            if begin < 0:
                return
            tag = content[at - 1 : begin]
            for within in _SPOT.finditer(tag):
                if within[3]:
                    yield from _in_attribute(within, codec)
            at = end_of_raw_text(content, b"script", begin)
            kind = attributes_of(Tag(b"script", tag[1:-1]), codec).get("type", "")
            text = content[begin : at if at >= 0 else None].decode(codec, "replace")
            yield from _in_script(kind.strip().lower(), text)
        else:
            yield from _in_attribute(spot, codec)
            at -= 1  # its last quote may stand right before the next name


def _in_attribute(spot: re.Match[bytes], codec: str) -> Iterator[Mention]:
    value = spot[4] if spot[4] is not None else spot[5]
    return in_value(spot[3].decode().lower(), unescape_attribute(value.decode(codec, "replace")))


def _in_script(kind: str, text: str) -> Iterator[Mention]:
    if _SCRIPTS.match(kind):
        yield from in_source(text, Where.SCRIPT)
    elif _DATA.match(kind):
        beginnings = "/" if kind == "importmap" else "\n"  # which an import map ends with a slash
        yield from (one for one in in_source(text, Where.DATA) if not one.address.endswith(beginnings))
    elif _MARKUP.match(kind):
        yield from in_markup(text)
