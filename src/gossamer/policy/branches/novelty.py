"""How much of a page no page of its host has said before: the yield of a visit (W16, `policy.branches.tree`).

The text is cut into pieces of a few words, where blocks of markup end and after words that end in certain
letters, so that a word more or less changes one piece, and a list in another order says nothing new. A
page's own address counts for nothing, nor do numbers that stand in it or in the addresses it links to: the
days of a calendar are all alike then, while measurements, moves of chess and part numbers are content. Of
the pieces of a host those with certain hashes are remembered, half as many with each doubling of what it has
said, so memory grows with the logarithm.
"""

import re
from collections.abc import Iterable, Sequence
from urllib.parse import unquote_to_bytes

import msgspec
import xxhash

from gossamer.policy.branches.met import Filter, Met

LONGEST_TEXT = 96 << 10
"""Bytes of markup that are looked at."""
PICTURE = 2
"""Pieces that a picture, film or sound is worth: galleries and comics say next to nothing."""
HALF = 2.0
"""New pieces of a page, a sentence or so, that are worth half of what a page can be."""
_LONGEST_CONTENT = 512 << 10
_INLINE = re.compile(
    rb"</?+(?:t[dht]|s(?:pan|trong|u[bp]|mall|amp)?+|code|em|i(?:mg|ns)?+|b(?:ig)?+|u|q|font|time|label|abbr|cite"
    rb"|d(?:ata|fn)|kbd|mark|var|wbr)(?=[ >])[^>]*+>"
)
"""A tag, in small letters, at which no block ends."""
_TAGS = re.compile(rb"<[^>]*+>(?: *+<[^>]*+>)*+")
_SHORT = re.compile(rb"\n *+[^\n]{0,7}+(?=\n)(?:\n *+[^\n]{0,7}+(?=\n))*+")
"""Short blocks: a single figure says nothing, beside whatever it stands; a row of them does."""
_HIDDEN = re.compile(rb"<(?:script|style)(?=[\s>])")
_OWN = re.compile(rb"\d+|[a-z\x80-\xff]{2,}")
_BASIC_DATE = re.compile(rb"((?:1[5-9]|2[01])\d\d)(0[1-9]|1[0-2])([0-3]\d)?")
"""ISO 8601, without anything between year, month and day."""
_DIGITS = bytes(byte if chr(byte) in "0123456789" else ord(" ") for byte in range(256))
# Letters become small; what stands between words a space, but points and commas, for they stand in numbers.
_PLAIN = bytes(
    byte if byte >= 128 or chr(byte).islower() or chr(byte).isdigit() or chr(byte) in "\n.,"
    else byte + 32 if chr(byte).isupper()
    else ord(" ")
    for byte in range(256)
)  # fmt: skip
_STOPS = b". ", b", "
_ENDS = b"e", b"d", b"u", b"y"
_WIDE_ENDS = "\u3002".encode(), "\uff0c".encode(), "\u3001".encode()
"""A piece ends after these: in most languages some words do; in Chinese and Japanese at commas and full
stops."""
_NOTHING = xxhash.xxh3_64_intdigest(b"")
_FEW = 32
"""Words that are looked for one by one, each in a pass; where there are more, each word is looked up."""
_ROOM = 2_048
_MOST_FILTERS = 24


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
    text = _visible(content[:_LONGEST_CONTENT])
    if b"<" in text:
        text = _TAGS.sub(b"\n", _INLINE.sub(b" ", text.replace(b"\n", b" ")))
    if len(target) > 1:
        text = text.replace(target.lower().encode(), b"")
    # Whole passes over the bytes from here on, with `|` where a piece ends: whatever is done for each word
    # costs several times as much.
    text = _SHORT.sub(_row, text.translate(_PLAIN)).replace(b"\n", b" | ")
    for mark in _WIDE_ENDS:
        if mark[0] in text:  # its first byte is found at once, or not
            text = text.replace(mark, mark + b" | ")
    for stop in _STOPS:
        text = text.replace(stop, b"  ")
    words, own = text.split(), _own(target, linked)
    if len(own) > _FEW:
        left = {word: b"|" if word.endswith(_ENDS) else b"" for word in own}
        words, own = [*filter(None, map(left.get, words, words))], set()
    text = b" %b " % b" ".join(words)
    for word in own.intersection(words):
        alone = b" %b " % word
        while alone in text:
            text = text.replace(alone, b" | " if word.endswith(_ENDS) else b" ")
    for end in _ENDS:
        text = text.replace(end + b" ", end + b"|")
    found = set(map(xxhash.xxh3_64_intdigest, map(bytes.strip, text.split(b"|"))))
    found.discard(_NOTHING)
    return tuple(found)


