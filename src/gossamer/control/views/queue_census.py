"""Sums the queue by level, domain and depth, a bounded time at each look, however many hosts there are."""

import math
import time

import msgspec

from gossamer.config.config import CrawlConfig
from gossamer.control.views.host_census import FRESH_FOR
from gossamer.control.views.paging import SECONDS, Patience
from gossamer.inspect.queue.levels import ALL_READ, LevelCensus, LevelLine, LevelSizes
from gossamer.inspect.queue.sizes import DomainCensus, DomainLine, DomainSizes
from gossamer.inspect.why.level_words import level_clause, ordering_of
from gossamer.inspect.why.sentences import Told
from gossamer.policy.ordering.best import BestFirst
from gossamer.policy.ordering.levels import depth_at
from gossamer.policy.ordering.opic import Opic
from gossamer.policy.ordering.ordering import DEEPEST, ROBOTS_LEVEL, BreadthFirst, DepthFirst
from gossamer.ports import OrderingPolicy
from gossamer.state.environment import Environment, Family
from gossamer.state.records import Counters, decode_host


class ToldLevel(LevelLine, frozen=True):
    """A band of levels whose name can be told in other languages."""

    clauses: Told = ()


class QueueSizes(msgspec.Struct, frozen=True):
    """How many URLs are queued, by level, registrable domain and depth.

    Attributes:
        hosts: all that are known.
        hosts_looked_at: of these; keys are keyed hashes, so they stand for the rest.
        estimated: not all were looked at yet, so amounts are scaled up, and a domain may be missing that has
            few hosts; each further look goes on where the last one ended.
        as_of: wall time at which this was counted.
    """

    by_level: LevelSizes
    by_domain: DomainSizes
    by_depth: dict[str, int]
    hosts: int
    hosts_looked_at: int
    estimated: bool
    as_of: float


class _Sweep:
    """One walk over all hosts."""

    def __init__(self, environment: Environment, config: CrawlConfig, sums: Counters) -> None:
        self._environment = environment
        self._order = config.engine.order
        self._ordering = ordering_of(self._order, config.order)
        self._sums = sums
        self._domains = DomainCensus(sums.hosts, sums.queued + sums.waiting)
        self._levels = LevelCensus(environment, self._ordering, sums.queued)
        self._cursor = b""
        self._looked_at = 0
        self.complete = False

    def go_on(self, seconds: float) -> None:
        """Look at some more hosts."""
        patience = Patience(seconds)
        for key, data in self._environment.scan(Family.HOSTS, self._cursor):
            if patience.over:
                self._cursor = key
                return
            record = decode_host(data)
            self._looked_at += 1
            self._domains.add(record)
            self._levels.add(key, record)
        self.complete = True

    def sizes(self) -> QueueSizes:
        """What was found so far, for all hosts."""
        hosts = self._looked_at if self.complete else max(self._sums.hosts, self._looked_at)
        factor = hosts / self._looked_at if self._looked_at else 1.0
        levels = self._levels.sizes(self._order)
        # A short queue is read as a whole, whichever hosts were looked at.
        of_levels = factor if self._sums.queued > ALL_READ else 1.0
        return QueueSizes(
            by_level=_more_levels(levels, of_levels, self._ordering),
            by_domain=_more_domains(self._domains.sizes(), factor),
            by_depth=_by_depth(self._ordering, self._levels.by_level(), of_levels),
            hosts=hosts,
            hosts_looked_at=self._looked_at,
            estimated=not self.complete,
            as_of=round(time.time(), 1),
        )


class QueueCensus:
    """Walks over the hosts of one crawl, again and again."""

    def __init__(self, environment: Environment) -> None:
        self._environment = environment
        self._sweep: _Sweep | None = None
        self._done: QueueSizes | None = None
        self._took = 0.0
        self._fresh_until = 0.0

    def look(self, config: CrawlConfig, sums: Counters, seconds: float = SECONDS) -> QueueSizes:
        """What the last whole walk has found, or as much as the first has so far.

        A whole one holds for `FRESH_FOR` times as long as it took.

        Args:
            sums: of now.
            seconds: for hosts; their queues take up to half a second more.
        """
        began = time.monotonic()
        if self._done is not None and began < self._fresh_until:
            return self._done
        sweep = self._sweep = self._sweep or _Sweep(self._environment, config, sums)
        sweep.go_on(seconds)
        found = sweep.sizes() if sweep.complete or self._done is None else self._done
        self._took += time.monotonic() - began
        if sweep.complete:
            self._sweep, self._done = None, found
            self._fresh_until = time.monotonic() + FRESH_FOR * self._took
            self._took = 0.0
        return found


def _more_domains(sizes: DomainSizes, factor: float) -> DomainSizes:
    if factor == 1.0:
        return sizes
    return msgspec.structs.replace(
        sizes, hosts=round(sizes.hosts * factor), domains=[_more(line, factor) for line in sizes.domains]
    )


def _more(line: DomainLine, factor: float) -> DomainLine:
    """With the doubt that the hosts looked at, some of many, bring: at worst all of them are alike."""
    queued, waiting = line.queued * factor, line.waiting * factor
    seen = max(1, line.hosts or 1)
    drawn = (queued + waiting) * math.sqrt((1 - 1 / factor) / seen)
    error = math.hypot(line.error * factor, drawn)
    return DomainLine(line.name, round(queued), round(waiting), None, round(error))


def _more_levels(sizes: LevelSizes, factor: float, ordering: OrderingPolicy | None) -> LevelSizes:
    replace = msgspec.structs.replace
    return replace(
        sizes,
        unread=round(sizes.unread * factor),
        levels=[
            ToldLevel(
                line.name,
                line.first,
                line.last,
                round(line.urls * factor),
                (level_clause(ordering, line.first, line.last),),
            )
            for line in sizes.levels
        ],
        grades=[replace(line, urls=round(line.urls * factor)) for line in sizes.grades],
    )


def _by_depth(ordering: OrderingPolicy | None, levels: dict[int, float], factor: float) -> dict[str, int]:
    """By the depth that some orderings put into the level; empty for others."""
    depths: dict[int, float] = {}
    for level, urls in levels.items():
        if level == ROBOTS_LEVEL:
            continue
        if isinstance(ordering, BreadthFirst):
            depth = level - 1
        elif isinstance(ordering, DepthFirst):
            depth = DEEPEST - level
        elif isinstance(ordering, Opic | BestFirst):
            depth = depth_at(level)
        else:
            return {}
        depths[depth] = depths.get(depth, 0.0) + urls * factor
    return {str(depth): round(urls) for depth, urls in sorted(depths.items())}
