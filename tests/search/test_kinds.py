"""What documents are, in queries: `type:text` are plain texts."""

from pathlib import Path

import pytest
from search_tables import Page, found, indexed

from gossamer.cli.search import _called
from gossamer.search.text.reader import Reader

pytest.importorskip("tantivy", reason="the extra `search` is not installed")

PAGES = [
    Page("http://a/page", "A fox.", "Fox"),
    Page("http://a/notes.txt", "A fox.", "Fox", type="text/plain"),
    Page("http://a/notes.md", "A fox.", "Fox", type="text/markdown"),
    Page("http://a/table.csv", "A fox.", "Fox", type="text/csv"),
    Page("http://a/photo.png", "A fox.", "Fox", type="image/png"),
]


CODE = [
    Page("http://a/fox.css", "fox { color: red }", "", type="text/css"),
    Page("http://a/fox.js", "let fox = 1", "", type="application/javascript"),
]


@pytest.mark.parametrize(
    ("query", "pages"),
    [
        ("fox", {0, 1, 2, 3, 4}),
        ("fox -type:pdf", {0, 1, 2, 3, 4}),
        ("*", {0, 1, 2, 3, 4}),
        ("fox type:css", {5}),
        ("fox (type:js OR type:md)", {2, 6}),
        ("type:code", {5, 6}),
        ("type:text/css", {5}),
        ("url:*.js", {6}),
    ],
)
def test_what_is_written_for_browsers_is_found_by_type_and_address_alone(
    code: Reader, query: str, pages: set[int]
) -> None:
    assert {*found(code, query)} == {[*PAGES, *CODE][page].url for page in pages}


@pytest.fixture(scope="module")
def code(tmp_path_factory: pytest.TempPathFactory) -> Reader:
    """All of it, indexed."""
    return indexed(tmp_path_factory.mktemp("code"), [*PAGES, *CODE])


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


@pytest.mark.parametrize(
    ("media_type", "called"),
    [
        ("text/html", "html"),
        ("application/vnd.openxmlformats-officedocument.wordprocessingml.document", "word"),
        ("application/vnd.oasis.opendocument.text", "odf"),
        ("text/x-python", "text"),
        ("image/svg+xml", "svg+xml"),
        ("application/x-odd", "x-odd"),
        ("", ""),
    ],
)
def test_a_hit_is_called_what_finds_it(media_type: str, called: str) -> None:
    assert _called(media_type) == called
