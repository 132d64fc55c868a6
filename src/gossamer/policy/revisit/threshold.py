"""The worth at which a page is due: one number for the whole crawl, led by the visits that are spent.

Where all pages are visited when a visit is worth the same, no visit could be moved to another page with profit. Which
number that is follows from how many visits there are. It rises while what is due waits longer for a visit than a
hundredth of the mean interval between visits, and sinks while it waits less, or visits are left over; a short queue
of pages that are due costs nothing, and spends each visit. To raise the threshold by a part d puts each page off by
about d/2 of its interval, and saves d/2 visits a page; so the steps follow from pages and visits, whatever the crawl.
"""

import math

import msgspec

_STEPS = 24
"""Of the threshold, to a doubling."""
AIM = 0.01
"""How late visits should come: as part of the mean interval between two visits to a page."""
_MOST_LATE = 0.1
_GAIN = 10.0
_LARGEST = 0.5
_LOWEST, _HIGHEST = -20.0, 36.0


def worth_of_step(step: int) -> float:
    """Seconds of freshness that a visit must bring."""
    return float(2.0 ** (step / _STEPS))


def step_of(level: float) -> int:
    """The step of a threshold by its binary logarithm."""
    return round(level * _STEPS)


class Threshold(msgspec.Struct):
    """The threshold, and the account of visits that leads it.

    Attributes:
        level: binary logarithm of the threshold (seconds of freshness a visit).
        corrected: when it was last corrected, seconds.
    """

    level: float
    corrected: float

    @property
    def step(self) -> int:
        """The threshold, rounded: what due times are computed by, so that they seldom move."""
        return step_of(self.level)

    def correct(self, now: float, fair: float, late: float, left: float) -> None:
        """Follow the visits; to be called every minute or so.

        Args:
            now: seconds.
            fair: the interval at which the visits that may be made would reach each page once, seconds.
            late: mean `lateness` of the visits since the last call, counted from when the page was due and its
                host had rested, seconds; 0 if there were none.
            left: visits that may be made now though nothing is due, as a share of the pages.
        """
        part = max(0.0, now - self.corrected) / fair
        self.corrected = now
        change = min(_GAIN * part, 1.0) * (late / fair - AIM) - 2 * left
        self.level += min(max(change, -_LARGEST), _LARGEST) / math.log(2)
        self.level = bounded(self.level)

    def sink(self) -> None:
        """By one step: as many visits are saved up as may be, and nothing is due."""
        self.level = bounded(self.level - 1 / _STEPS)


def lateness(waited: float, fair: float) -> float:
    """How much of the time that a visit came after it was due counts: what waited for ever says no more than much.

    A signal that was heard while the threshold was high may have been due for long when it sinks.
    """
    return min(waited, _MOST_LATE * fair)


def starting_level(worth: float) -> float:
    """The level of a threshold of so many seconds of freshness a visit."""
    return bounded(math.log2(max(worth, 1e-9)))


def bounded(level: float) -> float:
    """A level within those that there are: a microsecond of freshness to two thousand years."""
    return min(max(level, _LOWEST), _HIGHEST)
