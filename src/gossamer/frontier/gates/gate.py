"""What every gate is, and what it says of a host whose turn it is."""

from enum import Enum
from typing import Protocol

from gossamer.frontier.queues.host_queue import HostQueue


class Turn(Enum):
    """What becomes of the first entry of a host whose turn it is."""

    GO = "it may be lent"
    NEXT = "another entry is the first now"
    WAIT = "the host has nothing to lend for now"


class Gate(Protocol):
    """What a host must pass before its first entry is lent; gates are asked in order, until one says no."""

    def judge(self, queue: HostQueue) -> Turn:
        """What becomes of the first entry; where it is not lent, the gate sees to when it is asked again."""
