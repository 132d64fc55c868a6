"""Decides who owns which shards, for how long, until the crawl is over."""

import msgspec

from gossamer.cluster.agreement.tenure import Silence
from gossamer.cluster.coordination.heartbeats import Heartbeats
from gossamer.cluster.coordination.leaving import all_stopped, drain, drain_surplus, let_go
from gossamer.cluster.coordination.moving import begin_moves, destinations, hear_moves, lose, name_heirs
from gossamer.cluster.coordination.outlook import Outlook
from gossamer.cluster.coordination.overview import Overview, overview_of
from gossamer.cluster.coordination.record import (
    DRAINED,
    FINISHED,
    PRESENT,
    AgentRecord,
    CoordinationConfig,
    Record,
    State,
)
from gossamer.cluster.coordination.slots import slots
from gossamer.cluster.coordination.versions import Versions
from gossamer.cluster.protocol import Fenced, Grant, Host, Registered, Report, agent_number
from gossamer.model.errors import ConfigError, InternalError
from gossamer.model.reasons.reason import Reason
from gossamer.policy.visits.budget import BudgetConfig, Spent, crawl_limit_reached

__all__ = ["DRAINED", "FINISHED", "Coordination", "CoordinationConfig"]

MOST_AGENTS = (1 << 16) - 1
WAVES_OF_A_TERM = 32
"""Bits: waves of a coordinator that begins again are above all that may still be echoed."""
ELAPSED_EVERY = 60.0


