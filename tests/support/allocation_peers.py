"""What the allocator is compared with: the document's steps word for word, and an allocator without them."""

from collections.abc import Mapping, Sequence
from random import Random

import msgspec

from gossamer.daemon.allocation.allocator import Grant
from gossamer.daemon.allocation.holdings import Holdings


def document_says_safe(
    available: Sequence[int], needed: Sequence[Sequence[int]], allocated: Sequence[Sequence[int]]
) -> bool:
    """[0022]-[0028], with lists and nothing clever."""
    work = list(available)
    finish = [False] * len(needed)
    while True:
        for process, needs in enumerate(needed):
            if not finish[process] and all(n <= w for n, w in zip(needs, work, strict=True)):
                work = [w + a for w, a in zip(work, allocated[process], strict=True)]
                finish[process] = True
                break
        else:
            return all(finish)


def assert_sound(holdings: Holdings) -> None:
    """Nothing is made or lost (B1), and the state is safe by the document's own steps (B4)."""
    assert (holdings.available + holdings.allocated.sum(axis=0) == holdings.totals).all()
    assert (holdings.needed == holdings.maximum - holdings.allocated).all()
    assert (holdings.available >= 0).all()
    assert (holdings.needed >= 0).all()
    assert (holdings.allocated >= 0).all()
    assert document_says_safe(
        holdings.available.tolist(), holdings.needed.tolist(), holdings.allocated.tolist()
    )


class GrantIfFree:
    """Gives whatever is free, first come first."""

    def __init__(self, totals: Mapping[str, int]) -> None:
        self._free = dict(totals)
        self._held: dict[str, dict[str, int]] = {}
        self._waiting: dict[str, Mapping[str, int]] = {}

    def join(self, process: str, claim: Mapping[str, int]) -> None:
        self._held[process] = dict.fromkeys(self._free, 0)

    def request(self, process: str, amounts: Mapping[str, int]) -> bool:
        if any(amount > self._free[name] for name, amount in amounts.items()):
            self._waiting[process] = amounts
            return False
        for name, amount in amounts.items():
            self._free[name] -= amount
            self._held[process][name] += amount
        return True

    def give_back(self, process: str, amounts: Mapping[str, int]) -> tuple[Grant, ...]:
        for name, amount in amounts.items():
            self._free[name] += amount
            self._held[process][name] -= amount
        waiting, self._waiting = self._waiting, {}
        return tuple(Grant(other, asked) for other, asked in waiting.items() if self.request(other, asked))

    def leave(self, process: str) -> tuple[Grant, ...]:
        self._waiting.pop(process, None)
        grants = self.give_back(process, self._held[process])
        del self._held[process]
        return grants


class Step(msgspec.Struct, frozen=True):
    """What a process does next.

    Attributes:
        asks: or else it gives back.
        amounts: by resource.
    """

    asks: bool
    amounts: dict[str, int]


class Life(msgspec.Struct, frozen=True):
    """A process from its claim to its end.

    Attributes:
        claim: by resource.
        steps: what it does in turn; then it ends and all goes back.
    """

    claim: dict[str, int]
    steps: list[Step]


def life(random: Random, totals: Mapping[str, int]) -> Life:
    """A process that grows, gives back a part or all, and grows again, up to all of its claim at times."""
    claim = {name: random.randint(0, total) for name, total in totals.items()}
    held = dict.fromkeys(claim, 0)
    steps = []
    for _ in range(random.randint(1, 8)):
        asks = random.random() < 0.7
        room = {name: claim[name] - held[name] for name in claim} if asks else dict(held)
        all_of_it = random.random() < 0.2
        amounts = {name: most if all_of_it else random.randint(0, most) for name, most in room.items()}
        for name, amount in amounts.items():
            held[name] += amount if asks else -amount
        steps.append(Step(asks, amounts))
    return Life(claim, steps)
