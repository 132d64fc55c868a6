"""Hands out resources so that every process can always end (B1-B6; CN104462195A).

How those who wait get their turn, what a lowered limit does, and why so, is told in
docs/decisions/0014-allocation.md.
"""

from collections.abc import Mapping
from enum import StrEnum

import msgspec
import numpy as np
from numpy.typing import NDArray

from gossamer.daemon.allocation.holdings import Holdings
from gossamer.daemon.allocation.resources import AllocationError
from gossamer.daemon.allocation.safety import Vector

__all__ = [
    "AllocationError",
    "Allocator",
    "ClaimError",
    "Grant",
    "Lowering",
    "Reason",
    "RequestError",
    "UnsafeClaimError",
    "Wait",
]


class RequestError(AllocationError):
    """A process asks for more than its claim leaves it (B2), or asks while it waits."""


class ClaimError(AllocationError):
    """A claim above a limit, or below what its process holds and waits for."""


class UnsafeClaimError(ClaimError):
    """A raised claim could end in deadlock as things stand; later it may be possible."""


class Reason(StrEnum):
    """Why a request for resources waits."""

    SHORT = "short"
    """Less is free than it asks for."""
    UNSAFE = "unsafe"
    """It is free, but with it gone not every process could be sure to end."""
    KEPT = "kept"
    """It is free and would be safe, but the first in the queue might wait longer for it."""


class Grant(msgspec.Struct, frozen=True):
    """What a process that waited has been given.

    Attributes:
        process: its name.
        amounts: by resource; those of 0 left out.
    """

    process: str
    amounts: Mapping[str, int]


class Wait(msgspec.Struct, frozen=True):
    """A request that waits, and why.

    Attributes:
        process: its name.
        amounts: what it asks for, by resource; those of 0 left out.
        place: in the queue; 0 is the first.
        reason: what stands against it now.
        missing: by how much which resources fall short; empty unless `SHORT`.
        waits_for: processes whose ends would free enough, in an order in which they can end. If `KEPT`, the
            first in the queue and those it waits for, unless it is one of these itself.
    """

    process: str
    amounts: Mapping[str, int]
    place: int
    reason: Reason
    missing: Mapping[str, int]
    waits_for: tuple[str, ...]


class Lowering(msgspec.Struct, frozen=True):
    """A limit that could not be lowered as far as asked, yet.

    Attributes:
        resource: its name.
        total: what the limit is now: the smallest with which every process, and the group of the first in
            the queue by itself, can still end.
        target: what it shall be.
        above: processes whose claim is above `target`; as long as one of them has it, the limit stays above.
    """

    resource: str
    total: int
    target: int
    above: tuple[str, ...]


