"""Moves waiting URLs that have become worth more to a better place in their host's queue."""

from gossamer.frontier.queues.host_schedule import HostSchedule
from gossamer.frontier.queues.queue_table import QueueTable
from gossamer.frontier.standings import Standings
from gossamer.model.candidate import Candidate
from gossamer.state.environment import Batch, Environment, Family
from gossamer.state.keys import HASH_BYTES, at_level
from gossamer.state.records import decode_queue


class Moves:
    """Gives entries that wait other places in their branch, on disk and in memory."""

    def __init__(self, queues: QueueTable, schedule: HostSchedule, buffer: int) -> None:
        self._queues = queues
        self._schedule = schedule
        self._buffer = buffer

    def move(self, host: bytes, place: bytes, better: bytes, candidate: Candidate, batch: Batch) -> None:
        """Give an entry another ticket."""
        self._queues.move(host, place, better, candidate, batch)
        queue = self._schedule.served.get(host)
        if queue is not None and queue.move(place, better, candidate, self._buffer):
            self._schedule.place(queue)


class Reordering:
    """Gives gathered gifts and moves entries by what they changed.

    An entry keeps its arrival number, so equal levels still go by arrival. What is lent, or waits for a time
    of its own, stays where it is.
    """

    def __init__(
        self,
        environment: Environment,
        standings: Standings,
        moves: Moves,
        schedule: HostSchedule,
    ) -> None:
        self._environment = environment
        self._standings = standings
        self._moves = moves
        self._schedule = schedule

    @property
    def due(self) -> bool:
        """There is something to give."""
        return self._standings.due

    def run(self, batch: Batch) -> None:
        """One bounded step; not within a batch that has moved entries already, for it would not see that."""
        found: list[Candidate] = []

        def find(host: bytes, place: bytes) -> Candidate | None:
            queue = self._schedule.served.get(host)
            if queue is not None and place in queue.lent:
                return None
            data = self._environment.get(Family.QUEUE, host + place)
            if data is None:
                return None
            found[:] = [decode_queue(data).candidate()]
            return found[0]

        for fingerprint, place, level in self._standings.give(find, batch):
            better = at_level(place, level)
            self._moves.move(fingerprint[:HASH_BYTES], place, better, found[0], batch)
            self._standings.moved(fingerprint, better, batch)
