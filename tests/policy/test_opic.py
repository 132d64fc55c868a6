"""AOPIC: the worked example, and that credit is conserved to the last unit whatever happens."""

from typing import Any

import msgspec
import pytest
from examples import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from gossamer.model.candidate import Candidate
from gossamer.model.link import LinkKind
from gossamer.model.url import Url
from gossamer.policy.ordering.levels import FIRST_STEP, STEPS, level_at, steps_of
from gossamer.policy.ordering.opic import MOST_CREDIT, Gift, Opic, OpicConfig, OpicWorth
from gossamer.policy.ordering.ordering import LAST_LEVEL, ROBOTS_LEVEL


def at(text: str, kind: LinkKind = LinkKind.NAVIGATION, depth: int = 1, via: str = "") -> Candidate:
    url = Url.parse(text)
    assert url is not None
    return Candidate(url, kind, depth, via=via)


SEED = at("http://e.example/seed", LinkKind.SEED, 0)
PAGE = at("http://e.example/page")


def held(policy: Opic, worth: OpicWorth) -> int:
    """All that is a page's, read from the account and the ledger without the policy's help."""
    return worth.credit + worth.held + (policy.ledger.dividend - worth.seen) % 2**64


def test_the_worked_example() -> None:
    # W16: 100 credits, 10 links: 10 to Lambda, 9 to each link, the page has none.
    policy = Opic(OpicConfig(credit=100))
    page, gift = policy.spread(SEED, policy.admitted(SEED, None), 10, 10)
    assert gift.credit == 9
    assert policy.ledger.bank == 10
    assert held(policy, page) == 0
    links = [policy.admitted(PAGE, gift) for _ in range(10)]
    assert [held(policy, link) for link in links] == [9] * 10
    assert policy.ledger.total == 100


def test_lambda_is_fetched_when_it_holds_more_than_the_page() -> None:
    policy = Opic(OpicConfig(credit=100))
    seed, gift = policy.spread(SEED, policy.admitted(SEED, None), 4, 4)
    pages = [policy.admitted(PAGE, gift) for _ in range(4)]
    pages[0] = policy.closed(pages[0])  # leads nowhere: 22 to the 12 of tax and remainder
    assert policy.ledger.bank == 12 + 22
    _, gift = policy.spread(PAGE, pages[1], 1, 1)
    # 34 > 22: every known page gets 34 // 5; the page has 28 then, 2 of them are tax.
    assert gift.credit == 28 - 2
    assert held(policy, pages[2]) == 22 + 6
    assert held(policy, seed) == held(policy, pages[0]) == 6
    assert policy.ledger.bank == 34 % 5 + 2


def test_shares_do_not_depend_on_how_many_are_served_at_once() -> None:
    whole, parts = Opic(OpicConfig(credit=1_000)), Opic(OpicConfig(credit=1_000))
    _, gift = whole.spread(SEED, whole.admitted(SEED, None), 7, 7)
    page = parts.admitted(SEED, None)
    for targets, links in ((3, 7), (3, 4), (1, 1)):
        page, part = parts.spread(SEED, page, targets, links)
        assert part == gift
    assert page.held == page.share == 0
    assert parts.ledger == whole.ledger


def test_a_page_fetched_again_with_other_links_reckons_anew() -> None:
    policy = Opic(OpicConfig(credit=1_000))
    page, _ = policy.spread(SEED, policy.admitted(SEED, None), 1, 3)
    page, gift = policy.spread(SEED, page, 60, 60)
    assert gift.credit == (600 - 60) // 60  # of what the first time left over
    assert page.held == 0


def test_a_crash_gives_what_was_under_way_to_lambda() -> None:
    policy = Opic(OpicConfig(credit=100))
    policy.spread(SEED, policy.admitted(SEED, None), 10, 10)
    after = Opic(OpicConfig(credit=100))
    after.restore(policy.state())
    assert (after.ledger.bank, after.ledger.moving, after.ledger.total) == (100, 0, 100)


