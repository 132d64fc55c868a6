"""The visited table as a Bloom filter in memory, behind which stands a log of hashes on disk."""

import contextlib
import random
import struct
from collections.abc import Callable, Collection, Iterator
from functools import partial

from gossamer.frontier.seen import bloom_file
from gossamer.frontier.seen.bloom_size import bits_needed, bloom_filter
from gossamer.frontier.seen.large_pages import on_large_pages
from gossamer.state.environment import Batch, Environment, Family
from gossamer.state.keys import HASH_BYTES, arrival_of
from gossamer.state.records import VISITED, VisitedRecord, decode, encode

TABLE = "visited"
"""What the filter's file is named after."""
URLS_PER_PROBE = 4
WORTH_SAVING = 500_000
"""URLs that a start would have to read from the log, in about half a second, before the filter is saved."""
_LOW_64 = (1 << 64) - 1
_ARRIVALS = b"\0\0"
"""Arrival numbers have 48 bits, so every key of the log begins with this."""


class BloomTable:
    """Answers whether a fingerprint was ever admitted; sometimes yes for one that was not (K9).

    Each commit that admits puts one record into the family `seen`: the arrival number of the first URL
    (8 bytes) -> the 8-byte keyed hashes of the URLs. A key of 16 bytes there is an entry of the exact
    table, from before the crawl went over to this one. So the log is exactly what the queue is.

    Invariant: the hashes in the log are those in the filter. A filter beyond its capacity
    goes on, with more false positives; `warn` hears of it once.

    A start reads the whole log, or a filter that was saved and what the log has after it. Those are taken
    only if both together have the number and the sum of hashes that the last commit states. So a filter with
    commits that the disk has lost, or that came after a checkpoint which was gone back to, is never used.

    There is no exact table to compare with. So for every fourth URL admitted one random hash is probed that
    was (but for a chance of 2^-64 times the URLs) never admitted: the share of those that seem visited is
    about the share of new URLs that were lost, over the whole crawl.
    """

    def __init__(
        self, environment: Environment, capacity: int, error: float, warn: Callable[[str], None]
    ) -> None:
        self._environment = environment
        self._warn = warn
        bits, hashes = bits_needed(capacity, error)
        self._filter = on_large_pages(partial(bloom_filter, bits, hashes), bits // 8)
        kept = environment.get(Family.META, VISITED)
        before = decode(kept, VisitedRecord) if kept else VisitedRecord()
        self._figures = VisitedRecord(
            "bloom", 0, capacity, error, bits, hashes, before.probes, before.false_positives
        )
        self._last = 0  # arrival number of the last record of the log
        self._saved = 0  # URLs in the filter that was saved last
        self._fresh: dict[int, None] = {}  # of the open batch, in the order in which they came
        self._absent = b""  # the last fingerprint that was asked for and not there
        self._number: int  # its hash
        self._first = 0  # arrival number of the first of them
        # Probes must not be hashes that a site could have; they need not be secret.
        self._dice = random.Random()  # noqa: S311
        if not self._go_on(before):
            for first, logged in _log(environment):
                self._enter(first, logged)

    def _go_on(self, before: VisitedRecord) -> bool:
        """Take the filter that was saved last, if it and the log after it are what was committed."""
        figures = self._figures
        load = partial(bloom_file.load, self._environment.path.parent, TABLE, figures.bits, figures.hashes)
        found = on_large_pages(load, figures.bits // 8, filled=True)
        if found is None:
            return False
        made, (self._filter, saved) = self._filter, found
        later = _log(self._environment, _key(saved.last + 1), _ARRIVALS)
        records = [record for record in later if saved.urls <= before.urls]
        urls = saved.urls + sum(len(logged) for _, logged in records)
        total = saved.total + sum(sum(logged) for _, logged in records) & _LOW_64
        if (urls, total) != (before.urls, before.total):
            self._filter = made
            return False
        self._last, self._saved, figures.total = saved.last, saved.urls, saved.total
        self._count(saved.urls)
        for first, logged in records:
            self._enter(first, logged)
        return True

    def __contains__(self, fingerprint: bytes) -> bool:
        (number,) = _url_hash(fingerprint)
        if number in self._filter or number in self._fresh:
            return True
        self._absent, self._number = fingerprint, number
        return False

    def add(self, fingerprint: bytes, ticket: bytes, batch: Batch) -> None:  # noqa: ARG002 - see `flush`
        """Mark as seen; a forced URL that seems to be is not counted again."""
        # Nearly always it was asked for just before, and asking again would cost a miss of the cache.
        if fingerprint != self._absent and fingerprint in self:
            return
        if not self._fresh:
            self._first = arrival_of(ticket)[0]
        self._fresh[self._number] = None
        self._absent = b""

    def flush(self, batch: Batch) -> None:
        """Put the hashes added since the last call into `batch`, as one record of the log."""
        fresh = self._fresh
        if not fresh:
            return
        log = struct.pack(f"<{len(fresh)}Q", *fresh)
        batch.put(Family.SEEN, _key(self._first), log)
        self._enter(self._first, fresh)
        self._probe(len(fresh))
        self._fresh = {}
        batch.put(Family.META, VISITED, encode(self._figures))

    def figures(self) -> VisitedRecord:
        """Sizes, and the probes so far."""
        return self._figures

    def admitted(self, fingerprint: bytes) -> bool:
        """Whether the log has it. Reads the whole of it."""
        (number,) = _url_hash(fingerprint)
        return any(number in logged for _, logged in _log(self._environment))

    def save(self) -> None:
        """Let the next start go on from here; a disk that refuses only makes it read more of the log.

        Between two commits only: what is in the filter is committed.
        """
        figures = self._figures
        if figures.urls - self._saved < WORTH_SAVING:
            return
        saved = bloom_file.Saved(self._last, figures.urls, figures.total, figures.bits, figures.hashes)
        with contextlib.suppress(OSError):
            bloom_file.save(self._filter, saved, self._environment.path.parent, TABLE)
            self._saved = figures.urls

    def _enter(self, first: int, hashes: Collection[int]) -> None:
        self._filter.update(hashes)
        self._last = max(self._last, first)
        self._figures.total = self._figures.total + sum(hashes) & _LOW_64
        self._count(len(hashes))

    def _probe(self, most: int) -> None:
        figures = self._figures
        wanted = min(most, figures.urls // URLS_PER_PROBE - figures.probes)
        if wanted > 0:
            probes = struct.unpack(f"<{wanted}Q", self._dice.randbytes(wanted * HASH_BYTES))
            figures.probes += wanted
            figures.false_positives += sum(map(self._filter.__contains__, probes))

    def _count(self, added: int) -> None:
        figures = self._figures
        fitted = figures.urls <= figures.capacity
        figures.urls += added
        if fitted and figures.urls > figures.capacity:
            self._warn(
                f"the visited table has got more than the {figures.capacity:,} URLs that it was made for "
                f"(frontier.bloom_urls): from now on it loses more than the stated {figures.stated:.3g} of "
                "the new URLs. Stop, raise the setting in crawl.toml, and resume: the table is made anew."
            )


_url_hash = struct.Struct("<8xQ").unpack
"""The hash of the URL alone: that of the host adds nothing, and 8 bytes are half of the log."""


def _key(first: int) -> bytes:
    return first.to_bytes(HASH_BYTES, "big")


def _log(
    environment: Environment, start: bytes = b"", prefix: bytes = b""
) -> Iterator[tuple[int, tuple[int, ...]]]:
    """(arrival number, hashes) of each record; 0 for one of the exact table."""
    for key, value in environment.scan(Family.SEEN, start, prefix):
        if len(key) == HASH_BYTES:
            yield int.from_bytes(key, "big"), struct.unpack(f"<{len(value) // HASH_BYTES}Q", value)
        elif not prefix:
            yield 0, _url_hash(key)
