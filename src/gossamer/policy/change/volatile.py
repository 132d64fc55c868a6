"""What of the pages of a site differs at each visit, whatever else does: learned from pairs of captures.

Two kinds. A *figure* (`figures`) is known by the words beside it. A *box* is what stands between two pieces that stay:
related links, an advertisement, a saying of the day. Of each that was seen to change is counted in how many pairs it
stood and in how many of them it differed; it is volatile from two on if it hardly ever stays. What is inserted at the
top of a list while the others move down is news and counts for nothing; so does an edit of a long paragraph, and what
was replaced by what had stood there before (a box that rotates) counts for more. A figure or box that is found to stay
is content again.
"""

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple, Self

from gossamer.policy.change.alignment import Hunk, hunks_of
from gossamer.policy.change.figures import GONE, digest, figures_of, is_money, skeletons, without_ages

__all__ = ["MOST_BYTES", "Volatile"]

MOST_BYTES = 1 << 10
"""Of what is learned of a site, packed."""
_FIGURES, _BOXES, _PAST = 72, 34, 70
"""At most: 5, 11 and 4 bytes each."""
_VERSION = 1
_LONGEST_BOX = 24
"""Pieces."""
_NEAR = 2
"""Equal pieces between two stretches that make them one: two draws of a box may have something in common."""
_REDESIGN = 0.5
"""Share of the pieces that differ from which a pair of captures teaches nothing of boxes."""
_EDITED = 12
"""Words of a piece from which one that begins and ends alike is edited, not replaced."""
_FULL = 15


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
    """`end`: digest of the piece behind it; `size`: pieces it has at most, where that is not found; `back`: how many
    have come back, at most 255."""

    end: int
    size: int = 0
    seen: _Seen = _Seen()
    back: int = 0

    @property
    def volatile(self) -> bool:
        stood, differed = self.seen
        return differed > 1 and (4 * differed >= 3 * stood or (self.back > 0 and 5 * differed >= 2 * stood))


