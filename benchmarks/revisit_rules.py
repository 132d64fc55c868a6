"""The rules that others visit again by, and the index with rates that only the end tells, over all pages at once.

Each says which pages are next (the greatest `order`), and is told what the visits saw. Nutch's and StormCrawler's
intervals are used earliest due first on the whole budget, so nobody loses visits by a generator. Times are days.
"""

from typing import Protocol

import msgspec
import numpy as np
from numpy.typing import NDArray

from benchmarks.revisit_worlds import Floats, Ints, World, gain

Seen = NDArray[np.bool_]


class Rule(Protocol):
    """Which page is next."""

    def order(self, now: float) -> Floats:
        """Of each page; the greatest is visited first."""

    def saw(self, pages: Ints, now: float, changed: Seen) -> None:
        """Some pages were visited."""


class OldestFirst:
    """Every page as often as every other."""

    def __init__(self, world: World) -> None:
        self.last: Floats = np.zeros(world.size)
        # Who is first among equals is drawn, once: by their numbers, neighbours would be.
        self._first = np.random.default_rng(3).random(world.size) * 1e-6

    def order(self, now: float) -> Floats:
        return now - self.last + self._first

    def saw(self, pages: Ints, now: float, changed: Seen) -> None:  # noqa: ARG002
        self.last[pages] = now


class Index(OldestFirst):
    """By what a visit is worth, with given rates."""

    def __init__(self, world: World, rates: Floats, weights: Floats) -> None:
        super().__init__(world)
        self._rates = np.maximum(rates, 1e-7)
        self._weights = weights

    def order(self, now: float) -> Floats:
        return self._weights * gain(self._rates * (now - self.last)) / self._rates + self._first * 1e-6


class Proportional(OldestFirst):
    """As often as a page changes, by the rates that intervals of its own and of all pages tell."""

    def __init__(self, world: World, weights: Floats) -> None:
        super().__init__(world)
        self._quiet, self._stirred, self._changes = np.zeros((3, world.size))
        self._all = np.zeros(3)
        self._weights = weights

    def order(self, now: float) -> Floats:
        quiet, stirred, changes = self._all
        usual = np.log1p(stirred / max(quiet, 1e-9)) * changes / stirred if changes >= 5 else 1 / 60
        known = 30.0  # days with one change, as if every page had been seen at the usual rate before
        like_all = known / np.expm1(min(usual * known, 50.0))
        ratio = (self._stirred + known) / (self._quiet + like_all)
        rates = np.log1p(ratio) * (self._changes + 1) / (self._stirred + known)
        return self._weights * rates * super().order(now)

    def saw(self, pages: Ints, now: float, changed: Seen) -> None:
        past = now - self.last[pages]
        self._quiet[pages] += np.where(changed, 0.0, past)
        self._stirred[pages] += np.where(changed, past, 0.0)
        self._changes[pages] += changed
        self._all += (past[~changed].sum(), past[changed].sum(), changed.sum())
        super().saw(pages, now, changed)


class Steps(msgspec.Struct, frozen=True):
    """An interval that grows after visits that saw nothing new, and shrinks after others.

    Attributes:
        grow: factor after a visit without a change.
        shrink: factor after one with.
        first: days of the first interval.
        least: days of the shortest.
        most: days of the longest.
        shift: the part of the time since the last change by which the next visit is earlier, while the interval is at
            least that time (Nutch's `sync_delta`); below 0: neither.
    """

    grow: float
    shrink: float
    first: float
    least: float
    most: float
    shift: float = -1.0


NUTCH = Steps(grow=1.4, shrink=0.8, first=30.0, least=60 / 86_400, most=365.0, shift=0.3)
"""AdaptiveFetchSchedule with nutch-default.xml."""
STORM = Steps(grow=1.5, shrink=0.5, first=1.0, least=60 / 1440, most=365.0)
"""AdaptiveScheduler with its defaults."""


class Interval(OldestFirst):
    """Earliest due first, by intervals in steps."""

    def __init__(self, world: World, steps: Steps) -> None:
        super().__init__(world)
        self._steps = steps
        self._interval = np.full(world.size, steps.first)
        self._due = self._interval + self._first
        self._modified: Floats = np.zeros(world.size)

    def order(self, now: float) -> Floats:  # noqa: ARG002
        return -self._due

    def saw(self, pages: Ints, now: float, changed: Seen) -> None:
        steps = self._steps
        interval = self._interval[pages] * np.where(changed, steps.shrink, steps.grow)
        earlier: Floats = np.zeros(len(pages))
        if steps.shift >= 0:
            self._modified[pages[changed]] = now
            since = now - self._modified[pages]
            interval = np.maximum(interval, since)
            earlier = steps.shift * since
        interval = np.clip(interval, steps.least, steps.most)
        self._interval[pages] = interval
        self._due[pages] = now - earlier + interval + self._first[pages]
        super().saw(pages, now, changed)


def tuned(kind: Steps, fair: float) -> list[Steps]:
    """The grid that a rule is tuned on, for each source and budget.

    `fair`: the mean interval between visits, which none of them is told by anybody.
    """
    return [
        msgspec.structs.replace(kind, grow=grow, shrink=shrink, first=fair, most=most, shift=shift)
        for grow in (1.1, 1.5, 2.0)
        for shrink in (0.5, 0.8)
        for most in (fair * 3, 3_650.0)
        for shift in sorted({kind.shift, -1.0})
    ]
