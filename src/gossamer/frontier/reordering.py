"""Moves waiting URLs that have become worth more to a better place in their host's queue."""

from gossamer.frontier.hosts import HostTable
from gossamer.frontier.rota import Rota
from gossamer.frontier.standings import Standings
from gossamer.model.candidate import Candidate
from gossamer.state.environment import Batch, Environment, Family
from gossamer.state.keys import HASH_BYTES, split_ticket, ticket
from gossamer.state.records import QueueRecord, decode_queue, encode


class Reordering:
    """Gives gathered gifts and moves entries by what they changed.

    An entry keeps its arrival number, so equal levels still go by arrival. What is lent, or waits for a time
    of its own, stays where it is.
    """

    def __init__(
        self, environment: Environment, standings: Standings, hosts: HostTable, rota: Rota, buffer: int
    ) -> None:
        self._environment = environment
        self._standings = standings
        self._hosts = hosts
        self._rota = rota
        self._buffer = buffer

    @property
    def due(self) -> bool:
        """There is something to give."""
        return self._standings.due

    def run(self, batch: Batch) -> None:
        """One bounded step; not within a batch that has moved entries already, for it would not see that."""
        found: list[Candidate] = []

        def find(host: bytes, place: bytes) -> Candidate | None:
            queue = self._rota.served.get(host)
            if queue is not None and place in queue.lent:
                return None
            data = self._environment.get(Family.QUEUE, host + place)
            if data is None:
                return None
            found[:] = [decode_queue(data).candidate()]
            return found[0]

        for fingerprint, place, level in self._standings.give(find, batch):
            better = ticket(level, split_ticket(place)[1])
            self._move(fingerprint[:HASH_BYTES], place, better, found[0], batch)
            self._standings.moved(fingerprint, better, batch)

    def _move(self, host: bytes, place: bytes, better: bytes, candidate: Candidate, batch: Batch) -> None:
        batch.delete(Family.QUEUE, host + place)
        batch.put(Family.QUEUE, host + better, encode(QueueRecord.of(candidate)))
        record = self._hosts.change(host, "")
        record.head = min(record.head, better)
        queue = self._rota.served.get(host)
        if queue is None:
            return
        first = queue.first_ticket
        queue.remove(place)
        queue.insert(better, candidate, self._buffer)
        if queue.first_ticket != first:
            self._rota.place(queue)
