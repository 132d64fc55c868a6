"""Which hosts are in memory: takes those that have fallen due from disk, gives them back when they rest."""

from collections.abc import Iterator
from functools import partial

from gossamer.frontier.config import FrontierConfig, HostPolicy, Session
from gossamer.frontier.gates.gate import Gate
from gossamer.frontier.gates.name_gate import NameGate
from gossamer.frontier.gates.owner_gate import OwnerGate
from gossamer.frontier.gates.shared_gate import SharedGate
from gossamer.frontier.queues.again import AgainQueue
from gossamer.frontier.queues.host_queue import HostQueue
from gossamer.frontier.queues.host_schedule import HostSchedule
from gossamer.frontier.queues.wake import WakeIndex
from gossamer.frontier.tally import Tally
from gossamer.state.environment import Batch, Environment
from gossamer.state.keys import FOREVER
from gossamer.state.records import HostRecord

WOKEN_AT_ONCE = 64
LOOKED_AT_ONCE = 256
"""Hosts on disk that are looked at in one go, also those that are set aside again."""
NAME_LATER = 30_000_000
"""Microseconds after which a host set aside for its name is looked at again if that has not landed."""
SET_ASIDE = 16_384
"""Hosts set aside for their names that are remembered, some 150 bytes each; others are looked at later."""
LOOK_EVERY = 100_000
"""Microseconds after which hosts on disk are looked for though others are ready: one may be better."""
OWNER_LATER = 30_000_000
"""Microseconds after which a host that is another agent's is looked at again, if it is here still."""
FEW = 16
"""With so few hosts in memory the crawl may be at its end, which must not wait for a host that is done."""


