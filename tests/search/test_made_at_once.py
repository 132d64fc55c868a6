"""What a search finds depends on the documents alone: not on how they came, and not on what was killed meanwhile."""

import random
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from unittest import mock

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from search_tables import Page, Tables, bring, indexed

pytest.importorskip("tantivy", reason="the extra `search` is not installed")

from gossamer.search.query.parser import read_query
from gossamer.search.text import store
from gossamer.search.text.kept import Kept, write_kept
from gossamer.search.text.reader import Reader
from gossamer.search.text.store import TextIndex

WORDS = [
    "fox",
    "dog",
    "river",
    "house",
    "runs",
    "quickly",
    "nights",
    "the",
    "and",
    "Fuchs",
    "Häuser",
    "maison",
    "rivières",
    "学校的",
]
QUERIES = ["fox", "fox dog", "the fox", '"fox dog"', "fox OR river", "runs -dog", "ri*", "*", "", "url:*/1*", "type:html",
           "lang:de häuser", "site:h1 fox", "title:copy", "nights after:2026-01-15", "学校"]  # fmt: skip


def _pages(count: int, seed: int) -> list[Page]:
    """Of URLs that differ: originals, and many copies, all dated by themselves."""
    chance = random.Random(seed)
    made: list[Page] = []
    for number in range(count):
        url = f"http://h{number % 3}/{number:0{chance.choice([1, 5])}}"
        day = f"2026-01-{chance.randrange(1, 29):02}"
        if made and chance.random() < 0.5:
            other = chance.choice(made)
            made.append(Page(url, other.text, other.title, other.language, published=day))
        else:
            text = " ".join(chance.choices(WORDS, k=chance.randrange(1, 60)))
            language = chance.choice(["en", "en", "de", "fr", "zh", ""])
            made.append(Page(url, text, chance.choice(["copy", "fox", ""]), language, published=day))
    return made


def _answers(crawl: Path, most: int, told: Callable[[list[str]], object]) -> list[object]:
    reader = Reader(crawl)
    try:
        found: list[object] = [reader.languages, reader.documents]
        for query in QUERIES:
            for some in (False, True):
                asked = read_query(query)
                count, hits = reader.find(asked, most, some=some)
                found += [query, count, told([hit.document.url for hit in hits]), reader.facets(asked, 100)]
        return found
    finally:
        reader.close()


class _KilledError(BaseException):
    pass


def _followed(crawl: Path, pages: Sequence[Page], chance: random.Random) -> None:
    """The index of tables that grow, each of whose commits may be cut off before or after it is done."""
    tables, left = Tables(crawl), [*pages]

    def maybe_killed(folder: Path, kept: Kept, name: str) -> None:
        if chance.random() < 0.2:
            raise _KilledError
        write_kept(folder, kept, name)
        if chance.random() < 0.2:
            raise _KilledError

    while left:
        size = chance.randrange(1, 1 + len(pages) // 2)
        tables.add(left[:size])
        del left[:size]
        with mock.patch.object(store, "ROWS", chance.choice([1, 64, 2_000])):
            _once(crawl, maybe_killed)
    tables.store.close()
    bring(crawl)


def _once(crawl: Path, write: Callable[[Path, Kept, str], None]) -> None:
    index = TextIndex(crawl)
    try:
        with mock.patch.object(store, "write_kept", write):
            index.catch_up()
    except _KilledError:
        pass
    finally:
        with mock.patch.object(TextIndex, "_note_files", lambda self: None):
            index.close()


@pytest.mark.slow
@settings(max_examples=3, deadline=None)
@given(st.integers(0, 10**6))
def test_followed_through_kills_in_any_order_it_answers_as_one_made_at_once(seed: int) -> None:
    chance = random.Random(seed)
    pages = _pages(70, seed)
    with tempfile.TemporaryDirectory() as folder:
        indexed(Path(folder) / "once", pages).close()
        _followed(Path(folder) / "followed", chance.sample(pages, len(pages)), chance)
        for most in (5, 100):
            assert _answers(Path(folder) / "followed", most, list) == _answers(
                Path(folder) / "once", most, list
            )


@settings(max_examples=2, deadline=None)
@given(st.integers(0, 10**6))
def test_replaced_captures_count_no_more_though_they_weigh(seed: int) -> None:
    """Until their segments are merged words of replaced captures count for how rare a word is; so the order may differ."""
    chance = random.Random(seed)
    pages = _pages(40, seed)
    before = [
        Page(page.url, other.text, other.title, other.language) for page, other in _shuffled(pages, chance)
    ]
    with tempfile.TemporaryDirectory() as folder:
        _followed(Path(folder) / "followed", [*before, *pages], chance)
        indexed(Path(folder) / "once", pages).close()
        assert _answers(Path(folder) / "followed", 1_000, sorted) == _answers(
            Path(folder) / "once", 1_000, sorted
        )


def _shuffled(pages: Sequence[Page], chance: random.Random) -> Iterator[tuple[Page, Page]]:
    return zip(pages, chance.sample([*pages], len(pages)), strict=True)


def test_of_equals_the_shortest_url_comes_first(tmp_path: Path) -> None:
    urls = [f"http://h/{'x' * length}{at}" for length in (3, 0, 7) for at in range(200)]
    reader = indexed(tmp_path, [Page(url, "a fox") for url in urls])
    shown = [hit.document.url for hit in reader.find(read_query("fox"), 20)[1]]
    assert {len(url) for url in shown} == {len("http://h/0")} | {len("http://h/00")}
    assert [len(url) for url in shown] == sorted(map(len, shown))
    assert reader.find(read_query("fox"), 600)[1][:20] == reader.find(read_query("fox"), 20)[1]
    reader.close()
