"""Character references of HTML: `&amp;`, `&eacute`, `&#x201C;`.

Source: WHATWG HTML, 13.2.5.72-80. The two contexts differ only in what a name without its semicolon means:
in an attribute `?a=1&copy=2` is left alone, in text it holds a copyright sign. In XML no name goes without.
"""

import re
from html.entities import html5

__all__ = ["unescape_attribute", "unescape_text", "unescape_xml"]

# The longest name has 32 characters; a longer run of letters cannot be one as a whole.
_REFERENCE = re.compile(r"&(?:#(?:[xX]([0-9a-fA-F]++)|([0-9]++));?|([a-zA-Z][a-zA-Z0-9]{0,63}+)(;?))")
_LONGEST_BARE = max(len(name) for name in html5 if not name.endswith(";"))
_REPLACEMENT = "\ufffd"


def unescape_attribute(text: str) -> str:
    """Replace the character references of an attribute's value."""
    return _REFERENCE.sub(_in_attribute, text) if "&" in text else text


def unescape_text(text: str) -> str:
    """Replace the character references of text."""
    return _REFERENCE.sub(_in_text, text) if "&" in text else text


def unescape_xml(text: str) -> str:
    """Replace the character references of XML; an ampersand that should have been one is left alone.

    Names of HTML are understood, too, for feeds have them.
    """
    return _REFERENCE.sub(_in_xml, text) if "&" in text else text


def _in_xml(match: re.Match[str]) -> str:
    name = match[3]
    if name is None:
        return _numeric(match)
    return html5.get(name + ";", match[0]) if match[4] else match[0]


def _in_attribute(match: re.Match[str]) -> str:
    name = match[3]
    if name is None:
        return _numeric(match)
    if match[4]:
        # Where a shorter name would fit (`&ampx;`) it is followed by a letter, which is not allowed here.
        return html5.get(name + ";", match[0])
    if match.string[match.end() : match.end() + 1] == "=":
        return match[0]
    return html5.get(name, match[0])


def _in_text(match: re.Match[str]) -> str:
    name = match[3]
    if name is None:
        return _numeric(match)
    if match[4] and (known := html5.get(name + ";")):
        return known
    for length in range(min(len(name), _LONGEST_BARE), 1, -1):
        if known := html5.get(name[:length]):
            return known + name[length:] + match[4]
    return match[0]


def _numeric(match: re.Match[str]) -> str:
    digits, radix = (match[1], 16) if match[1] else (match[2], 10)
    digits = digits.lstrip("0")
    if len(digits) > 7:  # beyond U+10FFFF in either radix; also keeps int() from long numbers
        return _REPLACEMENT
    code = int(digits or "0", radix)
    if 0x80 <= code <= 0x9F:
        return bytes((code,)).decode("cp1252", "replace").replace(_REPLACEMENT, chr(code))
    if code == 0 or code > 0x10FFFF or 0xD800 <= code <= 0xDFFF:
        return _REPLACEMENT
    return chr(code)
