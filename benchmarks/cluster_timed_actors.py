"""The actors of a cluster with clocks in the agents' processes."""

from typing import Any

from benchmarks.cluster_timed import watch
from gossamer.cluster import actors


class TimedAgent(actors.AgentActor):
    """An agent that keeps account of itself."""

    def __init__(self, store: str, slot: int) -> None:
        watch()
        super().__init__(store, slot)


class TimedCoordinator(actors.CoordinatorActor):
    """Starts agents that keep account of themselves."""

    def __init__(self, *arguments: Any) -> None:
        actors.AgentActor = TimedAgent  # type: ignore[misc]
        super().__init__(*arguments)