class ActiveHosts:
    """Host queues between disk and memory.

    Invariant: each host with work that is not parked is either served (in `schedule.served`) or has a `wake`
    entry on disk not later than it falls due; at most `max_hosts` are served.
    """

    def __init__(
        self,
        environment: Environment,
        config: FrontierConfig,
        policy: HostPolicy,
        session: Session,
        again: AgainQueue,
        *,
        by_order: bool = False,
    ) -> None:
        self._environment = environment
        self._config = config
        self._policy = policy
        self._hosts = again.queues.hosts
        self._now = session.now
        # After any start a host first rests its own rest: what was lent at a crash, the disk does not know.
        self._rest_from = session.now() if session.resumed else 0
        self._last_arrival = 0
        self._next_look = 0
        # New hosts do not take all the memory: they would keep those that have rested out of it for ever.
        self._room_for_new = config.max_hosts - config.max_hosts // 16
        # Nor do hosts whose names are being resolved: when thousands are found at once, those that could be
        # visited would have to wait on disk until every name is known.
        self._room_for_nameless = config.max_hosts // 4
        self._nameless: set[bytes] = set()  # served before their names were known, and not visited yet
        self._set_aside: dict[str, bytes] = {}
        self._named: list[bytes] = []  # set aside before; their names have landed
        self._queues = again.queues
        self._again = again
        self.schedule = HostSchedule(session.now, by_order=by_order, domain=policy.domain)
        self.wake = WakeIndex(environment)
        self.gate = NameGate(policy.names, session.now)
        self._owns = policy.owns
        self._shared: SharedGate | None = None
        if policy.shared is not None:
            self._shared = SharedGate(policy.shared, policy, session.now, self.schedule.place)

    @property
    def next_due(self) -> int:
        """When a host may next be visited if nothing happens before; microseconds or `NEVER`."""
        if len(self.schedule.served) >= self._config.max_hosts:
            return self.schedule.next_due()
        if len(self.schedule.served) <= FEW:
            self.wake.sharpen(self.schedule.served)
        return min(self.schedule.next_due(), self.wake.next_due)

    def wants_more(self, now: int) -> bool:
        """A host on disk may be ready, and hardly another is, or it is time to look."""
        if self._named and len(self.schedule.served) < self._config.max_hosts:
            return True
        if self.wake.next_due > now:
            return False
        return self.schedule.short or (
            now >= self._next_look and len(self.schedule.served) < self._config.max_hosts
        )

    def arrived(self, key: bytes, record: HostRecord, batch: Batch) -> HostQueue | None:
        """A host that is not served has got work: serve it if it has nothing else on disk, else wake it."""
        # Distinct, so that hosts found in the same microsecond wake in the order they were found.
        self._last_arrival = max(self._now(), self._last_arrival + 1)
        due = max(self._last_arrival, record.due)
        if not record.wake or due < record.wake:
            self.wake.set(key, record, due, batch)
        room = len(self.schedule.served) < self._room_for_new and not self._lacks_name(record)
        if room and record.queued == 1 and not (record.delayed or record.heads):
            return self._serve(key, record)
        return None

    def refill(self, now: int, batch: Batch) -> None:
        """Take hosts that have fallen due from disk into memory."""
        self._next_look = now + LOOK_EVERY
        room = min(WOKEN_AT_ONCE, self._config.max_hosts - len(self.schedule.served))
        if room <= 0:
            return
        while room and self._named:
            key = self._named.pop()
            record = self._hosts.change(key, "")
            # It may have been parked meanwhile, and then has no place in memory.
            if key not in self.schedule.served and record.queued and not record.parked:
                room -= self._bring(key, record, now, batch)
        if not room:
            return
        for looked, key in enumerate(self.wake.due(now, self.schedule.served)):
            record = self._hosts.change(key, "")
            if self._owns is not None and not self._owns(key):
                self.wake.set(key, record, now + OWNER_LATER, batch)
            elif self._lacks_name(record):
                self._set_aside_for_name(key, record, now, batch)
            else:
                room -= self._bring(key, record, now, batch)
            if not room or looked == LOOKED_AT_ONCE:
                return

    def _bring(self, key: bytes, record: HostRecord, now: int, batch: Batch) -> bool:
        """Take a host into memory, unless it turns out to rest."""
        queue = self._serve(key, record)
        if queue.due > now:
            self.wake.set(key, record, queue.look_at(now), batch)
            self.unserve(queue)
            return False
        if queue.has_entry:
            _, first = queue.first or queue.fill(self._environment, self._config.buffer)
            self.gate.look_ahead(first.url.host)
        self.schedule.place(queue)
        return True

    def returned(self, key: bytes, record: HostRecord, batch: Batch) -> None:
        """Entries of a host came back to its queue: give it a turn, or wake it."""
        queue = self.schedule.served.get(key)
        if queue is not None:
            self.schedule.place(queue)
        elif record.queued and not record.parked:
            self.wake.set(key, record, max(self._now(), record.due), batch)

    def enrolled(self, key: bytes, record: HostRecord, batch: Batch) -> None:
        """A page of a host comes again, or sooner than it did: give it a turn, or look at it then."""
        queue = self.schedule.served.get(key)
        if queue is not None:
            self.schedule.place(queue)
        elif not record.parked:
            now = self._now()
            look = HostQueue(key, record, 1, again=self._again).look_at(now)
            if not record.wake or look < record.wake:
                self.wake.set(key, record, look, batch)

    def repaced(self) -> None:
        """The pace of visits again is another one: hosts in memory are due at other times."""
        for queue in list(self.schedule.served.values()):
            if queue.comes_again:
                self.schedule.place(queue)

    @property
    def gates(self) -> tuple[Gate, ...]:
        """What a host must pass that has something to lend, in order; at the last one its visit begins."""
        owner = (OwnerGate(self._owns),) if self._owns is not None else ()
        shared = (self._shared,) if self._shared is not None else ()
        return *owner, self.gate, *shared

    def committed(self) -> None:
        """What was settled is on disk: its hosts may be visited by other crawls."""
        if self._shared is not None:
            self._shared.committed()

    def listen(self) -> None:
        """Let other crawls have hosts that only we have visited of late; every second at least."""
        if self._shared is not None:
            self._shared.listen()

    def after_visit(self, queue: HostQueue, now: int, tally: Tally, batch: Batch) -> None:
        """Give a host whose visit is settled its next turn, or give it back to the disk."""
        if self._shared is not None:
            self._shared.after_visit(queue, now, tally)
        self.seat(queue, now, batch)

    def must_leave(self, queue: HostQueue) -> bool:
        """Whether a host that had its turn in vain waits too long to be kept in memory."""
        if queue.lent or queue.key not in self.schedule.served:
            return False
        if self._owns is not None and not self._owns(queue.key):
            return True
        if self._shared is None or len(self.schedule.served) * 2 <= self._config.max_hosts:
            return queue.due >= FOREVER
        return queue.due > self._now()

    def seat(self, queue: HostQueue, now: int, batch: Batch) -> None:
        """Give a host its next turn in memory, or give it back to the disk."""
        record = queue.record
        self._nameless.discard(queue.key)
        if queue.lent:
            self.schedule.place(queue)
        elif record.parked:
            self.unserve(queue)
        elif not record.queued and not record.delayed and not record.heads:
            self.wake.clear(queue.key, record, batch)
            self.unserve(queue)
        elif self._owns is not None and not self._owns(queue.key):
            self._hosts.change(queue.key, record.name)
            self.wake.set(queue.key, record, now + OWNER_LATER, batch)
            self.unserve(queue)
        elif queue.due > now and (
            queue.due >= FOREVER or len(self.schedule.served) * 2 > self._config.max_hosts
        ):
            # Memory is for hosts that can be visited; the disk wakes this one when it has rested.
            self._hosts.change(queue.key, record.name)
            self.wake.set(queue.key, record, queue.look_at(now), batch)
            self.unserve(queue)
        else:
            self.schedule.place(queue)

    def visited_now(self) -> Iterator[bytes]:
        """Hosts that have leases out."""
        return (key for key, queue in self.schedule.served.items() if queue.lent)

    def let_go(self, key: bytes, name: str) -> None:
        """The host is given away; it has no lease out."""
        if (queue := self.schedule.served.get(key)) is not None:
            self.unserve(queue)
        self._set_aside.pop(name, None)
        if key in self._named:
            self._named.remove(key)

    def unserve(self, queue: HostQueue) -> None:
        """Keep the host on disk only."""
        self._nameless.discard(queue.key)
        self.schedule.remove(queue)
        self._hosts.release(queue.key)

    def name_landed(self, host: str) -> None:
        """The name of `host` is answered: if the host was set aside, it is the next to be served."""
        for queue in self.gate.landed(host):
            self._nameless.discard(queue.key)
            if self.schedule.served.get(queue.key) is queue:
                self.schedule.place(queue)
        key = self._set_aside.pop(host, None)
        if key is not None:
            self._named.append(key)

    def _set_aside_for_name(self, key: bytes, record: HostRecord, now: int, batch: Batch) -> None:
        self.wake.set(key, record, now + NAME_LATER, batch)
        if len(self._set_aside) < SET_ASIDE:
            self._set_aside[record.name] = key
            self.gate.look_ahead(record.name)

    def _lacks_name(self, record: HostRecord) -> bool:
        """Its name is not known, and enough hosts wait for theirs already."""
        return len(self._nameless) >= self._room_for_nameless and not self.gate.known(record.name)

    def _serve(self, key: bytes, record: HostRecord) -> HostQueue:
        at_once = self._policy.visits_at_once(record.name)
        tree = partial(self._queues.tree, key, record)
        queue = HostQueue(key, record, at_once, tree, self._again)
        if self._rest_from:
            owed = max(self._policy.rest(record.name), record.rest / 1e6, record.crawl_delay)
            record.due = max(record.due, self._rest_from + int(owed * 1e6))
        if not self.gate.known(record.name):
            self._nameless.add(key)
        self.schedule.add(queue)
        self._hosts.hold(key, record)
        return queue
