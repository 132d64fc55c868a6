"""Which slots of a site's templates say something else on each of its pages, learned from two captures of many pages.

A piece stands in several slots: in its element with those around it, in its element alone, behind the word it begins
with, and before the one it ends with, figures of which are all alike ("Reference: QhJk", "Some title (848)"). A slot
that became something else on nearly all pages, and on each page something of its own, is made anew at each visit, be it
a saying, an advertisement or a clock in whatever language. What really changed did so on some pages; what became the
same on many is a change of the site. Sums of money and the like (`figures.is_content`) are never left out.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence, Set
from itertools import chain
from typing import NamedTuple

from gossamer.policy.change.figures import figures_of, is_content

__all__ = ["Placed", "Slots"]

_FEWEST = 4
"""Pages on which a slot became something of its own."""
_SHARE = 0.6
"""Of the pages that have it, each counted by the share of its pieces that differ, and only if no other page became the
same."""
_LARGEST = 24
"""Pieces that one slot has on a page: more are content."""
_REDESIGN = 0.5
"""Share of the pieces of a page that differ from which it teaches nothing."""

_AROUND = 1, 3
"""Elements by which a slot is named, the one in which a piece stands and those around it."""
_MOST = 32
"""Slots of a site."""
_LONGEST_WORD = 40
_DIGITS = re.compile(r"\d+")


class Placed(NamedTuple):
    """The pieces of a capture, and where each stands (`places_of`; nothing of what is no markup)."""

    pieces: list[str]
    places: Sequence[str] = ()


class Slots:
    """Those of one site that are volatile."""

    __slots__ = ("_volatile",)

    def __init__(self, volatile: frozenset[str] = frozenset()) -> None:
        self._volatile = volatile

    @classmethod
    def learned(cls, pairs: Sequence[tuple[Placed, Placed]]) -> "Slots":
        """From two captures of each of several pages, also of such as did not change.

        The slot that explains most is taken first; what stands in it speaks for no other.
        """
        teaching = [(pair, differs) for pair in pairs if (differs := _differing(*pair)) is not None]
        touched = Counter(chain.from_iterable(_slots_of(pair, differs) for pair, differs in teaching))
        likely = {slot for slot, number in touched.items() if number >= _FEWEST}
        pages = [
            _Page(_by_slot(before, likely), _by_slot(after, likely), differs)
            for (before, after), differs in (teaching if likely else ())
        ]
        found: set[str] = set()
        while len(found) < _MOST and (slot := _best(pages)) is not None:
            found.add(slot)
            for page in pages:
                page.differs.difference_update(page.old.get(slot, ()), page.new.get(slot, ()))
        return cls(frozenset(found))

    def within(self, *captures: Placed) -> frozenset[str]:
        """The pieces of captures that stand in them."""
        if not self._volatile:
            return frozenset()
        return frozenset(
            piece
            for capture in captures
            for piece, slots in _slotted(capture)
            if not self._volatile.isdisjoint(slots) and not _says(piece)
        )


class _Page(NamedTuple):
    """A page by its slots before and after, and which of its pieces differ and are not explained."""

    old: dict[str, Counter[str]]
    new: dict[str, Counter[str]]
    differs: set[str]


def _best(pages: list[_Page]) -> str | None:
    """The volatile slot that became something of its own on most pages."""
    stood: Counter[str] = Counter()
    differed: defaultdict[str, float] = defaultdict(float)
    own: Counter[str] = Counter()
    met: set[tuple[str, frozenset[str]]] = set()
    for old, new, differs in pages:
        for slot in old.keys() & new.keys():
            most = max(old[slot].total(), new[slot].total())
            came = frozenset(differs.intersection(new[slot]))
            if most > _LARGEST or (slot, came) in met:
                continue
            stood[slot] += 1
            if came and (gone := differs.intersection(old[slot])):
                met.add((slot, came))
                own[slot] += 1
                differed[slot] += min(1.0, max(len(came), len(gone)) / most)
    found = [
        slot for slot, number in own.items() if number >= _FEWEST and differed[slot] >= _SHARE * stood[slot]
    ]
    return max(found, key=lambda slot: (differed[slot], slot), default=None)


def _differing(before: Placed, after: Placed) -> set[str] | None:
    """The pieces that one of two captures has alone, but those that are content; `None` if it is another page."""
    old, new = Counter(before.pieces), Counter(after.pieces)
    gone, come = old - new, new - old
    if max(gone.total(), come.total()) > _REDESIGN * max(len(before.pieces), _LARGEST):
        return None
    return {piece for piece in chain(gone, come) if not _says(piece)}


def _slots_of(pair: tuple[Placed, Placed], pieces: Set[str]) -> set[str]:
    """Of pieces of two captures."""
    return {slot for one in pair for piece, slots in _slotted(one) if piece in pieces for slot in slots}


def _by_slot(capture: Placed, likely: Set[str]) -> dict[str, Counter[str]]:
    found: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for piece, slots in _slotted(capture):
        for slot in slots & likely:
            found[slot][piece] += 1
    return found


def _slotted(capture: Placed) -> Iterator[tuple[str, set[str]]]:
    """Each piece with its slots."""
    places = capture.places or [""] * len(capture.pieces)
    for piece, place in zip(capture.pieces, places, strict=True):
        first, last = piece.partition(" ")[0], piece.rpartition(" ")[2]
        slots = {f"<{_shape(first)}", f">{_shape(last)}"}
        if place:
            around = place.split(" ")
            slots |= {place, *(" ".join(around[-number:]) for number in _AROUND)}
        yield piece, slots


def _shape(word: str) -> str:
    """A word in lower case, its figures all alike: `(848)` stands where `(17)` stood."""
    return _DIGITS.sub("0", word[:_LONGEST_WORD].lower())


def _says(piece: str) -> bool:
    """Whether it holds a figure that is content, however often it differs."""
    return any(is_content(piece, figure) for figure in figures_of(piece))
