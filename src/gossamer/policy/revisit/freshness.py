"""How fresh what was seen still is, and how much to believe that.

A page is *stale* if a visit now would find another text than the last one did. How likely that is follows from its
class and the time since; but the policy's belief is made for choosing pages, not for counting them: it counts a visit
half, and takes a page that changed at each visit for any page of its site. So what it says is corrected by what visits
find, once for each kind of evidence (how many changes were seen, how many visits without one, whether somebody speaks
of the page and has announced something): P = 1 - exp(-f H), H the hazard of the class, f learned, one step of Newton's
method for each visit (binary regression with a complementary log-log link and log H as offset). Of an announced change
it is learned how often it is true, whatever the time since: H is 1.

How much a site's activity tells of its other pages is learned in the same way: H is multiplied by its ratio to a power.

What is said before a visit is compared with what the visit finds: in ten bins, and as the Brier score. All of it is a
few hundred numbers for a crawl, and nothing for a page.
"""

import math

import msgspec

from gossamer.policy.revisit import classes
from gossamer.policy.revisit.activity import Activity
from gossamer.policy.revisit.history import History
from gossamer.policy.revisit.rates import Spread

BINS = 10
_LEVELS = 5
_KINDS = 3 * _LEVELS * _LEVELS
_FIRST = 1.0
"""Evidence, as of so many visits, that the policy is right as it is."""
_MOST = 300.0
"""Evidence that is kept: sites come and go."""
_STEP = 0.5
_FURTHEST = 5.0
_TOLD = 0.5
"""At first four of five announcements are believed."""
_LEAST, _MOST_HAZARD = 1e-9, 16.0
_POWER, _POWER_EVIDENCE, _POWER_STEP = 0.8, 30.0, 0.2
_QUIET = Activity()
_ANY = Spread()
"""Rates as they are on the web, for pages whose class is an interval that the user set."""
_KEPT = 100_000
"""Visits that predictions are judged by; then they are forgotten by halves."""


class Bin(msgspec.Struct, array_like=True, gc=False):
    """Visits before which a change was about as likely.

    Attributes:
        visits: their number; of old ones half are forgotten.
        predicted: the sum of the probabilities.
        seen: how many found a change.
    """

    visits: float = 0.0
    predicted: float = 0.0
    seen: float = 0.0


