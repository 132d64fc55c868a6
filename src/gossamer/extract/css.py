"""Addresses in style sheets: `url()`, `@import` and the strings of `image-set()`.

Source: CSS Syntax 3, sections 4.3.4-4.3.7; CSS Images 4, section 2.4. Every quantifier is possessive: linear
time.
"""

import re
from collections.abc import Iterator
from functools import cache

from gossamer.extract.config import ExtractConfig
from gossamer.extract.encodings.charset import decode
from gossamer.extract.links import LinkMaker, Mention
from gossamer.model.document import Document, Findings
from gossamer.model.link import LinkKind

__all__ = ["CssExtractor", "css_addresses", "css_mentions", "css_spans"]

_ESCAPE = r"\\(?:[0-9a-fA-F]{1,6}+(?:\r\n|[ \t\r\n\f])?|\r\n|[\s\S])"
_DOUBLE = r'"((?:[^"\\\n\r\f]++|' + _ESCAPE + r')*+)"?'
_SINGLE = r"'((?:[^'\\\n\r\f]++|" + _ESCAPE + r")*+)'?"
_BLANKS = r"[\t\n\f\r ]*+"
_BARE = r"((?:[^\t\n\f\r \"'()\\]++|" + _ESCAPE + r")++)"
_COMMENT = r"/\*(?:[^*]++|\*(?!/))*+(?:\*/)?"
_URL = rf"(?<![\w-])url\({_BLANKS}(?:{_DOUBLE}|{_SINGLE}|{_BARE}(?={_BLANKS}(?:\)|\Z)))"
_OTHERS = (
    rf"{_COMMENT}|{_URL}|@import\s*+(?:{_COMMENT}\s*+)*+(?:{_DOUBLE}|{_SINGLE})|{_DOUBLE}|{_SINGLE}"
    # A namespace is a name, though it looks like an address.
    rf"|@namespace(?![\w-])(?:[^;{{\"']++|{_DOUBLE}|{_SINGLE})*+"
)
_TOKEN = re.compile(rf"(?=[/uU@\"'])(?:{_OTHERS})", re.IGNORECASE)
_ONE_ESCAPE = re.compile(_ESCAPE)
_ADDRESS_GROUPS = (1, 2, 3, 4, 5)
"""What `url()` and `@import` lead to; in an image set, `url()` and mere strings. Further groups are none."""
DEEPEST_FUNCTION = 3
"""Functions within each other in an image set; what lies deeper ends it."""


def css_addresses(text: str) -> list[str]:
    """The addresses in a style sheet or a `style` attribute, in order, as written but for escapes."""
    return [_unescape(text[start:end]) for start, end in css_spans(text)]


def css_spans(text: str) -> Iterator[tuple[int, int]]:
    """Where they stand, in order, quotes left out; none is empty, and what is there may hold escapes."""
    lower = text.lower()
    if "image-set(" in lower:
        tokens = _tokens_with_sets(text)
    elif "url(" in lower or "@import" in lower:
        tokens = ((0, match) for match in _TOKEN.finditer(text))
    else:
        return
    for before, match in tokens:
        for group in _ADDRESS_GROUPS:
            if match[group]:
                start, end = match.span(group)
                yield before + start, before + end


def _tokens_with_sets(text: str) -> Iterator[tuple[int, re.Match[str]]]:
    """The tokens of `text`, with those of image sets in their place; each with what stands before its string."""
    token, in_set = _expressions_with_sets()
    for match in token.finditer(text):
        if match["set"] is None:
            yield 0, match
        else:
            # A string of its own, because an option may stand at its very beginning.
            yield from ((match.start("set"), inner) for inner in in_set.finditer(match["set"]))


@cache
def _expressions_with_sets() -> tuple[re.Pattern[str], re.Pattern[str]]:
    """A token of a style sheet with image sets, and of such a set.

    Compiled when the first is met: they are rare, and the lookahead for their letters takes half as long
    again as `_TOKEN`.
    """
    plain = rf"[^()\"'/]++|/(?!\*)|{_COMMENT}|{_DOUBLE}|{_SINGLE}".replace("((?:", "(?:(?:")
    arguments = rf"(?:{plain})*+"
    for _ in range(DEEPEST_FUNCTION):
        arguments = rf"(?:{plain}|\({arguments}\)?)*+"
    image_set = rf"(?<![\w-])(?:-webkit-)?image-set\((?P<set>{arguments})"
    # A string that is an option is an address; others are arguments of `type()`, or mistakes.
    option = rf"(?:\A|,)\s*+(?:{_COMMENT}\s*+)*+(?:{_DOUBLE}|{_SINGLE})"
    in_set = rf"{_URL}|{option}|{_COMMENT}|{_DOUBLE}|{_SINGLE}|(?<![\w-])type\({arguments}"
    return (
        re.compile(rf"(?=[/u@\"'i-])(?:{_OTHERS}|{image_set})", re.IGNORECASE),
        re.compile(in_set, re.IGNORECASE),
    )


def css_mentions(text: str) -> list[Mention]:
    """The same as mentions of requisites."""
    return [Mention("css", LinkKind.REQUISITE, address) for address in css_addresses(text)]


def _unescape(value: str) -> str:
    return _ONE_ESCAPE.sub(_character, value) if "\\" in value else value


def _character(match: re.Match[str]) -> str:
    body = match[0][1:]
    if body[0] in "0123456789abcdefABCDEF":
        code = int(body.strip(), 16)
        return chr(code) if 0 < code <= 0x10FFFF and not 0xD800 <= code <= 0xDFFF else "\ufffd"
    return "" if body in ("\n", "\r", "\f", "\r\n") else body


class CssExtractor:
    """Links of style sheets (`text/css`)."""

    name = "css"
    media_types = frozenset({"text/css"})

    def __init__(self, config: ExtractConfig, links: LinkMaker) -> None:
        self._config = config
        self._links = links

    def extract(self, document: Document) -> Findings:
        """Say what the style sheet loads."""
        text = decode(document.content, document.charset)
        return Findings(links=self._links.make(css_mentions(text), document.url, "utf-8"))
