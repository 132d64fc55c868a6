"""Shards are shared out evenly, by names alone, and move little."""

import math
from collections import Counter

import pytest
from examples import examples
from hypothesis import given, settings
from hypothesis import strategies as st

from gossamer.cluster.agreement.rendezvous import RANKED, assign

WEIGHTS = st.dictionaries(
    st.integers(1, 60).map(lambda number: f"a-{number}"),
    st.sampled_from([0.5, 1.0, 2.0, 7.0]),
    min_size=1,
    max_size=40,
)
SLACKS = st.sampled_from([1.0, 1.05, 1.2, 2.0])


def equal(count: int) -> dict[str, float]:
    return {f"a-{number}": 1.0 for number in range(1, count + 1)}


def moved(before: list[str], after: list[str]) -> int:
    return sum(old != new for old, new in zip(before, after, strict=True))


def within(owners: list[str], weights: dict[str, float], slack: float) -> None:
    loads, total = Counter(owners), sum(weights.values())
    assert set(loads) <= set(weights)
    for name, weight in weights.items():
        share = len(owners) * weight / total
        assert math.floor(share / slack + 1e-9) <= loads[name] <= math.ceil(slack * share - 1e-9)


@settings(max_examples=examples(60), deadline=None)
@given(shards=st.integers(1, 300), weights=WEIGHTS, slack=SLACKS)
def test_every_agent_has_about_its_share(shards: int, weights: dict[str, float], slack: float) -> None:
    within(assign(shards, weights, slack=slack), weights, slack)


@settings(max_examples=examples(60), deadline=None)
@given(shards=st.integers(1, 300), weights=WEIGHTS, slack=SLACKS, order=st.randoms())
def test_only_names_and_weights_count(
    shards: int, weights: dict[str, float], slack: float, order: object
) -> None:
    shuffled = list(weights.items())
    order.shuffle(shuffled)  # type: ignore[attr-defined]
    assert assign(shards, dict(shuffled), slack=slack) == assign(shards, weights, slack=slack)


def test_the_assignment_does_not_change_from_version_to_version() -> None:
    assert assign(8, equal(3)) == ["a-2", "a-2", "a-1", "a-3", "a-2", "a-1", "a-3", "a-1"]


@settings(max_examples=examples(60), deadline=None)
@given(shards=st.integers(1, 300), weights=WEIGHTS, later=WEIGHTS, slack=SLACKS)
def test_what_is_held_stays_as_far_as_loads_allow(
    shards: int, weights: dict[str, float], later: dict[str, float], slack: float
) -> None:
    held = assign(shards, weights, slack=slack)
    assert assign(shards, weights, slack=slack, held=held) == held
    after = assign(shards, later, slack=slack, held=held)
    within(after, later, slack)
    # What must move: what its agent has no more room for, and what others must have at least.
    loads, total = Counter(held), sum(later.values())
    over = under = 0
    for name in loads | Counter(later.keys()):
        share = shards * later.get(name, 0.0) / total
        over += max(0, loads[name] - math.ceil(slack * share - 1e-9))
        under += max(0, math.floor(share / slack + 1e-9) - loads[name])
    assert max(over, under) <= moved(held, after) <= over + under


@pytest.mark.parametrize(("shards", "agents"), [(1024, 2), (1024, 10), (1024, 60), (4096, 100)])
def test_a_join_moves_a_share_and_a_leave_what_it_had(shards: int, agents: int) -> None:
    before = assign(shards, equal(agents))
    share = shards / (agents + 1)
    joined = assign(shards, equal(agents + 1), held=before)
    assert 0.9 * math.floor(share) <= moved(before, joined) <= 1.25 * math.ceil(share)
    fewer = {name: weight for name, weight in equal(agents).items() if name != "a-2"}
    assert (
        before.count("a-2") <= moved(before, assign(shards, fewer, held=before)) <= 1.25 * before.count("a-2")
    )


@pytest.mark.parametrize("agents", [2, 4, 10])
def test_from_names_alone_a_join_moves_little_more_than_a_share(agents: int) -> None:
    before, after = assign(1024, equal(agents)), assign(1024, equal(agents + 1))
    share = 1024 / (agents + 1)
    assert 0.9 * share <= moved(before, after) <= 1.5 * share
    new = f"a-{agents + 1}"
    assert after.count(new) >= 0.8 * moved(before, after)


def test_more_weight_more_shards() -> None:
    loads = Counter(assign(1024, {"a-1": 1.0, "a-2": 3.0}))
    assert 2.7 <= loads["a-2"] / loads["a-1"] <= 3.3


def test_a_shard_may_go_to_one_it_likes_little() -> None:
    # Everyone has room for one, so that the last shards must look beyond the agents ranked in advance.
    agents = RANKED * 3
    assert sorted(assign(agents, equal(agents), slack=1.0)) == sorted(equal(agents))


@pytest.mark.slow
def test_a_thousand_agents_take_moments() -> None:
    weights = equal(1000)
    within(assign(16_384, weights), weights, 1.05)


@pytest.mark.parametrize(
    ("weights", "slack"), [({}, 1.05), ({"a": 0.0}, 1.05), ({"a": math.inf}, 1.05), ({"a": 1.0}, 0.9)]
)
def test_nonsense_is_refused(weights: dict[str, float], slack: float) -> None:
    with pytest.raises(ValueError, match="assign needs"):
        assign(8, weights, slack=slack)
