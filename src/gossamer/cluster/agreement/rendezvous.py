"""Assigns shards to agents by weighted rendezvous hashing with bounded load (W15, UbiCrawler in K18).

Each shard ranks all agents by a hash of both names (Thaler and Ravishankar 1998; with weights, the
logarithmic method), so the map hangs on nothing but who is there: no tokens, no order of arrival. Pure
rendezvous hashing leaves loads spread like dice. So every agent has room for `slack` times its fair share
at most, and keeps those that rank it highest: shards and agents propose and refuse until nobody has a
reason to change (Gale and Shapley 1962), which has one result whatever the order. Agents left with less
than a `slack`-th of their share then take the shards that would come to them first from those that have
more than theirs.

Bounds cost moves: as computed anew from names, a join moves 1.0 to 1.5 times the share of the one who joins
if there are 100 shards for each agent, and 3 times if there are 16, because a whole shard is 6% of the
share. Given what is `held`, shards stay where bounds let them, and a join moves 0.95 to 1.1 times that
share; a leave its shards alone.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from hashlib import blake2b
from heapq import heappush, heapreplace

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Words = NDArray[np.uint64]

RANKED = 16
"""Agents ranked for each shard in advance; one in a thousand shards needs more."""

BLOCK = 512
"""Shards ranked at a time, so that memory does not grow with shards times agents."""


_DUST = 1e-9
"""What rounding of floats may add to a share."""

_Worth = tuple[int, float]
"""What a shard is worth to an agent: first those it holds already, then those that it costs less."""


def assign(
    shards: int, weights: Mapping[str, float], *, slack: float = 1.05, held: Sequence[str] = ()
) -> list[str]:
    """The agent of each shard.

    Args:
        shards: how many there are.
        weights: of each agent, above 0; its fair share is `shards` times its part of their sum.
        slack: at least 1. No agent has more than `ceil(slack * share)` or less than `floor(share / slack)`.
        held: the agent that has each shard now, perhaps one without a weight; empty to go by names alone.

    Raises:
        ValueError: no agent, or a weight or slack out of range.
    """
    if not weights or not all(0 < weight < math.inf for weight in weights.values()) or slack < 1:
        raise ValueError("assign needs an agent, weights above 0 and a slack of at least 1")
    ranking = _Ranking(shards, weights)
    total = math.fsum(weights.values())
    shares = [shards * weights[name] / total for name in ranking.names]
    room = [math.ceil(slack * share - _DUST) for share in shares]
    owners = _settle(ranking, ranking.homes(held or [""] * shards), room)
    _fill(ranking, owners, shares, slack)
    return [ranking.names[owner] for owner in owners]


class _Ranking:
    """What it costs each shard to go to each agent: `-log(uniform hash) / weight`, the least being the best.

    Ties are broken by the agent's place among the sorted names.
    """

    def __init__(self, shards: int, weights: Mapping[str, float]) -> None:
        self.names = sorted(weights)
        self._weights = np.array([weights[name] for name in self.names])
        self._agents = _words(f"agent {name}" for name in self.names)
        self._shards = _words(f"shard {shard}" for shard in range(shards))
        ranked = min(RANKED, len(self.names))
        self._best = np.empty((shards, ranked), np.int64)
        self._best_costs = np.empty((shards, ranked), np.float64)
        for start in range(0, shards, BLOCK):
            costs = self._costs(self._shards[start : start + BLOCK, None], self._agents, self._weights)
            best = np.argpartition(costs, ranked - 1, axis=1)[:, :ranked]
            order = np.argsort(np.take_along_axis(costs, best, 1), axis=1, kind="stable")
            self._best[start : start + BLOCK] = best = np.take_along_axis(best, order, 1)
            self._best_costs[start : start + BLOCK] = np.take_along_axis(costs, best, 1)

    @staticmethod
    def _costs(shards: Words, agents: Words, weights: Floats) -> Floats:
        mixed = shards ^ agents
        # The finaliser of SplitMix64: what was two keyed hashes becomes one of both names.
        mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        mixed ^= mixed >> np.uint64(31)
        uniform = ((mixed >> np.uint64(11)).astype(np.float64) + 0.5) * 2.0**-53
        costs: Floats = -np.log(uniform) / weights
        return costs

    def homes(self, held: Sequence[str]) -> list[tuple[int, _Worth] | None]:
        """Where each shard is now, if that is one of the agents."""
        number = {name: agent for agent, name in enumerate(self.names)}
        known = [number.get(name, -1) for name in held]
        costs = self._costs(self._shards, self._agents[known], self._weights[known])
        homes = zip(known, costs.tolist(), strict=True)
        return [(agent, (1, -cost)) if agent >= 0 else None for agent, cost in homes]

    def choices(self, shard: int, home: tuple[int, _Worth] | None) -> Iterator[tuple[int, _Worth]]:
        """(agent, what the shard is worth to it) from the one the shard likes best; none before its home."""
        if home is not None:
            yield home
        best = self._best[shard].tolist()
        for agent, cost in zip(best, self._best_costs[shard].tolist(), strict=True):
            yield agent, (0, -cost)
        costs = self._costs(self._shards[shard], self._agents, self._weights)
        for agent in np.argsort(costs, kind="stable").tolist():
            if agent not in best:
                yield agent, (0, -float(costs[agent]))

    def suitors(self, agent: int) -> list[int]:
        """Shards by what it costs them to go to the agent, the least first."""
        costs = self._costs(self._shards, self._agents[agent], self._weights[agent])
        order: list[int] = np.argsort(costs, kind="stable").tolist()
        return order


def _words(names: Iterator[str]) -> Words:
    data = b"".join(blake2b(name.encode(), digest_size=8).digest() for name in names)
    return np.frombuffer(data, "<u8").astype(np.uint64)


def _settle(ranking: _Ranking, homes: Sequence[tuple[int, _Worth] | None], room: Sequence[int]) -> list[int]:
    """The stable assignment: no shard prefers an agent that has room, or that holds one worth less to it."""
    choices = [ranking.choices(shard, home) for shard, home in enumerate(homes)]
    kept: list[list[tuple[_Worth, int]]] = [[] for _ in room]  # heaps, what is worth least first
    owners = [0] * len(homes)
    homeless = list(range(len(homes)))
    while homeless:
        shard = homeless.pop()
        for agent, worth in choices[shard]:
            if len(kept[agent]) < room[agent]:
                heappush(kept[agent], (worth, shard))
            elif kept[agent] and kept[agent][0][0] < worth:
                homeless.append(heapreplace(kept[agent], (worth, shard))[1])
            else:
                continue
            owners[shard] = agent
            break
    return owners


def _fill(ranking: _Ranking, owners: list[int], shares: list[float], slack: float) -> None:
    """Bring every agent to its least number of shards."""
    loads = np.bincount(owners, minlength=len(shares)).tolist()
    for agent, share in enumerate(shares):
        least = math.floor(share / slack + _DUST)
        if loads[agent] >= least:
            continue
        for shard in ranking.suitors(agent):
            giver = owners[shard]
            if loads[giver] > shares[giver]:
                owners[shard] = agent
                loads[giver] -= 1
                loads[agent] += 1
                if loads[agent] >= least:
                    break
