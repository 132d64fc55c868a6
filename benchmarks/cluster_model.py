"""A cluster of crawling agents in arrays: hosts that rest, processors, links on their way, shards that move.

Time goes by slices; within one a host is visited once at most, at its own moment. Numbers of a page are
`benchmarks.cluster_costs.Costs`. What is left out is told in `benchmarks.cluster_sim`.
"""

from collections.abc import Mapping, Sequence

import msgspec
import numpy as np
from numpy.typing import NDArray

from benchmarks.cluster_costs import Costs

Floats = NDArray[np.float64]
Numbers = NDArray[np.int64]

NOBODY = -1
RECEIVING = 0.5
"""Share of an agent's processor that goes to the links of others at most; what is left over waits."""


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """What is simulated.

    Attributes:
        agents: processes, each with one core.
        seconds: of crawling.
        seed: of everything that looks random.
        shards: into which hosts are divided by their hash.
        hosts: with work at any one time, for each agent.
        exponent: a host has at least n pages with probability n to minus this; 0: all have the most.
        most_pages: of a host.
        endless: a host that is done makes room for a new one, anywhere; else it is just done.
        rest: seconds from the end of a visit to the next one to the same host.
        response: seconds of a visit.
        slice: seconds in which a host is visited at most once.
        snapshot: seconds between two snapshots of an agent.
        store: bytes per second that an agent exchanges with the snapshot store.
        known: URLs that each agent knows when the simulation begins.
        silence: seconds from an agent's last renewal until its shards are given away.
        whole: an heir reads all files of the snapshot that it takes shards from, not only their ranges.
        fail: seconds after which `failures` agents stop for good.
        failures: so many of them.
        costs: of a page.
    """

    agents: int
    seconds: float = 600.0
    seed: int = 1
    shards: int = 1_024
    hosts: int = 1_500
    exponent: float = 1.0
    most_pages: int = 100_000
    endless: bool = True
    rest: float = 1.0
    response: float = 0.2
    slice: float = 0.5
    snapshot: float = 60.0
    store: float = 100e6
    known: float = 10e6
    silence: float = 20.0
    whole: bool = True
    fail: float = 0.0
    failures: int = 0
    costs: Costs = Costs()


