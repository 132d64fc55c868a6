"""Chooses the machine on which a new agent begins: one with the fewest agents of this crawl.

Ray's own spreading looks at what is free on each machine, and so puts two agents side by side as soon as a
machine has room for two, while another stands empty.
"""

from collections import Counter
from collections.abc import Iterable
from typing import Any

import ray
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

ANYWHERE = "SPREAD"


def emptiest(nodes: Iterable[dict[str, Any]], agents: Counter[str], cores: float) -> dict[str, Any] | None:
    """The machine to begin on; `None` if none has room.

    `nodes`: as `ray.nodes()` tells; `agents`: how many there are, by name of the machine; `cores`: of each.
    """
    fitting = [
        node
        for node in nodes
        if node["Alive"]
        and node["Resources"].get("CPU", 0.0) >= cores * (agents[node["NodeManagerHostname"]] + 1)
    ]
    return min(fitting, key=lambda node: (agents[node["NodeManagerHostname"]], node["NodeID"]), default=None)


def place(agents: Counter[str], cores: float) -> tuple[Any, str]:
    """Ray's scheduling strategy for one more agent, and the name of the machine (empty: Ray chooses)."""
    node = emptiest(ray.nodes(), agents, cores)  # type: ignore[no-untyped-call]
    if node is None:
        return ANYWHERE, ""
    # Another crawl may have taken the room there, or the machine may end right now: then Ray chooses, too.
    there = NodeAffinitySchedulingStrategy(node["NodeID"], soft=True, _spill_on_unavailable=True)
    return there, node["NodeManagerHostname"]
