"""Remembers marks, hashes of 64 bits, that a host's pages and addresses have left, in bounded memory."""

import operator
from collections.abc import Iterable
from itertools import filterfalse

import msgspec
from rbloom import Bloom

_WORTH_KEEPING = 8
"""A filter is stored when an eighth of its room was used since: what a crash forgets sounds new once more."""
_BYTES = 64


class Filter(msgspec.Struct, array_like=True):
    """A Bloom filter as it is stored.

    Attributes:
        generation: counted from the first one.
        room: marks that it still takes.
        bits: as `rbloom` writes it.
    """

    generation: int
    room: int
    bits: bytes


class Met:
    """The marks met lately, by Bloom filters of growing size; when there are too many, the oldest is
    forgotten.

    Attributes:
        generation: of the last filter; -1 while there is none.
        size: bytes in memory, roughly.
        worth_storing: so much of the last filter's room was used since it was stored that it is worth doing again.
    """

    __slots__ = (
        "_at_store", "_error", "_filters", "_first", "_growths", "_most", "_room", "_worth", "generation", "size",
        "worth_storing",
    )  # fmt: skip

    def __init__(
        self, *, first: int, growths: int, most: int, error: float, stored: Iterable[Filter] = ()
    ) -> None:
        """
        Args:
            first: marks that the first filter takes.
            growths: how often the next one takes twice as many.
            most: filters.
            error: share of new marks that are taken for met, by each filter.
            stored: what `to_store` gave, in any order.
        """
        self._first, self._growths, self._most, self._error = first, growths, most, error
        kept = sorted(stored, key=lambda each: each.generation)[-most:]
        self._filters = [Bloom.load_bytes(each.bits, operator.index) for each in kept]
        self.generation = kept[-1].generation if kept else -1
        self._room = kept[-1].room if kept else 0
        self._stored()
        self._weigh()

    def new(self, marks: Iterable[int]) -> list[int]:
        """Those of the marks that were not met; from now on they were."""
        new = list(marks)
        for known in reversed(self._filters):
            if not new:
                return new
            new = list(filterfalse(known.__contains__, new))
        if new:
            if self._room <= 0:
                self._grow()
            self._filters[-1].update(new)
            self._room -= len(new)
            self.worth_storing = self._room < self._worth
        return new

    def to_store(self) -> tuple[int, Filter] | None:
        """(slot, filter) of the last filter, if anything was added since; a slot is used anew for a later filter
        when its own is forgotten."""
        if self._at_store == self._room:
            return None
        self._stored()
        bits = self._filters[-1].save_bytes()
        return self.generation % self._most, Filter(self.generation, self._room, bits)

    def _stored(self) -> None:
        self._at_store, self.worth_storing = self._room, False
        self._worth: int = max(self._room - self._capacity // _WORTH_KEEPING, 1)

    @property
    def _capacity(self) -> int:
        return self._first << min(max(self.generation, 0), self._growths)

    def _grow(self) -> None:
        self.generation += 1
        self._room = self._capacity
        self._stored()
        self._filters.append(Bloom(self._capacity, self._error, operator.index))
        del self._filters[: -self._most]
        self._weigh()

    def _weigh(self) -> None:
        self.size = sum(known.size_in_bits // 8 + _BYTES for known in self._filters)
