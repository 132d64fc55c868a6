"""Turns amounts of named resources into vectors, checked, and back into names."""

from collections.abc import Iterable, Mapping
from operator import index

import numpy as np
from numpy.typing import NDArray

from gossamer.daemon.allocation.safety import Vector
from gossamer.model.errors import GossamerError

MOST = 1 << 62
"""Largest amount of anything: sums of what is held stay below a total, so nothing leaves 64 bits."""


class AllocationError(GossamerError):
    """The allocator was asked for what makes no sense; nothing has changed."""


class Resources:
    """Kinds of resource, in a fixed order.

    Args:
        names: one for each column.
    """

    def __init__(self, names: Iterable[str]) -> None:
        self._columns = {name: column for column, name in enumerate(names)}
        if not self._columns:
            raise AllocationError("there are no resources to allocate: name at least one, with its total")

    @property
    def names(self) -> tuple[str, ...]:
        """In the order of the columns."""
        return tuple(self._columns)

    def column(self, name: str) -> int:
        """Where a resource stands.

        Raises:
            AllocationError: there is none of that name.
        """
        if name not in self._columns:
            raise AllocationError(f"no resource is named {name!r}: there are {', '.join(self._columns)}")
        return self._columns[name]

    def amount(self, name: str, amount: int) -> int:
        """One amount, checked.

        Raises:
            AllocationError: no whole number from 0 to 2^62.
        """
        try:
            whole = index(amount)
        except TypeError:
            raise AllocationError(f"{name}: {amount!r} is no whole number") from None
        if not 0 <= whole <= MOST:
            raise AllocationError(f"{name}: {whole} is not between 0 and {MOST}")
        return whole

    def vector(self, amounts: Mapping[str, int]) -> Vector:
        """Amounts by column, 0 of what is not named.

        Raises:
            AllocationError: see `column` and `amount`.
        """
        vector = np.zeros(len(self._columns), dtype=np.int64)
        for name, amount in amounts.items():
            vector[self.column(name)] = self.amount(name, amount)
        return vector

    def amounts(self, vector: Vector) -> dict[str, int]:
        """Amounts by name, without those of 0."""
        return {name: amount for name, amount in zip(self._columns, vector.tolist(), strict=True) if amount}

    def text(self, vector: Vector, named: NDArray[np.bool_] | None = None) -> str:
        """For messages: `2 connections, 64 files`.

        Args:
            vector: amounts by column.
            named: which columns are told, also with 0; without, those that are not 0.
        """
        told = np.flatnonzero(vector if named is None else named).tolist()
        return ", ".join(f"{vector[column]} {self.names[column]}" for column in told) or "nothing"
