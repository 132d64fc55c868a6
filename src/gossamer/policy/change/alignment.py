"""Which stretches of two rows differ: patience (what occurs once in both is matched first, in the longest common
order), between the matches Myers' greedy search with a bounded number of differences.

Nearly linear for texts; what stays in doubt is given as replaced, so that no input takes quadratic time.
"""

from bisect import bisect_left
from collections import Counter
from collections.abc import Hashable, Sequence
from typing import NamedTuple

__all__ = ["Hunk", "hunks_of"]

_MOST_DIFFERENCES = 200
_ROUNDS = 16
"""Times the length of both rows that are looked at in all."""


class Hunk(NamedTuple):
    """A stretch that differs: `before[start:end]` stands for `after[new_start:new_end]`; one of them may be empty."""

    start: int
    end: int
    new_start: int
    new_end: int


def hunks_of(before: Sequence[Hashable], after: Sequence[Hashable]) -> list[Hunk]:
    """The stretches that differ, in order; between them both rows are equal."""
    numbers: dict[Hashable, int] = {}
    one = [numbers.setdefault(item, len(numbers)) for item in before]
    other = [numbers.setdefault(item, len(numbers)) for item in after]
    found: list[Hunk] = []
    left = _ROUNDS * (len(one) + len(other) + 1)
    todo = [Hunk(0, len(one), 0, len(other))]
    while todo:
        start, end, new_start, new_end = todo.pop()
        while start < end and new_start < new_end and one[start] == other[new_start]:
            start, new_start = start + 1, new_start + 1
        while start < end and new_start < new_end and one[end - 1] == other[new_end - 1]:
            end, new_end = end - 1, new_end - 1
        stretch = Hunk(start, end, new_start, new_end)
        if start == end or new_start == new_end:
            if start != end or new_start != new_end:
                found.append(stretch)
            continue
        left -= end - start + new_end - new_start
        matches = _unique(one, other, stretch) if left > 0 else []
        if not matches:
            matches = _greedy(one, other, stretch)
            if not matches:
                found.append(stretch)
                continue
        for (at, new_at), (until, new_until) in zip(
            [(start - 1, new_start - 1), *matches], [*matches, (end, new_end)], strict=True
        ):
            if at + 1 < until or new_at + 1 < new_until:
                todo.append(Hunk(at + 1, until, new_at + 1, new_until))
    return sorted(found)


def _unique(one: list[int], other: list[int], within: Hunk) -> list[tuple[int, int]]:
    """Matches of what occurs once in both stretches: the longest row that is in order in both."""
    here, there = one[within.start : within.end], other[within.new_start : within.new_end]
    counts, new_counts = Counter(here), Counter(there)
    places = {item: at for at, item in enumerate(there, within.new_start) if new_counts[item] == 1}
    pairs = [
        (at, places[item])
        for at, item in enumerate(here, within.start)
        if counts[item] == 1 and item in places
    ]
    ends: list[int] = []
    last: list[int] = []
    previous: list[int] = []
    for number, (_, new_at) in enumerate(pairs):
        rank = bisect_left(ends, new_at)
        previous.append(last[rank - 1] if rank else -1)
        if rank == len(ends):
            ends.append(new_at)
            last.append(number)
        else:
            ends[rank], last[rank] = new_at, number
    row = []
    number = last[-1] if last else -1
    while number >= 0:
        row.append(pairs[number])
        number = previous[number]
    row.reverse()
    return row


def _greedy(one: list[int], other: list[int], within: Hunk) -> list[tuple[int, int]]:
    """Matches by Myers' search; none where there are none, or the stretches differ too much."""
    start, end, new_start, new_end = within
    size, new_size = end - start, new_end - new_start
    furthest = {1: 0}
    trace: list[dict[int, int]] = []
    for differences in range(min(size + new_size, _MOST_DIFFERENCES) + 1):
        trace.append(dict(furthest))
        for diagonal in range(-differences, differences + 1, 2):
            if diagonal == -differences or (
                diagonal != differences and furthest[diagonal - 1] < furthest[diagonal + 1]
            ):
                at = furthest[diagonal + 1]
            else:
                at = furthest[diagonal - 1] + 1
            new_at = at - diagonal
            while at < size and new_at < new_size and one[start + at] == other[new_start + new_at]:
                at, new_at = at + 1, new_at + 1
            furthest[diagonal] = at
            if at >= size and new_at >= new_size:
                return _back(trace, within)
    return []


def _back(trace: list[dict[int, int]], within: Hunk) -> list[tuple[int, int]]:
    """The matches on the way that the search found."""
    start, end, new_start, new_end = within
    at, new_at = end - start, new_end - new_start
    matches = []
    for differences in range(len(trace) - 1, -1, -1):
        furthest = trace[differences]
        diagonal = at - new_at
        down = diagonal == -differences or (
            diagonal != differences and furthest[diagonal - 1] < furthest[diagonal + 1]
        )
        was = furthest[diagonal + 1 if down else diagonal - 1] if differences else 0
        new_was = was - (diagonal + 1 if down else diagonal - 1) if differences else 0
        first = (was, new_was + 1) if down else (was + 1, new_was)
        if not differences:
            first = (0, 0)
        while (at, new_at) != first:
            at, new_at = at - 1, new_at - 1
            matches.append((start + at, new_start + new_at))
        at, new_at = was, new_was
    return matches[::-1]
