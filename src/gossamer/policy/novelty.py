"""How much of a page no page of its host has said before: the yield of a visit (W16, `policy.branches`).

The text is cut into pieces of a few words, where blocks of markup end and after words that end in certain
letters, so that a word more or less changes one piece, and a list in another order says nothing new. A
page's own address counts for nothing, nor do numbers that stand in it or in the addresses it links to: the
days of a calendar are all alike then, while measurements, moves of chess and part numbers are content. Of
the pieces of a host those with certain hashes are remembered, half as many with each doubling of what it has
said, so memory grows with the logarithm.
"""

import re
from collections import OrderedDict
from collections.abc import Iterable, Sequence

import msgspec
import xxhash
from rbloom import Bloom

LONGEST_TEXT = 96 << 10
"""Bytes of markup that are looked at."""
PICTURE = 2
"""Pieces that a picture, film or sound is worth: galleries and comics say next to nothing."""
HALF = 2.0
"""New pieces of a page, a sentence or so, that are worth half of what a page can be."""
_LONGEST_CONTENT = 512 << 10
_SHORT = 8
"""A block of fewer bytes goes with the next one: single figures say nothing, a row of them does."""
_INLINE = (
    rb"(?:a|abbr|b|big|cite|code|data|dfn|em|font|i|img|ins|kbd|label|mark|q|s|samp|small|span|strong|sub|sup|td|th"
    rb"|time|tt|u|var|wbr)"
)
_TAGGED = re.compile(rb"<(?:(/?" + _INLINE + rb"(?=[\s/>]))|)[^>]*+>([^<]*+)", re.IGNORECASE)
"""A tag, in group 1 if it ends no block, and the text behind it."""
_HIDDEN = re.compile(rb"<(script|style)(?=[\s>])", re.IGNORECASE)
_NUMBER = re.compile(rb"\d+(?:[-/.:,]\d+)*+")
_SEPARATOR = re.compile(rb"[-/.]")
_DIGITS = re.compile(r"\d+")
# Letters become small; what stands between words a space.
_PLAIN = bytes(
    byte if byte >= 128 or chr(byte).islower() or chr(byte).isdigit() or byte == ord("\n")
    else byte + 32 if chr(byte).isupper()
    else ord(" ")
    for byte in range(256)
)  # fmt: skip
_ENDS = tuple((letter + b" ", letter + b"\n") for letter in (b"e", b"d", b"u", b"y"))
_WIDE_ENDS = tuple((mark.encode(), mark.encode() + b"\n") for mark in ("\u3002", "\uff0c", "\u3001"))
"""A piece ends after these: in most languages some words do; in Chinese and Japanese at commas and full
stops."""
_ROOM = 2_048
_MOST_FILTERS = 24
_HOSTS = 64


class Said(msgspec.Struct, frozen=True, gc=False):
    """What a page says.

    Attributes:
        pieces: hashes of the pieces of its text, each once.
        shown: hashes of the file names of what it shows and plays.
        size: bytes of its content, if that is no text.
    """

    pieces: tuple[int, ...] = ()
    shown: tuple[int, ...] = ()
    size: int = 0


def pieces(content: bytes, target: str, linked: Iterable[str]) -> tuple[int, ...]:
    """Hashes of the pieces of text of a page.

    Args:
        content: markup, or plain text without any, in an encoding whose ASCII bytes are ASCII characters.
        target: path and query of its address.
        linked: those of the addresses that it links to.
    """
    content = _visible(content[:_LONGEST_CONTENT])[:LONGEST_TEXT]
    text = _blocks(content) if b"<" in content else content
    if len(target) > 1:
        text = text.replace(target.encode(), b"")
    text = _without_numbers(text, target, linked).translate(_PLAIN)
    for end, ended in _ENDS if text.isascii() else (*_ENDS, *_WIDE_ENDS):
        text = text.replace(end, ended)
    found = {b" ".join(piece.split()) for piece in text.split(b"\n")}
    found.discard(b"")
    return tuple(map(xxhash.xxh3_64_intdigest, found))


def shown(names: Iterable[str]) -> tuple[int, ...]:
    """Hashes of the file names of pictures: not of whole addresses, which a maze of folders makes anew."""
    return tuple(xxhash.xxh3_64_intdigest(name.encode(), 1) for name in {*names} - {""})


