"""Lets hosts pass that are this agent's to visit, in a cluster."""

from collections.abc import Callable

from gossamer.frontier.gates.gate import Turn
from gossamer.frontier.queues.host_queue import HostQueue


class OwnerGate:
    """Sends nobody to a host that is another agent's by now; it leaves memory after this turn."""

    def __init__(self, owns: Callable[[bytes], bool]) -> None:
        """`owns`: whether a host, by its hash, is ours."""
        self._owns = owns

    def judge(self, queue: HostQueue) -> Turn:
        """Whether the host is ours."""
        return Turn.GO if self._owns(queue.key) else Turn.WAIT
