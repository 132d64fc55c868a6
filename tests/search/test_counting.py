"""A page that several crawls have counts once, in the sum and among the facets; a folder is searched once."""

import shutil
from pathlib import Path

import pytest
from search_tables import Page, indexed

pytest.importorskip("tantivy", reason="the extra `search` is not installed")

from gossamer.inspect.lag import Lag
from gossamer.search import counting, searching
from gossamer.search.searching import Results, Searching

PAGES = [
    Page(
        f"http://{'ab'[n % 2]}.org/{n}",
        "A fox.",
        f"Fox {n}",
        language="en" if n % 3 else "",
        type="text/html" if n % 5 else "application/pdf",
        published=f"202{n % 4}-05-01",
    )
    for n in range(40)
]
SECOND = [*PAGES[10:30], *(Page(f"http://c.org/{n}", "Another fox.") for n in range(5))]
UNION = [*PAGES, *SECOND[20:]]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("crawls")
    for name, pages in {"first": PAGES, "second": SECOND, "union": UNION}.items():
        indexed(root / name, pages).texts.close()
    return root


@pytest.fixture(autouse=True)
def _tables_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(searching, "parts_of", lambda folder: [folder])
    monkeypatch.setattr(searching, "_lag", lambda _: Lag("words"))


def _asked(*folders: Path, query: str = "fox", offset: int = 0) -> Results:
    with Searching(folders) as several:
        return several.search(query, limit=50, offset=offset, facets=True)


def test_what_two_crawls_have_is_counted_as_if_it_were_one_crawl(made: Path) -> None:
    alone = _asked(made / "union")
    together = _asked(made / "first", made / "second")
    assert (together.total, together.estimated) == (alone.total, False) == (len(UNION), False)
    assert together.facets == alone.facets
    assert len(together.hits) == together.total
    assert not _asked(made / "first", made / "second", offset=50).hits
    assert _asked(made / "first", made / "second", query="another").total == 5, "only one answers"


def test_a_folder_that_is_given_twice_is_searched_once(made: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(made / "first")
    alone, twice = _asked(made / "first"), _asked(made / "first", made / "first", tmp_path / "link")
    assert (twice.total, twice.documents, twice.facets) == (alone.total, len(PAGES), alone.facets)
    assert not any(hit.also for hit in twice.hits)


def test_of_many_the_sum_is_an_estimate_and_says_so(
    made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(counting, "COUNTED", 10)
    together = _asked(made / "first", made / "second")
    assert (together.total, together.estimated) == (len(UNION), True), "the whole of them was the sample"
    assert {one.value: one.count for one in together.facets["site"]}["a.org"] >= 20
    monkeypatch.setattr(counting, "SAMPLE", 5)
    shutil.copytree(made / "first", tmp_path / "copy")
    assert _asked(made / "first", tmp_path / "copy").total == len(PAGES)
    assert not _asked(made / "first").estimated, "of one crawl all is known"
