"""Postings against dictionaries."""

from collections import defaultdict
from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from gossamer.search.similar.postings import MOST, latest, merged, postings, sought

KEYS = st.lists(st.sampled_from([0, 1, 5, 2**31, 2**32 - 1]), max_size=300)


def _segments(keys: list[int], cuts: list[int]) -> list[np.ndarray]:
    """Postings of pages 0, 1, ... that have a key each, cut into segments of pages that follow each other."""
    borders = sorted({0, len(keys), *(cut % (len(keys) + 1) for cut in cuts)})
    return [
        postings(np.array(keys[start:end], np.uint32), np.arange(start, end))
        for start, end in pairwise(borders)
    ]


@given(KEYS, st.lists(st.integers(0, 300), max_size=4), st.lists(st.integers(0, 301), min_size=5, max_size=5))
def test_the_first_pages_of_a_key_before_a_page_are_found_however_it_is_cut(
    keys: list[int], cuts: list[int], before: list[int]
) -> None:
    pages = defaultdict(list)
    for page, key in enumerate(keys):
        pages[key].append(page)
    asked = [0, 1, 5, 2**31, 2**32 - 1]
    segments = _segments(keys, cuts)
    whole = [np.concatenate([np.zeros(0, np.uint64), *merged(segments, len(keys), capped=True)])]
    wanted = sorted(
        (row, page)
        for row, (key, end) in enumerate(zip(asked, before, strict=True))
        for page in [page for page in pages[key] if page < end][:MOST]
    )
    for some in (segments, whole):
        rows, found = sought(some, np.array(asked, np.uint32), np.array(before))
        assert sorted(zip(rows.tolist(), found.tolist(), strict=True)) == wanted
    newest = dict.fromkeys(range(5), -1)
    for rows, found in latest(segments, np.array(asked, np.uint32), np.array(before)):
        for row, page in zip(rows.tolist(), found.tolist(), strict=True):
            newest[row] = max(newest[row], page)
    assert newest == {
        row: max((page for page in pages[key] if page < end), default=-1)
        for row, (key, end) in enumerate(zip(asked, before, strict=True))
    }


@given(KEYS, st.lists(st.integers(0, 300), max_size=4), st.integers(0, 300), st.booleans())
def test_merged_is_what_was_there_below_a_page(
    keys: list[int], cuts: list[int], below: int, capped: bool
) -> None:
    found = np.concatenate([np.zeros(0, np.uint64), *merged(_segments(keys, cuts), below, capped=capped)])
    count: dict[int, int] = defaultdict(int)
    wanted = []
    for page, key in enumerate(keys[:below]):
        count[key] += 1
        if not capped or count[key] <= MOST:
            wanted.append(key << 32 | page)
    assert found.tolist() == sorted(wanted)
