"""What the coordinator must not forget: agents, who has which shards, what is on its way."""

from enum import StrEnum
from typing import Annotated

import msgspec
from msgspec import Meta

from gossamer.cluster.agreement.tenure import TenureConfig
from gossamer.cluster.protocol import NOBODY, Host, agent_name
from gossamer.model.errors import StorageError
from gossamer.model.quantity import SECONDS, Bytes, Count, Seconds
from gossamer.model.reasons.codes import EndCode
from gossamer.model.reasons.earlier import told_before
from gossamer.model.reasons.reason import Reason

FORMAT = 1

DRAINED = Reason(EndCode.DRAINED)
"""Reason to stop of an agent that is no longer needed, while the crawl goes on."""

FINISHED = Reason(EndCode.FINISHED)
"""Reason to stop when nothing is left to do."""


class CoordinationConfig(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How shards are shared out, and how much all agents may fetch together."""

    bits: Annotated[
        int,
        Meta(ge=1, le=14, description="bits of a host's hash that name its shard; 10: 1,024 shards"),
    ] = 10
    agents: Annotated[int, Meta(ge=1, le=10_000, description="how many agents there should be")] = 1
    tenure: TenureConfig = TenureConfig()
    gather: Annotated[
        float,
        Meta(
            ge=0,
            extra=SECONDS,
            description="how long the first agents wait for the others before they share the shards",
        ),
    ] = 60.0
    shards_at_once: Annotated[
        int,
        Meta(
            ge=1, description="shards that move from one agent to another at a time; the others are served on"
        ),
    ] = 64
    slack: Annotated[
        float,
        Meta(
            ge=1.0, le=2.0, description="an agent has at most this many times its fair share; less moves more"
        ),
    ] = 1.05
    max_pages: Annotated[Count, Meta(description="pages of all agents together; 0: no limit")] = 0
    max_bytes: Annotated[Bytes, Meta(description="bytes of all agents together; 0: no limit")] = 0
    max_time: Annotated[Seconds, Meta(description="time of the whole crawl; 0: no limit")] = 0.0

    @property
    def shards(self) -> int:
        """How many shards the crawl is divided into."""
        return 1 << self.bits


class State(StrEnum):
    """What an agent is to the coordinator."""

    JOINING = "joining"  # registered, has not renewed yet: it may never do
    LIVE = "live"
    DRAINING = "draining"  # keeps what it has until others have it
    LEAVING = "leaving"  # has nothing any more; told to stop
    GONE = "gone"
    LOST = "lost"  # fenced, should it come back


PRESENT = frozenset({State.JOINING, State.LIVE, State.DRAINING, State.LEAVING})
"""States of agents that renew, may own shards, and are waited for."""


class AgentRecord(msgspec.Struct, frozen=True, kw_only=True):
    """One agent.

    Attributes:
        number: N of its name `a-N`.
        incarnation: of its present process.
        since: epoch in which its state became what it is.
        withheld: the process before ran on another machine, or before a reboot, and may not have ended yet.
        snapshot: its latest one on record; `pages` and `bytes` are the sums in it.
        inherited: its outbox was taken over, or it left none.
        read: of a lost one, the latest snapshot that shards were read from; 0: none was yet.
    """

    number: int
    host: Host
    incarnation: int = 1
    state: State = State.JOINING
    since: int = 0
    withheld: bool = False
    snapshot: int = 0
    pages: int = 0
    bytes: int = 0
    inherited: bool = False
    read: int = 0

    @property
    def name(self) -> str:
        """The agent's name as others call it: `a-N`."""
        return agent_name(self.number)


class Move(msgspec.Struct, frozen=True, kw_only=True):
    """Shards on their way, or an outbox.

    Attributes:
        source: number of the agent that has them; `NOBODY`: they are new.
        target: number of the agent that shall have them.
        shards: none if it is the outbox.
        snapshot: of the source, to read them from; 0 while they are being frozen.
        doubted: an earlier snapshot of the source for them could not be used.
    """

    number: int
    source: int
    target: int
    shards: tuple[int, ...] = ()
    snapshot: int = 0
    doubted: bool = False

    @property
    def inheritance(self) -> bool:
        """Whether it is the outbox of a lost agent that moves."""
        return not self.shards

    @property
    def freezing(self) -> bool:
        """Whether the source has yet to freeze them."""
        return self.source != NOBODY and self.snapshot == 0


class Loss(msgspec.Struct, frozen=True, kw_only=True):
    """A snapshot of a lost agent could not be used, so something of what it had is lost.

    Attributes:
        agent: its number; `snapshot`: which.
        used: the older one that was read instead; 0: there was none, and the shards began anew.
        shards: which; `outbox`: whether its outbox is among what could not be read.
        reason: in words for operators.
    """

    agent: int
    snapshot: int
    used: int
    shards: tuple[int, ...] = ()
    outbox: bool = False
    reason: str = ""


class Record(msgspec.Struct, kw_only=True):
    """All of it. Whoever changes one makes a `copy` first, so that the one before stays what was saved.

    Invariant: a shard is in at most one move; who has it is the source of that move.

    Attributes:
        term: starts of the coordinator.
        epoch: changes whenever owners or peers do.
        agents: by number.
        holders: for each shard, the number of the agent whose state has it; `NOBODY` if it has yet to begin.
        moves: by number.
        scope_hosts: that joined the scope, in the order in which they did.
        wanted: agents there should be.
        stop: reason to stop, if there is one; `stop_epoch`: since when it holds.
        over: all have stopped.
        elapsed: seconds of the crawl, all its starts together.
        losses: in the order in which they were found.
    """

    config: CoordinationConfig
    holders: list[int]
    wanted: int
    format: int = FORMAT
    term: int = 1
    epoch: int = 1
    agents: dict[int, AgentRecord] = {}
    moves: dict[int, Move] = {}
    next_agent: int = 1
    next_move: int = 1
    scope_hosts: list[str] = []
    old_stop: str = msgspec.field(default="", name="stop")
    stop_epoch: int = 0
    over: bool = False
    elapsed: float = 0.0
    losses: list[Loss] = []
    stop: Reason | None = msgspec.field(default=None, name="stop_reason")

    def __post_init__(self) -> None:
        if self.old_stop:  # of an older version
            self.stop, self.old_stop = told_before(self.old_stop), ""

    @classmethod
    def new(cls, config: CoordinationConfig) -> "Record":
        """The record of a crawl in which nobody has anything."""
        return cls(config=config, holders=[NOBODY] * config.shards, wanted=config.agents)

    @classmethod
    def decode(cls, data: bytes) -> "Record":
        """What `encode` gave.

        Raises:
            StorageError: it is not ours, or damaged.
        """
        try:
            record = msgspec.msgpack.decode(data, type=cls)
        except msgspec.MsgspecError as error:
            raise StorageError(f"the coordinator's state is damaged: {error}") from None
        if record.format != FORMAT or len(record.holders) != record.config.shards:
            raise StorageError("the coordinator's state was written by another version of Gossamer")
        return record

    def encode(self) -> bytes:
        """The record as it is kept in the store."""
        return msgspec.msgpack.encode(self)

    def copy(self) -> "Record":
        """One that can be changed; agents and moves are values."""
        return msgspec.structs.replace(
            self,
            holders=self.holders[:],
            agents=self.agents.copy(),
            moves=self.moves.copy(),
            scope_hosts=self.scope_hosts[:],
            losses=self.losses[:],
        )

    def having(self, *states: State) -> list[AgentRecord]:
        """Agents in one of the states."""
        return [agent for agent in self.agents.values() if agent.state in states]

    @property
    def present(self) -> list[AgentRecord]:
        """Agents that are expected to renew."""
        return self.having(*PRESENT)

    def moving(self) -> dict[int, Move]:
        """The move of each shard that is in one."""
        return {shard: move for move in self.moves.values() for shard in move.shards}

    def owners(self) -> list[int]:
        """The number of each shard's owner: who has it, unless that one is lost or it moves."""
        present = {agent.number for agent in self.present}
        owners = [holder if holder in present else NOBODY for holder in self.holders]
        for shard in self.moving():
            owners[shard] = NOBODY
        return owners

    def change(self, number: int, **changes: object) -> AgentRecord:
        """Replace fields of the agent of that number."""
        self.agents[number] = changed = msgspec.structs.replace(self.agents[number], **changes)
        return changed
