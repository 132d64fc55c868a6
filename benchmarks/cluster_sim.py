"""A crawl by 10 to 1,000 agents, simulated: throughput, exchange, balance, what a lost agent costs.

`python -m benchmarks.cluster_sim [--agents N ...] [--seconds S] [--seed N] [--fail N] [--quick] [--json]`

Events are snapshots, failures, the end of a silence and shards that arrive; between them agents crawl as
`cluster_model` says, at the measured costs in `cluster_costs`. The same seed gives the same figures.

Modelled: hosts of power-law size that rest after each visit; a core an agent, shared by its pages, the links
that it sends and receives, and imports; shards by rendezvous hashing with bounded load; incremental snapshots
over a link of fixed bandwidth; loss of agents, the silence after which their shards are given away, the
reading of their snapshots by the heirs, and what is fetched twice.

Not modelled: latency, loss and congestion of the network between agents; a snapshot store shared by all
whose bandwidth has an end; Ray's head, whose load grows with the agents, and the coordinator's processor
(one call an agent and second); several agents on one machine that share its memory bandwidth and disk;
disks that are slow or full; hosts that are slow, fail or forbid; DNS; the order in which URLs are found,
for every host has its URLs from the start and a host that is done is followed by a new one; more links a
page to other agents than with 64 of them, where measuring ended; the rise of costs with the size of the
state; an agent that is lost while another takes over; the return of lost agents.
"""

import argparse
import heapq
import json
import math
import sys
from collections.abc import Sequence
from typing import Any

import msgspec
import numpy as np

from benchmarks.cluster_costs import Costs
from benchmarks.cluster_model import NOBODY, Floats, Model, Numbers, Plan, grouped, shares, sizes, spread
from gossamer.cluster.agreement.rendezvous import assign

AGENTS = (10, 30, 100, 300, 1_000)
QUICK_AGENTS = (10, 30)
HOSTS_KNOWN = 419_158
"""Hosts of ten million URLs (benchmarks.frontier)."""
HOSTS_DRAWN = 20_000_000
"""At most so many hosts are drawn to see how even the shards are; more hosts make them more even."""
PAGES, DAYS = 15e9, 28
LARGE = 100_000
"""Bytes of a page in requirement W1."""
BY_BYTES = 0.63
"""Share of a page's processor time in extraction, archive and fetch (docs/performance-log.md)."""
PATH_AGENTS = 30
_MB = 1e6


def assignment(shards: int, agents: Sequence[int], held: Numbers | None = None) -> Numbers:
    """The agent of each shard; those that are `held` stay where bounds of load let them."""
    numbers = {f"a-{agent + 1}": agent for agent in agents}
    now = [f"a-{agent + 1}" for agent in held.tolist()] if held is not None else []
    return np.array([numbers[name] for name in assign(shards, dict.fromkeys(numbers, 1.0), held=now)])


