"""The seen set: canonical URLs ever admitted, exact, on disk behind a bounded cache and perhaps a filter."""

from gossamer.frontier.seen.filter import SeenFilter, forget_saved
from gossamer.frontier.seen.fingerprint_cache import FingerprintCache
from gossamer.state.environment import Batch, Environment, Family
from gossamer.state.records import VisitedRecord


class SeenSet:
    """Answers whether a fingerprint was ever admitted.

    Invariant: a fingerprint is seen if and only if it is in the `seen` family or in a batch that is not
    committed yet. The cache only holds fingerprints that are seen.
    """

    def __init__(self, environment: Environment, cache_entries: int) -> None:
        self._environment = environment
        self._fingerprint_cache = FingerprintCache(cache_entries)
        size = environment.config.seen_filter
        self._filter = SeenFilter(environment, size) if size else None
        forget_saved(environment)
        self._uncommitted: set[bytes] = set()
        self._absent = b""  # the last fingerprint that was asked for and not there: it is asked for again

    def __contains__(self, fingerprint: bytes) -> bool:
        if fingerprint == self._absent:
            return False
        if fingerprint in self._fingerprint_cache or fingerprint in self._uncommitted:
            return True
        ruled_out = self._filter is not None and self._filter.rules_out(fingerprint)
        if not ruled_out and self._environment.get(Family.SEEN, fingerprint) is not None:
            self._fingerprint_cache.add(fingerprint)
            return True
        self._absent = fingerprint
        return False

    def add(self, fingerprint: bytes, ticket: bytes, batch: Batch) -> None:
        """Mark as seen, within `batch`."""
        batch.put(Family.SEEN, fingerprint, ticket)
        # The cache may forget it before the disk knows it.
        self._uncommitted.add(fingerprint)
        self._absent = b""

    def figures(self) -> VisitedRecord:
        """Figures of a table that is exact."""
        return VisitedRecord()

    def save(self) -> None:
        """All is on disk; the filter would have to be made anew."""
        if self._filter is not None:
            self._filter.save()

    def flush(self, batch: Batch) -> None:  # noqa: ARG002 - all is in it
        """The batch with all additions so far goes to disk next; nothing is asked in between."""
        if self._filter is not None:
            self._filter.update(self._uncommitted)
            self._filter.read_on()
        for fingerprint in self._uncommitted:
            self._fingerprint_cache.add(fingerprint)
        self._uncommitted.clear()