def likeness(one: Sequence[int], other: Sequence[int]) -> float:
    """How much of what two pages say is common to both, 0 to 1; 0 if one says nothing."""
    ours, theirs = set(one), set(other)
    return len(ours & theirs) / len(ours | theirs) if ours and theirs else 0.0


def _visible(content: bytes) -> bytes:
    """The markup without scripts and styles."""
    kept, at = [], 0
    while (begin := _HIDDEN.search(content, at)) is not None:
        kept.append(content[at : begin.start()])
        end = b"</" + begin[1]
        at = content.find(end, begin.end())
        if at < 0:
            at = len(content)
    if not kept:
        return content
    kept.append(content[at:])
    return b"".join(kept)


def _blocks(content: bytes) -> bytes:
    """The text of markup, a line for each block; what stands beside each other in a row is one."""
    lines: list[bytes] = []
    block: list[bytes] = []
    for inline, text in _TAGGED.findall(content):
        if not inline and block:
            line = b" ".join(block)
            if len(line) >= _SHORT:
                lines.append(line)
                block = []
        words = text.split()
        if words:
            block.append(b" ".join(words))
    lines.append(b" ".join(block))
    return b"\n".join(lines)


def _without_numbers(text: bytes, target: str, linked: Iterable[str]) -> bytes:
    """The text with nothing in place of the numbers, and dates of numbers, that stand in addresses."""
    found = set(_DIGITS.findall(" ".join((target, *linked))))
    if not found:
        return _NUMBER.sub(_joined, text)
    own = {number.encode() for number in found} | {number.lstrip("0").encode() for number in found}

    def masked(number: re.Match[bytes]) -> bytes:
        told = number[0]
        if told.isdigit():
            return b"0" if told in own else told
        parts = _SEPARATOR.split(told)
        # A date has three parts; two with a point between them are a fraction.
        is_date = len(parts) > 2 or b"." not in told
        return b"0" if is_date and own.issuperset(parts) else _joined(number)

    return _NUMBER.sub(masked, text)


def _joined(number: re.Match[bytes]) -> bytes:
    """A number that stays one word."""
    return number[0].translate(_JOINING)


_JOINING = bytes.maketrans(b"-/.:,", b"zzzzz")


class HostNovelty:
    """What pages of one host have said: some 3 KB for each doubling of it."""

    __slots__ = ("_filters", "_room", "_sampled")

    def __init__(self) -> None:
        self._filters = [Bloom(_ROOM, 0.01)]
        self._room = _ROOM
        self._sampled = 0  # leading zeros of a hash that is remembered

    def value(self, said: Said) -> float | None:
        """How much of it is new, 0 to 1; from now on it is not. `None` if nothing of it is remembered."""
        if said.size:
            return 1.0
        bound = 1 << 64 - self._sampled
        if (said.pieces or said.shown) and min(*said.pieces, *said.shown, bound) == bound:
            return None
        new = self._new(said.pieces) + PICTURE * self._new(said.shown)
        return new / (new + HALF)

    def _new(self, marks: Iterable[int]) -> int:
        bound = 1 << 64 - self._sampled
        filters, last = self._filters, self._filters[-1]
        new = 0
        for mark in marks:
            if mark < bound and not any(mark in known for known in filters):
                last.add(mark)
                new += 1
        self._room -= new
        estimated = new << self._sampled
        if self._room <= 0:
            self._room = _ROOM
            self._sampled += 1
            filters.append(Bloom(_ROOM, 0.01))
            del filters[:-_MOST_FILTERS]
        return estimated


class Novelty:
    """What hosts have said, those of them that were asked for last."""

    def __init__(self, hosts: int = _HOSTS) -> None:
        self._most = hosts
        self._hosts: OrderedDict[bytes, HostNovelty] = OrderedDict()

    def of(self, host: bytes) -> HostNovelty:
        """What a host has said; nothing if it is new, or forgotten."""
        known = self._hosts.get(host)
        if known is None:
            known = self._hosts[host] = HostNovelty()
            if len(self._hosts) > self._most:
                self._hosts.popitem(last=False)
        self._hosts.move_to_end(host)
        return known
