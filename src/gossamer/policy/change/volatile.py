"""What of the pages of a site differs at each visit, whatever else does: learned from pairs of captures.

Two kinds. A *figure* (`figures`) is known by the words beside it. A *box* is what stands between two pieces that stay:
related links, an advertisement, a saying of the day. Of each that was seen to change is counted in how many pairs it
stood and in how many of them it differed; it is volatile from two on if it hardly ever stays. What is inserted at the
top of a list while the others move down is news and counts for nothing; so does an edit of a long paragraph, and what
was replaced by what had stood there before (a box that rotates) counts for more. A figure or box that is found to stay
is content again.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence, Set
from contextlib import suppress
from itertools import chain
from typing import Any, NamedTuple, Self, TypeVar

from gossamer.policy.change.alignment import Hunk, hunks_of
from gossamer.policy.change.figures import (
    GONE,
    digest,
    figures_of,
    is_content,
    is_next,
    skeletons,
    without_ages,
)

__all__ = ["MOST_BYTES", "Volatile"]

MOST_BYTES = 1 << 10
"""Of what is learned of a site, packed."""
_FIGURES, _BOXES, _PAST = 72, 34, 70
"""At most: 5, 11 and 4 bytes each."""
T = TypeVar("T")
_VERSION = 1
_LONGEST_BOX = 24
"""Pieces."""
_SMALL = 3
"""Pieces of a box that may be empty."""
_NEAR = 2
"""Equal pieces between two stretches that make them one: two draws of a box may have something in common."""
_REDESIGN = 0.5
"""Share of the pieces that differ from which a pair of captures teaches nothing of boxes."""
_EDITED = 12
"""Words of a piece from which one that begins and ends alike is edited, not replaced."""
_FULL = 15
_MOST_BACK = 127


class _Seen(NamedTuple):
    """In how many pairs of captures it stood, and in how many it differed (at most 15: both are halved then)."""

    stood: int = 0
    differed: int = 0

    def again(self, differed: bool) -> "_Seen":
        stood, number = self.stood, self.differed
        if stood == _FULL:
            stood, number = (stood + 1) // 2, (number + 1) // 2
        return _Seen(stood + 1, number + differed)

    @property
    def byte(self) -> int:
        return self.stood << 4 | self.differed


class _Box(NamedTuple):
    """`end`: digest of the piece behind it; `size`: pieces that it has at most; `back`: how many have come back, at
    most 127; `wide`: it was seen with different ends, so it is in different places of the site, and its size tells how
    far it goes where the end is not found."""

    end: int
    size: int = 0
    seen: _Seen = _Seen()
    back: int = 0
    wide: bool = False

    @property
    def volatile(self) -> bool:
        stood, differed = self.seen
        return differed > 1 and (4 * differed >= 3 * stood or (self.back > 0 and 5 * differed >= 2 * stood))


class Volatile:
    """What is known of one site; empty for one that was never seen twice."""

    __slots__ = ("_beside", "_boxes", "_figures", "_past")

    def __init__(self) -> None:
        self._beside: Set[str] = frozenset()
        self._figures: dict[int, _Seen] = {}
        self._boxes: dict[int, _Box] = {}
        self._past: dict[int, None] = {}

    def __bool__(self) -> bool:
        """Whether anything is ignored by it."""
        return any(map(_is_volatile, self._figures.values())) or any(
            box.volatile for box in self._boxes.values()
        )

    @property
    def generation(self) -> int:
        """A number, 1 to 255, that differs as a rule where something else is ignored; 1: nothing is."""
        ignored = [key for key, seen in self._figures.items() if _is_volatile(seen)]
        ignored += [
            key ^ box.end ^ box.size ^ box.wide << 8 for key, box in self._boxes.items() if box.volatile
        ]
        return 2 + sum(ignored) % 254 if ignored else 1

    def pack(self) -> bytes:
        """At most `MOST_BYTES`; nothing for what knows nothing."""
        if not self._figures and not self._boxes and not self._past:
            return b""
        packed = [bytes((_VERSION, len(self._figures), len(self._boxes)))]
        packed += [key.to_bytes(4) + bytes((seen.byte,)) for key, seen in self._figures.items()]
        packed += [
            key.to_bytes(4) + box.end.to_bytes(4) + bytes((box.size, box.seen.byte, box.back << 1 | box.wide))
            for key, box in self._boxes.items()
        ]
        return b"".join(packed + [key.to_bytes(4) for key in self._past])

    @classmethod
    def unpack(cls, data: bytes) -> Self:
        """As `pack` made it; empty if another version did."""
        volatile = cls()
        if len(data) < 3 or data[0] != _VERSION:
            return volatile
        at = 3
        for _ in range(data[1]):
            volatile._figures[int.from_bytes(data[at : at + 4])] = _Seen(data[at + 4] >> 4, data[at + 4] & 15)
            at += 5
        for _ in range(data[2]):
            key, end = int.from_bytes(data[at : at + 4]), int.from_bytes(data[at + 4 : at + 8])
            size, seen, back = data[at + 8 : at + 11]
            volatile._boxes[key] = _Box(end, size, _Seen(seen >> 4, seen & 15), back >> 1, bool(back & 1))
            at += 11
        volatile._past = dict.fromkeys(
            int.from_bytes(data[place : place + 4]) for place in range(at, len(data) - 3, 4)
        )
        return volatile

    def beside(self, pieces: Set[str]) -> Self:
        """With some pieces of a page that are left out of it, too; what is learned is shared."""
        volatile = type(self)()
        volatile._figures, volatile._boxes, volatile._past = self._figures, self._boxes, self._past
        volatile._beside = pieces
        return volatile

    def masked(self, pieces: Sequence[str], hidden: list[str] | None = None) -> list[str]:
        """The pieces as they count: empty for one in a volatile box, `...` (one character) for a volatile figure.

        Args:
            pieces: of a capture.
            hidden: takes those that are left out, as they would count.
        """
        kept = without_ages(pieces) if pieces else []
        boxes = {key: box for key, box in self._boxes.items() if box.volatile}
        figures = {key for key, seen in self._figures.items() if _is_volatile(seen)}
        if not kept or not (boxes or figures or self._beside):
            return kept
        bare = skeletons(kept)
        for number, piece in enumerate(kept) if figures else ():
            if piece != bare[number]:
                kept[number] = _masked(piece, figures)
        left_out: list[Sequence[int]] = (
            [range(start, end) for _, start, end in _spans(list(map(digest, bare)), boxes)] if boxes else []
        )
        left_out.append([number for number, piece in enumerate(pieces) if piece in self._beside])
        for number in chain.from_iterable(left_out):
            if hidden is not None and kept[number]:
                hidden.append(kept[number])
            kept[number] = ""
        return kept

    def learn(self, before: Sequence[str], after: Sequence[str], met: set[int] | None = None) -> None:
        """Take two captures of a page of the site, as `pieces_of` gives them.

        Args:
            before, after: what one visit and the next found.
            met: where many pages were captured at two times, what became of others. What became the same there is a
                change of the site and teaches nothing; what is new is added.
        """
        if not before or not after:
            return
        before, after = without_ages(before), without_ages(after)
        bare, new_bare = skeletons(before), skeletons(after)
        hunks = hunks_of(bare, new_bare)
        pair = _Pair(before, after, bare, new_bare)
        self._learn_figures(pair, hunks, met)
        if sum(max(hunk.end - hunk.start, hunk.new_end - hunk.new_start) for hunk in hunks) > _REDESIGN * max(
            len(before), len(after), 2 * _LONGEST_BOX
        ):
            return
        self._learn_boxes(pair, hunks, met)

    def _learn_figures(self, pair: "_Pair", hunks: list[Hunk], met: set[int] | None) -> None:
        stood: set[int] = set()
        differed: set[int] = set()
        known = self._figures
        for piece, new in pair.alike(hunks):
            figures = figures_of(new) if known or piece != new else ()
            stood.update(key for figure in figures for key in figure.keys)
            if piece == new:
                continue
            for old, figure in zip(figures_of(piece), figures, strict=True):
                was, value = piece[old.start : old.end], new[figure.start : figure.end]
                if was == value or is_content(new, figure):
                    continue
                same = [key for key in figure.keys if is_next(was, value) or _met(met, key, value)]
                stood.difference_update(same)
                differed.update(set(figure.keys).difference(same))
        for key in [key for key in known if key in stood]:
            known[key] = known.pop(key).again(key in differed)
        for key in differed - known.keys():
            known[key] = _Seen(1, 1)
        _make_room(known, _FIGURES, lambda seen: (_is_volatile(seen), seen.differed))

    def _learn_boxes(self, pair: "_Pair", hunks: list[Hunk], met: set[int] | None) -> None:
        digests, new_digests = list(map(digest, pair.bare)), list(map(digest, pair.new_bare))
        spans = {key: (start, end) for key, start, end in reversed(_spans(digests, self._boxes))}
        inside: list[tuple[int, int]] = []
        moved = pair.moved(hunks)
        differed: dict[int, tuple[bool, int]] = {}
        for key, start, end in _spans(new_digests, self._boxes):
            if key not in spans:
                continue
            inside.append((start, end))
            stretch = Hunk(*_opposite(start, end, spans[key], hunks), start, end)
            kind = pair.kind(stretch)
            ends = new_digests[end] if end < len(new_digests) else 0
            if kind == "same" and met is None and ends != self._boxes[key].end:
                continue  # something else may stand behind a piece that is like its anchor
            if kind == "news" or (kind == "other" and _met(met, key, "\n".join(pair.after[start:end]))):
                continue
            other, back = differed.get(key, (False, 0))
            back += self._went(pair, stretch) if kind == "other" else 0
            differed[key] = other or kind == "other", back
        for key, (other, back) in differed.items():
            box = self._boxes.pop(key)
            self._boxes[key] = box._replace(seen=box.seen.again(other), back=min(_MOST_BACK, box.back + back))
        outside = [
            hunk
            for hunk in hunks
            if not any(start <= hunk.new_start and hunk.new_end <= end for start, end in inside)
        ]
        for hunk in _joined(outside):
            if not pair.is_box(hunk, moved):
                continue
            hunk = pair.trimmed(hunk, moved)  # noqa: PLW2901
            key = new_digests[hunk.new_start - 1] if hunk.new_start else 0
            if _met(met, key, "\n".join(pair.after[hunk.new_start : hunk.new_end])):
                continue
            end = new_digests[hunk.new_end] if hunk.new_end < len(new_digests) else 0
            box = self._boxes.pop(key, _Box(end))
            for gone in digests[hunk.start : hunk.end]:
                if gone != key and (part := self._boxes.pop(gone, None)) is not None:
                    box = part if part.seen.stood > box.seen.stood else box  # its first piece has turned, too
            size = max(box.size, hunk.end - hunk.start, hunk.new_end - hunk.new_start)
            back = self._went(pair, hunk)
            wide = box.wide or end != box.end
            self._boxes[key] = _Box(end, size, box.seen.again(True), min(_MOST_BACK, box.back + back), wide)
        _make_room(self._boxes, _BOXES, lambda box: (box.volatile, box.seen.differed))
        _make_room(self._past, _PAST, lambda _: 0)

    def _went(self, pair: "_Pair", stretch: Hunk) -> int:
        """Remembers what has gone from a stretch; how many of its new pieces had gone before."""
        old = set(pair.before[stretch.start : stretch.end])
        new = set(pair.after[stretch.new_start : stretch.new_end])
        back = sum(digest(piece) in self._past for piece in new - old)
        for gone in map(digest, old - new):
            self._past.pop(gone, None)
            self._past[gone] = None
        return back


class _Pair(NamedTuple):
    """Two captures: their pieces, and these without figures."""

    before: list[str]
    after: list[str]
    bare: list[str]
    new_bare: list[str]

    def kind(self, hunk: Hunk) -> str:
        """What became of a stretch: it is the "same" in whatever order, "news" came in, or it is "other"."""
        old, new = self.before[hunk.start : hunk.end], self.after[hunk.new_start : hunk.new_end]
        if old == new or Counter(old) == Counter(new):
            return "same"
        parts = hunks_of(old, new)
        kept = len(old) - sum(part.end - part.start for part in parts)
        if kept and all(part.start == part.end or part.new_start == part.new_end for part in parts):
            inserted = [part for part in parts if part.start == part.end]
            if len(inserted) <= 1 and len(parts) <= 2:
                return "news"
        return "other"

    def alike(self, hunks: list[Hunk]) -> Iterator[tuple[str, str]]:
        """Pieces that differ in their figures at most, wherever they stand now."""
        at = new_at = 0
        gone: dict[str, str] = {}
        for hunk in [*hunks, Hunk(len(self.before), len(self.before), len(self.after), len(self.after))]:
            yield from zip(self.before[at : hunk.start], self.after[new_at : hunk.new_start], strict=True)
            at, new_at = hunk.end, hunk.new_end
            gone.update(
                zip(self.bare[hunk.start : hunk.end], self.before[hunk.start : hunk.end], strict=True)
            )
        for hunk in hunks:
            for bare, new in zip(
                self.new_bare[hunk.new_start : hunk.new_end],
                self.after[hunk.new_start : hunk.new_end],
                strict=True,
            ):
                if bare in gone:
                    yield gone.pop(bare), new

    def moved(self, hunks: list[Hunk]) -> set[str]:
        """Pieces that only stand elsewhere."""
        gone = {piece for hunk in hunks for piece in self.before[hunk.start : hunk.end]}
        return gone & {piece for hunk in hunks for piece in self.after[hunk.new_start : hunk.new_end]}

    def trimmed(self, hunk: Hunk, moved: set[str]) -> Hunk:
        """Without what only moved at its ends, as a list in another order beside a box does."""
        start, end = _trimmed(self.before, hunk.start, hunk.end, moved)
        return Hunk(start, end, *_trimmed(self.after, hunk.new_start, hunk.new_end, moved))

    def is_box(self, hunk: Hunk, moved: set[str]) -> bool:
        """Whether the stretch was replaced as a box is."""
        old = [piece for piece in self.before[hunk.start : hunk.end] if piece not in moved]
        new = [piece for piece in self.after[hunk.new_start : hunk.new_end] if piece not in moved]
        if not new and old:  # what comes is news, what goes is a box that is empty
            return len(old) <= _SMALL
        if not old or max(len(old), len(new)) > _LONGEST_BOX or self.kind(hunk) != "other":
            return False
        one, other = " ".join(old).split(), " ".join(new).split()
        if sorted(one) == sorted(other):
            return False
        shorter = min(len(one), len(other))
        alike = _common(one, other)
        alike += _common(one[alike:][::-1], other[alike:][::-1])
        return shorter < _EDITED or 2 * alike < shorter


def _opposite(start: int, end: int, usual: tuple[int, int], hunks: list[Hunk]) -> tuple[int, int]:
    """The stretch of the earlier capture that stands where one of the later does."""
    shift = 0
    for hunk in hunks:
        if hunk.new_start >= start:
            break
        shift = hunk.end - hunk.new_end
    grown = sum(
        hunk.end - hunk.start - hunk.new_end + hunk.new_start
        for hunk in hunks
        if start <= hunk.new_start and hunk.new_end <= end
    )
    found = start + shift, end + shift + grown
    return found if 0 <= found[0] <= found[1] else usual


def _trimmed(pieces: list[str], start: int, end: int, moved: set[str]) -> tuple[int, int]:
    while start < end and pieces[start] in moved:
        start += 1
    while start < end and pieces[end - 1] in moved:
        end -= 1
    return start, end


def _common(one: list[str], other: list[str]) -> int:
    """Words that both begin with."""
    number = 0
    for word, new in zip(one, other, strict=False):
        if word != new:
            break
        number += 1
    return number


def _joined(hunks: list[Hunk]) -> list[Hunk]:
    """Stretches with little between them as one."""
    joined: list[Hunk] = []
    for hunk in hunks:
        if joined and hunk.start - joined[-1].end <= _NEAR:
            joined[-1] = Hunk(joined[-1].start, hunk.end, joined[-1].new_start, hunk.new_end)
        else:
            joined.append(hunk)
    return joined


def _spans(digests: list[int], boxes: dict[int, _Box]) -> list[tuple[int, int, int]]:
    """Where boxes stand, with their keys: behind a piece with that digest, up to their end or as long as they are.

    Several pieces may be alike: those that have the box's end behind them count, without any the first, if the box is
    `wide`.
    """
    spans: list[tuple[int, int, int]] = []
    first: dict[int, tuple[int, int, int]] = {}
    for place, key in enumerate([0, *digests]):
        box = boxes.get(key)
        if box is None or (key == 0 and place):
            continue
        end = min(place + box.size, len(digests))
        found = not box.end and end == len(digests)
        if box.end:
            with suppress(ValueError):
                end = digests.index(box.end, place, end + 1)
                found = True
        if found:
            spans.append((key, place, end))
        elif box.wide:
            first.setdefault(key, (key, place, end))
    known = {key for key, _, _ in spans}
    return spans + [span for key, span in first.items() if key not in known]


def _met(met: set[int] | None, key: int, content: str) -> bool:
    """Whether the same became of it on another page; from now on it has."""
    if met is None:
        return False
    became = key << 32 | digest(content)
    if became in met:
        return True
    met.add(became)
    return False


def _is_volatile(seen: _Seen) -> bool:
    return seen.differed > 1 and 4 * seen.differed >= 3 * seen.stood


def _masked(piece: str, volatile: set[int]) -> str:
    kept, at = [], 0
    for figure in figures_of(piece):
        if not volatile.isdisjoint(figure.keys) and not is_content(piece, figure):
            kept += [piece[at : figure.start], GONE]
            at = figure.end
    return "".join((*kept, piece[at:])) if kept else piece


def _make_room(entries: dict[int, T], most: int, worth: Callable[[T], Any]) -> None:
    """Leave out the least, of equal ones the oldest."""
    if len(entries) > most:
        for key in sorted(entries, key=lambda key: worth(entries[key]))[: len(entries) - most]:
            del entries[key]
