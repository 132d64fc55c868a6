"""The one door out: takes visits in arrival order and settles them in groups, each one commit."""

import asyncio
import time
from collections.abc import Callable, Sequence
from itertools import islice

import msgspec

from gossamer.engine.admission.admission import Led
from gossamer.engine.admission.reclaim import turned_away
from gossamer.engine.admission.speculation import leaves_no_trace
from gossamer.engine.fault_points import fault_point
from gossamer.engine.observe import Observers
from gossamer.engine.settlement.archivist import Archivist, Kept
from gossamer.engine.settlement.doors import Doors
from gossamer.engine.settlement.judge import Judgement
from gossamer.engine.settlement.ledger import Ledger
from gossamer.engine.settlement.long_pages import LINKS_AT_ONCE, Followed, LongPages
from gossamer.engine.settlement.page_memory import page_record
from gossamer.engine.settlement.spare_time import SpareTime
from gossamer.engine.visiting.visit import Visit
from gossamer.frontier.frontier import Frontier
from gossamer.model.candidate import Candidate
from gossamer.model.disposition import SETTLED, Done, Dropped
from gossamer.model.events import Event, HostParked, HostRested, Visited
from gossamer.model.lease import Lease
from gossamer.model.link import LinkKind
from gossamer.model.outcome import Fetched, Refused
from gossamer.model.reasons.reason import Reason
from gossamer.model.url import Url
from gossamer.policy.ordering.ordering import is_robots
from gossamer.policy.speculation.form import is_question
from gossamer.ports import BulkSink, Sink
from gossamer.state.environment import Batch
from gossamer.state.records import PageRecord

GROUP = 64
"""Visits settled together at most: bounds what a crash refetches and what memory holds."""

NEWS = 0.7
"""How much of what a form answers must be new on its host, as `Novelty.value`, if it leads nowhere: some sentences, for
the word itself stands here and there, and how long the search took."""

LONGEST_CHAIN = 20
"""Redirects in a row that are gone back through."""


class Settled(msgspec.Struct, frozen=True):
    """One visit with all that was decided about it before the commit."""

    visit: Visit
    judgement: Judgement
    fingerprint: bytes
    before: PageRecord | None
    kept: Kept | None
    first_seen: str
    """URL at which its content was met before, or empty."""

    @property
    def seen_before(self) -> bool:
        """Whether its content was met before."""
        return bool(self.first_seen)

    @property
    def was_settled(self) -> bool:
        """Whether an earlier visit has told what there is."""
        return self.before is not None and self.before.state in SETTLED


