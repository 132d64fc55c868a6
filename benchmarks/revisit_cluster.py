"""Agents that visit their own hosts again, and come to one threshold: as fresh as a single crawl with all visits?

`python -m benchmarks.revisit_cluster [--agents N ...] [--pages N] [--seeds N] [--apart] [--json]`.

Pages that change at random on hosts that belong to agents. Agents are driven as in `benchmarks.revisit`, each with a
threshold of its own (`policy.revisit.agreement`), and tell what they go by to one other at a time, who tells what it
has heard; half of these messages are lost. Large hosts are few, and rates differ from host to host (by a factor of e, a
standard deviation), so what agents ask for differs. In the middle the largest agent is killed, and its hosts go to
others; later a new one joins and gets its part. `--apart`: also with thresholds that nobody agrees upon.
"""

import argparse
import json
import math
import random
import statistics
import sys
from typing import Any

import numpy as np

from benchmarks.revisit import Account, Result
from benchmarks.revisit_road import Leaving, Road
from benchmarks.revisit_worlds import DAY, World
from gossamer.policy.revisit import classes
from gossamer.policy.revisit.agreement import Demand, Told, level_of, part_of
from gossamer.policy.revisit.history import History
from gossamer.policy.revisit.rates import Spread
from gossamer.policy.revisit.threshold import starting_level

AGENTS = (1, 4, 16)
BUDGETS = (10, 30, 100)
TICKS = 4
"""Looks a day."""
DAYS = 800.0
_EPOCH = 1_600_000_000
_LOST = 0.5
_HOSTS = 120
_ANY = classes.classify(Spread().believe(History(0, 0)))
_NEWCOMER = 1_000
"""Its number: not one that the others have heard of."""
_AGREE = 3
"""Messages that each agent sends between two corrections."""


def uneven(seed: int, size: int, hosts: int = _HOSTS) -> World:
    """Pages of hosts of power-law sizes; rates differ within hosts as in `poisson`, and from host to host."""
    generator = np.random.default_rng(seed)
    large = 1.0 / np.arange(1, hosts + 1)
    sites = generator.choice(hosts, size, p=large / large.sum())
    means = generator.normal(-math.log(40.0), 1.0, hosts)
    rates = np.exp(generator.normal(means[sites], 1.2))
    pages = np.repeat(np.arange(size), generator.poisson(rates * DAYS))
    world = World(f"uneven-{seed}", sites, DAYS, pages, generator.random(len(pages)) * DAYS)
    world.rates = rates
    return world


def level_at(fair: float) -> float:
    """Where a threshold begins (`engine.revisits`)."""
    return starting_level(classes.worth_after(_ANY, fair / 8))


class Agent:
    """One of them, with what it has heard of the others."""

    def __init__(self, number: int, road: Road) -> None:
        self.number, self.road = number, road
        self.demand = Demand()
        self.heard: dict[int, tuple[int, Told]] = {}
        self._late, self._lent = 0.0, 0
        self._round = 0
        self.say()

    @property
    def told(self) -> Told:
        road = self.road
        return Told(road.threshold.level, road.fair, max(road.size, 1), self.demand.eager)

    def say(self) -> None:
        self._round += 1
        self.heard[self.number] = self._round, self.told

    def meet(self, other: "Agent") -> None:
        """Each tells the other what it has heard of all; the latest counts."""
        for number in self.heard.keys() | other.heard.keys():
            newest = max(each.heard.get(number, (-1, self.told)) for each in (self, other))  # type: ignore[type-var]
            self.heard[number] = other.heard[number] = newest

    def correct(self, now: float, visits: float | None, there: set[int]) -> None:
        """`visits` a second of all together; `None`: a part of them by pages, and no agreement."""
        road = self.road
        lent, asked, late = road.spent
        if lent:
            self.demand.saw(lent / max(road.size, 1), asked / lent / road.fair, late / lent / road.fair)
        if visits is not None:
            others = [told for number, (_, told) in self.heard.items() if number in there - {self.number}]
            pages, share = part_of(self.told, others)
            road.rate, fair = visits * share, pages / visits
            if abs(fair / road.fair - 1) > 0.02:
                road.threshold.level += level_at(fair) - level_at(road.fair)
                road.fair = fair
            road.threshold.level = level_of(self.told, others, level_at)
        road.correct(now)
        self.say()