def _own(target: str, linked: Iterable[str]) -> set[bytes]:
    """Words and numbers that say nothing: those of a page's address, and numbers of those it links to."""
    told = _OWN.findall(unquote_to_bytes(target).lower())
    date: list[bytes] = []
    for word in told:
        if word.isdigit():
            basic = _BASIC_DATE.fullmatch(word)
            date += [word] if basic is None else [part for part in basic.groups(b"") if part]
    own = {*told, *date, *" ".join(linked).encode().translate(_DIGITS).split()}
    own.update([word.lstrip(b"0") for word in own if word[:1] == b"0"])
    if len(date) > 1:  # as Germans write it, and as calendar files have it
        for numbers in (date[:3], [number.lstrip(b"0") for number in date[:3]]):
            own |= {b".".join(numbers), b".".join(numbers[::-1]), b"".join(numbers)}
    return own


def _row(short: re.Match[bytes]) -> bytes:
    """Short blocks as one; nothing of one alone."""
    words = short[0].split()
    return b"\n" + b" ".join(words) if len(words) > 1 else b""


def shown(names: Iterable[str]) -> tuple[int, ...]:
    """Hashes of the file names of pictures: not of whole addresses, which a maze of folders makes anew."""
    return tuple(xxhash.xxh3_64_intdigest(name.encode(), 1) for name in {*names} - {""})


def likeness(one: Sequence[int], other: Sequence[int]) -> float:
    """How much of what two pages say is common to both, 0 to 1; 0 if one says nothing."""
    ours, theirs = set(one), set(other)
    return len(ours & theirs) / len(ours | theirs) if ours and theirs else 0.0


def _visible(content: bytes) -> bytes:
    """As much as is looked at without scripts and styles: markup in small letters, mere text as it is."""
    small = content.lower() if b"<" in content else content
    begin = _HIDDEN.search(small)
    if begin is None and b"<" in small[:LONGEST_TEXT]:
        return small[:LONGEST_TEXT]
    shown, at = [], 0
    while begin is not None:
        shown.append(slice(at, begin.start()))
        end = b"</" + content[begin.start() + 1 : begin.end()]  # as its beginning is written
        at = content.find(end, begin.end())
        if at < 0:
            at = len(content)
        begin = _HIDDEN.search(small, at)
    shown.append(slice(at, len(content)))
    text = b"".join([small[part] for part in shown])[:LONGEST_TEXT]
    return text if b"<" in text else b"".join([content[part] for part in shown])[:LONGEST_TEXT]


class Novelty:
    """What pages of one host have said: some 3 KB for each doubling of it.

    Attributes:
        marks: of the pieces that are remembered, by their hashes.
        short: of all the pieces of pages none of whose pieces are, which have few.
    """

    __slots__ = ("marks", "short")

    def __init__(self, marks: Iterable[Filter] = (), short: Iterable[Filter] = ()) -> None:
        """As `Met.to_store` gave them."""
        self.marks = Met(first=_ROOM, growths=0, most=_MOST_FILTERS, error=0.01, stored=marks)
        self.short = Met(first=_ROOM, growths=2, most=4, error=0.01, stored=short)

    @property
    def size(self) -> int:
        """Bytes it takes in memory, roughly."""
        return self.marks.size + self.short.size

    def value(self, said: Said) -> float:
        """How much of it is new, 0 to 1; from now on it is not."""
        if said.size:
            return 1.0
        met, sampled = self.marks, max(self.marks.generation, 0)  # leading zeros of a hash that is remembered
        text, media = said.pieces, said.shown
        if sampled:
            bound = 1 << 64 - sampled
            text, media = (tuple([mark for mark in marks if mark < bound]) for marks in (text, media))
            if not text and not media:
                met, sampled, text, media = self.short, 0, said.pieces, said.shown
        new = len(met.new(text)) + PICTURE * len(met.new(media)) << sampled
        return new / (new + HALF)
