"""Budgets of domains, their rounds, and the limits that park a domain."""

from hypothesis import given
from hypothesis import strategies as st

from gossamer.policy import distinct
from gossamer.policy.visits.budget import BudgetConfig, Spent, domain_limit_reached
from gossamer.policy.visits.star import LARGEST, LAST_ROUND, SMALLEST, round_of, star_budget

STAR = BudgetConfig(star=True)
BUDGETS = st.integers(SMALLEST, LARGEST)


def linkers(number: int) -> bytes:
    value = b""
    for item in range(number):
        value = distinct.add(value, item.to_bytes(4, "big"))
    return value


def test_a_budget_grows_with_the_domains_that_link_in():
    assert star_budget(STAR, b"", seeded=False) == SMALLEST
    assert star_budget(STAR, linkers(1), seeded=False) == 20
    assert star_budget(STAR, linkers(30), seeded=False) == 310
    gentle = BudgetConfig(star=True, star_slope=0.5)
    assert star_budget(gentle, linkers(3), seeded=False) == 11


def test_a_seed_counts_for_many_and_no_budget_is_beyond_the_largest():
    assert star_budget(STAR, b"", seeded=True) == LARGEST == 10_000
    assert star_budget(BudgetConfig(star_seed=7), linkers(1), seeded=True) == 90
    assert star_budget(BudgetConfig(star_seed=0), b"", seeded=True) == SMALLEST


def test_rounds_double():
    assert [round_of(number, 10) for number in (0, 9, 10, 29, 30, 69, 70)] == [0, 0, 1, 1, 2, 2, 3]
    assert round_of(327_669, 10) == 14
    assert round_of(327_670, 10) == LAST_ROUND
    assert round_of(10**12, 10) == LAST_ROUND


@given(st.integers(0, 10**9), BUDGETS)
def test_a_round_holds_what_its_definition_says(earlier, budget):
    number = round_of(earlier, budget)
    assert budget * (2**number - 1) <= earlier
    assert number == LAST_ROUND or earlier < budget * (2 ** (number + 1) - 1)


@given(st.integers(0, 10**7), BUDGETS, BUDGETS)
def test_a_larger_budget_is_never_in_a_later_round(earlier, one, other):
    assert round_of(earlier, max(one, other)) <= round_of(earlier, min(one, other))
    assert round_of(earlier, one) <= round_of(earlier + 1, one)


def test_limits_of_a_domain():
    config = BudgetConfig(pages_per_domain=3, bytes_per_domain=100)
    assert domain_limit_reached(config, Spent(2, 99)) is None
    assert str(domain_limit_reached(config, Spent(3, 0))) == "pages_per_domain 3"
    assert str(domain_limit_reached(config, Spent(0, 100))) == "bytes_per_domain 100"
    assert domain_limit_reached(BudgetConfig(), Spent(10**9, 10**15)) is None


def test_nobody_pays_who_asks_for_nothing_by_domain():
    assert not BudgetConfig(pages_per_host=5, max_pages=7).by_domain
    for config in (STAR, BudgetConfig(pages_per_domain=1), BudgetConfig(bytes_per_domain=1)):
        assert config.by_domain
