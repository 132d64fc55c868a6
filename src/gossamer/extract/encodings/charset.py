"""The encoding of a document, decided as browsers decide it.

Source: WHATWG Encoding and HTML 13.2.3: byte-order mark, Content-Type, the document's own declaration,
detection. Deviations: valid UTF-8 is taken for UTF-8 before anything is guessed.
"""

import codecs
import re
from collections.abc import Callable
from typing import TYPE_CHECKING

from gossamer.extract.encodings.labels import CODECS, name_of_label
from gossamer.extract.encodings.prescan import late_declaration, prescan, xml_declaration

if TYPE_CHECKING:
    from chardetng_py import EncodingDetector

__all__ = ["charset_of", "charset_parameter", "codec_of", "declared_charset", "decode"]

_PARAMETER = re.compile(r""";\s*charset\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s;"']+))""", re.IGNORECASE)
_MARKS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_BE, "utf-16be"), (codecs.BOM_UTF16_LE, "utf-16le"))
_DOMAIN = re.compile(r"[a-z][a-z0-9-]*")
_SAMPLE = 128 << 10
"""Bytes that are looked at where nothing is declared."""
_SIGN = re.compile(rb"(?<![A-Za-z\x80-\xff])[\xa1-\xbf](?![A-Za-z\x80-\xff])")
"""What stands alone is no letter, as \xa3 would be in Polish, but a sign, as in English: it says nothing."""
_RIGHT_FOR_WRONG = 20
_HARDLY_USED, _WESTERN = "iso-8859-4", b"us"
"""What looks like this encoding of the North, which the web never wrote, is Western with a letter or two."""
_PIECE = 256 << 10
_PRIVATE_USE = {code: 0xF700 + code for code in range(0x80, 0x100)}
_ASCII_SAMPLE = 64 << 10


def charset_of(content: bytes, content_type: str, media_type: str, domain: str = "") -> str:
    """WHATWG name of the encoding, lower case.

    Args:
        content: content codings undone; a cut sequence at its end does no harm.
        content_type: as `declared_type` gives it, may be empty.
        media_type: the essence decided by `media_type`; tells where a document may declare its encoding.
        domain: the top-level domain it came from, as in an address; a hint where nothing is declared.
    """
    return declared_charset(content, content_type, media_type) or _detected(content, domain)


def declared_charset(content: bytes, content_type: str, media_type: str) -> str:
    """The encoding that the document or its server names; empty if it has to be guessed. As `charset_of`."""
    for mark, name in _MARKS:
        if content.startswith(mark):
            return name
    if content_type and (label := charset_parameter(content_type)):
        name = name_of_label(label)
        if name:
            return name
    return _declared(content, media_type)


def charset_parameter(content_type: str) -> str:
    """The label in the value of a Content-Type header, as written; empty if there is none."""
    match = _PARAMETER.search(content_type[:1024])
    return (match[1] or match[2] or match[3] or "") if match else ""


def codec_of(charset: str) -> str:
    """The Python codec for an encoding's name; windows-1252 for an unknown one."""
    return CODECS.get(charset, "cp1252")


def decode(content: bytes, charset: str) -> str:
    """The text of `content`, without its byte-order mark; what cannot be read becomes U+FFFD. Never raises.

    Reads piece by piece, so that no single step holds the interpreter for long.
    """
    codec = codec_of(charset)
    for mark, name in _MARKS:
        if name == charset and content.startswith(mark):
            content = content[len(mark) :]
    if len(content) <= _PIECE:
        text = content.decode(codec, "replace")
    else:
        decoder = codecs.getincrementaldecoder(codec)("replace")
        pieces = [decoder.decode(content[at : at + _PIECE]) for at in range(0, len(content), _PIECE)]
        pieces.append(decoder.decode(b"", final=True))
        text = "".join(pieces)
    return text.translate(_PRIVATE_USE) if charset == "x-user-defined" else text


def _declared(content: bytes, media_type: str) -> str:
    if media_type == "text/html":
        early = prescan(content) or xml_declaration(content)
        return early if early or content.isascii() else late_declaration(content)
    if media_type == "text/css":
        return _css_declaration(content)
    if media_type.endswith("xml"):
        return (
            xml_declaration(content) or _utf16_by_shape(content) or ("utf-8" if _valid_utf8(content) else "")
        )
    if media_type.endswith("json"):
        return _utf16_by_shape(content) or "utf-8"
    return ""


def _css_declaration(content: bytes) -> str:
    if not content.startswith(b'@charset "'):
        return ""
    label, found, _ = content[10:1024].partition(b'";')
    name = name_of_label(label.decode("ascii", "replace")) if found else ""
    return "utf-8" if name.startswith("utf-16") else name


def _utf16_by_shape(content: bytes) -> str:
    """XML 1.0 appendix F, RFC 4627 section 3: the first character is ASCII."""
    if content[:2] == b"<\x00" or content[:2] == b"{\x00":
        return "utf-16le"
    if content[:2] == b"\x00<" or content[:2] == b"\x00{":
        return "utf-16be"
    return ""


def _detected(content: bytes, domain: str) -> str:
    if _valid_utf8(content) or _damaged_utf8(content[:_SAMPLE]):
        return "utf-8"
    from chardetng_py import EncodingDetector  # 20 ms that most crawls never need

    detector = EncodingDetector()
    detector.feed(_SIGN.sub(b" ", content[:_SAMPLE]), last=len(content) <= _SAMPLE)
    name = _guess(detector, domain.encode() if _DOMAIN.fullmatch(domain) else None)
    return _guess(detector, _WESTERN) if name == _HARDLY_USED else name


def _guess(detector: "EncodingDetector", domain: bytes | None) -> str:
    # It says the names of WHATWG, but for Thai that of Python's codec.
    return name_of_label(detector.guess(tld=domain, allow_utf8=False)) or "windows-874"


def _damaged_utf8(sample: bytes) -> bool:
    """Whether hardly a byte of it is not UTF-8: of other encodings hardly a byte is."""
    text = sample.decode("utf-8", "replace")
    wrong = text.count("\ufffd")
    return len(text) - len(text.encode("ascii", "ignore")) > _RIGHT_FOR_WRONG * wrong


def _valid_utf8(content: bytes) -> bool:
    """Whether all is UTF-8, up to a sequence cut at the end. ASCII counts."""
    if content.isascii():
        return not _stateful(content)
    check: Callable[..., object] = codecs.utf_8_decode
    try:
        check(content, "strict", False)
    except UnicodeDecodeError:
        return False
    return True


def _stateful(content: bytes) -> bool:
    """ISO-2022-JP is all ASCII bytes, but no ASCII text holds its escapes."""
    sample = content[:_ASCII_SAMPLE]
    return b"\x1b$B" in sample or b"\x1b$@" in sample
