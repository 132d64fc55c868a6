"""Brings back what was set aside as a trap, once its pattern is let out."""

from collections.abc import Callable

from gossamer.frontier.hosts import HostTable
from gossamer.frontier.later import TRAP, Later
from gossamer.frontier.serving import Serving
from gossamer.model.candidate import Candidate
from gossamer.state.environment import Batch, Environment, Family
from gossamer.state.keys import FOREVER, later_key, split_later
from gossamer.state.records import decode, decode_queue, encode

RETURNS = b"trap-returns"
"""Key in `meta`: names of the host queues of which something may come back, by their hashes."""
LOOKED_AT_ONCE = 1_000
"""Entries read in one step, some 15 us each."""


class TrapReturn:
    """Walks the entries that a host has in `later` for ever, so many at a time, and judges them anew.

    Which hosts are to be walked is on disk with the change that let the pattern out; after a crash a walk
    begins again.
    """

    def __init__(self, environment: Environment, later: Later, hosts: HostTable, serving: Serving) -> None:
        self._environment = environment
        self._later = later
        self._hosts = hosts
        self._serving = serving
        data = environment.get(Family.META, RETURNS)
        self._names: dict[bytes, str] = decode(data, dict[bytes, str]) if data else {}
        self._cursors: dict[bytes, int] = {}
        self._changed = False

    @property
    def due(self) -> bool:
        """There is something to bring back."""
        return bool(self._names)

    def ask(self, host: bytes, name: str) -> None:
        """A pattern of the host was let out."""
        self._names[host] = name
        self._cursors.pop(host, None)
        self._changed = True

    def forget(self, theirs: Callable[[bytes], bool]) -> None:
        """Some hosts, told by their hashes, are given away."""
        for host in [host for host in self._names if theirs(host)]:
            del self._names[host]
            self._cursors.pop(host, None)
            self._changed = True

    def flush(self, batch: Batch) -> None:
        """`batch` is committed next."""
        if self._changed:
            batch.put(Family.META, RETURNS, encode(self._names))
            self._changed = False

    def run(self, stays: Callable[[bytes, Candidate], bool], batch: Batch) -> None:
        """One bounded step; not within a batch that has moved entries already, for it would not see that.

        `stays(host, candidate)`: it would be set aside again.
        """
        host, name = next(iter(self._names.items()))
        record = self._hosts.change(host, name)
        queue = self._serving.rota.served.get(host)
        start = later_key(host, FOREVER, self._cursors.get(host, 0))
        for number, (key, data) in enumerate(self._environment.scan(Family.LATER, start, host)):
            if number == LOOKED_AT_ONCE:
                self._cursors[host] = split_later(key)[1]
                break
            waiting = decode_queue(data)
            if waiting.reason.startswith(TRAP) and not stays(host, waiting.candidate()):
                self._later.give_back(host, record, queue, key, waiting, batch)
        else:
            del self._names[host]
            self._cursors.pop(host, None)
            self._changed = True
        self._serving.returned(host, record, batch)
