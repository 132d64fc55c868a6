"""Moves waiting URLs to their places under other weights of the ordering, in steps."""

from collections.abc import Callable
from typing import Any, Protocol, runtime_checkable

import msgspec

from gossamer.frontier.frontier import Frontier
from gossamer.frontier.standings import split_standing
from gossamer.model.candidate import Candidate
from gossamer.policy.ordering.ordering import GRADE_SHIFT
from gossamer.state.environment import Environment, Family
from gossamer.state.keys import HASH_BYTES, at_level, split_ticket
from gossamer.state.records import decode_queue

REWEIGH = b"order-reweigh"
"""Key in `meta`: behind which standing the walk goes on."""


@runtime_checkable
class Tunable(Protocol):
    """An ordering whose weights may change while URLs wait."""

    def waiting_level(self, candidate: Candidate, worth: Any) -> int:
        """The level of a URL that waits, by its worth."""

    def reweighed(self, candidate: Candidate, worth: Any) -> Any:
        """A worth as it would be had the weights of now held from the beginning."""


class Reweighing:
    """Walks through all standings, so many at a time; a crash goes on where the walk was.

    An entry keeps its arrival number. What is lent, or waits for a time of its own, stays where it is.
    """

    def __init__(self, environment: Environment, frontier: Frontier, ordering: object) -> None:
        self._environment = environment
        self._frontier = frontier
        self._ordering = ordering if isinstance(ordering, Tunable) else None
        self._cursor = environment.get(Family.META, REWEIGH) if self._ordering is not None else None

    @property
    def pending(self) -> bool:
        """There is something to walk through."""
        return self._cursor is not None

    def begin(self) -> None:
        """Walk through all standings from the beginning."""
        if self._ordering is not None and self._frontier.standings is not None:
            self._note(b"")

    def step(self, over: Callable[[], bool]) -> None:
        """Go on until `over()`, or to the end; not within a batch."""
        assert self._cursor is not None
        start = self._cursor + b"\0" if self._cursor else b""
        with self._frontier.changes():
            for key, data in self._environment.scan(Family.STANDINGS, start):
                self._reweigh(key, data)
                if over():
                    self._note(key)
                    return
            self._note(None)

    def _note(self, cursor: bytes | None) -> None:
        self._cursor = cursor
        with self._frontier.changes() as batch:
            if cursor is None:
                batch.delete(Family.META, REWEIGH)
            else:
                batch.put(Family.META, REWEIGH, cursor)

    def _reweigh(self, fingerprint: bytes, data: bytes) -> None:
        ordering, standings = self._ordering, self._frontier.standings
        assert ordering is not None
        assert standings is not None
        decode = msgspec.msgpack.Decoder(standings.ordering.worth).decode
        place, _ = split_standing(data, decode)
        known = standings.find(fingerprint)
        host = fingerprint[:HASH_BYTES]
        if known is None or not place or known[0] != place:
            return
        queue = self._frontier.schedule.served.get(host)
        entry = self._environment.get(Family.QUEUE, host + place)
        if entry is None or (queue is not None and place in queue.lent):
            return
        candidate = decode_queue(entry).candidate()
        worth = ordering.reweighed(candidate, known[1])
        grade = split_ticket(place)[0] >> GRADE_SHIFT << GRADE_SHIFT
        moved = at_level(place, grade | ordering.waiting_level(candidate, worth))
        with self._frontier.changes() as batch:
            if moved != place:
                self._frontier.moves.move(host, place, moved, candidate, batch)
            standings.put(fingerprint, moved, worth, batch)
