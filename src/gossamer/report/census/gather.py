"""Gathers the figures of a report from a crawl's folder, running or stopped."""

import time
from collections import Counter

from msgspec.structs import replace

from gossamer.assembly.report import name_sums, summary
from gossamer.assembly.seeds import Seeds
from gossamer.config.config import CrawlConfig
from gossamer.config.effective import Effective
from gossamer.dns.statistics import LATENCY_BOUNDS, NameStatistics
from gossamer.inspect.gone import left_hosts, some_gone
from gossamer.inspect.inspection import Inspection
from gossamer.inspect.traps import branch_lines
from gossamer.inspect.url_places import UrlPlaces, fingerprints_of
from gossamer.model.errors import ConfigError
from gossamer.model.url import Url
from gossamer.report.census.host_visits import LISTED, PRECISION
from gossamer.report.census.hosts import host_census
from gossamer.report.census.log import LogCensus
from gossamer.report.census.tallies import Largest
from gossamer.report.figures import (
    Figures,
    Gone,
    Histogram,
    HostFigures,
    LogFigures,
    Names,
    PageLine,
    Quantiles,
    Settings,
    Traps,
)
from gossamer.report.languages import LanguageCensus
from gossamer.state.records import HostRecord

_TRAPS = 15
_GONE = 15
_NAMES = 10
_SEEDS = 5


def log_census(inspection: Inspection) -> LogCensus:
    """A census of the crawl's log, to be kept by who makes reports of a running crawl again and again."""
    config = inspection.config
    log, *others = inspection.logs
    return LogCensus(log, config.engine.queue_key, Effective(config).politeness, *others)


def gather(inspection: Inspection, census: LogCensus | None = None) -> Figures:
    """The figures as of now. Changes nothing; takes seconds for a million visits: belongs in a thread.

    Args:
        inspection: of the crawl.
        census: of its log, from an earlier call: then only what came since is read.

    Raises:
        StorageError: log or state cannot be read.
    """
    census = census or log_census(inspection)
    census.read()
    environment, config = inspection.environment, inspection.config
    sums = summary(inspection.counters, inspection.names, inspection.visited, {"name": config.engine.order})
    languages = LanguageCensus(environment, sums.pages)
    crawl_delays = CrawlDelays(census)

    def heard(key: bytes, record: HostRecord) -> None:
        languages.add(key, record)
        crawl_delays.add(record)

    hosts = host_census(inspection, heard)
    seeds, seed_count = _seeds(inspection)
    return Figures(
        made=time.time(),
        name=inspection.folder.path.resolve().name,
        seeds=seeds,
        seed_count=seed_count,
        ended=inspection.ended,
        settings=_settings(config),
        sums=sums,
        log=_with_titles(inspection, crawl_delays.entered(census.figures())),
        hosts=hosts,
        languages=languages.languages(),
        traps=_traps(inspection),
        names=_names(inspection.names),
        freshness=(fresh := inspection.freshness()),
        gone=_gone(inspection) if fresh.known else Gone(),
    )


class CrawlDelays:
    """Compares the gaps of hosts with what their robots files ask for now."""

    def __init__(self, census: LogCensus) -> None:
        self._census = census
        self._short: Largest[HostFigures] = Largest(LISTED)
        self._hosts = 0

    def add(self, record: HostRecord) -> None:
        """Take a host into account; the gap after a robots file is none of pages."""
        delay = record.crawl_delay
        gap = self._census.page_gap(record.name) if delay > 0 else None
        if gap is None or gap >= delay - PRECISION:
            return
        self._hosts += 1
        line = HostFigures(record.name, record.visits, gap=gap, wanted=delay, crawl_delay=delay)
        self._short.offer(delay - gap, line)

    def entered(self, log: LogFigures) -> LogFigures:
        """`log` with the hosts that were visited sooner than they ask for."""
        politeness = replace(log.politeness, below_crawl_delay=self._hosts, hurried=list(self._short))
        return replace(log, politeness=politeness)


def _seeds(inspection: Inspection) -> tuple[list[str], int]:
    """(the first few, how many there are)."""
    texts: list[str] = []
    number = 0
    try:
        for text in Seeds(inspection.config, inspection.folder.path).texts():
            if number < _SEEDS:
                texts.append(text)
            number += 1
    except ConfigError:
        pass  # the file is gone; what the configuration itself says is enough
    return texts, number


def _settings(config: CrawlConfig) -> Settings:
    politeness = config.politeness
    return Settings(
        order=config.engine.order,
        scope=config.scope.mode,
        workers=config.engine.workers,
        min_delay=politeness.min_delay,
        factor=politeness.factor,
        max_delay=politeness.max_delay,
        obey_robots=config.robots.obey,
        visits_per_host=politeness.visits_per_host,
        queue_key=config.engine.queue_key,
    )


def _with_titles(inspection: Inspection, log: LogFigures) -> LogFigures:
    """`log` with the titles of the pages that it names."""
    prints = fingerprints_of(inspection.environment)
    if prints is None:
        return log
    places = UrlPlaces(inspection.environment, prints, inspection.config)

    def titled(line: PageLine) -> PageLine:
        url = Url.from_serialised(line.url)
        record = places.record(places.fingerprint(url)) if url is not None else None
        return replace(line, title=record.title) if record is not None else line

    return replace(
        log,
        largest=[titled(line) for line in log.largest],
        slowest=[titled(line) for line in log.slowest],
    )


def _gone(inspection: Inspection) -> Gone:
    """Hosts that have left, and pages of the others."""
    left = [host for _, host in left_hosts(inspection)]
    return Gone(left[:_GONE], some_gone(inspection, _GONE, {host.host for host in left}))


def _traps(inspection: Inspection) -> Traps:
    """Counts of all branches, and those that are set aside or were."""
    lines = branch_lines(inspection)
    told = [line for line in lines if line.state != "open"][:_TRAPS]
    return Traps(
        dict(Counter(line.state for line in lines)),
        inspection.counters.aside,
        told,
    )


def _names(names: NameStatistics) -> Names:
    latencies = Histogram(
        [0.0, *LATENCY_BOUNDS],
        list(names.latencies),
        quantiles=Quantiles(names.latency(0.5), names.latency(0.9), names.latency(0.99), names.longest),
    )
    failures = dict(sorted(names.failures.items(), key=lambda item: -item[1]))
    return Names(
        name_sums(names), failures, latencies, names.slowest_names()[:_NAMES], names.failing_names()[:_NAMES]
    )
