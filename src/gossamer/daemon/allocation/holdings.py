"""Keeps account of what each process claims, holds and needs (B1, B3; CN104462195A, [0020]-[0023])."""

from collections.abc import Mapping
from copy import deepcopy

import numpy as np
from numpy.typing import NDArray

from gossamer.daemon.allocation.resources import AllocationError, Resources
from gossamer.daemon.allocation.safety import Matrix, Vector, finishing_order, must_end_before


class Holdings:
    """The document's vector S and matrices M, A and N, with the totals; n processes, m kinds of resource.

    Always `available + allocated.sum(axis=0) == totals`, `needed == maximum - allocated`, nothing below 0.

    Attributes:
        resources: names of the columns.
        totals: how much there is; shape (m,).
        available: what is free (S); shape (m,).
        maximum: claims (M); shape (n, m).
        allocated: what is held (A); shape (n, m).
        needed: what may still be asked for (N); shape (n, m).
    """

    def __init__(self, totals: Mapping[str, int]) -> None:
        self.resources = Resources(totals)
        self.totals: Vector = self.resources.vector(totals)
        self.available: Vector = self.totals.copy()
        self.maximum: Matrix = np.zeros((0, len(self.totals)), dtype=np.int64)
        self.allocated: Matrix = self.maximum.copy()
        self.needed: Matrix = self.maximum.copy()
        self._rows: dict[str, int] = {}

    @property
    def processes(self) -> tuple[str, ...]:
        """Names of the rows, in the order of joining."""
        return tuple(self._rows)

    def __contains__(self, process: str) -> bool:
        return process in self._rows

    def __len__(self) -> int:
        return len(self._rows)

    def copy(self) -> "Holdings":
        """The same, for somebody to look at while this changes."""
        return deepcopy(self)

    def row(self, process: str) -> int:
        """Where a process stands.

        Raises:
            AllocationError: there is none of that name.
        """
        if process not in self._rows:
            raise AllocationError(f"no process is named {process!r}: let it join first")
        return self._rows[process]

    def names(self, rows: list[int]) -> tuple[str, ...]:
        """Names of rows, in their order."""
        processes = self.processes
        return tuple(processes[row] for row in rows)

    # Changes

    def join(self, process: str, most: Vector) -> None:
        """Add a row that holds nothing."""
        self._rows[process] = len(self._rows)
        self.maximum = np.vstack((self.maximum, most))
        self.allocated = np.vstack((self.allocated, np.zeros_like(most)))
        self.needed = np.vstack((self.needed, most))

    def leave(self, process: str) -> None:
        """Free what the row holds; rows below it move up."""
        row = self._rows.pop(process)
        self.available += self.allocated[row]
        self._rows = {name: place for place, name in enumerate(self._rows)}
        self.maximum = np.delete(self.maximum, row, axis=0)
        self.allocated = np.delete(self.allocated, row, axis=0)
        self.needed = np.delete(self.needed, row, axis=0)

    def move(self, row: int, amounts: Vector) -> None:
        """The document's three assignments; with the opposite sign they undo themselves, to the unit."""
        self.available -= amounts
        self.allocated[row] += amounts
        self.needed[row] -= amounts
        assert min(self.available.min(), self.allocated[row].min(), self.needed[row].min()) >= 0

    def claim(self, row: int, most: Vector) -> None:
        """Set a claim that is not below what is held."""
        self.maximum[row] = most
        self.needed[row] = most - self.allocated[row]
        assert self.needed[row].min() >= 0

    def resize(self, column: int, total: int) -> None:
        """Set how much there is of one kind, not below what is held of it."""
        self.available[column] += total - self.totals[column]
        self.totals[column] = total
        assert self.available[column] >= 0

    # Safety

    def order(self) -> list[int]:
        """See `finishing_order`: all rows if and only if the state is safe."""
        return finishing_order(self.available, self.needed, self.allocated)

    def order_within(self, group: NDArray[np.bool_]) -> list[int]:
        """The same, if none outside the group ever gives anything back."""
        rows = np.flatnonzero(group)
        ends = finishing_order(self.available, self.needed[rows], self.allocated[rows])
        return [int(row) for row in rows[ends]]

    def can_end(self, row: int) -> bool:
        """Whether a row can end, perhaps after others.

        If the state was safe before this row got or claimed more, that says whether it still is: once the row
        has ended, exactly as much is free as if it had got nothing.
        """
        return finishing_order(self.available, self.needed, self.allocated, row)[-1:] == [row]

    def must_end_before(self, row: int) -> list[int]:
        """Processes that must end first, as `safety.must_end_before` has it."""
        return must_end_before(row, self.available, self.needed, self.allocated)
