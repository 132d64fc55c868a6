"""What a cluster tells of itself: the coordinator makes it, the command line and the console show it."""

import msgspec

from gossamer.model.reasons.reason import Reason

__all__ = [
    "AgentCrawl",
    "AgentOverview",
    "ClusterFigures",
    "ClusterLimits",
    "LossOverview",
    "MoveOverview",
    "Overview",
]


class AgentOverview(msgspec.Struct, frozen=True, kw_only=True):
    """One agent.

    Attributes:
        node: name of its machine.
        state: `joining`, `live`, `draining`, `leaving`, `gone` (drained) or `lost`.
        shards: that it owns; `moving`: on their way from it or to it.
        silent: seconds since its last renewal; `None` if it has not renewed since the coordinator began.
        sent: links ever put into its outbox; `received`: links of others ever applied.
        outbox: links kept for others; `owed`: shards whose owners have not applied all it has for them.
        snapshot: its latest on record; of a lost one, that which others went on from.
        snapshot_age: seconds since its latest snapshot was reported; `None` if that was before the
            coordinator began.
        problem: what keeps it from something now.
    """

    name: str
    incarnation: int
    node: str
    weight: float
    state: str
    shards: int
    moving: int
    silent: float | None
    idle: bool
    pages: int
    bytes: int
    queued: int
    sent: int
    received: int
    owed: int
    outbox: int
    snapshot: int
    snapshot_age: float | None
    problem: str


class MoveOverview(msgspec.Struct, frozen=True, kw_only=True):
    """Shards on their way. `state`: `freezing`, `importing` or `inheriting`; empty source: new shards."""

    number: int
    source: str
    target: str
    shards: int
    state: str
    snapshot: int


class LossOverview(msgspec.Struct, frozen=True, kw_only=True):
    """A snapshot of a lost agent that could not be used.

    Attributes:
        used: the older one that was read instead; 0: there was none, and the shards began anew.
        shards: how many; `outbox`: whether the links that it still owed are among what could not be read.
    """

    agent: str
    snapshot: int
    used: int
    shards: int
    outbox: bool
    reason: str


class Overview(msgspec.Struct, frozen=True, kw_only=True):
    """The whole. `owned + moving + homeless == shards`.

    Attributes:
        elapsed: seconds of the crawl, all its starts together.
        stop: reason to stop, empty while it goes on; `why` is the same as a value.
        ring: who has each shard, in the order of the hosts' hash: N is agent `a-N`, -N says that the shard
            is on its way to `a-N`, 0 is nobody.
        problem: of the coordinator.
    """

    term: int
    epoch: int
    wanted_agents: int
    agents: tuple[AgentOverview, ...]
    moves: tuple[MoveOverview, ...]
    shards: int
    owned: int
    moving: int
    homeless: int
    pages: int
    bytes: int
    queued: int
    wave: int
    scope_hosts: int
    elapsed: float
    stop: str
    over: bool
    ring: tuple[int, ...] = ()
    problem: str = ""
    losses: tuple[LossOverview, ...] = ()
    why: Reason | None = None


class AgentCrawl(msgspec.Struct, frozen=True, kw_only=True):
    """What an agent's crawl says of itself.

    Attributes:
        pages_per_s, bytes_per_s: over the last 10 s.
        hosts: that it knows.
        memory: resident bytes of its process.
        seconds_left: for what it has queued; `None` if nothing tells.
    """

    pages_per_s: float
    bytes_per_s: float
    hosts: int
    memory: int
    seconds_left: float | None = None


class ClusterLimits(msgspec.Struct, frozen=True, kw_only=True):
    """Of all agents together; 0: no limit. `max_time` in seconds."""

    max_pages: int = 0
    max_bytes: int = 0
    max_time: float = 0.0


class ClusterFigures(msgspec.Struct, frozen=True, kw_only=True):
    """A cluster as of one moment.

    Attributes:
        crawls: by agent; those that did not answer in time are missing.
        seconds_left: for what is queued now, at most until a limit is reached; `None` if nothing tells.
        bound_by: what makes it so long: `agent` (the one that takes longest) or `budget`; empty if unknown.
    """

    overview: Overview
    crawls: dict[str, AgentCrawl]
    limits: ClusterLimits
    seconds_left: float | None = None
    bound_by: str = ""

    @property
    def pages_per_s(self) -> float:
        """Of all agents that answered."""
        return sum(crawl.pages_per_s for crawl in self.crawls.values())

    @property
    def bytes_per_s(self) -> float:
        """Of all agents that answered."""
        return sum(crawl.bytes_per_s for crawl in self.crawls.values())
