"""The sums of a crawl by the names that people use for them: what was done, what is left."""

import msgspec

from gossamer.dns.statistics import NameStatistics
from gossamer.frontier.seen.bloom_size import expected_rate
from gossamer.state.records import Counters, VisitedRecord


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
    aside: int
    rejected: int
    refused: int
    dropped: int
    failed_visits: int
    broken: int
    canonicals: int
    hosts: int
    hosts_parked: int
    seconds: float
    pages_per_second: float
    statuses: dict[str, int]
    faults: dict[str, int]
    media_types: dict[str, int]
    turned_away: dict[str, int]
    raised: dict[str, int]
    names: dict[str, int]
    visited: dict[str, str | float]
    order: dict[str, str | float]
    again: int = 0
    speculative: dict[str, tuple[int, int]] = {}
    """Visits to addresses in scripts by where they stood, and to answers of forms (`form`): that brought something,
    that did not."""
    fields: dict[str, int] = {}
    """Pages on which each field was found."""


def name_sums(names: NameStatistics) -> dict[str, int]:
    """What became of questions for names: of the cache, then of the name servers."""
    counts = ("hits", "misses", "negative", "deferred", "stale", "resolutions", "queries")
    return {**{name: getattr(names, name) for name in counts}, "failed": sum(names.failures.values())}


def visited_sums(figures: VisitedRecord) -> dict[str, str | float]:
    """The visited table: its kind, and for `bloom` the false positives stated, expected and measured.

    `stated_rate` holds for a full table, `expected_rate` for it as full as it is; `measured_rate` is the
    share of random `probes` never admitted that seemed visited, one for every fourth URL admitted: about
    the share of new URLs that were lost. `memory` is in bytes.
    """
    if figures.table == "exact":
        return {"table": "exact"}
    return {
        "table": figures.table,
        "urls": figures.urls,
        "capacity": figures.capacity,
        "memory": figures.bits // 8,
        "stated_rate": figures.stated,
        "expected_rate": expected_rate(figures),
        "measured_rate": figures.false_positives / figures.probes if figures.probes else 0.0,
        "probes": figures.probes,
        "false_positives": figures.false_positives,
    }


def summary(
    counters: Counters, names: NameStatistics, visited: VisitedRecord, order: dict[str, str | float]
) -> Summary:
    """The sums, with rates; `order` has the policy's name and what it counts itself."""
    seconds = counters.seconds
    return Summary(
        pages=counters.pages,
        duplicates=counters.duplicates,
        visits=counters.visits,
        bytes=counters.bytes,
        archived_bytes=counters.archived,
        known=counters.admitted,
        queued=counters.queued - counters.aside,
        waiting=counters.waiting,
        aside=counters.aside,
        rejected=counters.rejected,
        refused=counters.refused,
        dropped=counters.dropped,
        failed_visits=counters.failed,
        broken=counters.broken,
        canonicals=counters.canonicals,
        hosts=counters.hosts,
        hosts_parked=counters.hosts_parked,
        seconds=round(seconds, 3),
        pages_per_second=round(counters.pages / seconds, 2) if seconds else 0.0,
        statuses=dict(sorted(counters.statuses.items())),
        faults=dict(sorted(counters.faults.items())),
        media_types=dict(sorted(counters.media_types.items())),
        turned_away=dict(sorted(counters.turned_away.items())),
        raised=dict(sorted(counters.raised.items())),
        names=name_sums(names),
        visited=visited_sums(visited),
        order=order,
        again=counters.again,
        speculative=dict(sorted(counters.speculative.items())),
        fields=dict(sorted(counters.fields.items())),
    )
