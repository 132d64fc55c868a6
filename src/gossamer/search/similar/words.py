"""Cuts a text into words, as hashes with their offsets; scripts without spaces into characters.

All that is shown or compared as "words" elsewhere in this room is what is cut here: runs of letters, digits and
marks, compatibility forms (NFKC) and case folded, so that a ligature of a PDF and its letters are the same.
The arithmetic is numpy's, because a loop over words would cost more than everything else that is done with them.
"""

import functools
import re
import unicodedata
from collections.abc import Iterator

import msgspec
import numpy as np
from numpy.typing import NDArray

from gossamer.search.symbols import without_symbols

__all__ = ["MOST_CHARACTERS", "CutText", "Hashes", "Offsets", "origins", "words"]

Hashes = NDArray[np.uint64]
Offsets = NDArray[np.int64]

MOST_CHARACTERS = 32 << 20
"""Characters looked at of one text; extraction keeps fewer."""
_BLOCK = 1 << 18
"""Characters that are cut at a time, so that memory stays bounded."""
_LONGEST = 4_096
"""Characters of a word whose places count."""
_KNOWN = 0x40000
"""Code points that are told apart; above them only tags and private use are defined."""
_CHARACTERWISE = (
    (0x0E00, 0x0F00), (0x1000, 0x10A0), (0x1780, 0x1800), (0x3005, 0x3008), (0x3040, 0x3100), (0x31F0, 0x3200),
    (0x3400, 0x4DC0), (0x4E00, 0xA000), (0xF900, 0xFB00), (0x20000, _KNOWN),
)  # fmt: skip
"""Thai, Lao, Burmese, Khmer, kana and Han: written without spaces, so that each character is a word."""
_SOFT_HYPHEN = "\xad"
_MULTIPLIER = 0x9E3779B97F4A7C15
_FACTOR = np.uint64(_MULTIPLIER)
_SHIFT = np.uint64(29)
_PIECE = re.compile(r"\S+|\s+")


class CutText(msgspec.Struct, frozen=True):
    """The words of a text in their order.

    Attributes:
        hashes: of each word, 64 bits.
        starts, ends: offsets in the folded text (`origins` leads back to the text itself).
    """

    hashes: Hashes
    starts: Offsets
    ends: Offsets


@functools.cache
def _classes() -> NDArray[np.uint8]:
    """By code point: 0 between words, 1 within a word, 2 a word by itself."""
    kinds = np.fromiter(
        (character.isalnum() or unicodedata.category(character)[0] == "M" for character in map(chr, range(_KNOWN))),
        np.uint8,
        count=_KNOWN,
    )  # fmt: skip
    for start, end in _CHARACTERWISE:
        kinds[start:end] *= 2
    return kinds


@functools.cache
def _powers() -> Hashes:
    return np.array([pow(_MULTIPLIER, place, 2**64) for place in range(_LONGEST)], np.uint64)


def _folded(text: str) -> str:
    text = without_symbols(text)
    if text.isascii():
        return text.lower()
    return unicodedata.normalize("NFKC", text.replace(_SOFT_HYPHEN, "")).casefold()


def words(text: str) -> CutText:
    """Its words, up to `MOST_CHARACTERS`."""
    parts, base = [], 0
    for block in _blocks(text):
        folded = _folded(block)
        cut = _cut(folded)
        if cut is not None:
            hashes, starts, ends = cut
            parts.append((hashes, starts + base, ends + base))
        base += len(folded)
    if not parts:
        return CutText(np.zeros(0, np.uint64), np.zeros(0, np.int64), np.zeros(0, np.int64))
    hashes, starts, ends = (np.concatenate(found) for found in zip(*parts, strict=True))
    return CutText(hashes, starts, ends)


def _blocks(text: str) -> Iterator[str]:
    """The text in pieces that end at a blank, where there is one near."""
    at, length = 0, min(len(text), MOST_CHARACTERS)
    while at < length:
        end = min(at + _BLOCK, length)
        if end < length:
            blank = max(text.rfind(mark, end - _LONGEST, end) for mark in " \n")
            end = blank + 1 if blank > at else end
        yield text[at:end]
        at = end


def _cut(folded: str) -> tuple[Hashes, Offsets, Offsets] | None:
    """(hashes, starts, ends) of the words of one block; `None` if it has none."""
    codes = np.frombuffer(folded.encode("utf-32-le", "surrogatepass"), np.uint32)
    kinds = np.zeros(len(codes) + 2, np.uint8)  # a gap before and after
    kinds[1:-1] = _classes()[np.minimum(codes, _KNOWN - 1)]
    before, here, after = kinds[:-2], kinds[1:-1], kinds[2:]
    starts = np.flatnonzero((here > 0) & ((before != here) | (here == 2)))
    if not len(starts):
        return None
    ends = np.flatnonzero((here > 0) & ((after != here) | (here == 2))) + 1
    mixed = codes[starts[0] :] * _FACTOR
    mixed ^= mixed >> _SHIFT
    mixed *= here[starts[0] :] > 0
    places = np.arange(starts[0], len(codes)) - np.repeat(starts, np.diff(starts, append=len(codes)))
    mixed *= _powers()[np.minimum(places, _LONGEST - 1)]
    return np.add.reduceat(mixed, starts - starts[0]), starts, ends


def origins(text: str) -> Offsets:
    """For each offset in the folded text, and its end, the offset in the text itself."""
    text = text[:MOST_CHARACTERS]
    if text.isascii():
        return np.arange(len(text) + 1)
    found: list[Offsets] = []
    for match in _PIECE.finditer(text):
        piece = match.group()
        folded = _folded(piece)
        if len(folded) == len(piece):
            found.append(np.arange(match.start(), match.end()))
        else:
            found.append(match.start() + _within(piece, len(folded)))
    return np.concatenate([*found, np.array([len(text)])])


def _within(piece: str, length: int) -> Offsets:
    """The same within a piece whose folded form is of another length."""
    roughly = np.arange(length) * len(piece) // max(length, 1)
    if len(piece) > _BLOCK:
        return roughly
    starts = [at for at, character in enumerate(piece) if not at or unicodedata.category(character)[0] != "M"]
    letters = [piece[at:end] for at, end in zip(starts, [*starts[1:], len(piece)], strict=True)]
    found = np.repeat(starts, [len(_folded(letter)) for letter in letters])
    # Letters that are composed from several, as Hangul is, are not told apart.
    return found if len(found) == length else roughly
