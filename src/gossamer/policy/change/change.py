"""Whether two captures of a page differ in what they say, how much, and where."""

import re
from collections import Counter
from collections.abc import Sequence

import msgspec
import xxhash

from gossamer.policy.change.alignment import Hunk, hunks_of
from gossamer.policy.change.volatile import Volatile

__all__ = ["Change", "changed", "fingerprint"]

_WORDS = re.compile(r"\w+|[^\w\s]")


class Change(msgspec.Struct, frozen=True, gc=False):
    """What became of a page; false if it says the same.

    Attributes:
        hunks: stretches of the pieces that differ, volatile ones left out; none if nothing else does.
        removed, added: words that one capture has and the other not.
        share: of the words of both, 0 to 1.
    """

    hunks: tuple[Hunk, ...] = ()
    removed: int = 0
    added: int = 0
    share: float = 0.0

    def __bool__(self) -> bool:
        """Whether the page has changed."""
        return bool(self.hunks)


_NOTHING = Volatile()


def changed(before: Sequence[str], after: Sequence[str], volatile: Volatile = _NOTHING) -> Change:
    """Compare two captures.

    Another order of pieces, or of words within one, is no change; nor are blanks, or where a piece ends.

    Args:
        before, after: as `pieces_of` gives them.
        volatile: what is ignored of the site.
    """
    if before == after:
        return Change()
    hidden: list[str] = []
    new_hidden: list[str] = []
    old, places = _counted(before, volatile, hidden)
    new, new_places = _counted(after, volatile, new_hidden)
    hunks = hunks_of(old, new)
    gone: Counter[str] = Counter()
    come: Counter[str] = Counter()
    for hunk in hunks:
        gone.update(old[hunk.start : hunk.end])
        come.update(new[hunk.new_start : hunk.new_end])
    # What stands in the other capture all the same, be it where it does not count, has only moved.
    moved = gone & come
    gone, come = gone - moved - Counter(new_hidden), come - moved - Counter(hidden)
    found = []
    removed: Counter[str] = Counter()
    added: Counter[str] = Counter()
    for hunk in hunks:
        here = [piece for piece in old[hunk.start : hunk.end] if piece in gone]
        there = [piece for piece in new[hunk.new_start : hunk.new_end] if piece in come]
        if "".join(here).replace(" ", "") == "".join(there).replace(" ", ""):
            continue
        words, new_words = Counter(_WORDS.findall("\n".join(here))), Counter(_WORDS.findall("\n".join(there)))
        if words == new_words:
            continue
        removed.update(words - new_words)  # `+=` would go through all of them each time
        added.update(new_words - words)
        found.append(_placed(hunk, places, new_places))
    net, net_added = (removed - added).total(), (added - removed).total()
    if not net and not net_added:
        return Change()
    words_of_both = sum(piece.count(" ") + 1 for pieces in (old, new) for piece in pieces)
    return Change(tuple(found), net, net_added, min(1.0, (net + net_added) / words_of_both))


def fingerprint(pieces: Sequence[str], volatile: Volatile = _NOTHING) -> int:
    """64 bits that stay while a page says the same, whatever the order of its pieces.

    Captures with different ones may differ in order within a piece, or in markup alone: `changed` decides then.
    It holds for one state of `volatile`.
    """
    kept = "\n".join(volatile.masked(pieces)).replace(" ", "")
    return sum(
        map(xxhash.xxh3_64_intdigest, {*kept.encode("utf-8", "surrogatepass").split(b"\n")} - {b""})
    ) % (1 << 64)


def _counted(pieces: Sequence[str], volatile: Volatile, hidden: list[str]) -> tuple[list[str], list[int]]:
    """The pieces that count, as they count, and the number of each."""
    kept = [(piece, number) for number, piece in enumerate(volatile.masked(pieces, hidden)) if piece]
    return [piece for piece, _ in kept], [number for _, number in kept]


def _placed(hunk: Hunk, places: list[int], new_places: list[int]) -> Hunk:
    """By the numbers of all pieces instead of those that count."""
    return Hunk(*_stretch(hunk.start, hunk.end, places), *_stretch(hunk.new_start, hunk.new_end, new_places))


def _stretch(start: int, end: int, places: list[int]) -> tuple[int, int]:
    if start < end:
        return places[start], places[end - 1] + 1
    at = places[start - 1] + 1 if start else 0
    return at, at