class Run:
    """One simulation: a model and the events that happen to it."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.hosts, self.work, links = drawn(plan)
        self.model = Model(plan, assignment(plan.shards, range(plan.agents)), links)
        self._events: list[tuple[float, int, str, tuple[Any, ...]]] = []
        self._count = 0
        self._told = np.zeros(plan.agents)  # pages as of each agent's last snapshot
        self.uploaded = np.zeros(plan.agents)
        self.read = 0.0  # bytes that heirs read from the store
        self.moved = self.moved_alive = self.twice = 0
        self.links_again = 0.0
        self.calm = 0.0  # pages a second until the failure, or the end
        self.arrivals: list[tuple[float, int]] = []  # seconds after the failure, shards
        for agent in range(plan.agents):
            self._at(plan.snapshot * (agent + 1) / plan.agents, "begin", agent)
        if plan.failures:
            self._at(plan.fail, "fail", tuple(range(plan.failures)))

    def _at(self, moment: float, kind: str, *what: Any) -> None:
        self._count += 1
        heapq.heappush(self._events, (moment, self._count, kind, what))

    def run(self) -> None:
        """To the end. Events happen at the ends of slices: thousands of them do not make more slices."""
        while self._events and self._events[0][0] < self.plan.seconds:
            moment, _, kind, what = heapq.heappop(self._events)
            self.model.advance(math.ceil(moment / self.plan.slice) * self.plan.slice)
            {
                "begin": self._begin,
                "end": self._end,
                "fail": self._fail,
                "lost": self._lost,
                "arrive": self._arrive,
            }[kind](*what)
        self.model.advance(self.plan.seconds)
        if not self.plan.failures:
            self.calm = float(self.model.pages.sum()) / self.plan.seconds

    # Snapshots …

    def _growth(self, agent: int) -> float:
        """Bytes of files that are new since the agent's last snapshot."""
        costs = self.plan.costs
        new = costs.links * (1 - costs.known) * costs.state_bytes + costs.page_state_bytes
        pages = float(self.model.pages[agent] - self._told[agent])
        return pages * (costs.stored_bytes + new * costs.snapshot_factor)

    def _begin(self, agent: int) -> None:
        if not self.model.alive[agent]:
            return
        size = self._growth(agent)
        self._told[agent] = self.model.pages[agent]
        self.model.begin_snapshot(agent)
        self._at(self.model.now + size / self.plan.store, "end", agent, size)

    def _end(self, agent: int, size: float) -> None:
        if not self.model.alive[agent]:
            return
        self.uploaded[agent] += size
        self.model.finish_snapshot(agent)
        self._at(self.model.now + self.plan.snapshot, "begin", agent)

    # Loss …

    def _fail(self, agents: tuple[int, ...]) -> None:
        """They stop, a moment after they last renewed; the coordinator hears nothing from then on."""
        self.calm = float(self.model.pages.sum()) / self.model.now
        self.links_again = self.model.stop(agents)
        last = float(self.model.dice.random())
        self._at(self.model.now + self.plan.silence - last, "lost", agents)

    def _lost(self, agents: tuple[int, ...]) -> None:
        """Their shards go to others, and where the bounds of load ask for it, some go from one to another."""
        model, plan = self.model, self.plan
        alive = np.flatnonzero(model.alive).tolist()
        old = model.owner.copy()
        new = assignment(plan.shards, alive, old)
        for source, shards in grouped(old, np.flatnonzero(new != old)).items():
            if source in agents:
                self.moved += len(shards)
                wait = 0.0
            else:
                # Leases are settled, then it makes a snapshot: everything until now is covered.
                self.moved_alive += len(shards)
                wait = plan.response + self._growth(source) / plan.store
                model.uncovered[shards] = model.taking[shards] = 0
            model.release(shards)
            for heir, part in grouped(new, shards).items():
                moment = model.now + wait + self._import(source, heir, part, int((old == source).sum()))
                self._at(moment, "arrive", heir, part)

    def _import(self, source: int, heir: int, shards: Numbers, of: int) -> float:
        """Seconds until the heir has read the shards, entered them, and made a snapshot of its own."""
        plan, costs = self.plan, self.plan.costs
        urls = plan.known + float(self.model.pages[source]) * costs.links * (1 - costs.known)
        state = urls * costs.state_bytes + float(self.model.pages[source]) * costs.page_state_bytes
        part = len(shards) / of
        size = state if plan.whole else state * part
        self.read += size
        work = urls * part * costs.import_us * 1e-6
        self.model.work[heir] += work
        written = state * part * costs.snapshot_factor
        self.uploaded[heir] += written
        return (size + written) / plan.store + work

    def _arrive(self, heir: int, shards: Numbers) -> None:
        self.twice += self.model.take(shards, heir)
        self.arrivals.append((self.model.now - self.plan.fail, len(shards)))


