"""How often a page changes, and how sure that is, by its own visits and by what other pages do.

The rate of a page is one of a row of rates, each twice the one before. How they are spread over the pages of a site,
and of the crawl, is learned (empirical Bayes): a page without visits is like its site, a site without visits like the
crawl, the crawl like the web. An interval t without a change has the likelihood exp(-rt), X intervals of T in all that
end with one about (1 - exp(-rT/X))^X, so two sums and two numbers are enough.

A page may seem to change though it does not: one with a clock does at each visit, one with a rotating box at some. That
is part of the model. Who has changed at each visit is very fast or has a clock; that it changes was never put to the
test, so it is taken for any page of its site until a visit finds it unchanged, or a change was announced. It is neither
starved on the strength of a clock, nor does it take the visits of others.
"""

import math
import struct
from functools import cache, lru_cache
from operator import add, mul

import msgspec

from gossamer.policy.revisit.history import History

DAY = 86_400.0
CELLS = 22
SLOWEST = 1 / (30 * 365.25 * DAY)
"""Changes a second. The fastest of `CELLS` rates is one in eight minutes."""
_WEB_MEDIAN = 60 * DAY
_WEB_DEVIATION = 2.0
"""Of the logarithm: from hours to decades (Cho and Garcia-Molina 2000; Fetterly et al. 2003; Adar et al. 2009)."""
_CLEAN, _BOX, _CLOCK = 0.85, 0.1, 0.05
_BOX_TURNS = 0.3
"""Of the visits to a page with a rotating box that see another one."""
_SLIP = 0.02
"""Of the visits to a page with a clock that see no change."""
_BURSTS = 0.5
"""What a visit counts for: changes come in bursts, so the visits of a page say less than if they came at random."""
_NEVER = 40.0
"""Changes expected of a time that none was seen in: not this rate."""
_PHASES = 8
_LOWEST = -30
_OCTAVES = CELLS + 1 - _LOWEST
_SPREAD = struct.Struct(f"<{CELLS}f")
SPREAD_BYTES = _SPREAD.size
_LIKE_THE_CROWD = 10.0
_MOST = 20_000.0
_REFRESHED = 16
_REMEMBERED = 1 << 10
"""Pairs of rows of likelihoods, 1.5 KB each."""

_LOGS = tuple(math.log(SLOWEST) + cell * math.log(2) for cell in range(CELLS))
_SQUARES = tuple(log * log for log in _LOGS)


_PLACES = (_OCTAVES - CELLS) * _PHASES + 1
"""Of intervals at the slowest rate, `_PHASES` to an octave."""


