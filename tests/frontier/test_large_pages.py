"""Large pages: which memory is new, and that what stands in it is left alone."""

import mmap
import operator

from hypothesis import given
from hypothesis import strategies as st
from rbloom import Bloom

from gossamer.frontier.seen import large_pages
from gossamer.frontier.seen.large_pages import on_large_pages

SIZE = 8 << 20


def spans(edges):
    numbers = sorted(edges)
    return list(zip(numbers[::2], numbers[1::2], strict=False))


@given(st.sets(st.integers(0, 40)), st.sets(st.integers(0, 40)))
def test_what_was_added_is_what_was_not_there(before, after):
    before, after = spans(before), spans(after)
    cells = lambda rows: {cell for start, end in rows for cell in range(start, end)}  # noqa: E731
    added = list(large_pages._added(before, after))
    assert cells(added) == cells(after) - cells(before)
    assert all(start < end for start, end in added)


def test_a_new_block_is_found(monkeypatch):
    found = []
    real = large_pages._added
    monkeypatch.setattr(large_pages, "_added", lambda *both: found.extend(real(*both)) or found)
    block = on_large_pages(lambda: mmap.mmap(-1, SIZE, flags=mmap.MAP_PRIVATE), SIZE)
    assert max(end - start for start, end in found) >= SIZE
    block.close()


def test_a_filter_stays_what_it_is():
    def make():
        made = Bloom(1_000_000, 1e-6, operator.index)
        made.update(range(1_000))
        return made

    made = on_large_pages(make, 3 << 20, filled=True)
    assert all(number in made for number in range(1_000))
    assert made == make()


def test_without_large_pages_or_proc_nothing_happens(monkeypatch, tmp_path):
    monkeypatch.setattr(large_pages, "_MAPS", tmp_path / "none")
    assert on_large_pages(lambda: 1, 0) == 1
    monkeypatch.delattr(mmap, "MADV_HUGEPAGE", raising=False)
    assert on_large_pages(lambda: 2, 0) == 2
