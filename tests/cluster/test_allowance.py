"""A limit shared by many is never passed, and is used up."""

from dataclasses import dataclass, field

from examples import examples
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from gossamer.cluster.agreement.allowance import Allowances

AGENTS = ["a", "b", "c", "d"]
PLACES = st.integers(0, 3)


@dataclass
class Holder:
    """An agent that keeps to its allowance."""

    used: int = 0
    allowance: int = 0
    answered: int = 0
    number: int = 0
    hungry: bool = True
    answers: list[tuple[int, int]] = field(default_factory=list)

    def use(self, amount: int) -> None:
        self.used += min(amount, max(0, self.allowance - self.used))

    def take(self, number: int, allowance: int) -> None:
        if number > self.answered:
            self.answered, self.allowance = number, allowance


class Sharing(RuleBasedStateMachine):
    @initialize(limit=st.integers(0, 200))
    def begin(self, limit: int) -> None:
        self.limit = limit
        self.allowances = Allowances(limit)
        self.holders = {name: Holder() for name in AGENTS}
        self.gone: dict[str, int] = {}

    def holder(self, place: int) -> tuple[str, Holder] | None:
        present = [name for name in AGENTS if name in self.holders]
        if not present:
            return None
        name = present[place % len(present)]
        return name, self.holders[name]

    @rule(place=PLACES, uses=st.integers(0, 60), lost=st.booleans())
    def renew(self, place: int, uses: int, lost: bool) -> None:
        """It reports, and goes on using while the answer is under way, perhaps for ever."""
        found = self.holder(place)
        if found is None:
            return
        name, holder = found
        holder.number += 1
        number = holder.number
        self.allowances.reported(name, holder.answered, holder.used, holder.allowance, holder.hungry)
        granted = self.allowances.grant(name, number)
        holder.use(uses)
        if not lost:
            holder.answers.append((number, granted))

    @rule(place=PLACES, which=st.integers(0, 9))
    def answer(self, place: int, which: int) -> None:
        found = self.holder(place)
        if found is not None and found[1].answers:
            found[1].take(*found[1].answers.pop(which % len(found[1].answers)))

    @rule(place=PLACES, amount=st.integers(1, 100))
    def use(self, place: int, amount: int) -> None:
        found = self.holder(place)
        if found is not None:
            found[1].use(amount)

    @rule(place=PLACES)
    def change_appetite(self, place: int) -> None:
        found = self.holder(place)
        if found is not None:
            found[1].hungry = not found[1].hungry

    @rule()
    def share(self) -> None:
        self.allowances.share()

    @rule(place=PLACES, less=st.integers(0, 20))
    def lose(self, place: int, less: int) -> None:
        """What it used after its last snapshot does not count: it is fetched again."""
        found = self.holder(place)
        if found is not None:
            name, holder = found
            del self.holders[name]
            self.gone[name] = max(0, holder.used - less)
            self.allowances.gone(name, self.gone[name])

    @rule(place=PLACES)
    def begin_again(self, place: int) -> None:
        found = self.holder(place)
        if found is not None:
            self.holders[found[0]] = Holder(used=found[1].used)
            self.allowances.began(found[0])

    @precondition(lambda self: not self.gone)
    @rule()
    def coordinator_begins_again(self) -> None:
        self.allowances = Allowances(self.limit, self.holders)
        for holder in self.holders.values():
            holder.answers.clear()  # an answer of an older term does not count once one of a newer did
            holder.answered = holder.number

    @invariant()
    def the_limit_holds(self) -> None:
        if hasattr(self, "holders"):
            used = sum(holder.used for holder in self.holders.values()) + sum(self.gone.values())
            may = sum(max(holder.used, holder.allowance) for holder in self.holders.values())
            assert used <= self.limit
            assert may + sum(self.gone.values()) <= self.limit

    def teardown(self) -> None:
        if not hasattr(self, "holders") or not self.holders:
            return
        for holder in self.holders.values():
            holder.hungry = True
        for _ in range(40):
            self.allowances.share()
            for name, holder in self.holders.items():
                holder.number += 1
                self.allowances.reported(name, holder.answered, holder.used, holder.allowance, holder.hungry)
                holder.take(holder.number, self.allowances.grant(name, holder.number))
                holder.use(10)
        assert sum(holder.used for holder in self.holders.values()) + sum(self.gone.values()) == self.limit
        assert self.allowances.spent


TestSharing = Sharing.TestCase
TestSharing.settings = settings(
    max_examples=examples(150), stateful_step_count=40, deadline=None, derandomize=True
)


def run(speeds: dict[str, int], limit: int, seconds: int) -> tuple[Allowances, dict[str, Holder]]:
    allowances, holders = Allowances(limit), {name: Holder() for name in speeds}
    for _ in range(seconds):
        allowances.share()
        for name, holder in holders.items():
            holder.number += 1
            allowances.reported(name, holder.answered, holder.used, holder.allowance, hungry=True)
            holder.take(holder.number, allowances.grant(name, holder.number))
            holder.use(speeds[name])
    return allowances, holders


def test_the_quick_do_not_wait_for_the_slow() -> None:
    allowances, holders = run({"quick": 50, "slow": 1, "stuck": 0}, 1000, 60)
    assert allowances.spent
    assert holders["quick"].used > 900


def test_near_the_end_few_have_what_is_left() -> None:
    speeds = {f"{number}": number % 5 for number in range(100)}
    allowances, holders = run(speeds, 3000, 10)
    while allowances.used < 2970:
        allowances.share()
        for name, holder in holders.items():
            holder.number += 1
            allowances.reported(name, holder.answered, holder.used, holder.allowance, hungry=True)
            holder.take(holder.number, allowances.grant(name, holder.number))
            holder.use(speeds[name])
    assert sum(holder.allowance > holder.used for holder in holders.values()) <= 10


def test_no_more_than_the_limit_is_asked_of_a_stranger() -> None:
    allowances = Allowances(10)
    assert allowances.grant("stranger", 1) == 0


def test_after_a_restart_nothing_is_given_before_all_have_spoken() -> None:
    allowances = Allowances(100, ["a", "b"])
    allowances.reported("a", 5, 10, 40, hungry=True)
    allowances.share()
    assert allowances.grant("a", 6) == 40
    allowances.reported("b", 3, 10, 50, hungry=True)
    allowances.share()
    assert allowances.grant("a", 7) == 50
    allowances.gone("b", 5)
    allowances.share()
    assert allowances.grant("a", 8) == 95
