"""Gives the machine's resources to jobs: the allocator, with what a daemon adds to it."""

from collections.abc import Callable, Iterable, Mapping
from typing import TypeVar

import msgspec

from gossamer.daemon.allocation.allocator import AllocationError, Allocator, Grant, Lowering, Wait
from gossamer.daemon.allocation.claims import RESOURCES, UNITS, Amounts, Claim
from gossamer.daemon.errors import ServiceError

T = TypeVar("T")


class AllocationView(msgspec.Struct, frozen=True):
    """The document's vector and matrices as a console shows them; rows are processes, columns resources.

    Attributes:
        resources: names of the columns.
        units: of the columns: empty, `B` or `B/s`.
        totals: the limits in force.
        targets: the limits as they were set; lower than `totals` where one could not be lowered yet.
        available: what is free (S).
        processes: names of the rows: jobs that run, or wait to.
        maximum: claims (M).
        allocated: what is held (A).
        needed: what may still be asked for (N).
        safe_sequence: an order in which all can end.
        waiting: who waits for what and whom, first come first.
        lowering: limits that are above what they shall be.
    """

    resources: tuple[str, ...]
    units: tuple[str, ...]
    totals: list[int]
    targets: list[int]
    available: list[int]
    processes: tuple[str, ...]
    maximum: list[list[int]]
    allocated: list[list[int]]
    needed: list[list[int]]
    safe_sequence: tuple[str, ...]
    waiting: list[Wait]
    lowering: list[Lowering]


class Restored(msgspec.Struct, frozen=True):
    """What a process held when an earlier daemon last wrote it down."""

    name: str
    claim: Claim
    held: Amounts


class Grants:
    """Who holds what.

    Args:
        limits: how much there is of each resource.
        restored: processes that run already. What they hold is a fact, so it is granted even where limits
            have fallen since; those then come down as things are given back.
        served: hears the name of each job whose wait is over.
    """

    def __init__(
        self, limits: Mapping[str, int], restored: Iterable[Restored], served: Callable[[str], None]
    ) -> None:
        self._served = served
        self._targets = {name: limits[name] for name in RESOURCES}
        facts = [_consistent(fact) for fact in restored]
        # With room for every claim at once any state is safe. (Any part of a safe state is safe, too, but
        # limits may have changed.)
        room = {name: sum(getattr(fact.claim, name) for fact in facts) for name in RESOURCES}
        self._allocator = Allocator({name: max(room[name], self._targets[name]) for name in RESOURCES})
        self._held: dict[str, Amounts] = {}
        for fact in facts:
            self.join(fact.name, fact.claim)
            self.request(fact.name, fact.held)
        for name, total in self._targets.items():
            self._allocator.change_total(name, total)

    # Processes

    def __contains__(self, name: str) -> bool:
        return name in self._held

    def join(self, name: str, claim: Claim) -> None:
        """Let a job take part.

        Raises:
            ServiceError: its claim is above a limit.
        """
        self._do(lambda: self._allocator.join(name, claim.amounts()))
        self._held[name] = dict.fromkeys(RESOURCES, 0)

    def leave(self, name: str) -> None:
        """Take back everything that a job held, if it takes part."""
        if self._held.pop(name, None) is not None:
            self._serve(self._allocator.leave(name))

    def change_claim(self, name: str, claim: Claim) -> None:
        """Give a job that takes part another claim.

        Raises:
            ServiceError: it is above a limit, below what is held, or not safe now.
        """
        self._serve(self._do(lambda: self._allocator.change_claim(name, claim.amounts())))

    # Requests

    def request(self, name: str, amounts: Amounts) -> bool:
        """Ask for more; whether it is granted at once. If not, the job waits.

        Raises:
            ServiceError: it is above the claim, or the job waits already.
        """
        granted = self._do(lambda: self._allocator.request(name, amounts))
        if granted:
            self._add(name, amounts)
        return granted

    def withdraw(self, name: str) -> None:
        """Forget what a job waits for."""
        if name in self:
            self._serve(self._allocator.withdraw(name))

    def give_back(self, name: str, amounts: Amounts) -> None:
        """Take back a part of what a job holds."""
        if any(amounts.values()):
            grants = self._do(lambda: self._allocator.give_back(name, amounts))
            self._add(name, {resource: -amount for resource, amount in amounts.items()})
            self._serve(grants)

    def held(self, name: str) -> Amounts:
        """What a job holds, by resource; nothing if it does not take part."""
        return dict(self._held.get(name) or dict.fromkeys(RESOURCES, 0))

    def why(self, name: str) -> Wait | None:
        """What a job waits for, and why."""
        return self._allocator.why(name) if name in self else None

    def waits(self, name: str) -> bool:
        """Whether a job waits for something it asked for."""
        return name in self._allocator.waiting()

    # Limits

    @property
    def limits(self) -> Amounts:
        """The totals of resources as they were set."""
        return dict(self._targets)

    def set_limit(self, resource: str, total: int) -> None:
        """Change a limit: at once if higher, as far as is safe if lower."""
        if total != self._targets[resource]:
            self._targets[resource] = total
            self._serve(self._do(lambda: self._allocator.change_total(resource, total)))

    def view(self) -> AllocationView:
        """Everything that is held, wanted and free, for a console."""
        holdings = self._allocator.holdings()
        allocator = self._allocator
        waits = (allocator.why(name) for name in allocator.waiting())
        return AllocationView(
            resources=RESOURCES,
            units=tuple(UNITS.values()),
            totals=holdings.totals.tolist(),
            targets=list(self._targets.values()),
            available=holdings.available.tolist(),
            processes=holdings.processes,
            maximum=holdings.maximum.tolist(),
            allocated=holdings.allocated.tolist(),
            needed=holdings.needed.tolist(),
            safe_sequence=allocator.safe_sequence(),
            waiting=[wait for wait in waits if wait is not None],
            lowering=list(allocator.lowering()),
        )

    def _serve(self, grants: tuple[Grant, ...]) -> None:
        for grant in grants:
            self._add(grant.process, grant.amounts)
        for grant in grants:
            self._served(grant.process)

    def _add(self, name: str, amounts: Mapping[str, int]) -> None:
        for resource, amount in amounts.items():
            self._held[name][resource] += amount

    def _do(self, step: Callable[[], T]) -> T:
        try:
            return step()
        except AllocationError as error:
            raise ServiceError("conflict", str(error)) from None


def _consistent(fact: Restored) -> Restored:
    """A claim is never less than what is held, whatever was written down when."""
    most = {name: max(amount, fact.held.get(name, 0)) for name, amount in fact.claim.amounts().items()}
    held = {name: amount for name, amount in fact.held.items() if name in RESOURCES}
    return Restored(fact.name, Claim(**most), held)