class Coordination:
    """The coordinator's decisions; `now`: seconds of a clock that neither goes back nor stops in suspend.

    Use: `new` or `load`, then save `data()` and say `saved()`; then serve. After every `register`, `tick` and
    whatever an operator asks for: `if dirty: save(data()); saved()`, one save at a time; other calls may come
    in between. A `register` may be answered only once it is saved. `renew` may always be answered at once,
    because answers are made of what is saved. If a save fails, try again later with `data()` anew; renewals
    go on.

    Invariant: no answer says what is not saved; nobody is granted a lease whom the unsaved record has lost.
    """

    def __init__(self, record: Record, now: float) -> None:
        """See `new` and `load`."""
        self._versions = Versions(record)
        self._began = now
        self._counted = now
        self._patient_until = now
        self._calm_at = now  # whoever came in the place of a dead one is no surplus: the dead is lost by then
        self._silence = Silence(now, record.config.tenure.give_away)
        self._withheld = {
            agent.number: now + record.config.tenure.give_away for agent in record.present if agent.withheld
        }
        self._heartbeats = Heartbeats(record, record.term << WAVES_OF_A_TERM)
        self._outlook = Outlook(record)
        self._scope = set(record.scope_hosts)
        self._destinations: list[int] = []
        self._destined: frozenset[tuple[int, float]] | None = None

    @property
    def _record(self) -> Record:
        """As decided; to be read only."""
        return self._versions.next

    # Beginning, and what is kept …

    @classmethod
    def new(cls, config: CoordinationConfig, now: float, term: int = 1) -> "Coordination":
        """A cluster without agents; `config.agents` of them are wanted. `term`: see `load`."""
        return cls(msgspec.structs.replace(Record.new(config), term=term), now)

    @classmethod
    def load(cls, data: bytes, now: float, term: int = 0) -> "Coordination":
        """What `data()` gave, in a new process; `term`: at least so many coordinators began until now.

        Whom the one before answered is not known: nobody's shards are given away before all whom it may have
        answered have ended, and its waves do not count.

        Raises:
            StorageError: the data is not ours, or damaged.
        """
        record = Record.decode(data)
        record.term = max(record.term + 1, term)
        return cls(record, now)

    @property
    def dirty(self) -> bool:
        """Whether there is something to save."""
        return self._versions.dirty

    def data(self) -> bytes:
        """What to save, as of now."""
        return self._versions.data()

    def saved(self) -> None:
        """What the last `data()` gave is saved: from now on it is acted on."""
        before = self._versions.saved()
        acting = self._versions.acting
        assert acting is not None
        self._outlook = Outlook(acting)
        if (
            before is None
            or before.epoch != acting.epoch
            or len(before.scope_hosts) != len(acting.scope_hosts)
        ):
            self._heartbeats.recount(acting)

    # Agents …

    def register(self, host: Host, has_state_of: str | None, now: float) -> Registered:
        """A process that begins; `has_state_of`: the agent whose folder it has.

        Asked again by the same process, because a store that fails or is slow kept the answer back, it
        says the same again: each question would else leave an agent behind that nobody is.

        Raises:
            InternalError: there have been 65,535 agents.
        """
        asked = self._asked_before(host, now)
        if asked is not None:
            return Registered(asked.name, asked.incarnation, self._record.term)
        known = self._known(has_state_of) if has_state_of else None
        record = self._versions.turn()
        if known is not None and known.state in PRESENT:
            free_at = self._silence.free_at(known.name)
            withheld = free_at > now and (not host.boot or host.boot != known.host.boot)
            if withheld:
                self._withheld[known.number] = free_at
            agent = record.change(
                known.number,
                host=host,
                incarnation=known.incarnation + 1,
                withheld=known.withheld or withheld,
            )
        else:
            if record.next_agent > MOST_AGENTS:
                raise InternalError("there have been 65,535 agents in this crawl; begin another one")
            agent = AgentRecord(number=record.next_agent, host=host, since=record.epoch)
            record.agents[agent.number] = agent
            record.next_agent += 1
        if record.stop == FINISHED and not record.over:
            record.stop = None  # after a power failure it may have work again
        self._heartbeats.began(agent.name)
        self._silence.answered(agent.name, now)
        return Registered(agent.name, agent.incarnation, record.term)

    def _asked_before(self, host: Host, now: float) -> AgentRecord | None:
        """The agent that this very process is registered as."""
        same = (agent for agent in self._record.present if agent.host.process == host.process != "")
        asked = next(same, None)
        if asked is not None:
            self._silence.answered(asked.name, now)
        return asked

    def renew(self, report: Report, now: float) -> Grant | Fenced:
        """Answer an agent.

        Raises:
            InternalError: nothing was saved yet, or not the agent's registration.
        """
        agent = self._known(report.agent)
        fenced = self._why_fenced(agent, report)
        if agent is None or fenced:
            return Fenced(fenced)
        acting = self._versions.acting
        known = acting.agents.get(agent.number) if acting is not None else None
        if acting is None or known is None or known.incarnation != report.incarnation:
            raise InternalError("a renewal was answered before what it depends on was saved")
        self._silence.answered(agent.name, now)
        if self._heartbeats.fresh(report) and agent.state is not State.GONE:
            self._hear(agent, report, now)
        return self._grant(known, report, acting, now)

    def _known(self, name: str) -> AgentRecord | None:
        try:
            return self._record.agents.get(agent_number(name))
        except ValueError:
            return None

    @staticmethod
    def _why_fenced(agent: AgentRecord | None, report: Report) -> str:
        if agent is None:
            return "no such agent"
        if agent.state is State.LOST:
            return "it was silent for too long; others have its shards"
        if agent.incarnation != report.incarnation:
            return "another process goes by this name"
        return ""

    def _hear(self, agent: AgentRecord, report: Report, now: float) -> None:
        """Have what an agent did go down in the record."""
        self._heartbeats.hear(report, now)
        if agent.state is State.JOINING:
            record = self._versions.turn()
            record.change(agent.number, state=State.LIVE, since=record.epoch)
            self._calm_at = now + record.config.tenure.give_away
        if report.snapshot > agent.snapshot:
            sums = {"pages": report.snapshot_pages, "bytes": report.snapshot_bytes}
            self._versions.edit().change(agent.number, snapshot=report.snapshot, **sums)
        joined = [host for host in dict.fromkeys(report.scope_hosts) if host not in self._scope]
        if joined:
            self._versions.edit().scope_hosts.extend(joined)
            self._scope.update(joined)
        hear_moves(self._versions, agent, report)

    def _grant(self, agent: AgentRecord, report: Report, acting: Record, now: float) -> Grant:
        """What the saved record says to an agent."""
        tenure, number = acting.config.tenure, agent.number
        withheld = agent.withheld and now < self._withheld.get(number, now)
        pages, bytes_ = self._heartbeats.allowances(report)
        return Grant(
            number=report.number,
            term=acting.term,
            epoch=acting.epoch,
            view=self._outlook.view if report.epoch != acting.epoch else None,
            lease=0.0 if withheld else tenure.lease,
            end=tenure.end,
            freezes=() if withheld else self._outlook.freezes.get(number, ()),
            takes=self._outlook.takes.get(number, ()),
            inherits=self._outlook.inherits.get(number, ()),
            snapshot=agent.snapshot,
            page_allowance=pages,
            byte_allowance=bytes_,
            wave=self._heartbeats.wave,
            scope_hosts=tuple(acting.scope_hosts[report.scope_known :]),
            stop=acting.stop or (DRAINED if agent.state in (State.LEAVING, State.GONE) else None),
            over=acting.over or agent.state is State.GONE,
            losses=len(acting.losses),
        )

    # Deciding …

    def tick(self, now: float) -> None:
        """Decide what time, and what was reported, make due. Call it every second, or oftener."""
        self._count_time(now)
        if self._record.over or self._versions.acting is None:
            return
        self._lose_the_silent(now)
        self._trust_the_moved(now)
        self._heartbeats.share()
        if self._record.stop:
            if all_stopped(self._versions, self._heartbeats):
                self._versions.turn().over = True
            return
        if now >= self._calm_at:
            drain_surplus(self._versions, self._heartbeats)
        self._move(now)
        let_go(self._versions, self._heartbeats)
        self._end(now)

    def _count_time(self, now: float) -> None:
        """`elapsed` goes down in the record with whatever else does, and at times alone."""
        if self._record.over or not (self._versions.changed or now - self._counted >= ELAPSED_EVERY):
            return
        self._versions.edit().elapsed += now - self._counted
        self._counted = now

    def _elapsed(self, now: float) -> float:
        return self._record.elapsed + now - self._counted

    def _lose_the_silent(self, now: float) -> None:
        if now < self._patient_until:
            return
        silent = [agent for agent in self._record.present if self._silence.may_give_away(agent.name, now)]
        if not silent:
            return
        record = self._versions.turn()
        for agent in silent:
            lose(record, agent)
            self._silence.forget(agent.name)
            self._withheld.pop(agent.number, None)
            self._heartbeats.gone(agent.name, agent.pages, agent.bytes)
        if record.stop == FINISHED:
            record.stop = None  # what the lost one had not in its last snapshot is to be done again

    def _trust_the_moved(self, now: float) -> None:
        for number in [number for number, until in self._withheld.items() if now >= until]:
            del self._withheld[number]
            if self._record.agents[number].withheld:
                self._versions.edit().change(number, withheld=False)

    def _move(self, now: float) -> None:
        record = self._record
        live = record.having(State.LIVE)
        begun = any(record.holders) or record.moves
        if not begun and len(live) < record.wanted and now < self._began + record.config.gather:
            return
        destined = frozenset((agent.number, agent.host.weight) for agent in live)
        if destined != self._destined:
            self._destinations = destinations(record)
            self._destined = destined
        trial = record.copy()
        heirs = name_heirs(trial)
        if begin_moves(trial, self._destinations) or heirs:
            self._versions.replace(trial)

    def _end(self, now: float) -> None:
        config, (pages, received) = self._record.config, self._heartbeats.spent()
        limits = BudgetConfig(
            max_pages=config.max_pages, max_bytes=config.max_bytes, max_time=config.max_time
        )
        reason = crawl_limit_reached(limits, Spent(pages, received, self._elapsed(now)))
        if reason is None and self._heartbeats.finished and not self.dirty and self._outlook.settled:
            reason = FINISHED
        if reason is not None:
            self.stop(reason)

    # What an operator asks for …

    def scale_to(self, agents: int) -> None:
        """Want another number of agents; if there are more, the last to come are drained."""
        if agents != self._record.wanted:
            self._versions.edit().wanted = agents

    def drain(self, name: str) -> int:
        """Move everything off an agent, or off all agents of a node, which are wanted no more; how many."""
        here = self._record.having(State.JOINING, State.LIVE)
        named = [agent for agent in here if name in (agent.name, agent.host.node)]
        for agent in named:
            drain(self._versions, agent)
        if named:
            record = self._versions.edit()
            record.wanted = max(1, record.wanted - len(named))
        return len(named)

    def stop(self, reason: Reason) -> None:
        """End the crawl: all agents stop, and may end once all have stopped. The first reason counts."""
        if not self._record.stop:
            record = self._versions.turn()
            record.stop = reason
            record.stop_epoch = record.epoch

    def resume(self, now: float, config: CoordinationConfig | None = None) -> None:
        """Go on after a stop, or after all processes died: agents have `gather` seconds to come back.

        Call it right after `load`. `config`: other limits, or another number of agents.

        Raises:
            ConfigError: another number of shards.
        """
        record = self._versions.turn()
        if config is not None:
            if config.bits != record.config.bits:
                raise ConfigError(
                    f"bits: a crawl that began with {record.config.bits} cannot go on with {config.bits}"
                )
            record.config, record.wanted = config, config.agents
        record.stop, record.over = None, False
        self._heartbeats = Heartbeats(record, record.term << WAVES_OF_A_TERM)
        self._silence = Silence(now, record.config.tenure.give_away)
        self._counted = now
        self._patient_until = now + record.config.gather

    @property
    def over(self) -> bool:
        """Whether the crawl has ended, and this is saved: agents need not be started again."""
        return self._versions.acting is not None and self._versions.acting.over

    @property
    def stop_reason(self) -> Reason | None:
        """Why it ends or ended; `None` while it goes on, `FINISHED` if nothing was left to do."""
        return self._record.stop

    @property
    def wanted_agents(self) -> int:
        """How many agents there should be."""
        return self._record.wanted

    @property
    def wanted_slots(self) -> tuple[int, ...]:
        """Slots that should have a process; see `slots`."""
        return slots(self._record).wanted

    @property
    def retired_slots(self) -> tuple[int, ...]:
        """Slots whose agent was drained, so that its process is to end."""
        return slots(self._record).retired

    @property
    def nodes(self) -> dict[int, str]:
        """Names of the machines on which agents are, by slot."""
        return {agent.host.slot: agent.host.node for agent in self._record.present}

    @property
    def live_agents(self) -> tuple[str, ...]:
        """Agents that are neither lost nor gone nor leaving."""
        return tuple(agent.name for agent in self._record.having(State.LIVE))

    def overview(self, now: float) -> Overview:
        """For `gossamer cluster status`; as decided, which may not be saved yet."""
        return overview_of(self._record, self._heartbeats, self._silence, now)
