"""The visited table as a Bloom filter in memory, rebuilt at each start from a log of hashes on disk."""

import math
import operator
import random
import struct
from collections.abc import Callable, Iterator

from rbloom import Bloom

from gossamer.frontier.bloom_size import bits_needed, false_positive_rate
from gossamer.state.environment import Batch, Environment, Family
from gossamer.state.keys import HASH_BYTES, split_ticket
from gossamer.state.records import VISITED, VisitedRecord, decode, encode

URLS_PER_PROBE = 4


class BloomTable:
    """Answers whether a fingerprint was ever admitted; sometimes yes for one that was not (K9).

    Each commit that admits puts one record into the family `seen`: the arrival number of the first URL
    (8 bytes) -> the 8-byte keyed hashes of the URLs. A key of 16 bytes there is an entry of the exact
    table, from before the crawl went over to this one. So the log is exactly what the queue is.

    Invariant: the hashes in the log are those in the filter. A filter beyond its capacity
    goes on, with more false positives; `warn` hears of it once.

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
        self._filter = bloom_filter(bits, hashes)
        kept = environment.get(Family.META, VISITED)
        before = decode(kept, VisitedRecord) if kept else VisitedRecord()
        self._figures = VisitedRecord(
            "bloom", 0, capacity, error, bits, hashes, before.probes, before.false_positives
        )
        self._fresh: dict[int, None] = {}  # of the open batch, in the order in which they came
        self._absent = b""  # the last fingerprint that was asked for and not there
        self._number = 0  # its hash
        self._first = 0  # arrival number of the first of them
        # Probes must not be hashes that a site could have; they need not be secret.
        self._dice = random.Random()  # noqa: S311
        for logged in _log(environment):
            self._filter.update(logged)
            self._count(len(logged))

    def __contains__(self, fingerprint: bytes) -> bool:
        number = _hash(fingerprint)
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
            self._first = split_ticket(ticket)[1]
        self._fresh[self._number] = None
        self._absent = b""

    def flush(self, batch: Batch) -> None:
        """Put the hashes added since the last call into `batch`, as one record of the log."""
        fresh = self._fresh
        if not fresh:
            return
        log = struct.pack(f"<{len(fresh)}Q", *fresh)
        batch.put(Family.SEEN, self._first.to_bytes(HASH_BYTES, "big"), log)
        self._filter.update(fresh)
        self._count(len(fresh))
        self._probe(len(fresh))
        self._fresh = {}
        batch.put(Family.META, VISITED, encode(self._figures))

    def figures(self) -> VisitedRecord:
        """Sizes, and the probes so far."""
        return self._figures

    def admitted(self, fingerprint: bytes) -> bool:
        """Whether the log has it. Reads the whole of it."""
        number = _hash(fingerprint)
        return any(number in logged for logged in _log(self._environment))

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


def expected_rate(figures: VisitedRecord) -> float:
    """False positives to expect of the table as full as it is; 0 for an exact one."""
    return (
        false_positive_rate(figures.bits / figures.urls, figures.hashes)
        if figures.urls and figures.bits
        else 0.0
    )


def bloom_filter(bits: int, hashes: int) -> "Bloom":
    """A filter of about so many bits, for hashes of our own.

    rbloom takes neither number, but derives them: bits = items * ln(1 / error) / ln(2)^2, and hashes =
    bits / items * ln 2, downwards. It is asked for the items and the error that lead to ours.
    """
    items = max(1, int(bits * math.log(2) / (hashes + 0.5)))
    return Bloom(items, math.exp(-bits / items * math.log(2) ** 2), operator.index)


def _hash(fingerprint: bytes) -> int:
    # The hash of the URL alone: that of the host adds nothing, and 8 bytes are half of the log.
    return int.from_bytes(fingerprint[HASH_BYTES:], "little")


def _log(environment: Environment) -> Iterator[tuple[int, ...]]:
    for key, value in environment.scan(Family.SEEN):
        if len(key) == HASH_BYTES:
            yield struct.unpack(f"<{len(value) // HASH_BYTES}Q", value)
        else:
            yield (_hash(key),)