def test_all_credit_fits_64_bits() -> None:
    policy = Opic(OpicConfig(credit=10**15))
    worths = [policy.admitted(SEED, None) for _ in range(1_200)]
    assert policy.ledger.total == sum(held(policy, worth) for worth in worths) == MOST_CREDIT
    assert msgspec.msgpack.decode(msgspec.msgpack.encode(worths[0]), type=policy.worth) == worths[0]
    assert policy.waiting_level(SEED, worths[0]) == policy.waiting_level(SEED, worths[-1])


def test_dividends_wrap_around() -> None:
    policy = Opic(OpicConfig(credit=1_000))
    policy.ledger.dividend = 2**64 - 5
    page = policy.admitted(SEED, None)
    policy.closed(policy.admitted(SEED, None))
    policy.spread(SEED, msgspec.structs.replace(page, credit=900), 1, 1)  # Lambda has 1000 for two
    assert policy.ledger.dividend == 500 - 5
    assert held(policy, page) == 1_000 + 500


def test_history_fades_with_the_window() -> None:
    policy = Opic(OpicConfig(credit=1_000, tax=1, window=2.0))
    worth, _ = policy.spread(SEED, policy.admitted(SEED, None), 1, 1)
    assert worth.history == pytest.approx(1.0)
    policy.ledger.clock += 1.0  # half the window
    again, _ = policy.spread(SEED, msgspec.structs.replace(worth, credit=500), 1, 1)
    assert again.history == pytest.approx(1.0 * 0.5 + 0.5, rel=0.02)
    policy.ledger.clock += 8.0  # far beyond it
    late, _ = policy.spread(SEED, msgspec.structs.replace(again, credit=800), 1, 1)
    assert late.history == pytest.approx(0.8 * 2.0 / 8.0, rel=0.1)


def test_more_voice_is_better_front_pages_and_links_across_count_more() -> None:
    policy = Opic(OpicConfig())
    little, much = OpicWorth(0, 0, 1_000), OpicWorth(0, 0, 5_000)
    assert policy.waiting_level(PAGE, much) < policy.waiting_level(PAGE, little)
    front = at("http://e.example/")
    across = at("http://e.example/page", via="http://other.example/")
    menu = at("http://e.example/page", via="https://www.e.example:8443/")
    assert policy.waiting_level(front, little) < policy.waiting_level(across, little)
    assert policy.waiting_level(across, little) < policy.waiting_level(PAGE, little)
    assert policy.waiting_level(menu, little) == policy.waiting_level(PAGE, little)
    sister = at(
        "http://e.example/page", via="http://library.e.example/"
    )  # a university's sites link across, too
    assert policy.waiting_level(sister, little) == policy.waiting_level(across, little)
    assert policy.waiting_level(at("http://e.example/page", depth=2), little) > policy.waiting_level(
        PAGE, little
    )
    assert set(policy.explain(across, much)) >= {"credit", "voice of its links", "handed on of late"}


def test_robots_files_come_first_and_levels_fit() -> None:
    policy = Opic(OpicConfig())
    assert policy.level(at("http://e.example/robots.txt", LinkKind.ROBOTS)) == ROBOTS_LEVEL
    assert policy.level(at("http://e.example/", depth=10**9)) <= LAST_LEVEL
    assert policy.waiting_level(at("http://e.example/", via="http://o.example/"), OpicWorth(0, 0, 2**63)) > 0


@given(st.integers(min_value=1, max_value=2**70))
def test_steps_are_the_logarithm(amount: int) -> None:
    step = steps_of(amount)
    assert 2**step <= amount**STEPS < 2 ** (step + 1) or amount.bit_length() > 17
    assert steps_of(amount * 2) == step + STEPS
    assert steps_of(amount) <= steps_of(amount + 1)


