"""The frontier of one agent: admits candidates, lends a bounded number of URLs per host, takes leases back."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import lru_cache
from typing import Any

import msgspec

from gossamer.frontier.config import Census, FrontierConfig, HostPolicy, Session
from gossamer.frontier.domains import DomainTable
from gossamer.frontier.gates.budget_gate import BudgetGate
from gossamer.frontier.gates.gate import Gate, Turn
from gossamer.frontier.gates.robots_gate import RobotsGate
from gossamer.frontier.gates.speculation_gate import SpeculationGate
from gossamer.frontier.queues.active_hosts import ActiveHosts
from gossamer.frontier.queues.again import AgainQueue, visited
from gossamer.frontier.queues.delayed import DelayedQueue
from gossamer.frontier.queues.host_queue import HostQueue
from gossamer.frontier.queues.hosts import HostTable
from gossamer.frontier.queues.queue_table import QueueTable
from gossamer.frontier.queues.reordering import Moves, Reordering
from gossamer.frontier.queues.revival import Revival
from gossamer.frontier.robots_table import RobotsTable
from gossamer.frontier.seen.visited import open_visited
from gossamer.frontier.standings import Standings
from gossamer.frontier.tally import Tally
from gossamer.model.candidate import Candidate
from gossamer.model.disposition import (
    SETTLED,
    Again,
    Blame,
    Disposition,
    Done,
    Dropped,
    PageState,
    Parked,
    Retry,
)
from gossamer.model.lease import Lease
from gossamer.model.link import Link
from gossamer.model.page import Page
from gossamer.model.reasons.codes import HoldCode
from gossamer.model.reasons.reason import Reason
from gossamer.model.url import Url
from gossamer.policy.ordering.ordering import GRADE_SHIFT, LAST_GRADE, ROBOTS_LEVEL
from gossamer.policy.revisit.history import standing
from gossamer.policy.revisit.trust import Reading, Signal, trust_of, with_trust
from gossamer.ports import LinkOrdering, OrderingPolicy
from gossamer.state.environment import Batch, Environment, Family
from gossamer.state.keys import FOREVER, at_level
from gossamer.state.records import (
    COUNTERS,
    Counters,
    HostRecord,
    PageRecord,
    decode_page,
    decode_queue,
    encode,
)


class Refetched(msgspec.Struct, frozen=True):
    """What became of pages that were asked for again.

    Attributes:
        queued: have a turn at once.
        waiting: had one already, or wait for a time of their own after a failure.
        unknown: were never visited.
    """

    queued: int
    waiting: int
    unknown: int


class Frontier:
    """What is known and what may be asked for now. It never waits.

    Invariant: a host has at most `visits_at_once` leases out. Which hosts are in memory, `ActiveHosts` decides.
    Changes are made inside `changes()`, which commits them together with what the caller adds.
    """

    def __init__(
        self,
        environment: Environment,
        config: FrontierConfig,
        policy: HostPolicy,
        ordering: OrderingPolicy,
        counters: Counters,
        session: Session,
    ) -> None:
        # Public for those of this room who work on the same: steering, arrivals, departures, reweighing.
        self.environment = environment
        self._config = config
        self.recent_links = config.recent_links
        self.policy = policy
        self.ordering = ordering
        self.counters = counters
        self.micros = session.now
        """Crawl-clock microseconds."""
        self.host_hash = lru_cache(maxsize=1 << 14)(session.fingerprints.host)
        """Hash of the name of a queue."""
        self._url_hash = session.fingerprints.url
        self.seen = open_visited(environment, config, session.warn)
        self.hosts = HostTable(environment)
        self.domains: DomainTable | None = None
        """Where budgets go by registrable domain."""
        if policy.domain_budget is not None:
            self.domains = DomainTable(environment, session.fingerprints.host, policy.domain_budget)
        self._budgets = BudgetGate(policy, self.domains, self.rest, self.park, self._seconds_to_again)
        self.counts_linkers = self.domains is not None and self.domains.counts_linkers
        self.robots = RobotsTable(environment, config.robots_cache, session.now)
        self.queues = QueueTable(
            environment, self.hosts, counters, policy.branches, self._lent_of, config.branches_memory
        )
        self._later = DelayedQueue(environment, self.queues, counters, config.buffer)
        by_order = isinstance(ordering, LinkOrdering)
        self.again = AgainQueue(
            environment, self.queues, counters, (session.now, session.wall), config.buffer
        )
        """Pages that come again; the engine leads its `pace`."""
        self.serving = ActiveHosts(environment, config, policy, session, self.again, by_order=by_order)
        self.schedule, self._wake, self._gate = self.serving.schedule, self.serving.wake, self.serving.gate
        self._gates: tuple[Gate, ...] = self.serving.gates
        if policy.speculative:
            self._gates = (SpeculationGate(), *self._gates)
        if policy.obey_robots:
            asking = RobotsGate(self.robots, self._later, self.hosts, self.changes, self.admit_robots)
            self._gates = (asking, *self._gates)
        self._revival = Revival(environment, self.hosts, self._later, self._wake, counters)
        self.moves = Moves(self.queues, self.schedule, config.buffer)
        """Of what waits, when it has become worth more."""
        self.standings: Standings | None = None
        """Of an ordering that changes as links arrive."""
        if isinstance(ordering, LinkOrdering):
            self.standings = Standings(environment, ordering, session)
            self.reordering = Reordering(environment, self.standings, self.moves, self.schedule)
        self._batch: Batch | None = None
        self._failure: Exception | None = None
        self.lent = 0
        """Leases out."""
        self.longest_rest = 0
        """Microseconds: the longest that a host was left in peace after a visit, in this session."""

    # Names and batches …

    def host_key(self, url: Url) -> tuple[bytes, str]:
        """(hash, name) of the queue in which `url` waits."""
        name = self.policy.queue_key(url)
        return self.host_hash(name), name

    def fingerprint(self, host: bytes, canonical: str) -> bytes:
        """Key of a canonical URL in the families `seen` and `pages`."""
        return host + self._url_hash(canonical)

    def changes(self) -> AbstractContextManager[Batch]:
        """The open batch, or a new one that is committed at the end of the block.

        If the block raises, nothing is committed and memory no longer matches the disk: nothing is
        committed any more, and whoever tries hears of it again.
        """
        return self._new_batch() if self._batch is None else nullcontext(self._batch)

    @contextmanager
    def _new_batch(self) -> Iterator[Batch]:
        if self._failure is not None:
            raise self._failure
        self._batch = self.environment.batch()
        try:
            yield self._batch
            self.hosts.flush(self._batch)
            if self.domains is not None:
                self.domains.flush(self._batch)
            self.queues.flush(self._batch)
            # With every batch: a sequence number that was forgotten would be given out twice.
            self._batch.put(Family.META, COUNTERS, encode(self.counters))
            self.seen.flush(self._batch)
            if self.standings is not None:
                self.standings.flush(self._batch)
            self.environment.commit(self._batch)
            self.serving.committed()
        except Exception as error:
            self._failure = error
            raise
        finally:
            self._batch = None

    def census(self) -> Census:
        """The hosts in memory by what they do."""
        return self.schedule.census(self.lent, self._gate.waiting)

    # Admitting …

    def admit(self, candidate: Candidate, fingerprint: bytes, gift: Any = None) -> bool:
        """Queue `candidate` unless its fingerprint was seen; a forced one is queued all the same.

        `gift` is what its finder gives it, if the ordering has such.
        """
        standings = self.standings
        if not candidate.forced and fingerprint in self.seen:
            if standings is not None and gift is not None:
                standings.mention(fingerprint, gift)
            return False
        host, name = self.host_key(candidate.url)
        with self.changes() as batch:
            grade = 0 if self.domains is None else self.domains.admitted(candidate) << GRADE_SHIFT
            if standings is None:
                level = grade | self.ordering.level(candidate)
            else:
                level = grade | standings.admitted(fingerprint, candidate, gift)
            place = self.enqueue(host, name, candidate, level, batch)
            if standings is not None:
                standings.place(fingerprint, place, batch)
            self.seen.add(fingerprint, place, batch)
        return True

    def admit_last(self, candidate: Candidate, key: bytes) -> bool:
        """Queue a candidate behind all others of its host, unless `key` was seen; its URL is not, so far."""
        if key in self.seen:
            return False
        host, name = self.host_key(candidate.url)
        with self.changes() as batch:
            level = LAST_GRADE << GRADE_SHIFT | self.ordering.level(candidate)
            place = self.enqueue(host, name, candidate, level, batch)
            self.seen.add(key, place, batch)
        return True

    def admit_first(self, candidate: Candidate, fingerprint: bytes) -> None:
        """Queue what was not seen ahead of all that waits on its host, but for its robots file; a host that was given
        up is tried once more for it. In batches of its own, so not within one."""
        assert self._batch is None
        host, name = self.host_key(candidate.url)
        with self.changes() as batch:
            if self.domains is not None:
                self.domains.admitted(candidate)  # whose round it would be is no matter
            record = self._mentioned(host, name, candidate)
            place = self.again.first_place()
            self.queues.put(host, record, place, candidate, batch)
            self._arrived(host, record, place, candidate, batch)
            if self.standings is not None:
                self.standings.admitted(fingerprint, candidate, None)
                self.standings.place(fingerprint, b"", batch)  # no link can bring it further ahead
            self.seen.add(fingerprint, place, batch)
        self._want_all({(host, name)})

    def hasten(self, url: Url, fingerprint: bytes) -> None:
        """Have what was seen visited soon: it is visited again if it was settled, and goes ahead of all else in its
        queue if it waits there. What waits for a time of its own, after a failure, goes on waiting.

        In batches of its own, so not within one. A Bloom table does not tell where a URL waits: it stays there.
        """
        assert self._batch is None
        self.refetch([fingerprint])
        host, _ = self.host_key(url)
        standing = self.standings.find(fingerprint) if self.standings is not None else None
        place = (standing and standing[0]) or self.environment.get(Family.SEEN, fingerprint)
        data = self.environment.get(Family.QUEUE, host + place) if place else None
        queue = self.schedule.served.get(host)
        if not place or data is None or (queue is not None and place in queue.lent):
            return
        first = at_level(place, ROBOTS_LEVEL)
        if first == place:
            return
        with self.changes() as batch:
            self.moves.move(host, place, first, decode_queue(data).candidate(), batch)
            self.seen.add(fingerprint, first, batch)
            if self.standings is not None and standing is not None:
                self.standings.put(fingerprint, b"", standing[1], batch)

    def claim(self, fingerprint: bytes, place: bytes) -> None:
        """Mark a URL that was not seen as seen, by the entry that waited at `place`."""
        with self.changes() as batch:
            self.seen.add(fingerprint, place, batch)

    def has_claimed(self, fingerprint: bytes, place: bytes) -> bool:
        """Whether it was the entry at `place` that marked the URL as seen.

        A Bloom table does not tell which it was: there a claim that a crash has cut off is lost.
        """
        return self.environment.get(Family.SEEN, fingerprint) == place

    def linked(self, hosts: Iterable[str], finder: str) -> None:
        """A page of the host `finder` links to `hosts`; for budgets that go by it (`counts_linkers`)."""
        assert self.domains is not None
        with self.changes():
            self.domains.linked(hosts, finder)

    def gift(self, fingerprint: bytes, finder: Candidate, targets: int, later: int) -> Any:
        """What a fetched page gives to each of `targets` links, when `later` ones are still to come."""
        if self.standings is None:
            return None
        with self.changes() as batch:
            return self.standings.spread(fingerprint, finder, targets, targets + later, batch)

    def appraise(self, fingerprint: bytes, finder: Candidate, page: Page) -> Callable[[Link], Any] | None:
        """What a page gives to each of its links, if the ordering tells them apart; once for each page."""
        return self.standings.appraise(fingerprint, finder, page) if self.standings is not None else None

    def close(self, fingerprint: bytes, batch: Batch) -> None:
        """The URL is settled for good, its links are admitted."""
        if self.standings is not None:
            self.standings.close(fingerprint, batch)

    def order_figures(self) -> dict[str, str | float]:
        """The ordering's name, and what it counts itself."""
        return {
            "name": self.ordering.name,
            **(self.standings.figures() if self.standings is not None else {}),
        }

    def admit_robots(self, candidate: Candidate) -> None:
        """Queue a robots file, or its redirect, ahead of everything else of its host; never "seen"."""
        host, name = self.host_key(candidate.url)
        with self.changes() as batch:
            self.enqueue(host, name, candidate, ROBOTS_LEVEL, batch)

    def enqueue(self, host: bytes, name: str, candidate: Candidate, level: int, batch: Batch) -> bytes:
        """Put a candidate into its host's queue, whatever is known of it; its ticket there.

        `level`: the place in the order that the ordering gave it; less is earlier.
        """
        record = self._mentioned(host, name, candidate)
        place = self.queues.add(host, record, candidate, level, batch)
        self._arrived(host, record, place, candidate, batch)
        return place

    def _mentioned(self, host: bytes, name: str, candidate: Candidate) -> HostRecord:
        """The host of a candidate that is about to be queued."""
        self.counters.admitted += 1
        hosts = self.hosts.made
        record = self.hosts.change(host, name)
        if self.hosts.made > hosts:
            self.counters.hosts += 1
            if self.policy.linked_names_first:
                self._gate.look_ahead(candidate.url.host, first=True)
        return record

    def _arrived(
        self, host: bytes, record: HostRecord, place: bytes, candidate: Candidate, batch: Batch
    ) -> None:
        """An entry was put into the queue of a host, which may not be served."""
        queue = self.schedule.served.get(host)
        if queue is None and not record.parked:
            queue = self.serving.arrived(host, record, batch)
            if queue is not None:
                self._gate.look_ahead(candidate.url.host)
        if queue is not None:
            first = queue.insert(place, candidate, self._config.buffer)
            if first or queue.placed is None:
                self.schedule.place(queue)

    # Lending …

    def lend(self) -> Lease | None:
        """The best URL of the best host that may be visited now, or `None`."""
        now = self.micros()
        while (rested := self.schedule.pop_rested()) is not None:
            self.schedule.place(rested)
        if self.serving.wants_more(now):
            with self.changes() as batch:
                self.serving.refill(now, batch)
        if self.standings is not None and self.standings.due:
            with self.changes() as batch:
                self.reordering.run(batch)
        while (queue := self.schedule.pop_ready()) is not None:
            self._promote(queue)
            lease = self._lend_from(queue)
            if lease is not None or not queue.lent:
                self.schedule.place(queue)
                if self.serving.must_leave(queue):
                    with self.changes() as batch:
                        self.serving.seat(queue, now, batch)
            if lease is not None:
                return lease
        return None

    def name_landed(self, host: str) -> None:
        """The name of `host` is answered: who waited for it may be visited."""
        self.serving.name_landed(host)

    @property
    def under_way(self) -> int:
        """What will bring about the next change by itself: leases out, and names that hosts wait for."""
        return self.lent + self._gate.waiting

    def next_due(self) -> int:
        """When `lend` may next succeed if nothing is settled or admitted first; microseconds or `NEVER`."""
        return self.serving.next_due

    def _lend_from(self, queue: HostQueue) -> Lease | None:
        if not self._first_comes_again(queue) and self._budgets.judge(queue) is Turn.WAIT:
            return None
        name, queue.held = queue.record.name, 0
        while queue.has_entry:
            place, candidate = queue.first or queue.fill(self.environment, self._config.buffer)
            turn = self._turn(queue)
            if turn is Turn.WAIT:
                return None
            if turn is Turn.NEXT:
                queue.held += 1
                continue
            queue.take()
            if not candidate.again and self.again.pace.on:
                self.again.gave_way(queue)
            queue.gave_turn()
            self.schedule.gave_turn(queue)
            queue.lent[place] = candidate
            self.lent += 1
            if self.domains is not None:
                self.domains.lend(name)
            return Lease(candidate, name, place)
        return None

    def _turn(self, queue: HostQueue) -> Turn:
        for gate in self._gates:
            if (turn := gate.judge(queue)) is not Turn.GO:
                return turn
        return Turn.GO

    # Settling …

    def settle(self, lease: Lease, disposition: Disposition, tally: Tally) -> None:
        """End a lease: the entry leaves the queue, waits, or is due again; its host rests."""
        key = self.host_hash(lease.queue_key)
        queue = self.schedule.served[key]
        record = self.hosts.change(key, lease.queue_key)
        self.queues.tree(key, record)  # while it counts as lent
        candidate = queue.lent.pop(lease.ticket)
        self.lent -= 1
        now = self.micros()
        tally.enter(record, now)
        self.longest_rest = max(self.longest_rest, int(tally.rest * 1e6))
        if self.domains is not None:
            self.domains.settle(lease.queue_key, tally)
        with self.changes() as batch:
            match disposition:
                case Done(again=Again() as enrolled) | Dropped(again=Again() as enrolled):
                    self.queues.delete(key, record, lease.ticket, batch)
                    self.again.put(key, record, enrolled, batch)
                case Retry(wait=wait, blame=Blame.HOST, reason=reason):
                    self.queues.given_back(key, record, lease.ticket)
                    queue.insert(lease.ticket, candidate, self._config.buffer)
                    record.due = max(record.due, now + int(wait * 1e6))
                    record.reason = reason
                case Retry(wait=wait, reason=reason):
                    again = msgspec.structs.replace(candidate, attempts=candidate.attempts + 1)
                    self._later.put(queue, lease.ticket, again, now + int(wait * 1e6), reason, batch)
                case Parked(reason=reason):
                    self._later.put(queue, lease.ticket, candidate, FOREVER, reason, batch)
                case Done(again=float(wait)) | Dropped(again=float(wait)):
                    self._later.put_again(queue, lease.ticket, candidate, now + int(wait * 1e6), batch)
                case _:
                    self.queues.delete(key, record, lease.ticket, batch)
            queue.set_head(lease.ticket)
            self.serving.after_visit(queue, now, tally, batch)

    # Resting, parking, reviving …

    def _lent_of(self, host: bytes) -> Iterable[bytes]:
        queue = self.schedule.served.get(host)
        return queue.lent if queue is not None else ()

    def now(self) -> float:
        """Seconds on the crawl clock."""
        return self.micros() / 1e6

    def rest(self, name: str, seconds: float, reason: Reason | None) -> None:
        """Let a host lie still for a reason beyond politeness."""
        key = self.host_hash(name)
        record = self.hosts.change(key, name)
        record.due = max(record.due, self.micros() + int(seconds * 1e6))
        record.reason = reason
        if queue := self.schedule.served.get(key):
            self.schedule.place(queue)

    def park(self, name: str, reason: Reason) -> None:
        """Leave a host alone; its entries stay on disk until the operator revives it."""
        key = self.host_hash(name)
        record = self.hosts.change(key, name)
        with self.changes() as batch:
            if not record.parked:
                self.counters.hosts_parked += 1
            record.parked = reason
            self._wake.clear(key, record, batch)
            if (queue := self.schedule.served.get(key)) and not queue.lent:
                self.serving.unserve(queue)

    def revive(self, key: bytes, record: HostRecord, batch: Batch) -> None:
        """Serve a parked or backed-off host again, after the rest that its last visit earned."""
        queue = self.schedule.served.get(key)
        if queue is None:
            self._revival.revive(key, record, batch)
        else:  # its last visit is under way
            self._revival.forgive(record)
            self.schedule.place(queue)

    def comes_again(self, key: bytes, record: HostRecord, batch: Batch) -> None:
        """Pages of a host come again: it is looked at when the first of them is due, also if it was given up."""
        self._want(key, record, batch)
        self.serving.enrolled(key, record, batch)

    def _want(self, key: bytes, record: HostRecord, batch: Batch) -> None:
        """Pages of a host are wanted again, so it is tried once more if it was given up.

        What an operator has parked stays so.
        """
        if record.parked and not record.parked.has(HoldCode.OPERATOR):
            self.revive(key, record, batch)

    def take_up(self) -> int:
        """Take up what an earlier session left alone; how many hosts that concerns."""
        with self.changes() as batch:
            return self._revival.take_up(batch, self.micros())

    def release(self, name: str, origin: str) -> None:
        """The robots file of `origin` is known now: bring back what was held for it."""
        key = self.host_hash(name)
        record = self.hosts.change(key, name)
        queue = self.schedule.served.get(key)
        with self.changes() as batch:
            self._later.release(key, record, queue, origin, batch)
            self.serving.returned(key, record, batch)

    def _promote(self, queue: HostQueue) -> None:
        """Bring back what has fallen due of the host's waiting entries.

        Only when lending, never while a group is settled: the scan would meet entries that the open batch
        has moved already, and so lend them twice.
        """
        assert self._batch is None
        record = queue.record
        # Read anew: by a `now` older than the one that made the host ready it would be ready with nothing to
        # lend, for ever.
        now = self.micros()
        if record.delayed and record.later_due <= now:
            with self.changes() as batch:
                self.hosts.change(queue.key, record.name)
                self._later.promote(queue, now, batch)
        if record.heads and self.again.may_take(queue, now):
            with self.changes() as batch:
                self.hosts.change(queue.key, record.name)
                self.again.take_due(queue, batch)

    # Visits again (decision 0026) …

    def repace(self) -> None:
        """The pace of `again` was corrected: hosts in memory are due at other times."""
        self.again.pace.version += 1
        self.serving.repaced()

    def _first_comes_again(self, queue: HostQueue) -> bool:
        """Whether the next entry of a host is a page that was counted when it was new."""
        if not queue.has_entry:
            return False
        _, candidate = queue.first or queue.fill(self.environment, self._config.buffer)
        return candidate.again

    def _seconds_to_again(self, queue: HostQueue) -> float | None:
        """Seconds until a page of a host is due again; `None` if none will be."""
        due = self.again.due_of(queue)
        return None if due >= FOREVER else max(0.0, (due - self.micros()) / 1e6)

    def refetch(self, pages: Iterable[bytes]) -> Refetched:
        """Give pages that were settled a turn at once, without condition; each once, however often it is asked for.

        They go ahead of what is new on their hosts, which rest as ever, and of no allowance. A host that was given up
        is tried once more for them; one that an operator has parked stays so. In batches of its own, so not within
        one.

        Args:
            pages: fingerprints, some thousands at most.
        """
        assert self._batch is None
        queued = waiting = unknown = 0
        hosts = set()
        with self.changes() as batch:
            for page in dict.fromkeys(pages):
                data = self.environment.get(Family.PAGES, page)
                record = decode_page(data) if data else None
                if record is None or record.state == PageState.REJECTED:
                    unknown += 1
                    continue
                hosts.add(self.host_key(visited(record).url))
                if record.asked or record.state not in SETTLED:
                    waiting += 1
                elif self._ask_again(page, record, batch):
                    queued += 1
                else:
                    waiting += 1
        self._want_all(hosts)
        return Refetched(queued, waiting, unknown)

    def _want_all(self, hosts: Iterable[tuple[bytes, str]]) -> None:
        with self.changes() as batch:  # of its own, for it reads what waits
            for host, name in hosts:
                self._want(host, self.hosts.change(host, name), batch)

    def _ask_again(self, page: bytes, known: PageRecord, batch: Batch) -> bool:
        """Put a page into its queue; `False` if it stands there, and will be visited without condition now."""
        candidate = visited(known)
        host, name = self.host_key(candidate.url)
        record = self.hosts.change(host, name)
        waits = bool(known.history) and not self.again.take_out(host, record, page, known.history, batch)
        place = self.again.first_place()
        batch.put(Family.PAGES, page, encode(msgspec.structs.replace(known, asked=place)))
        if waits:
            return False
        self.queues.put(host, record, place, candidate, batch)
        self._arrived(host, record, place, candidate, batch)
        return True

    def told(self, signals: Iterable[Signal]) -> int:
        """Somebody says that pages have changed; how many are due sooner for it: none, if who says so is not believed.

        What comes again is put back in its class by as much as the signal is worth; of other pages nothing is
        kept. In a batch of its own, so not within one.

        Args:
            signals: some thousands at most; gathered and sorted by the caller where there are more.
        """
        assert self._batch is None
        heard = 0
        by_page: dict[bytes, list[Signal]] = {}
        for signal in signals:
            by_page.setdefault(signal.page, []).append(signal)
        with self.changes() as batch:
            for page in sorted(by_page):
                data = self.environment.get(Family.PAGES, page)
                known = decode_page(data) if data else None
                if known is None or not known.history:
                    continue
                host, name = self.host_key(visited(known).url)
                record = self.hosts.change(host, name)
                after = self.again.tell(host, record, known, by_page[page], batch)
                if after is not None:
                    heard += standing(after.history) < standing(known.history)
                    batch.put(Family.PAGES, page, encode(after))
                    self.serving.enrolled(host, record, batch)
        return heard

    def knows(self, page: bytes) -> bool:
        """Whether a page was ever admitted, or is taken for one that was."""
        return page in self.seen

    def dates_read(self, page: Url, source: int, reading: Reading) -> None:
        """A source has told dates of pages of a host, of which this is one: whether they can be true counts.

        In a batch of its own, so not within one.
        """
        assert self._batch is None
        key, name = self.host_key(page)
        record = self.hosts.get(key)
        if record is None:
            return
        before = trust_of(record.trusts, source)
        after = before.read(reading)
        if after == before:
            return
        with self.changes():
            record = self.hosts.change(key, name)
            record.trusts = with_trust(record.trusts, source, after)
