"""What documents are, in queries: `type:text` are plain texts."""

from pathlib import Path

import pytest
from search_tables import Page, found, indexed

pytest.importorskip("tantivy", reason="the extra `search` is not installed")

PAGES = [
    Page("http://a/page", "A fox.", "Fox"),
    Page("http://a/notes.txt", "A fox.", "Fox", type="text/plain"),
    Page("http://a/notes.md", "A fox.", "Fox", type="text/markdown"),
    Page("http://a/table.csv", "A fox.", "Fox", type="text/csv"),
    Page("http://a/photo.png", "A fox.", "Fox", type="image/png"),
]


def test_text_is_no_half_of_a_media_type(tmp_path: Path) -> None:
    reader = indexed(tmp_path, PAGES)
    for query, pages in {
        "type:text": {1},
        "type:txt": {1},
        "fox type:TEXT": {1},
        "-type:text": {0, 2, 3, 4},
        "type:html,text": {0, 1},
        "type:text/plain": {1},
        "type:text/html": {0},
        "type:image": {4},
        "type:md,csv": {2, 3},
    }.items():
        assert {*found(reader, query)} == {PAGES[page].url for page in pages}, query
