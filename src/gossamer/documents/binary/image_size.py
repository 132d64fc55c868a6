"""Width and height of an image file from its header, without decoding a pixel."""

import re
import struct

from gossamer.documents.said import Dimensions

__all__ = ["image_size"]

_SVG = re.compile(rb"<svg\b((?:\"[^\"]*+\"|'[^']*+'|[^>\"'])*+)>")
_SVG_LENGTH = re.compile(rb"(?<![\w-])(width|height)\s*=\s*[\"']\s*([0-9.]{1,12})\s*(?:px|pt)?\s*[\"']")
_VIEW_BOX = re.compile(
    rb"viewBox\s*=\s*[\"']\s*[-0-9.e]+[\s,]+[-0-9.e]+[\s,]+([0-9.]{1,12})[\s,]+([0-9.]{1,12})\s*[\"']"
)
_MOST_SEGMENTS = 1_000
_HEAD = 256 << 10
_STANDALONE = frozenset({0x01, *range(0xD0, 0xD9)})
_NO_FRAME = frozenset({0xC4, 0xC8, 0xCC})


def image_size(content: bytes, media_type: str) -> Dimensions:
    """The size that the file's header gives; zero for what cannot be read."""
    head = content[:_HEAD]
    try:
        if head.startswith(b"\x89PNG"):
            return (
                Dimensions(*struct.unpack_from(">II", head, 16)) if head[12:16] == b"IHDR" else Dimensions()
            )
        if head.startswith(b"GIF8"):
            return Dimensions(*struct.unpack_from("<HH", head, 6))
        if head.startswith(b"\xff\xd8"):
            return _jpeg(content)
        if head[8:12] == b"WEBP":
            return _webp(head)
        if head[4:8] == b"ftyp":
            return _boxes(head)
        if head.startswith(b"BM"):
            width, height = struct.unpack_from("<ii", head, 18)
            return Dimensions(abs(width), abs(height))
        if media_type == "image/svg+xml":
            return _svg(head)
    except (struct.error, IndexError, ValueError):
        pass
    return Dimensions()


def _jpeg(content: bytes) -> Dimensions:
    """The frame header stands behind segments of any length, such as a preview or a colour profile."""
    position = 2
    for _ in range(_MOST_SEGMENTS):
        position = content.find(b"\xff", position)
        if position < 0:
            break
        marker = content[position + 1]
        if marker == 0xFF or marker == 0 or marker in _STANDALONE:
            position += 1
            continue
        if 0xC0 <= marker <= 0xCF and marker not in _NO_FRAME:
            height, width = struct.unpack_from(">HH", content, position + 5)
            return Dimensions(width, height)
        if marker == 0xDA:
            break
        position += 2 + struct.unpack_from(">H", content, position + 2)[0]
    return Dimensions()


def _webp(head: bytes) -> Dimensions:
    if head[12:16] == b"VP8X":
        return Dimensions(
            1 + int.from_bytes(head[24:27], "little"), 1 + int.from_bytes(head[27:30], "little")
        )
    if head[12:16] == b"VP8L":
        bits = struct.unpack_from("<I", head, 21)[0]
        return Dimensions(1 + (bits & 0x3FFF), 1 + (bits >> 14 & 0x3FFF))
    width, height = struct.unpack_from("<HH", head, 26)
    return Dimensions(width & 0x3FFF, height & 0x3FFF)


def _boxes(head: bytes) -> Dimensions:
    """AVIF, HEIC: the largest `ispe` property is of the whole image, others of its tiles and preview."""
    found = [Dimensions()]
    position = head.find(b"ispe")
    while position > 0 and len(found) < _MOST_SEGMENTS:
        found.append(Dimensions(*struct.unpack_from(">II", head, position + 8)))
        position = head.find(b"ispe", position + 4)
    return max(found, key=lambda size: size.width * size.height)


def _svg(head: bytes) -> Dimensions:
    tag = _SVG.search(head)
    if tag is None:
        return Dimensions()
    sizes = {name: float(value) for name, value in _SVG_LENGTH.findall(tag[1])}
    if len(sizes) == 2:
        return Dimensions(round(sizes[b"width"]), round(sizes[b"height"]))
    box = _VIEW_BOX.search(tag[1])
    return Dimensions(round(float(box[1])), round(float(box[2]))) if box else Dimensions()
