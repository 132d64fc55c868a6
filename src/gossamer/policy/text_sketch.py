"""Sketches texts so that those which differ by numbers, dates or a word are seen to be alike.

The text is cut into pieces of a few words where the markup and the words themselves say (content-defined
chunking), so a word more or less changes one piece or two, and a list with its entries in another order says
nothing new. Digits and the names of months and days count for nothing: a calendar says the same on every
page.
"""

import re
from array import array
from collections import OrderedDict
from collections.abc import Iterable, Sequence

import msgspec
import xxhash

MOST_PIECES = 128
LONGEST_MARKUP = 128 << 10
"""Bytes of markup that are looked at."""

MOST_WORDS = 400

LEAST_GIST = 200
"""Characters of text that a page must have to be told from others by their number."""

_LONGEST_PAGE = 512 << 10
"""Bytes of a page in which scripts and styles are looked for; `LONGEST_MARKUP` of the rest is read."""
_MOST_TEXT = 3 << 10
"""Bytes of text of a page that are sketched: some `MOST_WORDS`."""
_LONGEST_RUN = 512
"""Bytes of each stretch of it without markup that count, so that no notice of law stands for all of it."""
_COMPARED = 64
_SLOTS = 1 << 15
_GISTS = 1 << 18
_HOSTS = 64
_GAP = b" \xff "
"""Stands between texts that markup separates; no word of UTF-8 has it."""
_CODE = re.compile(rb"</?(?:script|style)")
_TEXT = re.compile(rb">[\t\n\f\r ]*+([^<]++)")
_LONG_TEXT = re.compile(rb">[\t\n\f\r ]*+([^<]{32,}+)")
_LONG_PAGE = 8 << 10
"""Bytes of markup from which it is worth looking for long stretches first: there are ten times fewer."""
# Letters become small, digits and whatever stands between words a space.
_PLAIN = bytes(
    byte if byte >= 128 or chr(byte).islower()
    else byte + 32 if chr(byte).isupper()
    else ord(" ")
    for byte in range(256)
)  # fmt: skip
_DATE_WORDS = frozenset(
    b"january february march april may june july august september october november december jan feb mar apr"
    b" jun jul aug sep sept oct nov dec monday tuesday wednesday thursday friday saturday sunday mon tue wed"
    b" thu fri sat sun am pm today tomorrow yesterday januar februar mai juni juli oktober dezember montag"
    b" dienstag mittwoch donnerstag freitag samstag sonntag janvier mars avril juin juillet septembre octobre"
    b" lundi mardi mercredi jeudi vendredi samedi dimanche enero febrero marzo abril mayo junio julio agosto"
    b" lunes martes jueves viernes domingo".split()
)
# A piece ends after a word that ends in one of these letters, as in most languages some of the words do; in
# Chinese and Japanese at the comma and the full stop.
_PIECE_ENDS = (
    *((letter + b" ", letter + b"\n") for letter in (b"e", b"d", b"u", b"y")),
    *((mark.encode(), mark.encode() + b"\n") for mark in ("\u3002", "\uff0c", "\u3001")),
)


