"""The life of one agent: joins, crawls what it is granted, moves shards in and out, leaves."""

import asyncio
import socket
import uuid
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path
from typing import Any, Protocol

import msgspec

from gossamer.assembly.build import Built
from gossamer.assembly.extensions import Extensions, Membership
from gossamer.assembly.folder import CrawlFolder
from gossamer.assembly.private import private_folder
from gossamer.cluster.agent.between import Gossip, Inquiry, question_in
from gossamer.cluster.agent.digest_exchange import DigestExchange
from gossamer.cluster.agent.digest_table import DigestTable
from gossamer.cluster.agent.link_exchange import LinkExchange, Parts
from gossamer.cluster.agent.move_executor import MoveExecutor
from gossamer.cluster.agent.outbox import Counts, Inbox, Outbox
from gossamer.cluster.agent.paces import ROUND_SECONDS, Paces
from gossamer.cluster.agent.peer_states import PeerStates
from gossamer.cluster.agent.router import Router
from gossamer.cluster.agent.shard_leases import ShardLeases, boot_clock
from gossamer.cluster.protocol import Fenced, Grant, Host, Registered, Report, agent_number, first_sequence
from gossamer.cluster.snapshots.snapshooter import Snapshooter
from gossamer.config.config import CrawlConfig
from gossamer.control.socket.client import connect
from gossamer.control.socket.protocol import NotRunning
from gossamer.crawling.run import reopen, run, start
from gossamer.engine.admission.other_agents import Peers
from gossamer.frontier.frontier import Frontier
from gossamer.model.errors import GossamerError
from gossamer.model.reasons.codes import EndCode
from gossamer.model.reasons.reason import Reason
from gossamer.ports import OrderingPolicy
from gossamer.state.clock import CrawlClock
from gossamer.state.environment import Environment
from gossamer.state.machine import boot_id
from gossamer.state.object_store import Store
from gossamer.state.records import Counters
from gossamer.state.whole_files import write_whole

RENEW_SECONDS = 1.0
LONGEST_PROBLEM = 500
FENCED = Reason(EndCode.FENCED)
OVER = Reason(EndCode.OVER)
SHORTEST = 0.001
"""Seconds: 0 would mean never."""


class Links(Protocol):
    """How an agent reaches the others; Ray in a cluster, plain calls in tests. Raises `ConnectionError`."""

    async def register(self, host: Host, has_state_of: str) -> Registered:
        """Ask the coordinator who we are; `has_state_of`: the agent whose folder lies here, or empty."""

    async def renew(self, report: Report) -> Grant | Fenced:
        """Tell the coordinator how things stand."""

    async def deliver(self, agent: str, data: bytes) -> bytes:
        """Give an agent a packed `Batch`; the packed `Applied`."""

    async def consult(self, agent: str, data: bytes) -> bytes:
        """Ask an agent a packed question of `between`; the packed answer."""


class Order(msgspec.Struct, frozen=True):
    """What an agent is started with.

    Attributes:
        config: of the crawl, the same for all.
        bits: of a host's hash that name its shard.
        secret: key of the fingerprints, the same for all; 16 bytes.
        folder: on this machine, where agents have their crawl folders.
        slot: place in it that is this agent's, whatever name it gets.
        store: address of the snapshot store.
        snapshot_every: seconds.
        keep: snapshots kept.
        weight: share of the shards, as compared with others.
        shared_digests: agents tell each other what content they have met.
    """

    config: CrawlConfig
    bits: int
    secret: bytes
    folder: Path
    slot: str
    store: str
    snapshot_every: float = 60.0
    keep: int = 3
    weight: float = 1.0
    shared_digests: bool = False


class Agent:
    """One agent, as often as it is fenced and begins anew.

    `die_in` is called with the seconds after which the process must be gone, whatever hangs, because what it
    has open may be another's by then; 0: not any more.
    """

    def __init__(self, order: Order, links: Links, die_in: Callable[[float], None]) -> None:
        self._order = order
        self._links = links
        self._die_in = die_in
        self._life: _Life | None = None

    async def live(self) -> Reason:
        """Work until the crawl is over; the reason it ended for.

        Raises:
            GossamerError: the crawl cannot go on here.
        """
        while True:
            life = _Life(self._order, self._links, self._die_in)
            self._life = life
            reason = await life.run()
            if reason != FENCED:
                return reason

    async def ask(self, method: str, params: dict[str, Any]) -> Any:
        """What the crawl's control socket answers.

        Raises:
            LiveError: it says no.
            NotRunning: it is not up.
        """
        if self._life is None or self._life.exchange is None:
            raise NotRunning("the agent is not up yet")
        async with connect(self._life.folder.path) as crawl:
            return await crawl.ask(method, params)

    async def receive(self, data: bytes) -> bytes:
        """A batch of another agent.

        Raises:
            ConnectionError: there is nobody to take it now.
        """
        if self._life is None or self._life.exchange is None:
            raise ConnectionError("the agent is not up yet")
        return await self._life.exchange.receive(data)

    async def consult(self, data: bytes) -> bytes:
        """A question of another agent about content or visits again, or what it tells of them.

        Raises:
            ConnectionError: there is nobody to answer it now.
            GossamerError: it is no such thing.
        """
        question, life = question_in(data), self._life
        if life is not None and isinstance(question, Gossip) and life.paces is not None:
            return life.paces.receive(question)
        if life is not None and isinstance(question, Inquiry) and life.digests is not None:
            return await life.digests.receive(question)
        raise ConnectionError("the agent is not up yet, or shares no digests")