class Settlement:
    """Owns the archive file, the write batch and the seen test, so that archive order is commit order.

    First the archive records of the whole group are appended (which may wait, for large bodies); then,
    without a pause, every change of state goes into one batch. A crash before the commit costs a second
    visit of the group; the archive is then cut back to its committed length.
    """

    def __init__(  # noqa: PLR0913 - the hub of the engine, made in one place only
        self,
        frontier: Frontier,
        doors: Doors,
        archivist: Archivist,
        ledger: Ledger,
        observers: Observers,
        sinks: Sequence[Sink],
        spare: SpareTime,
        *,
        queue_size: int,
        settled: Callable[[], None],
    ) -> None:
        """`settled` is called after each group."""
        self._frontier = frontier
        self._doors = doors
        self._archivist = archivist
        self._ledger = ledger
        self._observers = observers
        self._sinks = sinks
        self._queue: asyncio.Queue[tuple[Visit, Followed | None] | None] = asyncio.Queue(queue_size)
        self.held = asyncio.Lock()
        """Whoever holds it sees state and archive between two groups."""
        self._long_pages = LongPages(frontier, doors, archivist, self.held, spare)
        self._settled = settled

    async def take(self, visit: Visit) -> None:
        """Accept a visit; waits if settlement has fallen behind, or other agents are asked about it."""
        visit = await self._archivist.look_up(visit)
        candidate = visit.lease.candidate
        # By force, because a redirect led back to it, it is visited out of its turn.
        if candidate.again or candidate.forced:
            visit = await self._doors.again.compared(visit)
        if visit.page is not None and len(visit.page.links) > LINKS_AT_ONCE:
            await self._long_pages.take(visit)
        else:
            await self._queue.put((visit, None))

    async def finish(self) -> None:
        """Let `run` return after everything taken so far is settled."""
        await self._long_pages.finish()
        await self._queue.put(None)

    async def run(self) -> None:
        """Settle until told to finish."""
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self._long_pages.run(lambda *followed: self._queue.put(followed)))
            tasks.create_task(self._run())

    async def _run(self) -> None:
        async with self.held:
            await self._let_in()  # of a process that died before it had
            if self._doors.twins is not None:
                await self._doors.twins.committed()
        finishing = False
        while not finishing:
            group = [await self._queue.get()]
            links = _links_in(group[0])
            while len(group) < GROUP and links < LINKS_AT_ONCE and not self._queue.empty():
                group.append(self._queue.get_nowait())
                links += _links_in(group[-1])
            finishing = None in group
            visits = [visit for visit in group if visit is not None]
            if visits:
                async with self.held:
                    await self._settle(visits)
                self._settled()

    async def _settle(self, group: list[tuple[Visit, Followed | None]]) -> None:
        decided = [await self._decide(visit) for visit, _ in group]
        self._archivist.write_names()
        fault_point("settlement.appended")
        ways = [
            followed or self._begin(settled) for settled, (_, followed) in zip(decided, group, strict=True)
        ]
        events: list[Event] = []
        with self._frontier.changes() as batch:
            for settled, followed in zip(decided, ways, strict=True):
                self._apply(settled, followed, batch, events)
                fault_point("settlement.applying")
            self._archivist.enter(batch, [event for event in events if isinstance(event, Visited)])
            fault_point("settlement.logged")
            self._ledger.enter(batch)
            self._doors.again.pace.enter(batch)
        fault_point("settlement.committed")
        await self._let_in()  # before anybody else has a turn, and finds that nothing is left to do
        if self._doors.twins is not None:
            await self._doors.twins.committed()
        await self._archivist.committed()
        for event in events:
            self._observers.tell(event)
            if isinstance(event, Visited):
                for sink in self._sinks:
                    await sink(event)
        for sink in self._sinks:
            if isinstance(sink, BulkSink):
                await sink.flush()
        for visit, _ in group:
            if isinstance(visit.outcome, Fetched):
                visit.outcome.exchange.body.close()

    async def _let_in(self) -> None:
        """Admit what was turned away of hosts that have joined the scope since, such as their sitemaps.

        A robots file is read before the seed whose redirect leads to its host.
        """
        admission = self._doors.admission
        while admission.newcomers:
            host = admission.newcomers[0]
            start: bytes | None = b""
            while start is not None:
                known = list(islice(self._doors.memory.of_host(host, start), LINKS_AT_ONCE))
                start = known[-1][0] + b"\0" if len(known) == LINKS_AT_ONCE else None
                with self._frontier.changes() as batch:
                    for _, record in known:
                        if (candidate := turned_away(record)) is not None:
                            admission.reconsider(candidate)
                    if start is None:
                        admission.let_in(host, batch)
                if start is not None:
                    await asyncio.sleep(0)

    async def _decide(self, visit: Visit) -> Settled:
        """Judge a visit, and append it to the archive if it is to be kept."""
        fingerprint = visit.lease.page or self._doors.identity.fingerprint(visit.lease.candidate.url)
        before = self._doors.memory.get(fingerprint)
        judgement = self._doors.judge.judge(visit, self._frontier.now())
        if self._doors.revisits is not None and not leaves_no_trace(visit.outcome):
            judgement = self._due_again(visit, judgement, before)
        kept = None
        if judgement.archive and isinstance(visit.outcome, Fetched):
            kept = await self._archivist.write(visit, visit.outcome.exchange, before)
        first_seen = ""
        if visit.page is not None and (judgement.tally.pages > 0 or visit.lease.candidate.again):
            first_seen = self._archivist.first_seen(visit.page, visit.met)
        self._archivist.tell_elsewhere(visit, kept, first_seen)
        return Settled(visit, judgement, fingerprint, before, kept, first_seen)

    def _due_again(self, visit: Visit, judgement: Judgement, before: PageRecord | None) -> Judgement:
        """The same, with the time after which the URL is due again, if it ever is."""
        disposition, lease = judgement.disposition, visit.lease
        if lease.candidate.kind is LinkKind.ROBOTS or not isinstance(disposition, Done | Dropped):
            return judgement
        assert self._doors.revisits is not None
        visits = (before.visits_made if before is not None else 0) + 1
        again = self._doors.revisits.again(lease, visit.outcome, visit.page, visits)
        if again is None:
            return judgement
        disposition = msgspec.structs.replace(disposition, again=float(again))
        return msgspec.structs.replace(judgement, disposition=disposition)

    def _begin(self, settled: Settled) -> Followed:
        """What is to be followed of a visit, of which no link was yet."""
        if not settled.judgement.archive:
            return Followed()
        return self._long_pages.followed(settled.visit, settled.fingerprint, seen_before=settled.seen_before)

    def _apply(self, settled: Settled, followed: Followed, batch: Batch, events: list[Event]) -> None:
        """Put all that follows from one visit into the batch."""
        visit, lease = settled.visit, settled.visit.lease
        if leaves_no_trace(visit.outcome):
            self._frontier.settle(lease, settled.judgement.disposition, settled.judgement.tally)
            return
        robots = self._doors.robots.settle(visit) if lease.candidate.kind is LinkKind.ROBOTS else None
        for raised in visit.page.raised if visit.page is not None else ():
            self._doors.plugins.hear(raised)
        led = self._follow(settled, followed)
        if self._doors.revisits is None:
            again = self._doors.again.settle(
                visit, settled.judgement, settled.fingerprint, settled.before, led.admitted
            )
            if again is not settled.judgement:
                settled = msgspec.structs.replace(settled, judgement=again)
        judgement = settled.judgement
        news = self._doors.yields.learn(visit, judgement, settled.before, settled.first_seen)
        record = page_record(lease, visit, judgement.disposition, settled.before, settled.kept, reason=robots)
        self._doors.memory.put(settled.fingerprint, record, batch)
        if self._doors.signals is not None:
            self._doors.signals.settled(visit, settled.before, batch)
        self._tell_guess(settled, led, news or 0.0)
        self._frontier.settle(lease, judgement.disposition, judgement.tally)
        if isinstance(judgement.disposition, (Done, Dropped)) and not is_robots(lease.candidate):
            self._frontier.close(settled.fingerprint, batch)
        self._leave_alone(lease, judgement, robots or judgement.why or record.reason, events)
        self._ledger.count(
            visit, judgement, record, is_copy=settled.kept is not None and bool(settled.kept.twin)
        )
        if self._doors.twins is not None:  # last, for it may queue the same URL once more
            self._doors.twins.settled(lease.candidate, settled.fingerprint, record, settled.first_seen)
        events.append(_visited(settled, led.admitted))

    def _leave_alone(
        self, lease: Lease, judgement: Judgement, why: Reason | None, events: list[Event]
    ) -> None:
        """Leave a host in peace for what a visit to it has shown, beyond politeness."""
        assert why is not None or not (judgement.down or judgement.host_rest), "who is left alone has failed"
        if judgement.down and why is not None:
            self._doors.robots.take_down(lease.candidate.url, judgement.down, why)
        if judgement.host_rest and why is not None:
            self._frontier.rest(lease.queue_key, judgement.host_rest, why)
            events.append(HostRested(lease.queue_key, judgement.host_rest, why))
        if judgement.park_host:
            self._frontier.park(lease.queue_key, judgement.park_host)
            events.append(HostParked(lease.queue_key, judgement.park_host))

    def _tell_guess(self, settled: Settled, led: Led, news: float) -> None:
        """Tell what came of a speculative link that is settled for good.

        A copy of what was met is nothing new: sites answer with the same page to whatever they do not know. What a
        form answers must lead on, or say something.
        """
        lease, judgement, speculation = settled.visit.lease, settled.judgement, self._doors.speculation
        candidate = lease.candidate
        if speculation is None or not (candidate.is_guess or is_question(candidate.element)):
            return
        ended = isinstance(judgement.disposition, Done | Dropped) and not settled.was_settled
        if not ended or isinstance(settled.visit.outcome, Refused) or led.on is None:
            return
        if judgement.redirect is not None:
            found = led.on
        elif settled.visit.page is None or settled.seen_before:
            found = False
        else:
            found = led.on or news >= NEWS
        speculation.came_of(lease, found=found)

    def _follow(self, settled: Settled, followed: Followed) -> Led:
        """Admit where the visit leads: its redirect or what is left of its links, and another address of its site."""
        judgement, admission = settled.judgement, self._doors.admission
        candidate, target = settled.visit.lease.candidate, judgement.redirect
        if target is not None:
            back = self._doors.links.back and self._leads_back(candidate, target)
            led = admission.redirect(candidate, target, again=back)
        else:
            nofollow, left = self._doors.links.honour_nofollow, followed.links[followed.upto :]
            led = admission.links(candidate, left, honour_nofollow=nofollow, gift_to=followed.gift_to)
        if judgement.elsewhere is not None:
            admission.ask_elsewhere(candidate, judgement.elsewhere)
        followed.note(led)
        return followed.led

    def _leads_back(self, finder: Candidate, target: Url) -> bool:
        """Whether the chain of redirects that led to `finder` began at `target`, or has passed it."""
        identity, kind, via = self._doors.identity, finder.kind, finder.via
        for _ in range(LONGEST_CHAIN):
            earlier = Url.from_serialised(via) if kind is LinkKind.REDIRECT else None
            if earlier is None:
                return False
            if identity.same(target, earlier):
                return True
            record = self._doors.memory.get(identity.fingerprint(earlier))
            if record is None:
                return False
            kind, via = record.kind, record.via
        return False


def _links_in(item: tuple[Visit, Followed | None] | None) -> int:
    """Links that are still to be admitted with it."""
    if item is None:
        return 0
    visit, followed = item
    if followed is not None:
        return len(followed.links) - followed.upto
    return len(visit.page.links) if visit.page is not None else 0


def _visited(settled: Settled, admitted: int) -> Visited:
    kept = settled.kept
    return Visited(
        at=time.time(),
        lease=settled.visit.lease,
        outcome=settled.visit.outcome,
        disposition=settled.judgement.disposition,
        page=settled.visit.page,
        admitted=admitted,
        seen_before=settled.seen_before,
        twin=kept.twin if kept else "",
        place=(kept.placed.file, kept.placed.offset, kept.placed.length) if kept else None,
        record_id=kept.placed.record_id if kept else "",
    )
