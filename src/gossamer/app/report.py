"""The report of a crawl: what was done, what is left, why it ended."""

import msgspec

from gossamer.dns.statistics import NameStatistics
from gossamer.engine.crawl import Crawl
from gossamer.state.records import Counters


class Summary(msgspec.Struct, frozen=True):
    """The sums of a crawl by the names that people use for them."""

    pages: int
    duplicates: int
    visits: int
    bytes: int
    archived_bytes: int
    known: int
    queued: int
    waiting: int
    rejected: int
    refused: int
    dropped: int
    failed_visits: int
    hosts: int
    hosts_parked: int
    seconds: float
    pages_per_second: float
    statuses: dict[str, int]
    faults: dict[str, int]
    media_types: dict[str, int]
    names: dict[str, int]


def name_sums(names: NameStatistics) -> dict[str, int]:
    """What became of questions for names: of the cache, then of the name servers."""
    counts = ("hits", "misses", "negative", "deferred", "stale", "resolutions", "queries")
    return {**{name: getattr(names, name) for name in counts}, "failed": sum(names.failures.values())}


def summary(counters: Counters, names: NameStatistics) -> Summary:
    """The sums, with rates."""
    seconds = counters.seconds
    return Summary(
        pages=counters.pages,
        duplicates=counters.duplicates,
        visits=counters.visits,
        bytes=counters.bytes,
        archived_bytes=counters.archived,
        known=counters.admitted,
        queued=counters.queued,
        waiting=counters.waiting,
        rejected=counters.rejected,
        refused=counters.refused,
        dropped=counters.dropped,
        failed_visits=counters.failed,
        hosts=counters.hosts,
        hosts_parked=counters.hosts_parked,
        seconds=round(seconds, 3),
        pages_per_second=round(counters.pages / seconds, 2) if seconds else 0.0,
        statuses=dict(sorted(counters.statuses.items())),
        faults=dict(sorted(counters.faults.items())),
        media_types=dict(sorted(counters.media_types.items())),
        names=name_sums(names),
    )


def make_report(crawl: Crawl, reason: str) -> str:
    """The text of `report.json`."""
    ledger = crawl.parts.ledger
    sums = msgspec.to_builtins(summary(ledger.counters, ledger.names))
    return msgspec.json.format(msgspec.json.encode({"ended": reason, **sums})).decode() + "\n"
