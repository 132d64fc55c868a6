"""Lets hosts pass whose names are known, so that no worker waits for a name (Z1, Z7)."""

from collections.abc import Callable
from typing import Protocol

from gossamer.frontier.gates.gate import Turn
from gossamer.frontier.queues.host_queue import HostQueue
from gossamer.model.name import Answer

AT_HAND = 10_000_000
"""Microseconds for which an answer that has come is taken to be at hand, whatever it was."""


class Names(Protocol):
    """What the frontier asks of name resolution."""

    def known(self, host: str) -> bool:
        """Whether a visit to `host` would not have to wait for its name."""

    def at_hand(self, host: str) -> Answer | None:
        """Where a visit to `host` would go, nowhere if its name has no address; `None` if that is not known."""

    def offer(self, host: str, *, first: bool = False) -> bool:
        """Take a name to be resolved soon, or say that there is no room for it."""


class NameGate:
    """Sets hosts aside until their names are answered.

    A name for which there is no room passes too: its worker asks, so that nobody starves.

    Invariant: a queue has `awaits` set if and only if it is filed under that name.
    """

    def __init__(self, names: Names | None, now: Callable[[], int]) -> None:
        """Without `names` everybody passes (a proxy resolves)."""
        self._names = names
        self._now = now
        self._waiting: dict[str, list[HostQueue]] = {}

    @property
    def waiting(self) -> int:
        """Names that hosts wait for."""
        return len(self._waiting)

    def judge(self, queue: HostQueue) -> Turn:
        """Whether the first entry's name is at hand; if not, `queue` waits until it has `landed`."""
        first = queue.first
        assert first is not None
        host = first[1].url.host
        if self._names is None or (queue.named == host and self._now() < queue.named_until):
            return Turn.GO
        if self._names.known(host) or not self._names.offer(host, first=True):
            self._at_hand(queue, host)
            return Turn.GO
        queue.awaits = host
        self._waiting.setdefault(host, []).append(queue)
        return Turn.WAIT

    def known(self, host: str) -> bool:
        """Whether a visit to `host` would not have to wait for its name."""
        return self._names is None or self._names.known(host)

    def look_ahead(self, host: str, *, first: bool = False) -> None:
        """Have the name of a host resolved that will be needed soon."""
        if self._names is not None and not self._names.known(host):
            self._names.offer(host, first=first)

    def landed(self, host: str) -> list[HostQueue]:
        """The queues that waited for the name; its answer, good or bad, is at hand."""
        queues = self._waiting.pop(host, [])
        for queue in queues:
            queue.awaits = ""
            self._at_hand(queue, host)
        return queues

    def _at_hand(self, queue: HostQueue, host: str) -> None:
        queue.named, queue.named_until = host, self._now() + AT_HAND
