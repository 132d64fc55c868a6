"""Tells in which order processes can end with what is free (B4; CN104462195A, [0010], [0012], [0022]-[0028]).

Rows are processes, columns are kinds of resource, everything is int64. A state is safe if and only if the
order holds every row. Which row is taken first makes no difference to that: an end only adds to what is free.
"""

from collections import deque
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Vector: TypeAlias = NDArray[np.int64]
Matrix: TypeAlias = NDArray[np.int64]

_WIDE_ROUNDS = 24
"""Rounds over all rows at once before rows are counted one by one. Few rounds end almost every state; a chain
in which each end frees one more process would take as many rounds as there are rows."""


def finishing_order(
    available: Vector, needed: Matrix, allocated: Matrix, last: int | None = None
) -> list[int]:
    """List the rows that can end one after the other, each with what is free and what those before it held.

    Args:
        available: what is free, from which Work starts (the document's S); shape (m,).
        needed: what each may still ask for (N); shape (n, m).
        allocated: what each holds (A); shape (n, m).
        last: a row that ends the search: nothing is listed after it.

    Returns:
        Rows in order. Without `last`, as many as there are if and only if the state is safe. With it, the
        order ends with `last` if and only if that row can end.
    """
    work = available.copy()
    left = np.arange(len(needed))
    goal = None if last is None else needed[last]
    order: list[int] = []
    for _ in range(_WIDE_ROUNDS):
        if goal is not None and last is not None and (goal <= work).all():
            return [*order, last]
        ends = (needed <= work).all(axis=1)
        if not ends.any():
            return order
        order += left[ends].tolist()
        work += allocated[ends].sum(axis=0)
        stays = ~ends
        left, needed, allocated = left[stays], needed[stays], allocated[stays]
    place = None if last is None else int(np.searchsorted(left, last))
    return order + [int(row) for row in left[_one_by_one(work, needed, allocated, place)]]


def _one_by_one(work: Vector, needed: Matrix, allocated: Matrix, last: int | None) -> list[int]:
    """As `finishing_order`, in n m log n: a row counts the kinds it lacks, each kind has its rows sorted."""
    rows, kinds = needed.shape
    sorted_rows = np.argsort(needed, axis=0, kind="stable")
    asking = np.take_along_axis(needed, sorted_rows, axis=0).T.tolist()
    askers = sorted_rows.T.tolist()
    held = allocated.tolist()
    free = work.tolist()
    met = [0] * kinds
    lacking = [kinds] * rows
    ready: deque[int] = deque()
    order: list[int] = []
    while True:
        for kind in range(kinds):
            place, needs, most = met[kind], asking[kind], free[kind]
            while place < rows and needs[place] <= most:
                row = askers[kind][place]
                lacking[row] -= 1
                if not lacking[row]:
                    ready.append(row)
                place += 1
            met[kind] = place
        if not ready:
            return order
        row = ready.popleft()
        order.append(row)
        if row == last:
            return order
        free = [more + here for more, here in zip(free, held[row], strict=True)]


def must_end_before(row: int, available: Vector, needed: Matrix, allocated: Matrix) -> list[int]:
    """List rows whose ends, in this order, let `row` have all it may ask for; none of them can be left out.

    The others are not needed for that: neither their ends nor anything that they may give back.

    Args:
        row: which can end (the state is safe).
        available: see `finishing_order`.
        needed: the same.
        allocated: the same.
    """
    order = finishing_order(available, needed, allocated, row)[:-1]
    held = allocated[order]
    work = available + np.cumsum(held, axis=0)
    kept: list[int] = []
    # From the last to the first: `slack` is what all that were kept can spare of what was free before them.
    slack = (work[-1] if order else available) - needed[row]
    for place in range(len(order) - 1, -1, -1):
        if (held[place] <= slack).all():
            slack = slack - held[place]
        else:
            kept.append(order[place])
            slack = np.minimum(slack, work[place] - held[place] - needed[order[place]])
    return kept[::-1]
