"""The encoding that an HTML document declares of itself.

Source: WHATWG HTML, 13.2.3.2 "prescan a byte stream to determine its encoding", over the first 1,024 bytes;
13.2.3.5 "changing the encoding while parsing", for what stands further on.
"""

import re

from gossamer.extract.encodings.labels import name_of_label
from gossamer.extract.html.tag_grammar import Tag
from gossamer.extract.html.tokens import tokenize

__all__ = ["late_declaration", "prescan", "xml_declaration"]

PRESCAN_BYTES = 1024
LATE_BYTES = 64 << 10
_LATE_TAGS = 4_000
_LATE = re.compile(rb"<meta[\t\n\f\r /][^>]{0,300}charset", re.IGNORECASE)

_STEP = re.compile(rb"<(?:(!--)|([mM][eE][tT][aA](?=[\t\n\f\r /]))|(/?[a-zA-Z])|[!/?])")
_ATTRIBUTE = re.compile(
    rb"[\t\n\f\r /]*+"
    rb"(=?[^\t\n\f\r /=>]*+)"
    rb"(?:[\t\n\f\r ]*+=[\t\n\f\r ]*+(?:\"([^\"]*+)\"|'([^']*+)'|([^\t\n\f\r >\"'][^\t\n\f\r >]*+)|(?=>)))?+"
)
_AFTER_NAME = re.compile(rb"[^\t\n\f\r >]*+")
_CHARSET = re.compile(
    rb"charset[\t\n\f\r ]*+=[\t\n\f\r ]*+(?:\"([^\"]*+)\"|'([^']*+)'|([^\t\n\f\r ;\"']++))", re.I
)
_XML = re.compile(rb"""<\?xml[^>]*?encoding[\t\n\r ]*+=[\t\n\r ]*+["']([^"'>]++)["']""")


def prescan(content: bytes) -> str:
    """Name of the encoding in the first usable `meta` element, or empty."""
    head = content[:PRESCAN_BYTES]
    for name, mark in (("utf-16le", b"<\0?\0x\0"), ("utf-16be", b"\0<\0?\0x")):
        if head.startswith(mark):
            return name
    position = 0
    while step := _STEP.search(head, position):
        position = step.end()
        if step[1]:
            position = head.find(b"-->", step.start() + 2)
            if position < 0:
                return ""
            position += 3
        elif step[2] or step[3]:
            if step[3]:
                position = _end_of(_AFTER_NAME.match(head, position), position)
            attributes, position = _attributes(head, position)
            if step[2] and (name := _declared(attributes)):
                return name
        else:
            position = head.find(b">", position)
            if position < 0:
                return ""
    return ""


def late_declaration(content: bytes) -> str:
    """Name of the encoding in the first usable `meta` element of a document that had none at its start.

    Browsers begin anew when they meet it. Looked for in the first 64 KiB.
    """
    head = content[:LATE_BYTES]
    if _LATE.search(head) is None:
        return ""
    for token in tokenize(head, _LATE_TAGS).found:
        if isinstance(token, bytes):
            continue
        name, source = (token.name, token.attributes) if isinstance(token, Tag) else token
        if name.lower() == b"meta" and (found := _declared(_attributes(source + b">", 0)[0])):
            return found
    return ""


def xml_declaration(content: bytes) -> str:
    """Name of the encoding in an XML declaration at the very start, or empty."""
    match = _XML.match(content[:PRESCAN_BYTES])
    return _safe(name_of_label(match[1].decode("ascii", "replace"))) if match else ""


def _attributes(head: bytes, position: int) -> tuple[dict[bytes, bytes], int]:
    found: dict[bytes, bytes] = {}
    while match := _ATTRIBUTE.match(head, position):
        position = match.end()
        if not match[1]:
            break
        found.setdefault(match[1].lower(), match[2] or match[3] or match[4] or b"")
    return found, position


def _declared(attributes: dict[bytes, bytes]) -> str:
    if b"charset" in attributes:
        return _safe(name_of_label(attributes[b"charset"].decode("ascii", "replace")))
    if attributes.get(b"http-equiv", b"").lower() == b"content-type":
        match = _CHARSET.search(attributes.get(b"content", b""))
        if match:
            label = match[1] or match[2] or match[3] or b""
            return _safe(name_of_label(label.decode("ascii", "replace")))
    return ""


def _safe(name: str) -> str:
    """A declaration that could be read byte by byte cannot stand in UTF-16 (step 15 of the algorithm)."""
    if name.startswith("utf-16"):
        return "utf-8"
    return "windows-1252" if name == "x-user-defined" else name


def _end_of(match: re.Match[bytes] | None, otherwise: int) -> int:
    return match.end() if match else otherwise
