"""Sums the queue by level, domain and depth from what a walk over the hosts tells."""

import math
import time

import msgspec

from gossamer.config.config import CrawlConfig
from gossamer.inspect.queue.levels import LevelCensus, LevelSizes
from gossamer.inspect.queue.sizes import DomainCensus, DomainLine, DomainSizes
from gossamer.inspect.why.level_words import ordering_of
from gossamer.state.environment import Environment
from gossamer.state.records import Counters, HostRecord


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


class QueueCount:
    """Is told of every host in the order of their keys.

    Args:
        sums: of the crawl, when the walk begins.
    """

    def __init__(self, environment: Environment, config: CrawlConfig, sums: Counters) -> None:
        self._order = config.engine.order
        self._sums = sums
        self._domains = DomainCensus(sums.hosts, sums.queued + sums.waiting)
        self._levels = LevelCensus(environment, ordering_of(self._order, config.order), sums.queued)
        self._looked_at = 0
        self._whole: QueueSizes | None = None
        self.complete = False

    def add(self, key: bytes, record: HostRecord) -> None:
        """Take a host into account."""
        self._looked_at += 1
        self._domains.add(record)
        self._levels.add(key, record)

    def finish(self) -> None:
        """All hosts were told of; reading their queues takes up to half a second."""
        self.complete = True
        self._whole = self._reckoned()

    def sizes(self) -> QueueSizes:
        """What was found so far, for all hosts."""
        return self._whole or self._reckoned()

    def _reckoned(self) -> QueueSizes:
        hosts = self._looked_at if self.complete else max(self._sums.hosts, self._looked_at)
        factor = hosts / self._looked_at if self._looked_at else 1.0
        # A short queue is read as a whole, whichever hosts were looked at.
        of_levels = factor if self._levels.sampled else 1.0
        return QueueSizes(
            by_level=_more_levels(self._levels.sizes(self._order), of_levels),
            by_domain=_more_domains(self._domains.sizes(), factor),
            by_depth=self._levels.by_depth(of_levels),
            hosts=hosts,
            hosts_looked_at=self._looked_at,
            estimated=not self.complete,
            as_of=round(time.time(), 1),
        )


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


def _more_levels(sizes: LevelSizes, factor: float) -> LevelSizes:
    replace = msgspec.structs.replace
    return replace(
        sizes,
        unread=round(sizes.unread * factor),
        levels=[replace(line, urls=round(line.urls * factor)) for line in sizes.levels],
        grades=[replace(line, urls=round(line.urls * factor)) for line in sizes.grades],
    )
