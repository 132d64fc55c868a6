"""A change as people read it: passages of rows with some context, and in each row the words that differ."""

import re
from collections.abc import Sequence

import msgspec

from gossamer.policy.change.alignment import Hunk, hunks_of
from gossamer.policy.change.change import Change
from gossamer.policy.change.volatile import Volatile

__all__ = ["CONTEXT", "MOST_ROWS", "Passage", "Row", "Span", "passages_of"]

CONTEXT = 2
"""Rows that say the same, before and after what differs."""
MOST_ROWS = 2_000
"""Of one comparison that are told."""
_WORD = re.compile(r"\s*(?:[^\W_]+|.)", re.DOTALL)
_MOST_WORDS = 4_000
_PAIRED = 40
"""Pieces of a stretch that are looked at for one that another was made of."""
_ALIKE = 0.4


class Span(msgspec.Struct, frozen=True, omit_defaults=True):
    """A part of a row; `differs`: the other capture does not have it there."""

    text: str
    differs: bool = False


class Row(msgspec.Struct, frozen=True, omit_defaults=True):
    """A piece of text: as it was and as it is. A row that was removed has no `new`, one that was added no `old`;
    one that stayed has `new` alone. `ignored`: it differs at each visit, and is shown because all was asked for."""

    kind: str
    old: Sequence[Span] = ()
    new: Sequence[Span] = ()
    ignored: bool = False


class Passage(msgspec.Struct, frozen=True):
    """Rows that stand together; `at`: number of the first among the pieces of the later capture, from 1."""

    at: int
    rows: Sequence[Row]


def passages_of(
    before: Sequence[str],
    after: Sequence[str],
    change: Change,
    volatile: Volatile,
    context: int = CONTEXT,
    counted: Change | None = None,
) -> list[Passage]:
    """What differs, with `context` rows around it that count; if `counted` is given, what is not of it is marked as
    ignored. No more is looked for when there are more than `MOST_ROWS` rows."""
    shown = [number for number, piece in enumerate(volatile.masked(after)) if piece]
    places = {number: place for place, number in enumerate(shown)}
    passages: list[tuple[int, list[Row]]] = []
    told = 0
    until = 0  # of the later capture: told of up to here
    starts = [hunk.new_start for hunk in change.hunks[1:]]
    for hunk, limit in zip(change.hunks, [*starts, len(after)], strict=False):
        if told > MOST_ROWS:
            break
        near = _nearest(hunk.new_start, places, len(after))
        first = max(near - context, 0)
        leading = [number for number in shown[first:near] if number >= until]
        if passages and (first == 0 or shown[first - 1] < until):
            rows = passages[-1][1]
            told -= len(rows)
        else:
            rows = []
            passages.append(((leading[0] if leading else hunk.new_start) + 1, rows))
        rows += [_same(after[number]) for number in leading]
        differing = _rows(before[hunk.start : hunk.end], after[hunk.new_start : hunk.new_end])
        if counted is not None and not any(_overlap(hunk, other) for other in counted.hunks):
            differing = [
                row if row.kind == "same" else msgspec.structs.replace(row, ignored=True) for row in differing
            ]
        rows += differing
        near = _nearest(hunk.new_end, places, len(after))
        following = shown[near : near + context]
        following = [number for number in following if number < limit]
        rows += [_same(after[number]) for number in following]
        told += len(rows)
        until = following[-1] + 1 if following else max(hunk.new_end, until)
    return [Passage(at, rows) for at, rows in passages]


def _overlap(one: Hunk, other: Hunk) -> bool:
    """Whether two stretches have a piece in common."""
    return max(one.start, other.start) < min(one.end, other.end) or max(one.new_start, other.new_start) < min(
        one.new_end, other.new_end
    )


def _nearest(number: int, places: dict[int, int], size: int) -> int:
    """Place among those shown of a piece, or of the next that is."""
    while number < size:
        if number in places:
            return places[number]
        number += 1
    return len(places)


def _same(text: str) -> Row:
    return Row("same", new=(Span(text),))


def _rows(old: Sequence[str], new: Sequence[str]) -> list[Row]:
    rows: list[Row] = []
    at = 0
    for text in old:
        for place in range(at, min(len(new), at + _PAIRED)):
            if (row := _paired(text, new[place])) is not None:
                rows += [Row("added", new=(Span(one, True),)) for one in new[at:place]]
                if row.kind != "same":
                    rows.append(row)
                at = place + 1
                break
        else:
            rows.append(Row("removed", old=(Span(text, True),)))
    return rows + [Row("added", new=(Span(one, True),)) for one in new[at:]]


def _paired(old: str, new: str) -> Row | None:
    """Both as one row, if much of one is in the other."""
    if old == new:
        return _same(new)
    words, new_words = _WORD.findall(old[:60_000])[:_MOST_WORDS], _WORD.findall(new[:60_000])[:_MOST_WORDS]
    hunks = hunks_of([word.strip() for word in words], [word.strip() for word in new_words])
    common = len(words) - sum(hunk.end - hunk.start for hunk in hunks)
    if common < _ALIKE * max(len(words), len(new_words)):
        return None
    sides = []
    for row, text, stretches in (
        (words, old, [(hunk.start, hunk.end) for hunk in hunks]),
        (new_words, new, [(hunk.new_start, hunk.new_end) for hunk in hunks]),
    ):
        spans, at = [], 0
        for start, end in stretches:
            spans += [Span("".join(row[at:start])), Span("".join(row[start:end]), True)]
            at = end
        rest = text[len("".join(row)) :]
        spans.append(Span("".join(row[at:]) + rest))
        sides.append([span for span in spans if span.text])
    return Row("changed", sides[0], sides[1])
