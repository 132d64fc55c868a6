"""Pages that were visited and come again, by what another visit is worth (decision 0026)."""

import math
from collections.abc import Callable, Iterable, Iterator

import msgspec

from gossamer.frontier.queues.host_queue import HostQueue
from gossamer.frontier.queues.queue_table import QueueTable
from gossamer.model.candidate import Candidate
from gossamer.model.disposition import Again
from gossamer.model.url import Url
from gossamer.policy.ordering.ordering import ROBOTS_LEVEL
from gossamer.policy.revisit import classes
from gossamer.policy.revisit.activity import activity_of
from gossamer.policy.revisit.history import History, standing, unpack
from gossamer.policy.revisit.threshold import lateness, step_of
from gossamer.policy.revisit.trust import Signal, trust_of
from gossamer.state.clock import WallClock
from gossamer.state.environment import Batch, Environment, Family
from gossamer.state.keys import (
    HASH_BYTES,
    again_key,
    again_ticket,
    pack_heads,
    split_again,
    unpack_heads,
)
from gossamer.state.records import Counters, HostRecord, PageRecord, recent_page

NEVER = 1 << 63
TAKEN_AT_ONCE = 8
"""Pages of a host that are brought into its queue in one batch."""
LOOKED_AT_ONCE = 1_000
"""Entries that are looked at for them, also such as stand elsewhere now."""
_HIGHEST_STEP = step_of(64.0)
"""Of a worth (`policy.revisit.threshold`): more than that of any visit."""
_AHEAD = 86_400.0
"""Seconds that a date of a change may lie ahead: clocks of other zones."""
_SAVED, _LEAST_SAVED, _SAVED_SECONDS = 0.02, 4.0, 120.0
"""Visits that may be saved up: a part of the pages, so many, or those of so many seconds."""


class Pace(msgspec.Struct):
    """What may be spent on visits again, and from which worth on; corrected by the engine every minute.

    Attributes:
        on: whether pages come again at all.
        step: of the threshold (`policy.revisit.threshold`).
        activity_power: what is made of how active a host is (`policy.revisit.freshness`).
        fair: seconds in which the visits that may be made would reach each page once.
        rate: visits a second that may be made.
        share: of the turns of a host where new URLs wait, too, those that go to pages that are due.
        saved: visits that may be made now; `earned`: wall time up to which they were earned.
        left: the least that `saved` was after a visit since the last correction: nothing was due for it.
        late: sum of `lateness` of the visits since the last correction; `lent`: their number.
        asked: sum of the seconds from the visit before until each of them was due.
        version: another one after each correction.
    """

    on: bool = False
    step: int = 0
    activity_power: float = 0.0
    fair: float = math.inf
    rate: float = 0.0
    share: float = 0.5
    saved: float = _LEAST_SAVED
    earned: float = 0.0
    left: float = 0.0
    late: float = 0.0
    lent: int = 0
    asked: float = 0.0
    version: int = 0

    @property
    def longest(self) -> float:
        """Seconds that no page waits longer than."""
        return classes.LONGEST * self.fair

    def earn(self, now: float) -> float:
        """The visits that may be made at wall time `now`."""
        passed = now - self.earned
        if passed:
            self.saved = min(self.saved + max(0.0, passed) * self.rate, max(self._most, self.saved))
            self.earned = now
        return self.saved

    @property
    def full(self) -> bool:
        """As many visits are saved up as may be: those that come would be lost."""
        return self.saved >= self._most

    @property
    def _most(self) -> float:
        return max(_LEAST_SAVED, _SAVED * self.rate * self.fair, _SAVED_SECONDS * self.rate)

    def next_free(self, now: float) -> float:
        """Wall time from which on a visit may be made: infinite if none may, 0 if one may be made now."""
        lacks = 1 - self.earn(now)
        if lacks <= 0:
            return 0.0
        return now + lacks / self.rate if self.rate else math.inf


