"""Pages that lead to new ones weigh what their last changes brought."""

import pytest

from gossamer.policy.revisit import classes
from gossamer.policy.revisit.history import History, unpack
from gossamer.policy.revisit.hubs import brings_after


def through(changes: list[int], brings: int = 1) -> int:
    """What a page brings after some changes, remembered as its history does."""
    for brought in changes:
        brings = unpack(History(0, 0, brings=brings_after(brings, brought)).pack()).brings
    return brings


@pytest.mark.parametrize("brought", [0, 1, 2, 5, 20, 100])
def test_what_each_change_brings_is_what_it_weighs_in_the_end(brought: int) -> None:
    for start in (1, 128):
        assert max(1, brought) / 2 <= through([brought] * 12, start) <= 2 * max(1, brought)


def test_one_that_brings_nothing_any_more_is_any_page() -> None:
    assert through([20] * 5) >= 16
    assert through([20] * 5 + [0] * 8) == 1


def test_it_is_bounded() -> None:
    assert through([10**9] * 9) == 128


@pytest.mark.parametrize(
    ("brings", "brought", "after"),
    [
        (1, 0, 1), (1, 1, 1), (1, 2, 2), (1, 5, 4), (1, 20, 16), (8, 8, 8), (8, 0, 4), (4, 0, 2), (128, 10**9, 128),
        (64, 200, 128), (64, 128, 128),
    ],
)  # fmt: skip
def test_six_tenths_of_the_last_change_to_the_nearest_power_of_two(
    brings: int, brought: int, after: int
) -> None:
    assert brings_after(brings, brought) == after


def test_fixed_intervals_have_no_weight() -> None:
    assert classes.weight(classes.fixed(3_600.0)) == 1.0
