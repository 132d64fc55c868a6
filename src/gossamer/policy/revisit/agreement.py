"""How agents that each visit their own hosts again come to one threshold, and to the visits that go with it.

Visits are spent best where the next one is worth the same everywhere (`threshold`); so agents have one threshold, and
of the visits that all may make together each has the part that its pages ask for at it. Nobody decides either: each
agent tells the others what it goes by, and each takes the median of what all told, every shard one voice, and corrects
that by what it saw itself. What all see moves all; what one sees wrong, or tells wrong, moves at most its own. For how
many pages an agent has nobody but itself knows, but how many shards, everybody does: hosts are dealt out to them by
chance, so its pages count as far as others have as many in theirs (`as_counted`).

What an agent's pages ask for is known from when they were due (`Demand`), and from how late their visits came. All
parts together are what may be spent, as far as all have heard the same.
"""

import math
from collections.abc import Callable, Sequence

import msgspec

from gossamer.policy.revisit.classes import LONGEST
from gossamer.policy.revisit.threshold import AIM, bounded

MOST_PAGES = 1 << 40
MOST_OF_A_SHARD = 4.0
"""Pages of a shard, as a multiple of what the median shard has: one host may be as large as all others of a shard."""
_MEMORY = 0.5
"""Visits to each page after which what was seen is forgotten by a factor of e."""
_LEAST_FOR_LATE, _MOST_FOR_LATE = 0.75, 1.5
"""Who is in time asks for so much less than its pages do, who is late for so much more."""


class Told(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """What an agent tells the others.

    Attributes:
        level: of its threshold (`threshold.Threshold`).
        fair: seconds in which the visits of all would reach each page once, as far as it knows; the level is for that.
        pages: that come again with it.
        eager: visits that they ask for at that threshold, a page, as a multiple of what there is for the mean page.
        shards: that it owns by the map of the cluster; whoever hears it sees for himself.
    """

    level: float
    fair: float
    pages: int
    eager: float = 1.0
    shards: int = 1

    @property
    def is_sane(self) -> bool:
        """Whether it can be true; what cannot is not heard."""
        finite = math.isfinite(self.level) and math.isfinite(self.fair) and math.isfinite(self.eager)
        return finite and self.fair > 0 and 0 < self.pages <= MOST_PAGES and self.shards > 0

    @property
    def asked(self) -> float:
        """Visits that it asks for: no page waits longer than `LONGEST` mean intervals, nor gets so many times more."""
        return self.pages * min(max(self.eager, 1 / LONGEST), LONGEST)


def as_counted(told: Sequence[Told]) -> list[Told]:
    """What all told, with no more pages of anybody than `MOST_OF_A_SHARD` times the median shard's in each of its own.

    All reckon the same of the same, of themselves as well, so their parts are still the whole.
    """
    usual = _median([(each.pages / each.shards, each.shards) for each in told])
    return [
        msgspec.structs.replace(
            each, pages=min(each.pages, max(1, round(MOST_OF_A_SHARD * usual * each.shards)))
        )
        for each in told
    ]


def part_of(own: Told, others: Sequence[Told]) -> tuple[int, float]:
    """(pages that come again with all agents, the part of the visits of all that this one may make)."""
    everybody = (own, *others)
    return sum(each.pages for each in everybody), own.asked / sum(each.asked for each in everybody)


def level_of(own: Told, others: Sequence[Told], level_at: Callable[[float], float]) -> float:
    """The median of what all go by, each with the weight of its shards; between two where both halves weigh the same.

    `level_at`: where a threshold begins for so many seconds. A setting that one has heard of and others have not yet
    moves what they tell as it moved ours.
    """
    here = level_at(own.fair)
    return _median(
        [
            (
                bounded(each.level + (here - level_at(each.fair) if each.fair != own.fair else 0.0)),
                each.shards,
            )
            for each in (own, *others)
        ]
    )


def _median(weighed: Sequence[tuple[float, int]]) -> float:
    """Of values with their weights."""
    ordered = sorted(weighed)
    half, below = sum(weight for _, weight in ordered) / 2, 0
    for number, (value, weight) in enumerate(ordered):
        below += weight
        if below == half:
            return (value + ordered[number + 1][0]) / 2
        if below > half:
            return value
    raise AssertionError("the last of them is above the half")


class Demand(msgspec.Struct):
    """What the pages of an agent ask for at its threshold.

    A page that is due every T is met at one visit in so many as 1/T is of the sum of these, so the mean of T over the
    visits is the number of pages by the visits that they ask for: whether that many are made or not. What was asked is
    when a page was due, not when it was visited; news of a page makes it due sooner.

    Attributes:
        interval: mean of what the pages asked for that were visited of late, in mean intervals between visits.
        late: mean lateness of those visits, in the same.
    """

    interval: float = 1.0
    late: float = AIM

    def saw(self, visits: float, interval: float, late: float) -> None:
        """Follow what was spent since the last time.

        Args:
            visits: that were made to each page.
            interval: mean of the time from the last visit until it was due, in mean intervals.
            late: mean `threshold.lateness` of them, in mean intervals.
        """
        part = -math.expm1(-visits / _MEMORY)
        self.interval += part * (interval - self.interval)
        self.late += part * (late - self.late)

    @property
    def eager(self) -> float:
        """What the pages ask for, as a multiple of what there is for the mean page."""
        late = min(max(self.late / AIM, _LEAST_FOR_LATE), _MOST_FOR_LATE)
        return late / max(self.interval, 1 / LONGEST)