class AgainQueue:
    """The family `again`: one first-in-first-out queue for each class of each host.

    Invariants: a page whose record has a `history` has one entry here, by its class and since when it waits, or
    one in `queue` or `later` that is `revisit`, and never both. `enrolled` of a host counts its entries here. No
    entry of a class stands before its head. An entry that its page's history does not name is void.
    """

    def __init__(
        self,
        environment: Environment,
        queues: QueueTable,
        counters: Counters,
        clock: tuple[Callable[[], int], WallClock],
        buffer: int,
    ) -> None:
        """`clock`: microseconds of the crawl clock, and the wall clock."""
        self._environment = environment
        self.queues = queues
        self._counters = counters
        self._micros, self.wall = clock
        self._buffer = buffer
        self.pace = Pace(earned=self.wall.now())

    # When something is due …

    def due_of(self, queue: HostQueue) -> int:
        """When a page of a host is due, and may be visited; microseconds, or `NEVER`."""
        pace, heads, activity = self.pace, queue.record.heads, queue.record.activity
        if not heads or not pace.on:
            return NEVER
        if queue.again_seen != (heads, activity, pace.version):
            queue.again_seen = heads, activity, pace.version
            queue.again_due = self._first_due(heads, self._factor(activity))
        learned, fixed = queue.again_due
        now = self.wall.now()
        due = min(fixed, max(learned, pace.next_free(now)))
        if due == math.inf:
            return NEVER
        # What is past stays so, for callers who have read the clock before; what is to come is rounded up, for a
        # moment too early there would be nothing to lend.
        return self._micros() + math.ceil((due - now) / self.wall.speed * 1e6) + (1 if due > now else -1)

    def order_of(self, queue: HostQueue) -> int:
        """Where a host with nothing but pages that are due stands among others like it: who is worth most first.

        A 24th of a doubling makes a difference.
        """
        now = self.wall.now()
        worth = max((worth for worth, _ in self._due(queue.record, now)), default=0.0)
        return 0 if worth == math.inf else max(1, _HIGHEST_STEP - step_of(math.log2(max(worth, 1e-6))))

    def _first_due(self, heads: bytes, factor: float) -> tuple[float, float]:
        """The first of learned classes that is due, and of those with fixed intervals; wall time."""
        learned = fixed = math.inf
        pace = self.pace
        for place, since in unpack_heads(heads):
            due = classes.due(place, since, pace.step, pace.longest, factor)
            if classes.is_fixed(place):
                fixed = min(fixed, due)
            else:
                learned = min(learned, due)
        return learned, fixed

    def _factor(self, activity: bytes) -> float:
        """How much faster than usual pages of a host change now."""
        return activity_of(activity).factor(self.pace.activity_power)

    # What stands here …

    def put(self, key: bytes, record: HostRecord, again: Again, batch: Batch) -> None:
        """Enrol a page of the host, whose history goes into its record in the same batch."""
        since, place = standing(again.history)
        self._enter(key, record, place, since, again.page, batch)

    def _enter(
        self, key: bytes, record: HostRecord, place: int, since: int, page: bytes, batch: Batch
    ) -> None:
        # A canonical form may have another host than the URL that is visited: its page stands there.
        elsewhere = b"" if page[:HASH_BYTES] == key else page[:HASH_BYTES]
        batch.put(Family.AGAIN, again_key(key, place, since, page[HASH_BYTES:]), elsewhere)
        record.enrolled += 1
        self._counters.enrolled += 1
        heads = dict(unpack_heads(record.heads))
        if since < heads.get(place, NEVER):
            heads[place] = since
            record.heads = pack_heads(heads.items())

    def take_out(self, key: bytes, record: HostRecord, page: bytes, history: bytes, batch: Batch) -> bool:
        """Take out the entry of a page by its history; `False` if it has none, because it has its turn now.

        Not within a batch that has moved entries already.
        """
        since, place = standing(history)
        if since < dict(unpack_heads(record.heads)).get(place, NEVER):
            return False  # no entry stands before the head, and nobody need look for it on disk
        entry = again_key(key, place, since, page[HASH_BYTES:])
        if self._environment.get(Family.AGAIN, entry) is None:
            return False
        self._leave(record, entry, batch)
        return True

    def _leave(self, record: HostRecord, entry: bytes, batch: Batch) -> None:
        batch.delete(Family.AGAIN, entry)
        record.enrolled -= 1
        self._counters.enrolled -= 1
        if not record.enrolled:
            record.heads = b""

    def tell(
        self, key: bytes, record: HostRecord, page: PageRecord, signals: Iterable[Signal], batch: Batch
    ) -> PageRecord | None:
        """Put back a page in its class by what is said of it; its record with that, `None` if nothing is new.

        Not within a batch that has moved entries already.
        """
        before = history = unpack(page.history)
        now = self.wall.now()
        fingerprint = b""
        for signal in signals:
            fingerprint = signal.page
            history = history.spoken_of(signal.source)
            if history.last < self.wall.of_date(signal.changed) <= now + _AHEAD:
                trust = trust_of(record.trusts, signal.source)
                precision = trust.precision(classes.rate(history.place, max(0.0, now - history.last)))
                history = classes.told(history, now, signal.source, precision, self.pace.longest)
        if history == before:
            return None
        if history.since != before.since and self.take_out(key, record, fingerprint, page.history, batch):
            self._enter(key, record, history.place, history.since, fingerprint, batch)
        return msgspec.structs.replace(page, history=history.pack())

    # Taking turns …

    def may_take(self, queue: HostQueue, now: int) -> bool:
        """Whether a page of a host has its turn at `now`: one is due, and new URLs that wait there owe it one."""
        if queue.has_entry and queue.credit < 1:
            return False
        return self.due_of(queue) <= now

    def take_due(self, queue: HostQueue, batch: Batch) -> None:
        """Bring what is due of a host into its queue, a bounded number at once, who is worth most first.

        For those who `may_take`. Not within a batch that has moved entries already.
        """
        record, pace, now = queue.record, self.pace, self.wall.now()
        # What may be spent is not for the first host that asks.
        room = 1 if queue.has_entry else min(TAKEN_AT_ONCE, max(1, int(pace.earn(now) / 2)))
        looked, factor = 0, self._factor(record.activity)
        heads = dict(unpack_heads(record.heads))
        for _, place in sorted(self._due(record, now), reverse=True):
            free = classes.is_fixed(place)
            if room <= 0 or looked >= LOOKED_AT_ONCE or not (free or pace.earn(now) >= 1):
                break
            start = again_key(queue.key, place, heads[place], b"")
            del heads[place]
            prefix = start[: HASH_BYTES + 2]
            for entry, elsewhere in self._environment.scan(Family.AGAIN, start, prefix):
                _, since, url = split_again(entry)
                looked += 1
                due = classes.due(place, since, pace.step, pace.longest, factor)
                may = room > 0 and looked < LOOKED_AT_ONCE and (free or pace.earn(now) >= 1)
                if due > now or not may:
                    heads[place] = since
                    break
                self._leave(record, entry, batch)
                page = (elsewhere or queue.key) + url
                history = self._bring(queue, page, (since, place), batch)
                if history is not None:
                    room -= 1
                    due = classes.due_of(history, pace.step, pace.longest, factor)
                    pace.asked += max(0.0, due - history.last)
                    self._spend(queue, due, now)
        record.heads = pack_heads(heads.items()) if record.enrolled else b""

    def gave_way(self, queue: HostQueue) -> None:
        """A new URL of a host had a turn; so many later, one that is due has."""
        share = self.pace.share
        queue.credit = min(queue.credit + share / (1 - share), 1 + share / (1 - share))

    def _due(self, record: HostRecord, now: float) -> Iterator[tuple[float, int]]:
        """The classes whose first page is due, and what that is worth; infinitely much if its interval is fixed."""
        pace, factor = self.pace, self._factor(record.activity)
        for place, since in unpack_heads(record.heads):
            if classes.due(place, since, pace.step, pace.longest, factor) <= now:
                yield classes.worth_now(place, now - since, pace.longest, factor), place

    def _spend(self, queue: HostQueue, due: float, now: float) -> None:
        """A visit is spent on what was due then; how late counts from when its host had rested."""
        pace = self.pace
        pace.saved -= 1
        pace.left = min(pace.left, pace.saved)
        queue.credit = max(0.0, queue.credit - 1)
        rested = now - (self._micros() - queue.record.due) / 1e6 * self.wall.speed
        pace.late += lateness(max(0.0, now - max(due, rested)), pace.fair)
        pace.lent += 1

    def _bring(
        self, queue: HostQueue, fingerprint: bytes, stands: tuple[int, int], batch: Batch
    ) -> History | None:
        """Bring a page into the queue of its host, ahead of what is new; `None` if it stands elsewhere now."""
        data = self._environment.get(Family.PAGES, fingerprint)
        page = recent_page(data) if data else None
        if page is None or not page.history or standing(page.history) != stands:
            return None
        candidate = visited(page)
        place = self.first_place()
        self.queues.put(queue.key, queue.record, place, candidate, batch)
        queue.insert(place, candidate, self._buffer)
        return unpack(page.history)

    def first_place(self) -> bytes:
        """A ticket before all that is new, after all that was given one, and after any robots file.

        A robots file that must be read first, because its rules have expired, is given its ticket later.
        """
        self._counters.sequence += 1
        return again_ticket(ROBOTS_LEVEL, self._counters.sequence)


def visited(page: PageRecord) -> Candidate:
    """The candidate of a page that has its turn again."""
    url = Url.from_serialised(page.url)
    assert url is not None, page.url
    return Candidate(url, page.kind, page.depth, page.hops, page.via, again=True)
