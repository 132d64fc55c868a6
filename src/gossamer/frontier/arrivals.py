"""Takes hosts of another frontier, entry by entry, into one that goes on working."""

from collections.abc import Callable

import msgspec

from gossamer.frontier.frontier import Frontier
from gossamer.frontier.queues.active_hosts import OWNER_LATER
from gossamer.frontier.standings import ORDER, is_of_another
from gossamer.model.url import Url
from gossamer.state.environment import Batch, Environment, Family
from gossamer.state.keys import FOREVER, HASH_BYTES, later_key, split_later, ticket
from gossamer.state.records import (
    COUNTERS,
    VISITED,
    Counters,
    HostRecord,
    PlaceRecord,
    QueueRecord,
    decode,
    decode_domain,
    decode_host,
    decode_page,
    decode_queue,
    decode_robots,
    encode,
)

FAMILIES = (
    Family.QUEUE,
    Family.LATER,
    Family.AGAIN,
    Family.SEEN,
    Family.PAGES,
    Family.ROBOTS,
    Family.STANDINGS,
    Family.BRANCHES,
    Family.HOSTS,
)
"""Those whose keys begin with the hash of a host, in the order in which they arrive: a host is known last,
when all that belongs to it is there."""

FINGERPRINT_BYTES = 2 * HASH_BYTES


class Origin(msgspec.Struct, frozen=True):
    """Where hosts come from.

    Attributes:
        state: of the other frontier.
        agent: whose it is; pages say in whose archive they stand.
        shift: microseconds from its crawl clock to ours.
    """

    state: Environment
    agent: str
    shift: int


class Arrivals:
    """Enters what another frontier holds of some hosts, within batches of the caller.

    Tickets stay as they are, so nothing changes its place; ours are numbered above them from now on. Times go
    from the other crawl clock to ours as if none had passed since the other state was written, so nothing
    falls due too early; `FOREVER` and 0 stay. Each host first rests its own rest from now on. Of the sums
    those of what there is (queued, waiting, hosts, parked hosts, admitted) come with it; what was done stays
    with who did it.
    """

    def __init__(self, frontier: Frontier, origin: Origin, canonical: Callable[[Url], str]) -> None:
        """`canonical`: as `Identity` has it."""
        self._frontier = frontier
        self._counters = frontier.counters
        self._origin = origin
        self._canonical = canonical
        state = origin.state
        self._is_filter = frontier.seen.figures().table != "exact"
        # A Bloom filter does not know what it holds; what was admitted is queued, waits, or has a page.
        self._was_filter = state.get(Family.META, VISITED) is not None
        standings = frontier.standings
        self._standing: Callable[[bytes], bytes] | None = None
        if standings is not None and not is_of_another(state, frontier.ordering):
            self._standing = standings.arrivals(state.get(Family.META, ORDER))
        sums = state.get(Family.META, COUNTERS)
        self.sequence = decode(sums, Counters).sequence if sums else 0
        """The last arrival number of the other frontier."""

    def put(self, family: Family, key: bytes, value: bytes, batch: Batch) -> None:
        """Enter one entry of `FAMILIES`; each once, and none that is here already."""
        self._counters.sequence = max(self._counters.sequence, self.sequence)
        match family:
            case Family.QUEUE:
                batch.put(family, key, value)
                self._counters.queued += 1
                self._queued(value, batch)
            case Family.LATER:
                due, sequence = split_later(key)
                batch.put(family, later_key(key[:HASH_BYTES], self._moved(due), sequence), value)
                again = decode_queue(value).again
                self._counters.again += again
                self._counters.waiting += not again
                self._queued(value, batch)
            case Family.AGAIN:
                batch.put(family, key, value)  # by wall time, which is the same everywhere
                self._counters.enrolled += 1
            case Family.SEEN:
                if len(key) == FINGERPRINT_BYTES:  # not the log of a filter
                    self._seen(key, value, batch)
            case Family.PAGES:
                self._page(key, value, batch)
            case Family.ROBOTS:
                robots = decode_robots(value)
                robots = msgspec.structs.replace(robots, until=self._moved(robots.until))
                batch.put(family, key, encode(robots))
            case Family.STANDINGS:
                if self._standing is not None:
                    batch.put(family, key, self._standing(value))
            case Family.HOSTS:
                self._host(key, decode_host(value), batch)
            case _:
                batch.put(family, key, value)

    def put_domain(self, value: bytes) -> None:
        """Add what the other frontier knows of a registrable domain, if such are counted here."""
        if self._frontier.domains is not None:
            self._frontier.domains.take_in(decode_domain(value))

    def _moved(self, due: int) -> int:
        if due <= 0 or due >= FOREVER:
            return due
        return min(max(1, due + self._origin.shift), FOREVER - 1)

    def _queued(self, value: bytes, batch: Batch) -> None:
        if self._was_filter:
            self._seen(self._fingerprint(decode_queue(value)), b"", batch)

    def _fingerprint(self, entry: QueueRecord) -> bytes:
        candidate_url = entry.candidate().url
        canonical = self._canonical(candidate_url)
        url = (
            candidate_url
            if canonical == candidate_url.text
            else Url.from_serialised(canonical) or candidate_url
        )
        return self._frontier.fingerprint(self._frontier.host_key(url)[0], canonical)

    def _seen(self, fingerprint: bytes, place: bytes, batch: Batch) -> None:
        seen = self._frontier.seen
        if (self._was_filter or self._is_filter) and fingerprint in seen:
            return
        if self._is_filter:
            # Its log is kept by arrival number, of which each commit needs one of its own.
            self._counters.sequence += 1
            place = ticket(0, self._counters.sequence)
        seen.add(fingerprint, place, batch)
        self._counters.admitted += 1

    def _page(self, key: bytes, value: bytes, batch: Batch) -> None:
        page = decode_page(value)
        if page.place is not None and "/" not in page.place.file:
            place = page.place
            place = PlaceRecord(f"{self._origin.agent}/{place.file}", place.offset, place.length)
            value = encode(msgspec.structs.replace(page, place=place))
        batch.put(Family.PAGES, key, value)
        if self._was_filter and page.state != "rejected":
            self._seen(key, b"", batch)

    def _host(self, key: bytes, record: HostRecord, batch: Batch) -> None:
        record.due = self._moved(record.due)
        record.later_due = self._moved(record.later_due)
        record.last_visit = self._moved(record.last_visit)
        if record.failing_since:
            record.failing_since += self._origin.shift / 1e6
        record.wake = 0
        self._counters.hosts += 1
        self._counters.hosts_parked += bool(record.parked)
        self._counters.aside += record.aside
        self._frontier.hosts.put(key, record)
        # When it was last visited is not known for certain.
        now, policy = self._frontier.micros(), self._frontier.policy
        owed = max(policy.rest(record.name), record.rest / 1e6, record.crawl_delay)
        record.due = max(record.due, now + int(owed * 1e6))
        wake(self._frontier, key, record, batch, not_before=now + OWNER_LATER if policy.owns else 0)


def wake(frontier: Frontier, key: bytes, record: HostRecord, batch: Batch, *, not_before: int = 0) -> None:
    """Wake a host that is not served when it falls due, and not before some moment."""
    if record.parked or not (record.queued or record.delayed or record.heads):
        return
    due = record.due if record.queued or record.heads else max(record.due, record.later_due)
    frontier.serving.wake.set(key, record, max(due, not_before), batch)
