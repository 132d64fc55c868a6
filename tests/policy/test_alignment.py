"""Rows are aligned by what occurs once in both, however much differs; between that by the fewest differences."""

import random
from itertools import pairwise

import pytest

from gossamer.policy.change.alignment import Hunk, hunks_of


def test_of_what_occurs_once_the_longest_common_order_stays() -> None:
    """Far beyond what a search by differences may look at."""
    draw = random.Random(3)
    row = list(range(700))
    mixed = draw.sample(row, len(row))
    longest: list[int] = []
    for place, item in enumerate(mixed):
        longest.append(1 + max((longest[at] for at in range(place) if mixed[at] < item), default=0))
    kept = len(row) - sum(hunk.end - hunk.start for hunk in hunks_of(row, mixed))
    assert kept >= max(longest)
    turned = row[300:] + row[:300]
    assert hunks_of(row, turned) == [Hunk(0, 300, 0, 0), Hunk(700, 700, 400, 700)]


def test_each_stretch_that_differs_is_found_among_very_many() -> None:
    before = [f"row {number}" for number in range(1_000)]
    after = [row if number % 2 else f"other {number}" for number, row in enumerate(before)]
    assert hunks_of(before, after) == [Hunk(at, at + 1, at, at + 1) for at in range(0, 1_000, 2)]
    # What occurs twice in one of them is no landmark, and is found all the same.
    twice = [row for number in range(300) for row in ("same", f"row {number}")]
    changed = [row.replace("row", "other") if number % 6 == 1 else row for number, row in enumerate(twice)]
    assert hunks_of(twice, changed) == [Hunk(at, at + 1, at, at + 1) for at in range(1, 600, 6)]


@pytest.mark.parametrize("common", [(), (150,), (0, 299), (1, 298), (100, 200)])
def test_what_occurs_once_is_found_among_more_differences_than_a_search_looks_at(
    common: tuple[int, ...],
) -> None:
    before = ["common" + str(at) if at in common else f"old {at}" for at in range(300)]
    after = ["common" + str(at) if at in common else f"new {at}" for at in range(300)]
    bounds = [-1, *common, 300]
    stretches = [(one + 1, other) for one, other in pairwise(bounds) if one + 1 < other]
    assert hunks_of(before, after) == [Hunk(*each, *each) for each in stretches]


@pytest.mark.parametrize(
    ("before", "after", "hunks"),
    [
        ("", "", []),
        ("a", "a", []),
        ("", "ab", [Hunk(0, 0, 0, 2)]),
        ("ab", "", [Hunk(0, 2, 0, 0)]),
        ("aab", "aacb", [Hunk(2, 2, 2, 3)]),
        ("abab", "baba", [Hunk(0, 1, 0, 0), Hunk(4, 4, 3, 4)]),
        ("aabb", "bbaa", [Hunk(0, 2, 0, 0), Hunk(4, 4, 2, 4)]),
        ("abcabba", "cbabac", None),  # the example of Myers (1986), five differences
        ("xaax", "ybby", [Hunk(0, 4, 0, 4)]),
        ("xaabbx", "yaabby", [Hunk(0, 1, 0, 1), Hunk(5, 6, 5, 6)]),
    ],
)
def test_few_differences_are_found(before: str, after: str, hunks: list[Hunk] | None) -> None:
    found = hunks_of(before, after)
    if hunks is not None:
        assert found == hunks
    differences = sum(hunk.end - hunk.start + hunk.new_end - hunk.new_start for hunk in found)
    assert differences <= _fewest(before, after) + 2
    if before == "abcabba":
        assert differences == 5


def _fewest(one: str, other: str) -> int:
    common = [[0] * (len(other) + 1) for _ in range(len(one) + 1)]
    for at, item in enumerate(one):
        for place, new in enumerate(other):
            common[at + 1][place + 1] = (
                common[at][place] + 1 if item == new else max(common[at][place + 1], common[at + 1][place])
            )
    return len(one) + len(other) - 2 * common[-1][-1]


def test_where_nothing_occurs_once_the_differences_are_the_fewest() -> None:
    draw = random.Random(5)
    for _ in range(150):
        one = "".join(draw.choice("ab") * 2 for _ in range(draw.randrange(2, 9)))
        other = "".join(draw.choice("ab") * 2 for _ in range(draw.randrange(2, 9)))
        found = hunks_of(one, other)
        differences = sum(hunk.end - hunk.start + hunk.new_end - hunk.new_start for hunk in found)
        assert differences - _fewest(one, other) <= 4, (one, other)
        assert all(hunk.start < hunk.end or hunk.new_start < hunk.new_end for hunk in found)


@pytest.mark.parametrize("letters", ["ab", "abcdefgh"])
def test_between_the_stretches_both_rows_are_equal(letters: str) -> None:
    draw = random.Random(7)
    for _ in range(200):
        one, other = ("".join(draw.choices(letters, k=draw.randrange(9))) for _ in range(2))
        at = new_at = 0
        for hunk in [*hunks_of(one, other), Hunk(len(one), len(one), len(other), len(other))]:
            assert one[at : hunk.start] == other[new_at : hunk.new_start], (one, other)
            at, new_at = hunk.end, hunk.new_end