def simulated(
    world: World, budget: float, number: int, *, agree: bool = True, trouble: bool = True, seed: int = 1
) -> tuple[Result, dict[str, float]]:
    """What became of a world, and how far agents were of one mind."""
    dice = random.Random(seed)
    visits = world.size / budget / DAY
    hosts = world.sites.tolist()
    owner = {host: dice.randrange(number) for host in set(hosts)}
    account = Account(world)

    def road_of(agent: int) -> Road:
        ours = [page for page in range(world.size) if owner[hosts[page]] == agent]
        rate = visits * max(len(ours), 1) / world.size
        road = Road(hosts, [1.0] * world.size, [False] * world.size, rate, _EPOCH, ours)
        road.fair = world.size / visits
        return road

    agents = {agent: Agent(agent, road_of(agent)) for agent in range(number)}
    spreads: list[float] = []
    shares: list[float] = []
    spent = 0
    looks = int(world.days) * TICKS
    for look in range(1, looks):
        day = look / TICKS
        now = _EPOCH + day * DAY
        if trouble and number > 1 and look == looks // 2:
            _kill(agents, owner, dice)
        if trouble and number > 1 and look == looks * 5 // 8:
            _join(agents, owner, dice, road_of, now)
        for agent in list(agents.values()):
            road = agent.road
            road.earn(DAY / TICKS)
            pages = np.array(road.lend(now), dtype=np.int64)
            spent += len(pages)
            if len(pages):
                for page, new in zip(pages.tolist(), account.visit(pages, day).tolist(), strict=True):
                    road.settle(page, now, changed=new)
        there = set(agents)
        if agree and number > 1:
            for agent in agents.values():
                for _ in range(_AGREE):
                    other = agents[dice.choice(sorted(there - {agent.number}))]
                    if dice.random() > _LOST:
                        agent.meet(other)
        for agent in agents.values():
            agent.correct(now, visits if agree else None, there)
        if look > looks // 8:
            levels = [agent.road.threshold.level for agent in agents.values()]
            spreads.append(max(levels) - min(levels))
            shares.append(sum(agent.road.rate for agent in agents.values()) / visits)
    told = {
        "spread": statistics.fmean(spreads),
        "most_spread": max(spreads),
        "rates": statistics.fmean(shares),
        "most_rates": max(shares),
    }
    return account.result(world.size / budget * (int(world.days) - 1)), told


def _kill(agents: dict[int, Agent], owner: dict[int, int], dice: random.Random) -> None:
    """The agent with the most pages is no more."""
    lost = max(agents.values(), key=lambda agent: agent.road.size)
    del agents[lost.number]
    for host in [host for host, agent in owner.items() if agent == lost.number]:
        _move(host, lost, agents[dice.choice(sorted(agents))], owner)


def _join(
    agents: dict[int, Agent], owner: dict[int, int], dice: random.Random, road_of: Any, now: float
) -> None:
    """One that knows nothing, and takes its part of the hosts from the others."""
    number = _NEWCOMER
    new = agents[number] = Agent(number, road_of(number))
    new.road.threshold.corrected = now
    for host in sorted(owner):
        if dice.random() < 1 / len(agents):
            _move(host, agents[owner[host]], new, owner)


def _move(host: int, source: Agent, target: Agent, owner: dict[int, int]) -> None:
    leaving: Leaving = source.road.leave(host)
    owner[host] = target.number
    target.road.arrive(host, leaving)


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--agents", type=int, nargs="+", default=list(AGENTS))
    parser.add_argument("--pages", type=int, default=1_000)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--budgets", type=int, nargs="+", default=list(BUDGETS))
    parser.add_argument("--apart", action="store_true", help="also without agreement")
    parser.add_argument("--json", action="store_true", help="one JSON object")
    options = parser.parse_args()
    rows = []
    for budget in options.budgets:
        for number in options.agents:
            for agree in (True, False) if options.apart and number > 1 else (True,):
                found = [
                    simulated(uneven(seed, options.pages), budget, number, agree=agree, seed=seed)
                    for seed in range(options.seeds)
                ]
                rows.append(
                    {
                        "days": budget,
                        "agents": number,
                        "agreed": agree,
                        "stale": round(statistics.fmean(each.stale for each, _ in found), 3),
                        "spent": round(statistics.fmean(each.spent for each, _ in found), 3),
                        **{
                            name: round(statistics.fmean(told[name] for _, told in found), 3)
                            for name in found[0][1]
                        },
                    }
                )
                if not options.json:
                    print(*(f"{name}={value}" for name, value in rows[-1].items()), flush=True)
    if options.json:
        print(json.dumps(rows))
    return 0


if __name__ == "__main__":
    sys.exit(main())