class Sketch(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """What a page says, in 32-bit marks.

    Attributes:
        length: bytes of text that counted.
        whole: 64 bits of all of it.
        pieces: hashes of at most `MOST_PIECES` pieces, as they follow one another.
        lengths: bytes of each.
    """

    length: int = 0
    whole: int = 0
    pieces: tuple[int, ...] = ()
    lengths: tuple[int, ...] = ()


def sketch(content: bytes, hidden: Sequence[tuple[int, int]] = ()) -> Sketch:
    """Sketch markup, or plain text without any; `hidden` are stretches that are not shown (scripts).

    Never takes more than 1 ms.
    """
    content = content[:LONGEST_MARKUP]
    if hidden:
        content = _shown(content, hidden)
    return _sketch(_GAP.join(_TEXT.findall(content)) if b"<" in content else content)


def _sketch(found: bytes) -> Sketch:
    words = found.translate(_PLAIN).split(None, MOST_WORDS)[:MOST_WORDS]
    if not _DATE_WORDS.isdisjoint(words):
        words = [word for word in words if word not in _DATE_WORDS]
    words.append(b"")
    text = b" ".join(words)
    cut = text.replace(_GAP[1:], b"\n")
    # A regular expression takes twice as long.
    for end, ended in _PIECE_ENDS[:4] if cut.isascii() else _PIECE_ENDS:
        cut = cut.replace(end, ended)
    pieces = list(filter(None, cut.split(b"\n")))[:MOST_PIECES]
    if not pieces:
        return Sketch()
    marks, lengths = tuple(map(xxhash.xxh32_intdigest, pieces)), tuple(map(len, pieces))
    return Sketch(sum(lengths), xxhash.xxh3_64_intdigest(text), marks, lengths)


def page_sketch(content: bytes) -> Sketch:
    """Sketch HTML without scripts and styles, which are the same on every page; of much text the longest.

    Where its article stands nobody knows: menus and feet may be longer. But they are made of short stretches
    of text. Takes 0.2 ms for a page of 25 KB, some ms for the longest. Rough, for capitals are not looked
    for: what is left in is text.
    """
    markup = _without_code(content[:_LONGEST_PAGE])[:LONGEST_MARKUP]
    runs = _LONG_TEXT.findall(markup) if len(markup) > _LONG_PAGE else []
    if sum(min(len(run), _LONGEST_RUN) for run in runs) < _MOST_TEXT:
        runs = _TEXT.findall(markup) if b"<" in markup else [markup]
    runs.sort()  # a list is the same one in whatever order it stands
    runs.sort(key=len, reverse=True)
    longest = max(_LONGEST_RUN, _MOST_TEXT // max(len(runs), 1))
    kept, length = [], 0
    for run in runs:
        kept.append(run[:longest])
        length += len(kept[-1])
        if length >= _MOST_TEXT:
            break
    return _sketch(_GAP.join(kept))


def picture_mark(name: str) -> int:
    """32 bits that stand for the file name of a picture, for `HostText.new_pictures`.

    Not for its whole address: in a maze of folders or sessions that is another one on every page. Nor for its
    query, where counters of visitors have random numbers.
    """
    return xxhash.xxh32_intdigest(name.encode(), 1)


def _without_code(content: bytes) -> bytes:
    if _CODE.search(content) is None:
        return content
    return _without(b"script", _without(b"style", content))


def _without(element: bytes, content: bytes) -> bytes:
    """Markup without elements of this name."""
    end = b"</" + element
    first, *others = content.split(b"<" + element)
    return b"".join([first, *(other.partition(end)[2] for other in others)])


def _shown(content: bytes, hidden: Sequence[tuple[int, int]]) -> bytes:
    kept, at = [], 0
    for start, end in hidden:
        kept.append(content[at:start])
        at = end
    kept.append(content[at:])
    return b"".join(kept)


def gist(title: str, description: str, text_length: int, links: int) -> int:
    """64 bits that stand for what a page shows, whatever its links look like; 0 if it has little text.

    They are the same for copies under other addresses (session mazes, symbolic links), for which a digest of
    the content is not if the page's own address stands in it. Everything that it goes by is known of every
    page, so it costs some 2 us. Other pages may have the same, of a thousand with one title a few.
    """
    if text_length < LEAST_GIST:
        return 0
    return xxhash.xxh3_64_intdigest(f"{text_length} {links} {title}\n{description}".encode())


def likeness(one: Sketch, other: Sketch) -> float:
    """How much of two texts is common to both, 0 to 1."""
    if one.whole == other.whole:
        return 1.0
    both = set(one.pieces) | set(other.pieces)
    smallest = sorted(both)[:_COMPARED]
    common = set(one.pieces) & set(other.pieces)
    return sum(piece in common for piece in smallest) / max(len(smallest), 1)


class HostText:
    """What pages of one host have said so far: 64 KiB, whatever its size.

    A piece takes the place of another at its slot. What is forgotten looks new once more, so forgetting
    can spare a trap for a while and can condemn nobody.
    """

    __slots__ = ("_slots",)

    def __init__(self) -> None:
        self._slots = array("H", bytes(2 * _SLOTS))

    def new_text(self, said: Sketch) -> int:
        """Bytes of the text that no page of the host has said before; from now on it has."""
        met = self._met
        return sum(length for piece, length in zip(said.pieces, said.lengths, strict=True) if not met(piece))

    def new_pictures(self, marks: Iterable[int]) -> int:
        """How many pictures (`picture_mark`) no page of the host has shown before; from now on it has."""
        return sum(not self._met(mark) for mark in marks)

    def _met(self, piece: int) -> bool:
        slots, at, mark = self._slots, piece % _SLOTS, piece >> 16 | 1
        met = slots[at] == mark
        slots[at] = mark
        return met


class Gists:
    """Whether a host said the very same before: 1 MiB for the last 250,000 pages of all hosts."""

    __slots__ = ("_slots",)

    def __init__(self) -> None:
        self._slots = array("I", bytes(4 * _GISTS))

    def met(self, host: bytes, page_gist: int) -> bool:
        """Whether another page of the host had this gist lately; one has, from now on. Nothing has gist 0."""
        if not page_gist:
            return False
        mixed = xxhash.xxh3_64_intdigest(host, page_gist)
        at, mark = mixed % _GISTS, mixed >> 32 or 1
        met = self._slots[at] == mark
        self._slots[at] = mark
        return met


class HostTexts:
    """The texts of the hosts that were last asked for, at most `hosts` of them."""

    def __init__(self, hosts: int = _HOSTS) -> None:
        self._limit = hosts
        self._hosts: OrderedDict[bytes, HostText] = OrderedDict()

    def of(self, host: bytes) -> HostText:
        """The text of a host; empty if it is new, or forgotten."""
        text = self._hosts.get(host)
        if text is None:
            text = self._hosts[host] = HostText()
            if len(self._hosts) > self._limit:
                self._hosts.popitem(last=False)
        else:
            self._hosts.move_to_end(host)
        return text
