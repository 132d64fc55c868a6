"""Walks over all hosts of a crawl again and again, a bounded time at each look, however many there are."""

import time
from collections.abc import Callable
from typing import Final, Generic, Protocol, TypeVar

from gossamer.control.views.paging import SECONDS, Patience
from gossamer.state.environment import Environment, Family
from gossamer.state.records import HostRecord, decode_host

FRESH_FOR: Final = 100
"""What was found is used for so many times as long as finding it took: nobody pays more than a hundredth."""


class Counting(Protocol):
    """What a walk tells of every host."""

    complete: bool

    def add(self, key: bytes, record: HostRecord) -> object:
        """Take a host into account; they come in the order of their keys."""

    def finish(self) -> None:
        """All were told of, so it is complete."""


C = TypeVar("C", bound=Counting)


class Sweep(Generic[C]):
    """Counts over all hosts of one crawl.

    Args:
        environment: the crawl's state.
        begin: a count of nothing yet, for another walk.
    """

    def __init__(self, environment: Environment, begin: Callable[[], C]) -> None:
        self._environment = environment
        self._begin = begin
        self._done: C | None = None
        self._doing: C | None = None
        self._cursor = b""
        self._took = 0.0
        self._fresh_until = 0.0

    def look(self, seconds: float = SECONDS) -> C:
        """The last whole count, or as much of the first as there is; goes on if that is getting old."""
        began = time.monotonic()
        if self._done is not None and began < self._fresh_until:
            return self._done
        count = self._doing = self._doing or self._begin()
        self._go_on(count, seconds)
        self._took += time.monotonic() - began
        if count.complete:
            self._done, self._doing, self._cursor = count, None, b""
            self._fresh_until = time.monotonic() + FRESH_FOR * self._took
            self._took = 0.0
        return self._done or count

    def _go_on(self, count: C, seconds: float) -> None:
        patience = Patience(seconds)
        for key, data in self._environment.scan(Family.HOSTS, self._cursor):
            if patience.over:
                self._cursor = key
                return
            count.add(key, decode_host(data))
        count.finish()
