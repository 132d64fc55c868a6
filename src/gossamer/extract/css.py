"""Addresses in style sheets: `url()` and `@import`.

Source: CSS Syntax 3, sections 4.3.4-4.3.7. Every quantifier is possessive: linear time.
"""

import re

from gossamer.extract.charset import decode
from gossamer.extract.config import ExtractConfig
from gossamer.extract.links import LinkMaker, Mention
from gossamer.model.document import Document, Findings
from gossamer.model.link import LinkKind

__all__ = ["CssExtractor", "css_addresses", "css_mentions"]

_ESCAPE = r"\\(?:[0-9a-fA-F]{1,6}+(?:\r\n|[ \t\r\n\f])?|\r\n|[\s\S])"
_DOUBLE = r'"((?:[^"\\\n\r\f]++|' + _ESCAPE + r')*+)"?'
_SINGLE = r"'((?:[^'\\\n\r\f]++|" + _ESCAPE + r")*+)'?"
_BARE = r"((?:[^\s\"'()\\]++|" + _ESCAPE + r")++)"
_TOKEN = re.compile(
    r"(?=[/uU@\"'])(?:/\*(?:[^*]++|\*(?!/))*+(?:\*/)?"
    rf"|(?<![\w-])url\(\s*+(?:{_DOUBLE}|{_SINGLE}|{_BARE}(?=\s*+(?:\)|\Z)))"
    rf"|@import\s*+(?:/\*(?:[^*]++|\*(?!/))*+\*/\s*+)*+(?:{_DOUBLE}|{_SINGLE})"
    rf"|{_DOUBLE}|{_SINGLE}"
    # A namespace is a name, though it looks like an address.
    rf"|@namespace(?![\w-])(?:[^;{{\"']++|{_DOUBLE}|{_SINGLE})*+)",
    re.IGNORECASE,
)
_ONE_ESCAPE = re.compile(_ESCAPE)
_ADDRESS_GROUPS = (1, 2, 3, 4, 5)


def css_addresses(text: str) -> list[str]:
    """The addresses in a style sheet or a `style` attribute, in order, as written but for escapes."""
    lower = text.lower()
    if "url(" not in lower and "@import" not in lower:
        return []
    groups = (match.group(*_ADDRESS_GROUPS) for match in _TOKEN.finditer(text))
    return [_unescape(address) for group in groups for address in group if address]


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
    """Links of `text/css`."""

    name = "css"
    media_types = frozenset({"text/css"})

    def __init__(self, config: ExtractConfig, links: LinkMaker) -> None:
        self._config = config
        self._links = links

    def extract(self, document: Document) -> Findings:
        """Say what the style sheet loads."""
        text = decode(document.content, document.charset)
        return Findings(links=self._links.make(css_mentions(text), document.url, "utf-8"))
