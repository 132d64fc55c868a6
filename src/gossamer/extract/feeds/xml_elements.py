"""A lenient, linear walk over XML that may be broken: elements with their attributes and first text.

Entities of a document type are never expanded, namespaces are taken for mere prefixes, nothing need be
closed.
"""

import re
from collections.abc import Iterator

import msgspec

from gossamer.extract.html.character_references import unescape_xml
from gossamer.extract.pauses import with_pauses

__all__ = ["Element", "elements"]

_START = re.compile(r"<(?:(!--)|(!\[CDATA\[)|([A-Za-z_][^\s/>]*+)((?:[^>\"']++|\"[^\"]*+\"|'[^']*+')*+)(>?))")
_ATTRIBUTE = re.compile(r"([^\s=/\"'>]++)\s*+=\s*+(?:\"([^\"]*+)\"|'([^']*+)')")

_ENTITY = re.compile(r"&[A-Za-z_][\w.-]*;")


class Element(msgspec.Struct, frozen=True, gc=False):
    """A start tag and the text up to the next tag.

    Attributes:
        prefix, name: of the tag, as written.
        source: its attributes, as written.
        text: references replaced, CDATA included, comments left out, white space stripped.
    """

    prefix: str
    name: str
    source: str
    text: str

    @property
    def address(self) -> str:
        """The text as an address; empty if it holds an entity, whose text only the document type knew."""
        return "" if _ENTITY.search(self.text) else self.text

    def attributes(self) -> dict[str, str]:
        """The attributes by name, references replaced."""
        found: dict[str, str] = {}
        for match in _ATTRIBUTE.finditer(self.source[:4096]):
            found.setdefault(match[1], unescape_xml(match[2] or match[3] or ""))
        return found


def elements(text: str) -> Iterator[Element]:
    """Every start tag in order; ends at what is unterminated."""
    return iter(with_pauses(_elements(text)))


def _elements(text: str) -> Iterator[Element]:
    position = 0
    while match := _START.search(text, position):
        position = match.end()
        if match[1]:
            position = _behind(text, "-->", position)
        elif match[2]:
            position = _behind(text, "]]>", position)
        else:
            if not match[5]:
                return
            prefix, _, name = match[3].rpartition(":")
            body, position = _text(text, position) if not match[4].endswith("/") else ("", position)
            yield Element(prefix, name, match[4], body)
        if position < 0:
            return


def _text(text: str, position: int) -> tuple[str, int]:
    """What stands from `position` up to the next tag, without comments, and where that is."""
    parts = []
    while True:
        end = text.find("<", position)
        if end < 0:
            return "", len(text)  # cut: an address without its end is another address
        if end > position:
            parts.append(unescape_xml(text[position:end]))
        if text.startswith("<!--", end):
            position = _behind(text, "-->", end + 4)
            if position < 0:
                return "", len(text)
            continue
        if not text.startswith("<![CDATA[", end):
            return "".join(parts).strip(), end
        close = text.find("]]>", end)
        if close < 0:
            return "", len(text)
        parts.append(text[end + 9 : close])
        position = close + 3


def _behind(text: str, mark: str, position: int) -> int:
    end = text.find(mark, position)
    return end + len(mark) if end >= 0 else -1
