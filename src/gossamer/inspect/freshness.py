"""How fresh a crawl is: the estimated stale share by site and in all, and how far to believe it.

Estimates of single pages are summed over a sample. Keys are keyed hashes, so the first pages of a host stand for the
rest of it: from each host come as many as its part of the crawl (systematic sampling), and never others, so that the
figure does not jump between two looks.
"""

import heapq
from collections.abc import Iterable
from functools import reduce

import msgspec

from gossamer.inspect.clocks import wall_clock
from gossamer.policy.revisit.freshness import BINS, Bin, Freshness, Share
from gossamer.policy.revisit.gone import Presence
from gossamer.policy.revisit.history import unpack
from gossamer.state.environment import Environment, Family
from gossamer.state.records import REVISIT, HostRecord, RevisitRecord, decode, decode_host, decode_page

SAMPLED = 20_000
"""Pages; the estimate of a larger crawl is off by .7 points at worst in 19 of 20 cases, for that reason."""
LOOKED_AT, LEAST_LOOKED_AT = 50 * SAMPLED, 1_000
"""Records that are gone through for as many, also those of URLs that were turned away."""
SITES = 100
"""Sites listed, the largest."""
LEAST_OF_SITE = 20
"""Pages of a site that are looked at, or all of it, before a share is told of it."""


class PredictedBin(msgspec.Struct, frozen=True):
    """Visits before which a change was about as likely, and how many found one.

    Attributes:
        low, high: bounds of the probability.
        visits: their number, of old ones half and so on.
        predicted: mean probability; `None` without visits.
        seen: the share that found a change.
    """

    low: float
    high: float
    visits: float
    predicted: float | None
    seen: float | None


class SiteFreshness(msgspec.Struct, frozen=True):
    """One host.

    Attributes:
        host: name of its queue.
        pages: that were visited and are not gone, estimated if not all were looked at.
        stale: the share of them that a visit now would find changed.
        by_weight: the same by what pages weigh.
        gone: pages that are not there any more; `never`: that no visit has seen, such as broken links.
    """

    host: str
    pages: int
    stale: float | None
    by_weight: float | None
    gone: int
    never: int = 0


class FreshnessSums(msgspec.Struct, frozen=True):
    """How fresh a crawl is, in short.

    Attributes:
        pages: that were visited, and are there.
        stale: the estimated share of them that a visit now would find changed; `None` if there is none with a
            history, as in a crawl that visits nothing again.
        by_weight: the same by what pages weigh.
        gone: pages that are not there any more; `never`: that no visit has seen, such as broken links.
        visits: visits again that could tell whether the page had changed.
        useful: those of them that found a change.
        unmodified: those that a server answered by 304; `saved`: bytes that it did not send for that.
        delay: mean seconds from a change to the visit that found it, as is to be expected.
        brier: mean squared error of the predictions.
    """

    pages: int = 0
    stale: float | None = None
    by_weight: float | None = None
    gone: int = 0
    never: int = 0
    visits: int = 0
    useful: int = 0
    unmodified: int = 0
    saved: int = 0
    delay: float | None = None
    brier: float | None = None

    @property
    def known(self) -> bool:
        """Something is visited again, so there is something to tell."""
        return self.stale is not None or self.visits > 0

    @property
    def useful_share(self) -> float | None:
        """The share of visits that found a change; `None` before the first."""
        return self.useful / self.visits if self.visits else None


class CrawlFreshness(FreshnessSums, frozen=True):
    """How fresh a crawl is.

    Attributes:
        sampled: pages looked at; `complete`: those are all.
        bins: predicted against seen.
        sites: the largest, and how fresh each is.
    """

    sampled: int = 0
    complete: bool = True
    bins: list[PredictedBin] = []
    sites: list[SiteFreshness] = []

    @property
    def sums(self) -> FreshnessSums | None:
        """In short; `None` if there is nothing to tell."""
        if not self.known:
            return None
        return FreshnessSums(*(getattr(self, name) for name in FreshnessSums.__struct_fields__))