class Freshness(msgspec.Struct, array_like=True):
    """What visits again have shown, in a crawl as a whole.

    Attributes:
        found: changes.
        delay: the sum over all changes found of the seconds from the first since the visit before, as is to be
            expected, to the visit that found it.
        bins: predicted against seen, by the probability, ten bins of a tenth.
        brier: the sum of the squared errors of the predictions in `bins`.
        factors: the logarithm of f, by kind of evidence.
        evidence: the weight of it.
        activity_power: what is to be made of a site's activity, 0 (nothing) to 1 (all of its ratio).
        activity_evidence: the weight of that.
    """

    found: int = 0
    delay: float = 0.0
    bins: list[Bin] = msgspec.field(default_factory=lambda: [Bin() for _ in range(BINS)])
    brier: float = 0.0
    factors: list[float] = msgspec.field(
        default_factory=lambda: [0.0] * (2 * _KINDS // 3) + [_TOLD] * (_KINDS // 3)
    )
    evidence: list[float] = msgspec.field(default_factory=lambda: [_FIRST] * _KINDS)
    activity_power: float = _POWER
    activity_evidence: float = _POWER_EVIDENCE

    def stale(self, history: History, now: float) -> float:
        """The probability that a visit now would find another text; 0 of what is not there.

        Args:
            history: of the page, as of its last visit.
            now: wall time, seconds.
        """
        if history.presence.absent:
            return 0.0
        heard = history.heard
        return -math.expm1(-_hazard(history, now, heard) * math.exp(self.factors[_kind(history, heard)]))

    def note(
        self, history: History, now: float, *, changed: bool, activity: Activity = _QUIET
    ) -> float | None:
        """Take note of a visit that could tell whether the page had changed; not of one to a page that was not there.

        Args:
            history: before it, with the class that it had then.
            now: wall time of the visit, seconds.
            changed: it found another text.
            activity: of its site, before it.

        Returns:
            The probability of a change, as it was before the visit whatever its site does; `None` of a page that was
            not there.
        """
        if history.presence.absent:
            return None
        heard = history.heard
        kind = _kind(history, heard)
        expected = _hazard(history, now, heard) * math.exp(self.factors[kind])
        probability = -math.expm1(-expected)
        if changed:
            self.found += 1
            self.delay += _delay(max(0.0, now - history.last), heard, expected)
        self._judge(probability, changed=changed)
        self._learn(kind, expected, probability, changed=changed)
        if not heard:
            self._learn_power(activity.ratio, expected, changed=changed)
        return probability

    def plus(self, other: "Freshness") -> "Freshness":
        """The sums of two crawls; what was learned stays each one's own."""
        return Freshness(
            self.found + other.found,
            self.delay + other.delay,
            [
                Bin(one.visits + two.visits, one.predicted + two.predicted, one.seen + two.seen)
                for one, two in zip(self.bins, other.bins, strict=True)
            ],
            self.brier + other.brier,
        )

    @property
    def mean_delay(self) -> float | None:
        """Seconds from a change to the visit that found it; `None` before there was one."""
        return self.delay / self.found if self.found else None

    @property
    def brier_score(self) -> float | None:
        """Mean squared error of what was predicted, .25 if it is always one half; `None` before there is one."""
        judged = sum(each.visits for each in self.bins)
        return self.brier / judged if judged else None

    def _judge(self, probability: float, *, changed: bool) -> None:
        place = self.bins[int(probability * BINS)] if probability < 1 else self.bins[-1]
        place.visits += 1
        place.predicted += probability
        place.seen += changed
        self.brier += (probability - changed) ** 2
        if place.visits > _KEPT:
            self.brier /= 2
            for each in self.bins:
                each.visits /= 2
                each.predicted /= 2
                each.seen /= 2

    def _learn(self, kind: int, expected: float, probability: float, *, changed: bool) -> None:
        odds = math.exp(-expected) / probability
        slope = expected * odds if changed else -expected
        evidence = self.evidence[kind] + expected * expected * odds
        if evidence > _MOST:
            evidence = _MOST
        factor = self.factors[kind] + _bounded(slope / evidence, -_STEP, _STEP)
        self.evidence[kind] = evidence
        self.factors[kind] = _bounded(factor, -_FURTHEST, _FURTHEST)

    def _learn_power(self, ratio: float, expected: float, *, changed: bool) -> None:
        log = math.log(ratio)
        hazard = _bounded(expected * ratio**self.activity_power, _LEAST, _MOST_HAZARD)
        odds = 1 / math.expm1(hazard)
        slope = log * hazard * (odds if changed else -1.0)
        evidence = self.activity_evidence = min(_MOST, self.activity_evidence + (log * hazard) ** 2 * odds)
        power = self.activity_power + _bounded(slope / evidence, -_POWER_STEP, _POWER_STEP)
        self.activity_power = _bounded(power, 0.0, 1.0)


def _hazard(history: History, now: float, heard: float) -> float:
    if heard:
        return 1.0
    place = history.place
    if classes.is_fixed(place):
        place = classes.classify(_ANY.believe(history))
    return _bounded(classes.hazard(place, max(0.0, now - history.last)), _LEAST, _MOST_HAZARD)


def _bounded(value: float, least: float, most: float) -> float:
    """Twice as fast as `min` of `max`."""
    return least if value < least else most if value > most else value


def _delay(age: float, heard: float, expected: float) -> float:
    """Seconds that a change is to be expected to be old: the first of those that come at random in the time between.

    E[t - T | T < t] = t (1 - 1/x + 1/(exp(x) - 1)), x = `expected`: half of the time if there are few. One that was
    announced is as old as the announcement.
    """
    if heard:
        return max(0.0, age - heard * 3600)
    if expected < 1e-3:
        return age / 2
    return age * (1 - 1 / expected + 1 / math.expm1(min(expected, 500.0)))


_LEVEL = tuple(min(visits.bit_length(), _LEVELS - 1) for visits in range(256))


def _kind(history: History, heard: float) -> int:
    """Kinds of evidence: nobody speaks of the page, somebody is silent, has spoken; visits by powers of 2."""
    voice = 2 if heard else bool(history.voices)
    return (voice * _LEVELS + _LEVEL[history.changed]) * _LEVELS + _LEVEL[history.same]


class Share(msgspec.Struct, gc=False):
    """The stale share of pages, a sum.

    Attributes:
        pages: that were visited, and are there.
        stale: the sum of their probabilities.
        weight: of the pages.
        weighted: the sum of the probabilities, by weight.
    """

    pages: float = 0.0
    stale: float = 0.0
    weight: float = 0.0
    weighted: float = 0.0

    def add(self, history: History, probability: float, times: float = 1.0) -> None:
        """Count a page, which stands for so many."""
        if history.presence.absent:
            return
        heavy = classes.weight(history.place) * times
        self.pages += times
        self.stale += probability * times
        self.weight += heavy
        self.weighted += probability * heavy

    @property
    def plain(self) -> float | None:
        """Of 1; `None` if there are no pages."""
        return self.stale / self.pages if self.pages else None

    @property
    def by_weight(self) -> float | None:
        """The same, each page by what it weighs."""
        return self.weighted / self.weight if self.weight else None
