"""The sums of the crawl, committed with every group."""

import time

from gossamer.dns.statistics import NameStatistics
from gossamer.engine.settlement.judge import Judgement
from gossamer.engine.visiting.visit import Visit
from gossamer.model.disposition import Dropped
from gossamer.model.exchange import StatusAction
from gossamer.model.outcome import Failed, Fault, Fetched, Refused
from gossamer.model.reasons.reason import Reason
from gossamer.policy.visits.broken import is_link
from gossamer.policy.visits.retry import action_of
from gossamer.state.clock import CrawlClock
from gossamer.state.environment import Batch, Environment, Family
from gossamer.state.records import (
    CLOCK,
    COUNTERS,
    ENDED,
    NAMES,
    Counters,
    PageRecord,
    decode,
    decode_reason,
    encode,
)

MOST_TYPES = 200
"""Media types counted by name; a hostile site could invent any number."""
MOST_STATUSES = 2_000
"""Statuses and results counted by name; HTTP has a thousand, other protocols name their own."""

MOST_FIELDS = 1_000
"""Fields counted by name; settings name them, but extractors of other packages could take names from pages."""


class Ledger:
    """Keeps `Counters` in step with what is committed."""

    def __init__(
        self,
        counters: Counters,
        clock: CrawlClock,
        ended: Reason | None = None,
        names: NameStatistics | None = None,
    ) -> None:
        self.counters = counters
        self.names = names or NameStatistics()
        self.ended = ended
        """Why the last session ended, if it ended well."""
        self._clock = clock
        self._started = time.monotonic() - counters.seconds
        self._held: float | None = None  # seconds when it was paused

    @classmethod
    def load(cls, environment: Environment, clock: CrawlClock) -> "Ledger":
        """The sums as they were last committed."""
        data = environment.get(Family.META, COUNTERS)
        ended = environment.get(Family.META, ENDED) or b""
        names = environment.get(Family.META, NAMES)
        return cls(
            decode(data, Counters) if data else Counters(),
            clock,
            decode_reason(ended),
            decode(names, NameStatistics) if names else None,
        )

    @property
    def seconds(self) -> float:
        """Time spent crawling, over all sessions; a pause is none."""
        return time.monotonic() - self._started if self._held is None else self._held

    def hold(self) -> None:
        """The crawl is paused: its time stands still."""
        if self._held is None:
            self._held = self.seconds

    def go_on(self) -> None:
        """Note that the pause is over."""
        if self._held is not None:
            self._started, self._held = time.monotonic() - self._held, None

    def count(self, visit: Visit, judgement: Judgement, record: PageRecord, *, is_copy: bool) -> None:
        """Add one visit to the sums; `record`: what is known after it; `is_copy`: of what is archived already."""
        counters, media_type = self.counters, record.media_type
        tally = judgement.tally
        counters.visits += 1
        counters.pages += tally.pages
        counters.bytes += tally.bytes
        match visit.outcome:
            case Fetched(exchange=exchange):
                _add(counters.statuses, self._counted(exchange.said))
                if action_of(exchange) is StatusAction.THROTTLED:
                    _add(counters.faults, Fault.THROTTLED)
                elif exchange.status >= 500:
                    _add(counters.faults, Fault.SERVER)
            case Failed(fault=fault):
                counters.failed += 1
                _add(counters.faults, fault)
            case Refused(rule=rule):
                counters.refused += 1
                _add(counters.faults, f"refused: {rule}")
        given_up = isinstance(judgement.disposition, Dropped) and judgement.elsewhere is None
        if given_up and not visit.lease.candidate.again:
            counters.dropped += 1
            found = visit.lease.candidate
            refused = isinstance(visit.outcome, Refused)
            counters.broken += not refused and is_link(found.kind, found.via, found.url.target)
        if visit.page is not None and tally.pages:
            for name in visit.page.fields:
                if name in counters.fields or len(counters.fields) < MOST_FIELDS:
                    _add(counters.fields, name)
        if media_type and tally.pages:
            known = media_type in counters.media_types or len(counters.media_types) < MOST_TYPES
            _add(counters.media_types, media_type if known else "other")
        counters.canonicals += bool(tally.pages and record.canonical)
        counters.duplicates += is_copy and not visit.lease.candidate.again

    def _counted(self, said: str) -> str:
        known = self.counters.statuses
        return said if said in known or len(known) < MOST_STATUSES else "other"

    def enter(self, batch: Batch, ended: Reason | None = None) -> None:
        """Put the times into `batch`, with the reason if the session ends; the frontier puts the sums."""
        batch.put(Family.META, ENDED, encode(ended) if ended else b"")
        self.counters.seconds = self.seconds
        batch.put(Family.META, CLOCK, encode(self._clock.record()))
        batch.put(Family.META, NAMES, encode(self.names))


def _add(counts: dict[str, int], name: str) -> None:
    counts[name] = counts.get(name, 0) + 1