class _Meeting(msgspec.Struct, frozen=True):
    """Through what a crawl meets the others, before there is a crawl."""

    router: Router
    outbox: Outbox
    inbox: Inbox
    counts: Counts


class _Life:
    """From one registration to the next."""

    def __init__(self, order: Order, links: Links, die_in: Callable[[float], None]) -> None:
        self._order = order
        self._links = links
        self._die_in = die_in
        self._slot = order.folder / f"{order.slot}.agent"
        self.exchange: LinkExchange | None = None
        self.digests: DigestExchange | None = None
        self.paces: Paces | None = None
        self._built: Built | None = None
        self._reports = 0
        self._over = False
        self._fenced = False
        self._stop: Reason | None = None
        self._places_known = set[str]()  # to the coordinator
        self._scope_known = 0
        self._losses = 0

    async def run(self) -> Reason:
        order = self._order
        private_folder(order.folder)
        name = self._slot.read_text().strip() if self._slot.exists() else ""
        folder = CrawlFolder(order.folder / name) if name else None
        has_state = folder is not None and folder.used
        host = _host(order.weight)
        self.me = await self._persist(lambda: self._links.register(host, name if has_state else ""))
        if self.me.name != name and has_state:
            _set_aside(order.folder / name)
        self.folder = CrawlFolder(order.folder / self.me.name)
        resumed = self.me.name == name and has_state
        config = reopen(self.folder) if resumed else start(self.folder, order.config)
        write_whole(self._slot, self.me.name)
        self.leases_held = ShardLeases(order.bits, agent_number(self.me.name), self.me.term)
        self.store = Store(order.store)
        begin = partial(self._begin, new=not resumed)
        membership = Membership(order.secret, self.leases_held.owns, self._join, begin)
        self._tasks: list[asyncio.Task[None]] = []
        extensions = Extensions(membership=membership)
        try:
            reason = await run(self.folder, config, extensions, resumed=resumed, handle_signals=False)
        finally:
            if self._tasks:
                await self._let_go()
            self._die_in(0.0)  # nothing is open any more
        return FENCED if self._fenced else reason

    def _join(
        self,
        environment: Environment,
        frontier: Frontier,
        ordering: OrderingPolicy,
        clock: CrawlClock,
        counters: Counters,
    ) -> Peers:
        """The crawl is being built: how it meets the others."""
        order = self._order
        counts = Counts(environment, first_sequence(self.me.incarnation))
        outbox = Outbox(environment, frontier.changes, counts)
        router = Router(order.bits, self.leases_held.owns, outbox, ordering, clock.micros)
        self._meeting = _Meeting(router, outbox, Inbox(environment), counts)
        if order.shared_digests:
            self.digests = DigestExchange(
                self.me.name,
                order.bits,
                order.secret,
                self.leases_held,
                DigestTable(environment),
                self._links.consult,
            )

        def may_lend(lent: int) -> bool:
            return not self._stop and self.leases_held.may_fetch(counters.pages, counters.bytes, lent)

        every = max(SHORTEST, ROUND_SECONDS / frontier.again.wall.speed)
        self.paces = Paces(self.me.name, self.me.incarnation, self.leases_held, self._links.consult, every)
        return Peers(router, self.digests, self.paces, may_lend)

    def _begin(self, built: Built, *, new: bool) -> None:
        """The crawl is built and nothing was admitted: begin to work beside it."""
        order, crawl, meeting = self._order, built.crawl, self._meeting
        self._built = built
        crawl.parts.dispatch.expect("cluster")
        parts = Parts(self.leases_held, meeting.router, meeting.outbox, meeting.inbox, meeting.counts, built)
        self.parts = parts
        self.exchange = LinkExchange(self.me.name, self.me.incarnation, parts, self._links.deliver)
        announcements = self.digests.announcements if self.digests is not None else None
        self.snapshooter = Snapshooter(self.folder, crawl, self.store, self.me, order.keep, announcements)
        states = PeerStates(self.store, self.folder.tmp / "peers", self.me.name)
        self.move_executor = MoveExecutor(parts, self.snapshooter, states, order.bits, new=new)
        work = [
            self._renew(),
            self.exchange.run(),
            self.snapshooter.run(order.snapshot_every),
            self.move_executor.run(),
        ]
        if self.digests is not None:
            work.append(self.digests.run())
        if self.paces is not None:
            work.append(self.paces.run())
        self._tasks += [asyncio.create_task(self._guarded(task)) for task in work]

    async def _guarded(self, work: Awaitable[None]) -> None:
        """A mistake or a full disk ends the crawl as it would end a worker."""
        try:
            await work
        except Exception as error:  # noqa: BLE001 - raised again where the crawl hears of it
            assert self._built is not None
            self._built.crawl.parts.dispatch.fail(error)

    def _barred(self) -> bool:
        """Whether a host could be visited, and nobody may: for want of an allowance, or of a lease.

        Ready hosts fall due never, so without this it would seem idle, would be allowed nothing for that, and
        the crawl would be over before its first page. URLs that no allowance would set free (of a host that
        is parked, say) do not count: it would ask for an allowance and give it back for ever.
        """
        assert self._built is not None
        return self._built.crawl.parts.frontier.serving.schedule.has_ready

    # Renewing …

    async def _renew(self) -> None:
        while not self._over:
            sent = boot_clock()
            try:
                answer = await self._links.renew(self._report())
            except (ConnectionError, TimeoutError):
                await asyncio.sleep(RENEW_SECONDS)
                continue
            if isinstance(answer, Fenced):
                self._fence()
                return
            if self.leases_held.counts(answer):
                await self._go_by(answer, sent)
            await asyncio.sleep(max(0.0, RENEW_SECONDS - (boot_clock() - sent)))

    async def _go_by(self, grant: Grant, sent: float) -> None:
        assert self._built is not None
        crawl, parts = self._built.crawl, self.parts
        had = self.leases_held.shards
        for shard in self.leases_held.take(grant, sent):
            parts.outbox.forget_answers(shard)
        if grant.scope_hosts:
            crawl.parts.admission.add_places(grant.scope_hosts)
        self._scope_known += len(grant.scope_hosts)
        self._places_known.update(grant.scope_hosts)
        self._die_in(max(self.leases_held.left, SHORTEST))
        self.snapshooter.on_record(grant.snapshot, parts.inbox)
        if grant.losses != self._losses:
            self._losses = grant.losses
            parts.router.forget()
        self.wave = grant.wave
        gained = self.leases_held.shards - had
        self.move_executor.give(grant, gained, self.leases_held.given_away(grant))
        self._stop = grant.stop
        if grant.over:
            self._over = True
            await self._let_go()  # of the state, which the crawl closes at its end
            crawl.stop(grant.stop or OVER)
        crawl.parts.dispatch.pump_or_fail()

    async def _let_go(self) -> None:
        """End what works beside the crawl, but for whoever calls this."""
        others = [task for task in self._tasks if task is not asyncio.current_task()]
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)
        assert self.exchange is not None
        await self.exchange.close()
        if self.digests is not None:
            await self.digests.close()

    def _fence(self) -> None:
        assert self._built is not None
        self._fenced = True
        self.leases_held.end()
        self._built.crawl.stop_now()

    def _report(self) -> Report:
        assert self._built is not None
        crawl, parts, counts = self._built.crawl, self.parts, self.parts.counts
        counters = crawl.parts.ledger.counters
        self._reports += 1
        return Report(
            agent=self.me.name,
            incarnation=self.me.incarnation,
            term=self.leases_held.term,
            number=self._reports,
            answered=self.leases_held.answered,
            epoch=self.leases_held.epoch,
            wave=self.wave,
            idle=not self.move_executor.busy
            and crawl.parts.dispatch.quiet
            and not crawl.parts.pace.waits
            and not self._barred(),
            sent=counts.sent,
            received=counts.received,
            owed=len(parts.outbox.shards_owed()),
            outbox=parts.outbox.waiting,
            pages=counters.pages,
            bytes=counters.bytes,
            queued=counters.queued,
            page_allowance=self.leases_held.page_allowance,
            byte_allowance=self.leases_held.byte_allowance,
            snapshot=self.snapshooter.latest,
            snapshot_pages=self.snapshooter.pages,
            snapshot_bytes=self.snapshooter.bytes,
            frozen=self.move_executor.frozen,
            imported=self.move_executor.imported,
            damaged=self.move_executor.damaged,
            scope_known=self._scope_known,
            scope_hosts=tuple(
                place for place in crawl.parts.admission.scope.hosts if place not in self._places_known
            ),
            stopped=self.move_executor.stopped,
            problem=self._problem(),
        )

    def _problem(self) -> str:
        troubled = (("snapshot", self.snapshooter), ("move", self.move_executor), ("exchange", self.exchange))
        told = [f"{name}: {part.problem}" for name, part in troubled if part is not None and part.problem]
        return "; ".join(told)[:LONGEST_PROBLEM]

    wave = 0

    async def _persist(self, ask: Callable[[], Awaitable[Registered]]) -> Registered:
        """Ask until there is an answer."""
        while True:
            try:
                return await ask()
            except (ConnectionError, TimeoutError):
                await asyncio.sleep(RENEW_SECONDS)


def _set_aside(path: Path) -> None:
    """Keep the folder of an agent that is one no longer, under another name."""
    for number in range(1, 1_000):
        aside = path.with_name(f"{path.name}.fenced-{number}")
        if not aside.exists():
            path.rename(aside)
            return
    raise GossamerError(f"{path}: too many folders of fenced agents lie beside it. Remove some.")


def _host(weight: float) -> Host:
    return Host(socket.gethostname(), boot_id(), weight, process=uuid.uuid4().hex)