class Model:
    """Hosts, agents and the links between them; `advance` lets time pass, the rest are events.

    Attributes:
        owner: agent of each shard, or `NOBODY`.
        weight: share of all links that lead to each shard.
        pages: fetched by each agent.
        waiting: links for shards that nobody owns.
    """

    def __init__(self, plan: Plan, owner: Numbers, weight: Floats) -> None:
        self.plan, self.owner = plan, owner.copy()
        self.dice = np.random.default_rng(plan.seed)
        count = plan.agents * plan.hosts
        self.shard = self.dice.integers(0, plan.shards, count)
        self.left = sizes(plan, self.dice, count)
        self.due = self.dice.random(count) * (plan.rest + plan.response)
        self.uncovered = np.zeros(plan.shards, dtype=np.int64)  # pages that no finished snapshot has
        self.taking = np.zeros(plan.shards, dtype=np.int64)  # of them, those that the one under way will have
        self.weight = weight / weight.sum()
        self.pages = np.zeros(plan.agents, dtype=np.int64)
        self.credit = np.zeros(plan.agents)  # pages that the processor has time for
        self.work = np.zeros(plan.agents)  # seconds of processor owed to imports
        self.backlog = np.zeros(plan.agents)  # links received and not yet admitted
        self.sent = np.zeros(plan.agents)
        self.received = np.zeros(plan.agents)
        self.since = np.zeros(plan.agents)  # links received since the last finished snapshot
        self.exchange_seconds = np.zeros(plan.agents)
        self.alive = np.ones(plan.agents, dtype=bool)
        self.waiting = 0.0
        self.most_waiting = 0.0
        self.now = 0.0

    # Time …

    def advance(self, until: float) -> None:
        """Let all agents crawl until then."""
        while self.now < until - 1e-9:
            span = min(self.plan.slice, until - self.now)
            self._receive(span)
            self._send(self._visit(span))
            self.now += span

    def _receive(self, span: float) -> None:
        """Imports and the links of others have their share of the processor first."""
        costs = self.plan.costs
        able = np.where(self.alive, span, 0.0)
        imports = np.minimum(self.work, able)
        self.work -= imports
        one = costs.receiver_us() * 1e-6
        links = np.minimum(self.backlog, (able - imports) * RECEIVING / one if one else np.inf)
        self.backlog -= links
        self.exchange_seconds += links * one
        page = costs.page_cpu_ms * 1e-3 + self._sending()
        more = (able - imports - links * one) / page
        # Time that went by unused cannot be made up for; the part of a page that is left over can.
        self.credit = np.where(self.alive, np.minimum(self.credit, 1.0) + more, 0.0)

    def _sending(self) -> float:
        """Seconds of processor a page for the links that leave."""
        costs = self.plan.costs
        return costs.sent(self.plan.agents) * costs.sender_us() * 1e-6

    def _visit(self, span: float) -> Numbers:
        """Visit what is due in this slice, by due time, as far as processors reach; pages by agent."""
        plan = self.plan
        owners = self.owner[self.shard]
        ready = np.flatnonzero((self.due < self.now + span) & (self.left > 0) & (owners != NOBODY))
        ready = ready[self.alive[owners[ready]]]
        # By agent, then by due time: one key of both sorts several times faster than two.
        ready = ready[np.argsort(owners[ready] * (plan.seconds + 1e6) + self.due[ready])]
        agents = owners[ready]
        counts = np.bincount(agents, minlength=plan.agents)
        place = np.arange(len(ready)) - np.repeat(np.cumsum(counts) - counts, counts)
        quota = np.floor(self.credit)
        taken = place < quota[agents]
        hosts, agents, place = ready[taken], agents[taken], place[taken]
        busy = np.where(counts > quota, span / np.maximum(quota, 1.0), 0.0)
        start = np.maximum(self.due[hosts], self.now + place * busy[agents])
        self.due[hosts] = start + plan.response + plan.rest
        self.left[hosts] -= 1
        self.uncovered += np.bincount(self.shard[hosts], minlength=plan.shards)
        fetched = np.bincount(agents, minlength=plan.agents)
        self.credit -= fetched
        self.pages += fetched
        if plan.endless:
            self._renew(hosts[self.left[hosts] == 0])
        return fetched

    def _renew(self, hosts: Numbers) -> None:
        """Hosts that are done make room for others, whose shards are anywhere."""
        self.shard[hosts] = self.dice.integers(0, self.plan.shards, len(hosts))
        self.left[hosts] = sizes(self.plan, self.dice, len(hosts))

    def _send(self, fetched: Numbers) -> None:
        """Links of the pages of this slice go to the owners of their shards, or wait for one."""
        costs = self.plan.costs
        links = fetched * costs.sent(self.plan.agents)
        if not links.any():
            return
        self.sent += links
        self.exchange_seconds += fetched * self._sending()
        owned = self.owner != NOBODY
        there = np.bincount(self.owner[owned], weights=self.weight[owned], minlength=self.plan.agents)
        reached = np.where(self.alive, there, 0.0)
        # None goes to oneself: an agent's links are divided over the shares of the others.
        parts = links / np.maximum(1.0 - there, 1e-12)
        arrived = reached * (parts.sum() - parts)
        self.waiting += max(0.0, float(links.sum() - arrived.sum()))
        self.most_waiting = max(self.most_waiting, self.waiting)
        self._deliver(arrived)

    def _deliver(self, links: Floats) -> None:
        self.backlog += links
        self.received += links
        self.since += links

    # Events …

    def begin_snapshot(self, agent: int) -> None:
        """What the agent has fetched until now will be covered."""
        mine = self.owner == agent
        self.taking[mine] = self.uncovered[mine]

    def finish_snapshot(self, agent: int) -> None:
        """The snapshot stands in the store."""
        mine = self.owner == agent
        self.uncovered[mine] -= self.taking[mine]
        self.taking[mine] = 0
        self.since[agent] = 0.0

    def stop(self, agents: Sequence[int]) -> float:
        """These agents do nothing any more, though their shards are still theirs; the links to be sent again.

        Those are what they received since their last snapshots.
        """
        gone = list(agents)
        self.alive[gone] = False
        again = float(self.since[gone].sum())
        self.waiting += again
        return again

    def release(self, shards: Numbers) -> None:
        """Nobody owns these any more."""
        self.owner[shards] = NOBODY

    def take(self, shards: Numbers, agent: int) -> int:
        """The shards are this agent's, as of the snapshot they come from; the pages to be fetched again.

        Each host first rests its own rest.
        """
        mine = np.flatnonzero(np.isin(self.shard, shards))
        again = int(self.uncovered[shards].sum())
        if len(mine):
            np.add.at(self.left, self.dice.choice(mine, again), 1)
        self.uncovered[shards] = self.taking[shards] = 0
        self.due[mine] = np.maximum(self.due[mine], self.now) + self.plan.rest
        self.owner[shards] = agent
        orphans = (self.owner == NOBODY) | ~self.alive[self.owner]
        kept = self.weight[orphans].sum()
        moved = self.weight[shards].sum()
        arrived = np.zeros(self.plan.agents)
        arrived[agent] = self.waiting * moved / max(moved + kept, 1e-12)
        self.waiting -= float(arrived[agent])
        self._deliver(arrived)
        return again


def sizes(plan: Plan, dice: np.random.Generator, count: int) -> Numbers:
    """Pages of so many hosts: a discrete Pareto distribution with an end."""
    if not plan.exponent:
        return np.full(count, plan.most_pages, dtype=np.int64)
    drawn = dice.random(count) ** (-1.0 / plan.exponent)
    return np.asarray(np.minimum(drawn, plan.most_pages).astype(np.int64))


def shares(owner: Numbers, weights: Floats, agents: int) -> Floats:
    """Sum of `weights` of the shards of each agent."""
    owned = owner != NOBODY
    return np.asarray(np.bincount(owner[owned], weights=weights[owned], minlength=agents))


def spread(values: Floats) -> float:
    """How far the largest is above the mean; 0.1 is 10%."""
    return float(values.max() / values.mean() - 1.0) if len(values) and values.mean() else 0.0


def grouped(owner: Numbers, shards: Numbers) -> Mapping[int, Numbers]:
    """`shards` by the agent that `owner` names."""
    return {int(agent): shards[owner[shards] == agent] for agent in np.unique(owner[shards])}
