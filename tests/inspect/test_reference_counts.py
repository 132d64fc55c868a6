"""The file in which one URL's count is found at once."""

import pytest

from gossamer.inspect.archive.reference_counts import FILE, line_of, references, write

COUNTS = {f"https://example.org/{number}": number + 1 for number in range(1_000)}


@pytest.mark.parametrize("size", [0, 1, 2, 3, 1_000])
def test_each_count_is_found_and_no_other(tmp_path, size):
    counts = dict(list(COUNTS.items())[:size])
    write(sorted(line_of(url.encode(), pages) for url, pages in counts.items()), tmp_path)
    for url, pages in COUNTS.items():
        assert references(tmp_path, url).pages == (pages if url in counts else 0)


def test_where_nothing_was_counted_nothing_is_known(tmp_path):
    assert references(tmp_path, "https://example.org/") is None
    (tmp_path / FILE).write_bytes(b"nonsense, and of no length that there could be" * 3)
    known = references(tmp_path, "https://example.org/")
    assert known is None or known.pages == 0