def freshness(states: Iterable[Environment], most: int = SAMPLED) -> CrawlFreshness:
    """How fresh a crawl is, or all crawls of a cluster; nothing of one that visits nothing again.

    Some 10 us for each page looked at.

    Args:
        states: of the crawls.
        most: pages looked at, about.
    """
    states = [state for state in states if state.get(Family.META, REVISIT)]
    if not states:
        return CrawlFreshness()
    walk = _Walk(min(1.0, most / max(sum(map(_known, states)), 1)))
    records = [shown(state) for state in states]
    for state, record in zip(states, records, strict=True):
        walk.through(state, record.freshness)
    totals = reduce(Freshness.plus, (record.freshness for record in records))
    return CrawlFreshness(
        pages=round(walk.whole.pages),
        stale=walk.whole.plain,
        by_weight=walk.whole.by_weight,
        gone=round(walk.gone),
        never=round(walk.never),
        sampled=walk.sampled,
        complete=walk.complete,
        visits=sum(record.visits for record in records),
        useful=sum(record.changed for record in records),
        unmodified=sum(record.not_modified for record in records),
        saved=sum(record.saved for record in records),
        delay=totals.mean_delay,
        brier=totals.brier_score,
        bins=[_bin(place, each) for place, each in enumerate(totals.bins)],
        sites=walk.sites(),
    )


def shown(environment: Environment) -> RevisitRecord:
    """What visits again have shown, as of the last commit."""
    stored = environment.get(Family.META, REVISIT)
    return decode(stored, RevisitRecord) if stored else RevisitRecord()


def _bin(place: int, counted: Bin) -> PredictedBin:
    visits = counted.visits
    mean = (counted.predicted / visits, counted.seen / visits) if visits else (None, None)
    return PredictedBin(place / BINS, (place + 1) / BINS, visits, *mean)


def _known(environment: Environment) -> int:
    return sum(_size(decode_host(data)) for _, data in environment.scan(Family.HOSTS))


def _size(record: HostRecord) -> int:
    """Pages with a history, about."""
    return record.enrolled


class _Site(msgspec.Struct):
    """What was seen of one host."""

    name: str
    share: Share
    gone: float
    never: float
    sampled: int
    complete: bool

    @property
    def told(self) -> SiteFreshness:
        enough = self.complete or self.sampled >= LEAST_OF_SITE
        return SiteFreshness(
            self.name,
            round(self.share.pages),
            self.share.plain if enough else None,
            self.share.by_weight if enough else None,
            round(self.gone),
            round(self.never),
        )


class _Walk:
    """Looks at a part of the pages of each host.

    Args:
        part: of the pages, at most 1.
    """

    def __init__(self, part: float) -> None:
        self._now = 0.0
        self._part = part
        self._owed = 0.5
        self._largest: list[tuple[float, int, _Site]] = []
        self.whole = Share()
        self.gone = 0.0
        self.never = 0.0
        self.sampled = 0
        self.complete = True

    def through(self, environment: Environment, figures: Freshness) -> None:
        """Look at the hosts of a crawl, by what its visits have shown, and by its clock."""
        self._now = wall_clock(environment).now()
        for key, data in environment.scan(Family.HOSTS):
            record = decode_host(data)
            self._owed += _size(record) * self._part
            wanted = int(self._owed)
            self._owed -= wanted
            if wanted or self._part == 1:
                self._host(environment, figures, (key, record.name), None if self._part == 1 else wanted)
            elif _size(record):
                self.complete = False

    def _host(
        self, environment: Environment, figures: Freshness, host: tuple[bytes, str], most: int | None
    ) -> None:
        site = _Site(host[1], Share(), 0.0, 0.0, 0, complete=True)
        times = 1 / self._part
        looked_at = LOOKED_AT if most is None else LOOKED_AT * most // SAMPLED + LEAST_LOOKED_AT
        for _, data in environment.scan(Family.PAGES, host[0], host[0]):
            record = decode_page(data)
            looked_at -= 1
            if not record.history and looked_at > 0:
                continue
            if site.sampled == most or looked_at <= 0:
                site.complete = self.complete = False
                break
            site.sampled += 1
            history = unpack(record.history)
            if history.presence.absent:
                site.gone += times * (history.presence is Presence.GONE)
                site.never += times * (history.presence is Presence.NEVER)
                continue
            probability = figures.stale(history, self._now)
            site.share.add(history, probability, times)
            self.whole.add(history, probability, times)
        self.gone += site.gone
        self.never += site.never
        self.sampled += site.sampled
        if site.sampled:
            entry = (site.share.pages + site.gone, -self.sampled, site)
            (heapq.heappush if len(self._largest) < SITES else heapq.heappushpop)(self._largest, entry)

    def sites(self) -> list[SiteFreshness]:
        """The largest hosts."""
        return [site.told for _, _, site in sorted(self._largest, reverse=True)]