@cache  # not at import: few crawls visit a page twice, and the three tables take 200 KB
def _likelihoods(kept: float, *, changed: bool) -> tuple[tuple[float, ...], ...]:
    """`[place][cell]`: the likelihood of an interval at each rate, the slowest first.

    Args:
        kept: the probability that a visit shows no change where there was none.
        changed: that it ended with one. If not, it ends before the rates at which it cannot have been.
    """
    phases = []
    for phase in range(_PHASES):
        times = [2.0 ** (octave + _LOWEST + phase / _PHASES) for octave in range(_OCTAVES)]
        if changed:
            phases.append([1 - kept * math.exp(-each) for each in times])
        else:
            phases.append([math.exp(-each) for each in times if each < _NEVER])
    return tuple(tuple(phases[place % _PHASES][place // _PHASES :][:CELLS]) for place in range(_PLACES))


_LEAST_CHANGE = 1e-5
"""Hours."""
_NOTHING = 1e-250


class Belief(msgspec.Struct, frozen=True, gc=False):
    """What is believed of a page's rate.

    Attributes:
        mean: of the natural logarithm of changes a second.
        variance: of the same.
    """

    mean: float
    variance: float


class Spread:
    """How rates are spread over the pages of a site, or of a crawl.

    A page weighs by the time that its visits look back on, so one that is visited ten times as often as others
    counts no more than they do.
    """

    __slots__ = ("_cells", "_crowd", "_given", "_learned", "_rates", "_total", "_usual", "_whole")

    def __init__(self, crowd: "Spread | None" = None, stored: bytes | None = None) -> None:
        """`crowd`: the whole that this is a part of, and like until there is evidence; the crawl has none."""
        self._crowd = crowd
        self._cells = list(_SPREAD.unpack(stored)) if stored else [0.0] * CELLS
        self._given = list(self._cells)
        self._total = sum(self._cells)
        self._learned = 0
        self._rates: list[float] = []
        self._refresh()

    def pack(self) -> bytes:
        """As it is stored, `SPREAD_BYTES`."""
        return _SPREAD.pack(*self._cells)

    def tell(self) -> None:
        """Tell the crowd of all that was learned here; before this is forgotten."""
        if self._learned:
            self._refresh()

    def believe(self, history: History) -> Belief:
        """What is believed of a page of which this is known."""
        cells = _posterior(self._rates, history)
        if cells is self._rates:
            return self._usual
        total = sum(cells)
        return _moments(cells, total) if total > _NOTHING else _alone(history)

    def learn(self, history: History, weight: float) -> Belief:
        """The same, after a visit, which counts for the others, too.

        Args:
            history: with the visit.
            weight: the interval that it ended, as a share of the mean interval between visits.
        """
        cells = _posterior(self._rates, history)
        if cells is self._rates:
            total, belief = self._whole, self._usual
        else:
            total = sum(cells)
            if total <= _NOTHING:
                return _alone(history)
            belief = _moments(cells, total)
        own = self._cells
        own[: len(cells)] = map(add, own, map((weight / total).__mul__, cells))
        self._total += weight
        self._learned += 1
        if self._learned >= _REFRESHED:
            self._refresh()
        return belief

    def _refresh(self) -> None:
        """Take what was learned into account, and tell the crowd of it."""
        self._learned = 0
        crowd = self._crowd
        if crowd is not None:
            news = [own - given for own, given in zip(self._cells, self._given, strict=True)]
            crowd._cells = [old + new for old, new in zip(crowd._cells, news, strict=True)]
            crowd._total += sum(news)
            crowd._learned += 1
            if crowd._learned >= _REFRESHED:
                crowd._refresh()
        if self._total > _MOST:
            self._cells = [each / 2 for each in self._cells]
            self._total /= 2
        self._given = list(self._cells)
        rates = _WEB if crowd is None else crowd.rates
        whole = self._total + _LIKE_THE_CROWD
        self._rates = [
            (own + _LIKE_THE_CROWD * all_) / whole for own, all_ in zip(self._cells, rates, strict=True)
        ]
        self._whole = sum(self._rates)
        self._usual = _moments(self._rates, self._whole)

    @property
    def rates(self) -> list[float]:
        """The share of pages of each rate, slowest first."""
        return self._rates


def _posterior(rates: list[float], history: History) -> list[float]:
    """Weights of the slowest rates, as many as count, not summing to 1; `rates` itself if nothing is known."""
    if not history.changed:
        if not history.same:
            return rates
    elif not history.same and not history.announced:
        # As fast as you like, or a clock: that it changes was never put to the test.
        return rates
    if history.quiet:
        rates = list(map(mul, rates, _likelihoods(1.0, changed=False)[_place(history.quiet * _BURSTS)]))
    if not history.changed:
        return rates
    same, times, announced = (
        history.same * _BURSTS, history.changed * _BURSTS, history.announced * _BURSTS,
    )  # fmt: skip
    place = _place(history.stirred / history.changed)
    # What somebody has told of was no noise.
    noisy = times - announced
    if announced:
        rates = list(map(mul, rates, _powers(place, announced)[0]))
    boxed = _BOX / _CLEAN * (1 - _BOX_TURNS) ** same
    clock = _CLOCK / _CLEAN * _SLIP ** (same + announced)
    return [
        rate * (one + boxed * other + clock)
        for rate, one, other in zip(rates, *_powers(place, noisy), strict=False)
    ]


@lru_cache(maxsize=_REMEMBERED)
def _powers(place: int, times: float) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """The likelihood at each rate of so many intervals that each ended with a change, without noise and with a box.

    Nine in ten visits ask for one of the last `_REMEMBERED`.
    """
    changed, turned = _likelihoods(1.0, changed=True), _likelihoods(1 - _BOX_TURNS, changed=True)
    return tuple([each**times for each in changed[place]]), tuple([each**times for each in turned[place]])


def _place(hours: float) -> int:
    """The place in a table of an interval."""
    at = round((math.log2(max(hours, _LEAST_CHANGE) * 3600 * SLOWEST) - _LOWEST) * _PHASES)
    return min(max(at, 0), _PLACES - 1)


def _alone(history: History) -> Belief:
    """What a page says of itself that contradicts all rates; the closed form of Cho and Garcia-Molina."""
    stirred, quiet = max(history.stirred, _LEAST_CHANGE), max(history.quiet, _LEAST_CHANGE)
    often = math.log1p(stirred / quiet) * max(history.changed, 1) / (stirred * 3600)
    return Belief(math.log(often), 1 / max(history.changed, 1))


def _moments(cells: list[float], total: float) -> Belief:
    mean = sum(map(mul, cells, _LOGS)) / total
    return Belief(mean, max(0.0, sum(map(mul, cells, _SQUARES)) / total - mean * mean))


def _web() -> list[float]:
    distances = ((log + math.log(_WEB_MEDIAN)) / _WEB_DEVIATION for log in _LOGS)
    weights = [math.exp(-each * each / 2) for each in distances]
    total = sum(weights)
    return [each / total for each in weights]


_WEB = _web()
