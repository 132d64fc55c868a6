"""How long an audio or video file plays, and its picture's size, where its header says so cheaply."""

import struct

from gossamer.documents.said import Dimensions

__all__ = ["play_time"]

_MOST_BOXES = 200
_FURTHEST = 64 << 10
_MP3_RATES = (0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 0)
"""Kilobits a second of MPEG-1 layer III."""


def play_time(content: bytes) -> tuple[float, Dimensions]:
    """Seconds and size; zeros for what the header does not say."""
    try:
        if content[4:8] == b"ftyp":
            return _mp4(content)
        if content.startswith(b"RIFF") and content[8:12] == b"WAVE":
            return _wave(content), Dimensions()
        if content.startswith(b"fLaC"):
            packed = int.from_bytes(content[18:26], "big")
            rate, samples = packed >> 44, packed & 0xFFFFFFFFF
            return (samples / rate if rate else 0.0), Dimensions()
        if content.startswith(b"OggS"):
            return _ogg(content), Dimensions()
        if content.startswith(b"ID3") or content[:1] == b"\xff":
            return _mp3(content), Dimensions()
    except (struct.error, IndexError, ValueError, ZeroDivisionError):
        pass
    return 0.0, Dimensions()


def _children(content: bytes, start: int, end: int) -> list[tuple[bytes, int, int]]:
    found: list[tuple[bytes, int, int]] = []
    position = start
    while position + 8 <= end and len(found) < _MOST_BOXES:
        size, name = struct.unpack_from(">I4s", content, position)
        body = position + 8
        if size == 1:
            size = struct.unpack_from(">Q", content, body)[0]
            body += 8
        if size == 0:
            size = end - position
        if size < body - position:
            break
        found.append((name, body, min(position + size, end)))
        position += size
    return found


def _mp4(content: bytes) -> tuple[float, Dimensions]:
    seconds, size = 0.0, Dimensions()
    for name, start, end in _children(content, 0, len(content)):
        if name != b"moov":
            continue
        for inner, begin, stop in _children(content, start, end):
            if inner == b"mvhd":
                wide = content[begin] == 1
                scale, length = struct.unpack_from(
                    ">IQ" if wide else ">II", content, begin + (20 if wide else 12)
                )
                seconds = length / scale if scale else 0.0
            elif inner == b"trak":
                for leaf, at, _ in _children(content, begin, stop):
                    if leaf == b"tkhd":
                        width, height = struct.unpack_from(
                            ">II", content, at + (88 if content[at] == 1 else 76)
                        )
                        size = max(
                            size, Dimensions(width >> 16, height >> 16), key=lambda s: s.width * s.height
                        )
    return seconds, size


def _wave(content: bytes) -> float:
    position, rate = 12, 0
    for _ in range(_MOST_BOXES):
        name, size = struct.unpack_from("<4sI", content, position)
        if name == b"fmt ":
            rate = struct.unpack_from("<I", content, position + 16)[0]
        elif name == b"data":
            return size / rate if rate else 0.0
        position += 8 + size + size % 2
    return 0.0


def _ogg(content: bytes) -> float:
    """The granule position of the last page, over the rate of its codec."""
    last = content.rfind(b"OggS", max(0, len(content) - _FURTHEST))
    granule = struct.unpack_from("<q", content, last + 6)[0]
    vorbis = content[:200].find(b"\x01vorbis")
    if vorbis > 0:
        rate = struct.unpack_from("<I", content, vorbis + 12)[0]
        return granule / rate if rate and granule > 0 else 0.0
    return granule / 48_000 if b"OpusHead" in content[:200] and granule > 0 else 0.0


def _mp3(content: bytes) -> float:
    """From the frame count of a Xing header, else from the rate of the first frame as if it were constant."""
    start = 0
    if content.startswith(b"ID3"):
        size = 0
        for byte in content[6:10]:
            size = size << 7 | byte & 0x7F
        start = 10 + size
    start = content.find(b"\xff", start, start + _FURTHEST)
    if start < 0 or content[start + 1] & 0xE0 != 0xE0:
        return 0.0
    version, layer = content[start + 1] >> 3 & 3, content[start + 1] >> 1 & 3
    if version != 3 or layer != 1:
        return 0.0
    rate = (44_100, 48_000, 32_000, 0)[content[start + 2] >> 2 & 3]
    info = max(content.find(b"Xing", start, start + 200), content.find(b"Info", start, start + 200))
    if info > 0 and content[info + 7] & 1 and rate:
        return float(struct.unpack_from(">I", content, info + 8)[0] * 1_152 / rate)
    kilobits = _MP3_RATES[content[start + 2] >> 4]
    return (len(content) - start) / (kilobits * 125) if kilobits else 0.0
