"""What is typed with a mistake brings the titles that may have been meant; what is like no title brings none."""

from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("tantivy", reason="the extra `search` is not installed")

from search_tables import Page, indexed

from gossamer.search.searching import Searching

TITLES = ("The lighthouse keeper", "Kettle", "Der Leuchtturm", "年度总结", "Call of C++", "Fox")


@pytest.fixture(scope="module")
def searching(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Searching]:
    crawl: Path = tmp_path_factory.mktemp("crawl")
    languages = {"Der Leuchtturm": "de", "年度总结": "zh"}
    indexed(
        crawl,
        [
            Page(f"http://h/{at}", "text", title, languages.get(title, "en"))
            for at, title in enumerate(TITLES)
        ],
    )
    (crawl / "crawl.toml").touch()
    (crawl / "state").mkdir()
    with Searching([crawl]) as one:
        yield one


@pytest.mark.parametrize(
    ("typed", "titles"),
    [
        ("kettel", ["Kettle"]),  # two letters swapped
        ("ketle", ["Kettle"]),  # one that is missing
        ("kebtle", ["Kettle"]),  # another
        ("kebtel", []),  # two mistakes in a short word
        ("lihgthousse", ["The lighthouse keeper"]),  # two in a long one
        ("lihgthousse kepeer", ["The lighthouse keeper"]),
        ("lihgthousse kettel", []),  # no title has words like both
        ("leuchturm", ["Der Leuchtturm"]),
        ("fix", []),  # short words are as they are
        ("总年", []),
        ("", []),
        ("+++", []),
        ("q" * 300, []),
        ("http://h/x", []),
    ],
)
def test_titles_that_may_have_been_meant(searching: Searching, typed: str, titles: list[str]) -> None:
    assert [one.title for one in searching.suggest(typed)] == titles


def test_what_goes_on_as_typed_comes_alone(searching: Searching) -> None:
    assert [one.title for one in searching.suggest("kett")] == ["Kettle"]
    assert [one.title for one in searching.suggest("le")] == ["Der Leuchtturm"]