def figures(plan: Plan) -> dict[str, Any]:
    """Simulate, and say what came of it."""
    run = Run(plan)
    held = [shares(run.model.owner, of, plan.agents) for of in (run.hosts, run.work)]
    run.run()
    return {
        "agents": plan.agents,
        "shards": plan.shards,
        "hosts_spread": round(spread(held[0]), 3),
        "work_spread": round(spread(held[1]), 3),
        **_moves(plan),
        **_crawled(run),
        **(_lost(run) if plan.failures else {}),
    }


def _crawled(run: Run) -> dict[str, Any]:
    plan, model, costs = run.plan, run.model, run.plan.costs
    pages, seconds = int(model.pages.sum()), plan.seconds
    sent = model.sent * costs.link_bytes
    cpu = pages * costs.page_cpu_ms * 1e-3
    exchange = float(model.exchange_seconds.sum())
    return {
        "pages_per_s": round(run.calm),
        "pages_per_s_an_agent": round(run.calm / plan.agents, 1),
        "of_single_agents": round(run.calm / plan.agents / (1e3 / costs.page_cpu_ms), 3),
        "pages_per_s_with_loss": round(pages / seconds),
        "pages_spread": round(spread(model.pages[model.alive].astype(float)), 3),
        "received_spread": round(spread(model.received[model.alive]), 3),
        "links_sent_a_page": round(costs.sent(plan.agents), 2),
        "exchange_mb_per_s": round(float(sent.sum()) / seconds / _MB, 3),
        "exchange_kb_per_s_an_agent": round(float(sent.mean()) / seconds / 1e3, 1),
        "exchange_cpu_share": round(exchange / (exchange + cpu), 4),
        "outbox_mb_an_agent": round(
            float(sent.mean()) / costs.link_bytes / seconds * plan.snapshot * costs.outbox_bytes / _MB, 1
        ),
        "snapshot_mb_per_s_an_agent": round(float(run.uploaded.mean()) / seconds / _MB, 2),
        "links_behind": round(float(model.backlog.sum())),
    }


def _lost(run: Run) -> dict[str, Any]:
    """What the loss of agents cost. Times are seconds after it."""
    times = [moment for moment, count in run.arrivals for _ in range(count)]
    return {
        "lost_agents": run.plan.failures,
        "moved_shards": run.moved,
        "moved_between_others": run.moved_alive,
        "heirs": len(run.arrivals),
        "first_shard_back_s": round(min(times), 1) if times else None,
        "median_shard_back_s": round(float(np.median(times)), 1) if times else None,
        "last_shard_back_s": round(max(times), 1) if times else None,
        "shards_still_away": int((run.model.owner == NOBODY).sum()),
        "pages_fetched_twice": run.twice,
        "links_sent_again": round(run.links_again),
        "most_links_waiting": round(run.model.most_waiting),
        "read_by_heirs_gb": round(run.read / 1e9, 1),
    }


def drawn(plan: Plan) -> tuple[Floats, Floats, Floats]:
    """Hosts in each shard, pages of them, links to them, of a web as large as all agents know.

    The r-th host has a share of the links proportional to 1 / r, as in `benchmarks.url_stream`.
    """
    dice = np.random.default_rng(plan.seed + 1)
    hosts, work, links = np.zeros((3, plan.shards))
    there = min(HOSTS_KNOWN * plan.agents, HOSTS_DRAWN)
    for start in range(0, there, 1_000_000):
        ranks = np.arange(start + 1, min(start + 1_000_000, there) + 1)
        shard = dice.integers(0, plan.shards, len(ranks))
        hosts += np.bincount(shard, minlength=plan.shards)
        work += np.bincount(shard, weights=sizes(plan, dice, len(ranks)), minlength=plan.shards)
        links += np.bincount(shard, weights=1.0 / ranks, minlength=plan.shards)
    return hosts, work, links


