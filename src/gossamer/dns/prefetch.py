"""Names resolved before anybody waits for them (Z1, Z2)."""

import asyncio
import random
from collections.abc import Callable
from functools import partial

from gossamer.dns.resolver import CaresResolver
from gossamer.model.name import Answer

CANDIDATES_PER_WORKER = 64
"""Bounds the memory of candidates; those beyond are to be offered again later."""


class Prefetcher:
    """A pool of at most `limit` resolutions beside those that somebody waits for.

    With N candidates min(N, `limit`) are under way at once (Z2). When one has ended, the next is drawn at
    random, so that names of one domain, which are found together, are not asked for together. It never
    slows down what somebody waits for: that goes first (`CaresResolver.ahead`).

    Invariant: a name is a candidate at most once, or under way, never both.
    """

    def __init__(self, resolver: CaresResolver, limit: int, landed: Callable[[str], None]) -> None:
        """`landed(name)` is called by the event loop, never from within, once for each name taken.

        The answer, good or bad, is then at hand: `resolver.known(name)` is true for `HELD_SECONDS` even
        where the cache does not keep it.
        """
        self._resolver = resolver
        self._limit = limit
        self._landed = landed
        self._first: list[str] = []
        self._others: list[str] = []
        self._taken: set[str] = set()
        self._under_way = 0
        self._closed = False

    def __repr__(self) -> str:
        return f"<Prefetcher {self._under_way} under way, {self._candidates} candidates>"

    @property
    def _candidates(self) -> int:
        return len(self._first) + len(self._others)

    def known(self, name: str) -> bool:
        """Whether a visit to `name` would not have to wait for it."""
        return self._resolver.known(name)

    def at_hand(self, name: str) -> Answer | None:
        """The answer for `name`, good or bad; `None` if it is not known."""
        return self._resolver.at_hand(name)

    def offer(self, name: str, *, first: bool = False) -> bool:
        """Take a name, as the caller writes it, or say that there is no room for it now.

        Those that are to come `first` are drawn before any other. Whoever offers a name again before it
        has landed is told that it is taken.
        """
        if name in self._taken:
            return True
        if self._closed or self._candidates >= self._limit * CANDIDATES_PER_WORKER:
            return False
        self._taken.add(name)
        (self._first if first else self._others).append(name)
        self._fill()
        return True

    def close(self) -> None:
        """Take and start nothing more; what is under way lands with the resolver."""
        self._closed = True
        for names in (self._first, self._others):
            self._taken.difference_update(names)
            names.clear()

    def _fill(self) -> None:
        while (names := self._first or self._others) and self._under_way < self._limit:
            name = _draw(names)
            self._under_way += 1
            future = self._resolver.ahead(name)
            if future is None:
                asyncio.get_running_loop().call_soon(self._ended, name)
            else:
                future.add_done_callback(partial(self._answered, name))

    def _answered(self, name: str, _: asyncio.Future[Answer]) -> None:
        self._ended(name)

    def _ended(self, name: str) -> None:
        self._under_way -= 1
        self._taken.discard(name)
        self._fill()
        self._landed(name)


def _draw(names: list[str]) -> str:
    """Take out any of them, in constant time."""
    at = random.randrange(len(names))  # noqa: S311 - fair is enough
    names[at], names[-1] = names[-1], names[at]
    return names.pop()
