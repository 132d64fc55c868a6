"""Deletes hosts that another agent has now from a frontier that goes on working."""

from collections.abc import Callable

from gossamer.frontier.arrivals import FAMILIES, FINGERPRINT_BYTES
from gossamer.frontier.frontier import Frontier
from gossamer.model.errors import InternalError
from gossamer.state.environment import Batch, Family
from gossamer.state.records import decode_queue

LEAVING = tuple(reversed(FAMILIES))
"""The order in which they leave: a host is forgotten first."""


class Departures:
    """Deletes entries of hosts given away, within batches of the caller, and takes them off the sums."""

    def __init__(self, frontier: Frontier) -> None:
        self._frontier = frontier
        self._counters = frontier.counters

    def begin(self, theirs: Callable[[bytes], bool]) -> None:
        """Forget what is in memory of some hosts, told by keys that begin with their hashes.

        Raises:
            InternalError: one of them has a lease out.
        """
        frontier = self._frontier
        for key, queue in frontier.serving.schedule.served.items():
            if queue.lent and theirs(key):
                raise InternalError(f"{queue.record.name} is to be given away while it is being visited")
        frontier.robots.forget(theirs)
        frontier.queues.forget(theirs)
        if frontier.standings is not None:
            frontier.standings.forget(theirs)

    def delete(self, family: Family, key: bytes, value: bytes, batch: Batch) -> None:
        """Delete one entry of `LEAVING`."""
        counters, standings = self._counters, self._frontier.standings
        match family:
            case Family.HOSTS:
                self._host(key, batch)
            case Family.QUEUE:
                counters.queued -= 1
            case Family.LATER:
                again = decode_queue(value).again
                counters.again -= again
                counters.waiting -= not again
            case Family.AGAIN:
                counters.enrolled -= 1
            case Family.SEEN:
                if len(key) != FINGERPRINT_BYTES:  # the log of a Bloom filter, which cannot forget
                    return
                counters.admitted -= 1
            case Family.STANDINGS if standings is not None:
                standings.departed(value)
        batch.delete(family, key)

    def delete_domain(self, name: str, batch: Batch) -> None:
        """Forget a registrable domain, if such are counted here."""
        if self._frontier.domains is not None:
            self._frontier.domains.give_away(name, batch)

    def _host(self, key: bytes, batch: Batch) -> None:
        frontier = self._frontier
        record = frontier.hosts.get(key)
        assert record is not None, "a record on disk was read before"
        frontier.serving.let_go(key, record.name)
        frontier.serving.wake.clear(key, record, batch)
        frontier.hosts.forget(key)
        self._counters.hosts -= 1
        self._counters.hosts_parked -= bool(record.parked)
        self._counters.aside -= record.aside