class Volatile:
    """What is known of one site; empty for one that was never seen twice."""

    __slots__ = ("_boxes", "_figures", "_past")

    def __init__(self) -> None:
        self._figures: dict[int, _Seen] = {}
        self._boxes: dict[int, _Box] = {}
        self._past: dict[int, None] = {}

    def __bool__(self) -> bool:
        """Whether anything is ignored by it."""
        return any(map(_is_volatile, self._figures.values())) or any(box.volatile for box in self._boxes.values())

    def pack(self) -> bytes:
        """At most `MOST_BYTES`; nothing for what knows nothing."""
        if not self._figures and not self._boxes and not self._past:
            return b""
        packed = [bytes((_VERSION, len(self._figures), len(self._boxes)))]
        packed += [key.to_bytes(4) + bytes((seen.byte,)) for key, seen in self._figures.items()]
        packed += [
            key.to_bytes(4) + box.end.to_bytes(4) + bytes((box.size, box.seen.byte, box.back))
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
            volatile._boxes[key] = _Box(end, size, _Seen(seen >> 4, seen & 15), back)
            at += 11
        volatile._past = dict.fromkeys(
            int.from_bytes(data[place : place + 4]) for place in range(at, len(data) - 3, 4)
        )
        return volatile

    def masked(self, pieces: Sequence[str]) -> list[str]:
        """The pieces as they count: empty for one in a volatile box, `...` (one character) for a volatile figure."""
        kept = without_ages(pieces) if pieces else []
        boxes = {key: box for key, box in self._boxes.items() if box.volatile}
        figures = {key for key, seen in self._figures.items() if _is_volatile(seen)}
        if not kept or not (boxes or figures):
            return kept
        bare = skeletons(kept)
        if boxes:
            for start, end in _spans(list(map(digest, bare)), boxes).values():
                kept[start:end] = [""] * (end - start)
        if figures:
            for number, piece in enumerate(kept):
                if piece and piece != bare[number]:
                    kept[number] = _masked(piece, figures)
        return kept

    def learn(self, before: Sequence[str], after: Sequence[str]) -> None:
        """Take two captures of a page of the site, one visit after the other, as `pieces_of` gives them."""
        if not before or not after:
            return
        before, after = without_ages(before), without_ages(after)
        bare, new_bare = skeletons(before), skeletons(after)
        hunks = hunks_of(bare, new_bare)
        self._learn_figures(before, after, hunks)
        if sum(max(hunk.end - hunk.start, hunk.new_end - hunk.new_start) for hunk in hunks) > _REDESIGN * max(
            len(before), len(after), 2 * _LONGEST_BOX
        ):
            return
        self._learn_boxes(_Pair(before, after, bare, new_bare), hunks)

    def _learn_figures(self, before: Sequence[str], after: Sequence[str], hunks: list[Hunk]) -> None:
        stood: set[int] = set()
        differed: set[int] = set()
        known = self._figures
        at = new_at = 0
        for hunk in [*hunks, Hunk(len(before), len(before), len(after), len(after))]:
            for piece, new in zip(before[at : hunk.start], after[new_at : hunk.new_start], strict=True):
                figures = figures_of(new) if known or piece != new else ()
                stood.update(key for figure in figures for key in figure.keys)
                if piece == new:
                    continue
                for old, figure in zip(figures_of(piece), figures, strict=True):
                    if piece[old.start : old.end] != new[figure.start : figure.end] and not is_money(new, figure):
                        differed.update(figure.keys)
            at, new_at = hunk.end, hunk.new_end
        for key in [key for key in known if key in stood]:
            known[key] = known.pop(key).again(key in differed)
        for key in differed - known.keys():
            known[key] = _Seen(1, 1)
        _make_room(known, _FIGURES, lambda seen: (_is_volatile(seen), seen.differed))

    def _learn_boxes(self, pair: "_Pair", hunks: list[Hunk]) -> None:
        digests, new_digests = list(map(digest, pair.bare)), list(map(digest, pair.new_bare))
        spans, new_spans = _spans(digests, self._boxes), _spans(new_digests, self._boxes)
        inside: list[tuple[int, int]] = []
        moved = pair.moved(hunks)
        for key in spans.keys() & new_spans.keys():
            stretch = Hunk(*spans[key], *new_spans[key])
            inside.append(new_spans[key])
            kind = pair.kind(stretch)
            if kind == "news":
                continue
            box = self._boxes.pop(key)
            back = self._went(pair, stretch) if kind == "other" else 0
            self._boxes[key] = box._replace(seen=box.seen.again(kind == "other"), back=min(255, box.back + back))
        for hunk in _joined(hunks):
            within = any(start <= hunk.new_start and hunk.new_end <= end for start, end in inside)
            if within or not pair.is_box(hunk, moved):
                continue
            key = new_digests[hunk.new_start - 1] if hunk.new_start else 0
            end = new_digests[hunk.new_end] if hunk.new_end < len(new_digests) else 0
            box = self._boxes.pop(key, _Box(end))
            size = max(box.size, hunk.end - hunk.start, hunk.new_end - hunk.new_start)
            back = self._went(pair, hunk)
            self._boxes[key] = _Box(end, size, box.seen.again(True), min(255, box.back + back))
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

    def moved(self, hunks: list[Hunk]) -> set[str]:
        """Pieces that only stand elsewhere."""
        gone = {piece for hunk in hunks for piece in self.before[hunk.start : hunk.end]}
        return gone & {piece for hunk in hunks for piece in self.after[hunk.new_start : hunk.new_end]}

    def is_box(self, hunk: Hunk, moved: set[str]) -> bool:
        """Whether the stretch was replaced as a box is."""
        old = [piece for piece in self.before[hunk.start : hunk.end] if piece not in moved]
        new = [piece for piece in self.after[hunk.new_start : hunk.new_end] if piece not in moved]
        if not old or not new or max(len(old), len(new)) > _LONGEST_BOX or self.kind(hunk) != "other":
            return False
        one, other = " ".join(old).split(), " ".join(new).split()
        if sorted(one) == sorted(other):
            return False
        shorter = min(len(one), len(other))
        alike = _common(one, other)
        alike += _common(one[alike:][::-1], other[alike:][::-1])
        return shorter < _EDITED or 2 * alike < shorter


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


def _spans(digests: list[int], boxes: dict[int, _Box]) -> dict[int, tuple[int, int]]:
    """Where boxes stand, by their keys: behind the first piece with that digest, up to that of their end."""
    spans = {}
    for place, key in enumerate([0, *digests]):
        box = boxes.get(key)
        if box is None or key in spans or (key == 0 and place):
            continue
        last = min(place + _LONGEST_BOX, len(digests))
        end = place + box.size
        if box.end == 0 and len(digests) == last:
            end = last
        elif end >= len(digests) or digests[end] != box.end:
            try:
                end = digests.index(box.end, place, last + 1)
            except ValueError:
                end = min(end, len(digests))
        spans[key] = (place, end)
    return spans


def _is_volatile(seen: _Seen) -> bool:
    return seen.differed > 1 and 4 * seen.differed >= 3 * seen.stood


def _masked(piece: str, volatile: set[int]) -> str:
    kept, at = [], 0
    for figure in figures_of(piece):
        if not volatile.isdisjoint(figure.keys):
            if not is_money(piece, figure):
                kept += [piece[at : figure.start], GONE]
                at = figure.end
    return "".join((*kept, piece[at:])) if kept else piece


def _make_room(entries: dict, most: int, worth) -> None:  # type: ignore[no-untyped-def,type-arg]
    """Leave out the least, of equal ones the oldest."""
    if len(entries) > most:
        for key in sorted(entries, key=lambda key: worth(entries[key]))[: len(entries) - most]:
            del entries[key]
