"""Lets speculative links have their turn one at a time."""

from gossamer.frontier.gates.gate import Turn
from gossamer.frontier.queues.host_queue import HostQueue


class SpeculationGate:
    """Sends nobody to a guess while a visit to its host is under way.

    What comes of that may be a link to the same URL, or say that no guess like it is worth a visit.
    """

    def judge(self, queue: HostQueue) -> Turn:
        """Whether the first entry is a link, or nothing is under way."""
        if not queue.lent or queue.first is None or not queue.first[1].is_guess:
            return Turn.GO
        return Turn.WAIT