@given(st.integers(-10, 2 * FIRST_STEP), st.integers(0, 10**6))
def test_a_step_weighs_more_than_any_depth(step: int, depth: int) -> None:
    here = level_at(step, at("http://e.example/", depth=depth))
    assert ROBOTS_LEVEL < here <= LAST_LEVEL
    if 0 <= step < FIRST_STEP:
        assert level_at(step + 1, at("http://e.example/", depth=10**6)) < here


class Economy(RuleBasedStateMachine):
    """Does to a policy what a frontier may do to it, in any order; disk and memory as a crash sees them."""

    @initialize(credit=st.integers(1, 10**13), tax=st.integers(1, 99), window=st.floats(0.01, 10))
    def begin(self, credit: int, tax: int, window: float) -> None:
        self.config = OpicConfig(credit=credit, tax=tax, window=window)
        self.policy = Opic(self.config)
        self.worths: list[OpicWorth] = []
        self.gifts: dict[int, Gift] = {}
        self.committed: tuple[bytes, list[OpicWorth]] = (self.policy.state(), [])
        self.admit_seed()

    @rule()
    def admit_seed(self) -> None:
        self.worths.append(self.policy.admitted(SEED, None))

    @rule()
    def admit_unlinked(self) -> None:
        self.worths.append(self.policy.admitted(PAGE, None))

    @precondition(lambda self: self.worths)
    @rule(data=st.data(), more=st.integers(0, 5), fresh=st.integers(0, 4))
    def fetch(self, data: Any, more: int, fresh: int) -> None:
        """A page with links to known and new pages, in one or more pieces; `more` are filtered out."""
        page = data.draw(st.integers(0, len(self.worths) - 1))
        known = data.draw(st.lists(st.integers(0, len(self.worths) - 1), max_size=6))
        targets: list[int | None] = [*known, *([None] * fresh)]
        left = len(targets) + more
        while targets:
            size = data.draw(st.integers(1, len(targets)))
            piece, targets = targets[:size], targets[size:]
            self.worths[page], gift = self.policy.spread(PAGE, self.worths[page], size, left)
            left -= size
            for target in piece:
                if target is None:
                    self.worths.append(self.policy.admitted(PAGE, gift))
                elif target in self.gifts:
                    self.gifts[target] = self.policy.merge(self.gifts[target], gift)
                else:
                    self.gifts[target] = gift
            if targets and data.draw(st.booleans()):
                return  # the rest never comes: the crawl ended here, and goes on
        self.worths[page] = self.policy.closed(self.worths[page])

    @precondition(lambda self: self.gifts)
    @rule(data=st.data())
    def give(self, data: Any) -> None:
        target = data.draw(st.sampled_from(sorted(self.gifts)))
        self.worths[target] = self.policy.give(self.worths[target], self.gifts.pop(target))

    @precondition(lambda self: self.gifts)
    @rule(data=st.data())
    def lose(self, data: Any) -> None:
        self.policy.lose(self.gifts.pop(data.draw(st.sampled_from(sorted(self.gifts)))))

    @rule()
    def commit(self) -> None:
        self.committed = (self.policy.state(), list(self.worths))

    @rule()
    def crash(self) -> None:
        state, worths = self.committed
        self.policy = Opic(self.config)
        self.policy.restore(state)
        self.worths, self.gifts = list(worths), {}

    @invariant()
    def nothing_is_made_and_nothing_lost(self) -> None:
        if not hasattr(self, "policy"):
            return
        ledger = self.policy.ledger
        moving = sum(gift.credit for gift in self.gifts.values())
        assert ledger.moving == moving
        assert ledger.known == len(self.worths)
        assert min(ledger.bank, ledger.moving, *(w.credit for w in self.worths), 0) >= 0
        total = sum(held(self.policy, worth) for worth in self.worths)
        assert total + ledger.bank + moving == ledger.total


TestEconomy = Economy.TestCase
TestEconomy.settings = settings(max_examples=examples(100), stateful_step_count=40, deadline=None)