class Allocator:
    """The resources of one machine, and the processes that share them.

    Two things hold between any two calls, whatever was asked. *The state is safe*: the processes can end
    one after the other, each with all of its claim. And *the group of the first in the queue can end by
    itself*: the first and those it waits for, reckoned once, when it becomes the first, and left by whoever
    holds nothing any more. So the first goes on at the latest when each of its group has once given back all.

    Deterministic; not for several threads at once. Methods that may let those go on who wait return them in
    the order in which they were served. A call that raises has changed nothing.

    Args:
        totals: how much there is, by resource.

    Raises:
        AllocationError: of any method: a name or an amount that makes no sense.
    """

    def __init__(self, totals: Mapping[str, int]) -> None:
        self._holdings = Holdings(totals)
        self._resources = self._holdings.resources
        self._targets = self._holdings.totals.copy()
        self._waiting: dict[str, Vector] = {}
        self._group: NDArray[np.bool_] = np.zeros(0, dtype=np.bool_)

    # Processes

    def join(self, process: str, claim: Mapping[str, int]) -> None:
        """Let a process take part, which holds nothing yet. Always safe: it can end after all others.

        Args:
            process: a new name.
            claim: the most it will ever hold, by resource; 0 of what is not named.

        Raises:
            ClaimError: more than a limit, or than what a limit is being lowered to.
        """
        if process in self._holdings:
            raise AllocationError(f"{process} takes part already: choose another name")
        most = self._resources.vector(claim)
        self._fits_limits(process, most, most > self._targets)
        self._holdings.join(process, most)
        self._group = np.append(self._group, np.False_)

    def leave(self, process: str) -> tuple[Grant, ...]:
        """Take back all that an ended or dead process held, with its claim and what it waited for."""
        row = self._holdings.row(process)
        self._forget_request(process)
        self._holdings.leave(process)
        self._group = np.delete(self._group, row)
        return self._wake()

    def change_claim(self, process: str, claim: Mapping[str, int]) -> tuple[Grant, ...]:
        """Give a process another claim, at once or not at all.

        Raises:
            UnsafeClaimError: some process could not be sure to end any more; when less is held it may be.
            ClaimError: raised above a limit, or less than the process holds and waits for.
        """
        row = self._holdings.row(process)
        before = self._holdings.maximum[row].copy()
        most = self._resources.vector(claim)
        self._fits_limits(process, most, (most > self._targets) & (most > before))
        floor = self._holdings.allocated[row] + self._waiting.get(process, 0)
        if (most < floor).any():
            raise ClaimError(
                f"{process} holds, with what it waits for, {self._resources.text(floor)}: claim no less"
            )
        self._holdings.claim(row, most)
        if (most > before).any() and not (self._holdings.can_end(row) and self._group_can_end()):
            self._holdings.claim(row, before)
            raise UnsafeClaimError(
                f"{process} cannot claim {self._resources.text(most)} now: it could end in deadlock. Try"
                " again when less is held, or end the process and start it with the larger claim"
            )
        return self._wake()

    # Requests

    def request(self, process: str, amounts: Mapping[str, int]) -> bool:
        """Ask for more (B2-B5).

        Returns:
            Whether it is granted. If not, the process waits, holding what it holds.

        Raises:
            RequestError: more than the process still needs by its claim, or it waits already.
        """
        row = self._holdings.row(process)
        asked = self._resources.vector(amounts)
        needed = self._holdings.needed[row]
        if process in self._waiting:
            waits_for = self._resources.text(self._waiting[process])
            raise RequestError(f"{process} waits for {waits_for}: withdraw that first")
        if (asked > needed).any():
            raise RequestError(
                f"{process} asks for {self._resources.text(asked)}, but of this its claim leaves it"
                f" {self._resources.text(needed, asked > needed)}: ask for less, or raise the claim"
            )
        if self._allocate(row, asked) is None:
            return True
        self._waiting[process] = asked
        self._keep_for_first()
        return False

    def withdraw(self, process: str) -> tuple[Grant, ...]:
        """Forget what a process waits for, if anything."""
        self._holdings.row(process)
        self._forget_request(process)
        return self._wake()

    def give_back(self, process: str, amounts: Mapping[str, int]) -> tuple[Grant, ...]:
        """Take back a part of what a process holds, or all of it. It may ask for it again.

        Raises:
            AllocationError: it does not hold so much.
        """
        row = self._holdings.row(process)
        returned = self._resources.vector(amounts)
        held = self._holdings.allocated[row]
        if (returned > held).any():
            raise AllocationError(
                f"{process} gives back {self._resources.text(returned)}, but of this holds"
                f" {self._resources.text(held, returned > held)}"
            )
        self._holdings.move(row, -returned)
        if process != self._first() and not self._holdings.allocated[row].any():
            self._group[row] = False
        return self._wake()

    # Limits

    def change_total(self, resource: str, total: int) -> tuple[Grant, ...]:
        """Raise a limit, at once; or lower it, as far as is safe now and the rest as things are given back.

        While a limit is being lowered no new claim may be above its target. Claims that are, stay.
        """
        column = self._resources.column(resource)
        target = self._resources.amount(resource, total)
        self._targets[column] = target
        if target > self._holdings.totals[column]:
            self._holdings.resize(column, target)
        return self._wake()

    def lowering(self) -> tuple[Lowering, ...]:
        """The limits that are above what they shall be."""
        holdings = self._holdings
        return tuple(
            Lowering(
                resource=self._resources.names[column],
                total=int(holdings.totals[column]),
                target=int(self._targets[column]),
                above=holdings.names(
                    np.flatnonzero(holdings.maximum[:, column] > self._targets[column]).tolist()
                ),
            )
            for column in np.flatnonzero(self._targets < holdings.totals).tolist()
        )

    # What a console shows

    def holdings(self) -> Holdings:
        """Names, totals, S, M, A and N; a copy."""
        return self._holdings.copy()

    def safe_sequence(self) -> tuple[str, ...]:
        """An order in which all processes can end, each with all of its claim."""
        return self._holdings.names(self._holdings.order())

    def waiting(self) -> tuple[str, ...]:
        """Who waits, first come first."""
        return tuple(self._waiting)

    def why(self, process: str) -> Wait | None:
        """Why a process waits, and for whom; `None` if it does not."""
        row = self._holdings.row(process)
        asked = self._waiting.get(process)
        if asked is None:
            return None
        reason = self._allocate(row, asked)
        assert reason is not None, "what can be granted does not wait"
        others = self._group.copy()
        others[row] = False  # what it holds itself frees nobody
        if process == self._first() or (reason is Reason.KEPT and not self._group[row]):
            rows = self._holdings.order_within(others)
        else:
            rows = self._holdings.must_end_before(row)
        return Wait(
            process=process,
            amounts=self._resources.amounts(asked),
            place=self.waiting().index(process),
            reason=reason,
            missing=self._resources.amounts(np.maximum(asked - self._holdings.available, 0)),
            waits_for=self._holdings.names(rows),
        )

    # Judging

    def _allocate(self, row: int, asked: Vector) -> Reason | None:
        """Grant a request, or leave everything as it was and say why not."""
        if (asked > self._holdings.available).any():
            return Reason.SHORT
        self._holdings.move(row, asked)
        if not self._holdings.can_end(row):
            reason = Reason.UNSAFE
        elif not self._is_first(row) and not self._group_can_end():
            reason = Reason.KEPT
        else:
            return None
        self._holdings.move(row, -asked)
        return reason

    def _group_can_end(self) -> bool:
        """Whether the first in the queue is sure to go on, however long others keep what they hold."""
        return len(self._holdings.order_within(self._group)) == np.count_nonzero(self._group)

    def _fits_limits(self, process: str, most: Vector, above: NDArray[np.bool_]) -> None:
        if above.any():
            raise ClaimError(
                f"{process} claims {self._resources.text(most, above)}, but the limit is"
                f" {self._resources.text(self._targets, above)}: claim less, or raise the limit first"
            )

    # The queue

    def _first(self) -> str | None:
        return next(iter(self._waiting), None)

    def _is_first(self, row: int) -> bool:
        first = self._first()
        return first is not None and self._holdings.row(first) == row

    def _keep_for_first(self) -> None:
        """Reckon the group of the first in the queue, unless it has one."""
        first = self._first()
        if first is not None and not self._group.any():
            row = self._holdings.row(first)
            self._group[[*self._holdings.must_end_before(row), row]] = True

    def _forget_request(self, process: str) -> None:
        if process == self._first():
            self._group[:] = False
        self._waiting.pop(process, None)

    def _wake(self) -> tuple[Grant, ...]:
        """Serve whom can be served, first come first; limits that are being lowered go before anybody.

        One pass is enough. A grant makes nothing possible for others, but for one to the first, whose group
        it ends; and the first is looked at before all others.
        """
        self._lower_totals()
        grants = []
        for process, asked in tuple(self._waiting.items()):
            if self._allocate(self._holdings.row(process), asked) is None:
                was_first = process == self._first()
                self._forget_request(process)
                if was_first:  # its group may have held limits up
                    self._lower_totals()
                grants.append(Grant(process, self._resources.amounts(asked)))
            else:
                self._keep_for_first()
        return tuple(grants)

    # Limits that are being lowered

    def _lower_totals(self) -> None:
        """Bring each limit as near to its target as is safe."""
        holdings = self._holdings
        for column in np.flatnonzero(self._targets < holdings.totals).tolist():
            high = int(holdings.totals[column])
            held = high - int(holdings.available[column])
            claimed = int(holdings.maximum[:, column].max(initial=0))
            # With a safe total any above it is safe, too, and the present one is. The lowest is tried first.
            low = total = max(int(self._targets[column]), held, claimed)
            while low < high:
                if self._safe_with(column, total):
                    high = total
                else:
                    low = total + 1
                total = (low + high) // 2
            holdings.resize(column, high)

    def _safe_with(self, column: int, total: int) -> bool:
        before = int(self._holdings.totals[column])
        self._holdings.resize(column, total)
        safe = len(self._holdings.order()) == len(self._holdings) and self._group_can_end()
        self._holdings.resize(column, before)
        return safe
