"""Random histories: never an unsafe state, never a deadlock; where what is free is given, there are many."""

from collections.abc import Callable
from random import Random

import msgspec
import pytest
from allocation_peers import GrantIfFree, Life, assert_sound, life

from gossamer.daemon.allocation.allocator import Allocator


class Figures(msgspec.Struct):
    """What happened.

    Attributes:
        steps: requests, gifts back and ends.
        waits: requests that were not granted at once.
        ended: processes that came to their end.
        deadlocks: times at which all processes waited; one was then killed.
    """

    steps: int = 0
    waits: int = 0
    ended: int = 0
    deadlocks: int = 0


class History:
    """Processes that come, live by their plan whenever they do not wait, and end.

    Args:
        seed: decides the totals, the lives in their order of coming, and who is next.
        allocator: made from the totals.
        processes: how many live at once.
    """

    def __init__(
        self,
        seed: int,
        allocator: type[Allocator] | type[GrantIfFree],
        processes: int,
    ) -> None:
        self.figures = Figures()
        self._lives = Random(seed)
        self._turns = Random(seed + 1)
        kinds = self._lives.randint(1, 4)
        self._totals = {f"kind{kind}": self._lives.randint(1, 12) for kind in range(kinds)}
        self.allocator = allocator(self._totals)
        self._plans: dict[str, tuple[Life, int]] = {}
        self._waiting: set[str] = set()
        for _ in range(processes):
            self._come()

    def run(self, steps: int, look: Callable[[], None]) -> Figures:
        """Go on for so many steps; `look` is called after each."""
        for _ in range(steps):
            able = [name for name in self._plans if name not in self._waiting]
            if able:
                self._advance(self._turns.choice(able))
            else:
                self.figures.deadlocks += 1
                self._end(next(iter(self._plans)))
            look()
        return self.figures

    def _advance(self, name: str) -> None:
        self.figures.steps += 1
        plan, place = self._plans[name]
        if place == len(plan.steps):
            self.figures.ended += 1
            self._end(name)
            return
        step = plan.steps[place]
        self._plans[name] = plan, place + 1
        if not step.asks:
            self._woken(self.allocator.give_back(name, step.amounts))
        elif not self.allocator.request(name, step.amounts):
            self.figures.waits += 1
            self._waiting.add(name)

    def _come(self) -> None:
        plan = life(self._lives, self._totals)
        name = f"p{self.figures.ended + self.figures.deadlocks}-{len(self._plans)}"
        self._plans[name] = plan, 0
        self.allocator.join(name, plan.claim)

    def _end(self, name: str) -> None:
        del self._plans[name]
        self._waiting.discard(name)
        self._woken(self.allocator.leave(name))
        self._come()

    def _woken(self, grants: tuple) -> None:
        for grant in grants:
            self._waiting.remove(grant.process)


def safe_histories(histories: int, steps: int) -> Figures:
    """Sum over histories of the allocator, every state of which is judged by the document's steps."""
    total = Figures()
    for seed in range(histories):
        history = History(seed, Allocator, processes=2 + seed % 6)
        # Not the copy that `holdings` makes: it would cost more than all the rest.
        holdings = history.allocator._holdings
        add(total, history.run(steps, lambda holdings=holdings: assert_sound(holdings)))
    return total


def naive_histories(histories: int, steps: int) -> Figures:
    """The same for the allocator that gives what is free."""
    total = Figures()
    for seed in range(histories):
        add(total, History(seed, GrantIfFree, processes=2 + seed % 6).run(steps, lambda: None))
    return total


def add(total: Figures, more: Figures) -> None:
    for name in Figures.__struct_fields__:
        setattr(total, name, getattr(total, name) + getattr(more, name))


def judge(histories: int, steps: int) -> None:
    safe = safe_histories(histories, steps)
    assert safe.deadlocks == 0
    assert safe.steps == histories * steps
    assert safe.waits > safe.steps / 20, "without contention nothing is shown"
    naive = naive_histories(histories, steps)
    assert naive.deadlocks > histories


@pytest.mark.slow
def test_no_history_is_unsafe_and_a_naive_allocator_deadlocks() -> None:
    judge(histories=60, steps=100)


@pytest.mark.slow
def test_no_history_is_unsafe_in_hundreds_of_thousands_of_steps() -> None:
    judge(histories=3000, steps=100)
