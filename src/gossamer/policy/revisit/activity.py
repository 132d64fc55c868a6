"""Whether a site changes more than it usually does: what its visits of late found, against what was to be expected.

Documents change in bursts: a release, a new template, a whole folder. When the first pages of a site turn out to have
changed, those that nobody has visited since are likely to have done so, too, whatever their own histories say; and
a site that is quiet can wait. To judge all pages of a site by a sample of them is Cho and Ntoulas's ("Effective change
detection using sampling", VLDB 2002); here the sample is the visits that are made anyway, and what was to be expected
of them is what `freshness` said before each, so a page whose clock turns at every visit surprises nobody.

Where pages change each for itself, a site that is busier than others is so by chance, and to go by it costs visits: how
much to make of it is learned by the crawl (`Freshness.activity_power`).
"""

import math
import struct
from bisect import bisect

import msgspec

_FORM = struct.Struct("<ff")
ACTIVITY_BYTES = _FORM.size
_KEPT = 1 - 1 / 30
"""Of what was seen, at each further visit to the site."""
_DOUBT = 4.0
"""As if so many changes had been found where as many were to be expected."""
_FACTORS = tuple(math.pow(2, half / 2) for half in range(-6, 7))
_BORDERS = tuple(factor * 2**0.25 for factor in _FACTORS[:-1])


class Activity(msgspec.Struct, frozen=True, gc=False):
    """Of one site; old visits are forgotten.

    Attributes:
        found: changes.
        expected: the sum of the probabilities of a change, as they were before the visits.
    """

    found: float = 0.0
    expected: float = 0.0

    def seen(self, probability: float, *, changed: bool) -> "Activity":
        """After another visit, before which a change was that likely."""
        return Activity(self.found * _KEPT + changed, self.expected * _KEPT + probability)

    @property
    def ratio(self) -> float:
        """Changes found for one that was to be expected, with some doubt."""
        return (self.found + _DOUBT) / (self.expected + _DOUBT)

    def factor(self, power: float) -> float:
        """How much faster than usual its pages change now: 1/8 to 8, in half doublings, so that due times seldom move.

        `power`: what the crawl makes of `ratio`, 0 (nothing) to 1 (all of it).
        """
        return _FACTORS[bisect(_BORDERS, self.ratio**power)]

    def pack(self) -> bytes:
        """As it is stored, `ACTIVITY_BYTES`."""
        return _FORM.pack(self.found, self.expected)


def activity_of(stored: bytes) -> Activity:
    """The activity that was stored by `pack`; nothing is known where nothing was."""
    return Activity(*_FORM.unpack(stored)) if stored else Activity()