def _moves(plan: Plan) -> dict[str, float]:
    """Share of all shards that move when one agent more joins, or one leaves."""
    now = assignment(plan.shards, range(plan.agents))
    moved = {"moved_by_a_join": float((now != assignment(plan.shards, range(plan.agents + 1), now)).mean())}
    if plan.agents > 1:
        fewer = assignment(plan.shards, range(1, plan.agents), now)
        moved["moved_by_a_leave"] = float((now != fewer).mean())
    return {name: round(value, 5) for name, value in moved.items()}


def path(costs: Costs, agents: int, pages: float = PAGES, days: float = DAYS) -> dict[str, float]:
    """What so many pages in so many days ask of a cluster, at these costs for pages of this size."""
    rate = pages / days / 86_400
    urls = pages * (1 + costs.links * (1 - costs.known))
    core_ms = costs.page_cpu_ms + costs.exchange_us(agents) / 1e3
    return {
        "pages_per_s": round(rate),
        "cores": round(rate * core_ms / 1e3, 1),
        "gbit_per_s": round(rate * costs.page_bytes * 8 / 1e9, 2),
        "archive_tb": round(pages * costs.stored_bytes / 1e12, 1),
        "known_urls_g": round(urls / 1e9, 1),
        "state_tb": round((urls * costs.state_bytes + pages * costs.page_state_bytes) / 1e12, 2),
        "exchange_mbit_per_s": round(rate * costs.sent(agents) * costs.link_bytes * 8 / 1e6, 1),
        "links_tested_per_s": round(rate * costs.links),
    }


def larger(costs: Costs, page_bytes: float) -> Costs:
    """The same for pages of another size: what goes by bytes is `BY_BYTES` of a page's processor time."""
    times = page_bytes / costs.page_bytes
    return msgspec.structs.replace(
        costs,
        page_bytes=page_bytes,
        stored_bytes=costs.stored_bytes * times,
        page_cpu_ms=costs.page_cpu_ms * (BY_BYTES * times + 1 - BY_BYTES),
    )


def shards_for(agents: int) -> int:
    """Enough shards that the bound of load can be kept: 32 for an agent; 1,024 at least, 16,384 at most."""
    return min(16_384, max(1_024, 1 << math.ceil(math.log2(32 * agents))))


def main(arguments: Sequence[str] | None = None) -> int:
    """Print a line, or a JSON object, for each number of agents."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--agents", type=int, nargs="+", help="numbers of agents, one simulation each")
    parser.add_argument("--seconds", type=float, help="of crawling (600, quick 120)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--fail", type=int, default=1, help="agents lost at half of the time")
    parser.add_argument("--shards", type=int, help="instead of 32 an agent, 1,024 at least")
    parser.add_argument("--snapshot", type=float, default=60.0, help="seconds between two snapshots (60)")
    parser.add_argument("--known", type=float, default=10e6, help="URLs that each agent knows (10 million)")
    parser.add_argument(
        "--ranges", action="store_true", help="heirs read the ranges they need, not all files"
    )
    parser.add_argument("--quick", action="store_true", help="two clusters, two minutes")
    parser.add_argument("--json", action="store_true", help="one JSON object")
    options = parser.parse_args(arguments)
    seconds = options.seconds or (120.0 if options.quick else 600.0)
    rows = []
    for agents in options.agents or (QUICK_AGENTS if options.quick else AGENTS):
        plan = Plan(
            agents=agents,
            seconds=seconds,
            seed=options.seed,
            shards=options.shards or shards_for(agents),
            snapshot=options.snapshot,
            known=options.known,
            whole=not options.ranges,
            fail=seconds / 2,
            failures=min(options.fail, agents - 1),
        )
        rows.append(figures(plan))
        if not options.json:
            print(*(f"{name}={value}" for name, value in rows[-1].items()), flush=True)
    if options.json:
        costs = Costs()
        result = {
            "costs": msgspec.to_builtins(costs),
            "runs": rows,
            "path": path(costs, PATH_AGENTS),
            "path_of_large_pages": path(larger(costs, LARGE), PATH_AGENTS),
        }
        print(json.dumps(result))
    return 0


if __name__ == "__main__":
    sys.exit(main())
