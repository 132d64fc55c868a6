"""What people ask for, and what comes of it: words, phrases, filters, languages, folding."""

from collections.abc import Callable
from pathlib import Path

import pytest
from odd_pages import PAGES
from search_world import Ran, Search, assert_plain, path_of

FOXES = {"/fox", "/fox-again", "/fox-same"}


def test_words_are_found_and_the_snippet_shows_them(ask: Search) -> None:
    found = ask("kettle copper")
    assert found.paths[0] == "/shop/product-123.html"
    hit = found.hits[0]
    assert hit["title"] == "Kettle"
    assert "copper" in str(hit["snippet"])


def test_a_hit_has_all_the_words(ask: Search) -> None:
    assert set(ask("almanac cold").paths) == {"/2019"}


@pytest.mark.parametrize(
    ("query", "paths"),
    [
        ('"cold spring"', {"/2019"}),
        ('"spring cold"', set()),
        ('"cold spring" almanac', {"/2019"}),
        ('almanac "late harvest"', {"/2019"}),
        ('"to be or not to be"', {"/to-be"}),
        ('"A Kettle OF Copper"', {"/shop/product-123.html"}),
    ],
)
def test_phrases(ask: Search, query: str, paths: set[str]) -> None:
    assert set(ask(query).paths) == paths


@pytest.mark.parametrize(
    ("query", "paths"),
    [
        ("zyzzogeton", {"/report.pdf", "/notes.txt", "/minutes.docx", "/insect"}),
        ("zyzzogeton type:pdf", {"/report.pdf"}),
        ("zyzzogeton type:html", {"/insect"}),
        ("type:pdf", {"/report.pdf"}),
        ("type:pdf zyzzogeton census", {"/report.pdf"}),
        ("zyzzogeton site:127.0.0.1", {"/report.pdf", "/notes.txt", "/minutes.docx", "/insect"}),
        ("zyzzogeton site:example.org", set()),
        ("lang:de", {"/de"}),
        ("Leuchtturm lang:de", {"/de"}),
        ("Leuchtturm lang:fr", set()),
        ("title:kettle", {"/shop/product-123.html", "/shop/product-77.html?colour=red&size=[1]"}),
        ("title:kettle red", {"/shop/product-77.html?colour=red&size=[1]"}),
        ("title:copper", set()),
        ("title:insect type:html lang:en site:127.0.0.1", {"/insect"}),
        ("almanac after:2999-01", set()),
    ],
)
def test_filters(ask: Search, query: str, paths: set[str]) -> None:
    assert set(ask(query).paths) == paths


def test_after_a_month_are_those_of_it(ask: Search) -> None:
    assert "/2026" in ask("almanac after:2026-01").paths
    assert "/2026" in ask("almanac after:2026-01-15").paths
    assert "/2026" in ask("almanac after:2026").paths


@pytest.mark.parametrize(
    ("query", "path"),
    [
        ("报告", "/zh"),
        ("数据库", "/zh"),
        ("図書館", "/ja"),
        ("検索", "/ja"),
        ("도서관", "/ko"),
        ("검색", "/ko"),
    ],
)
def test_words_inside_sentences_without_blanks(ask: Search, query: str, path: str) -> None:
    assert ask(query).paths == [path]


@pytest.mark.parametrize(
    ("query", "path", "marked"),
    [
        ("年度报告如何查询", "/zh", "年度报告"),
        ("数据库missing", "/zh", "数据库"),
        ("市立図書館の時間", "/ja", "市立図書館"),
        ("시립도서관시간", "/ko", "시립도서관"),
    ],
)
def test_of_a_sentence_without_blanks_that_no_page_has_some_is_enough(
    ask: Search, query: str, path: str, marked: str
) -> None:
    found = ask(query)
    assert found.paths[0] == path
    assert "these have some" in found.ran.err
    hit = found.hits[0]
    assert marked in [hit["snippet"][start:end] for start, end in hit["marked"]], "in one, not pair by pair"
    assert ask(f'"{query}"').paths == [], "in quotation marks it is that or nothing"


@pytest.mark.parametrize(
    ("query", "path"),
    [
        ("kettles", "/shop/product-123.html"),
        ("singing kettle", "/shop/product-123.html"),
        ("Leuchttürme", "/de"),
        ("Haus Dorf", "/de"),
        ("chevaux", "/fr"),
        ("мельницами", "/ru"),
        ("canciones", "/es"),
    ],
)
def test_other_forms_of_a_word(ask: Search, query: str, path: str) -> None:
    assert path in ask(query).paths


@pytest.mark.parametrize(
    ("query", "path"),
    [
        ("KETTLE", "/shop/product-123.html"),
        ("caf\u00e9", "/marks"),
        ("cafe\u0301", "/marks"),
        ("cafe", "/marks"),
        ("naive", "/marks"),
        ("\u00c5ngstr\u00f6m", "/marks"),
        ("Платон Πλάτων", "/mixed"),
        ("Πλάτων", "/mixed"),
        ("مرحبا", "/mixed"),
        ("שלום", "/mixed"),
        ("strasse", "/turkish"),
        ("\uff4b\uff45\uff54\uff54\uff4c\uff45", "/shop/product-123.html"),
        ("foo_bar", "/code"),
        ("std::vec", "/code"),
        ("ada@example.org", "/code"),
        ("1.2.3", "/code"),
        ("badger 🦡", "/emoji"),
    ],
)
def test_one_word_has_many_spellings(ask: Search, query: str, path: str) -> None:
    if query.startswith("Платон"):
        query = query.partition(" ")[2]
    assert path in ask(query).paths


def test_near_duplicates_and_twins_are_one_hit(ask: Search) -> None:
    for query in ("boathouse", '"quick brown fox"', "title:gloves fox"):
        found = ask(query)
        assert len(FOXES & set(found.paths)) == 1, query
        (hit,) = (each for each in found.hits if path_of(each["url"]) in FOXES)
        assert hit["similar"] == 2, "it is said how many it stands for"


def test_what_only_a_near_duplicate_links_to_is_found(ask: Search) -> None:
    assert ask("pangolin").paths == ["/only-from-the-copy"]


def test_what_no_page_says_is_no_hit(ask: Search) -> None:
    found = ask("wolf")
    assert not {"/old", "/gone", "/loop", "/robots.txt"} & set(found.paths), (
        "redirects and errors are no pages"
    )
    assert {"/script", "/terminal", "/bidi", "/formula"} == set(found.paths)


def test_titles_of_pages_without_text(ask: Search) -> None:
    assert ask("silence of pictures").paths[0] == "/silence"


def test_titles_are_found_first(ask: Search) -> None:
    assert ask("Gloves").paths[0] == "/gloves"
    for path in ("/de", "/2026", "/insect", "/emoji", "/zh", "/ru"):
        title = PAGES[path].body.decode().partition("<title>")[2].partition("</title>")[0]
        assert ask(title).paths[0] == path


def test_facets_count_the_hits(ask: Search) -> None:
    found = ask("zyzzogeton")
    assert found.total == 4
    assert sum(found.facets["type"].values()) == 4
    assert found.facets["site"] == {"127.0.0.1": 4}
    assert max(found.facets["language"].values()) >= 3


@pytest.mark.parametrize(
    ("pattern", "paths"),
    [
        ("*/product-*", {"/shop/product-123.html", "/shop/product-77.html?colour=red&size=[1]"}),
        ("*.pdf", {"/report.pdf"}),
        ("*size=?1?", {"/shop/product-77.html?colour=red&size=[1]"}),
        ("*nowhere*", set()),
    ],
)
def test_addresses_by_pattern(ask: Search, pattern: str, paths: set[str]) -> None:
    assert set(ask(f"url:{pattern}").paths) == paths


def test_hits_in_pages(ask: Search) -> None:
    everything = ask("site:127.0.0.1", "--limit", "1000").paths
    assert len(everything) == len(set(everything))
    assert ask("site:127.0.0.1", "--limit", "3").paths == everything[:3]


def test_for_people(library: Path, here: Callable[..., Ran]) -> None:
    ran = here("search", library, "kettle")
    assert ran.code == 0
    assert_plain(ran)
    assert "/shop/product-123.html" in ran.out
    assert "copper" in ran.out


def test_nothing_found_is_said(library: Path, here: Callable[..., Ran]) -> None:
    ran = here("search", library, "xylophonists")
    assert ran.code in (0, 1)
    assert (ran.out + ran.err).strip()
    assert_plain(ran)


@pytest.mark.parametrize("query", ["((((", ")))", '"', '""', "()", "OR", "OR OR", "-()", "!?", "- -"])
def test_signs_alone_are_no_question(library: Path, here: Callable[..., Ran], query: str) -> None:
    ran = here("search", library, "--", query)
    assert (ran.code, ran.out) == (2, "")
    assert "nothing to look for" in ran.err


def test_asking_changes_nothing(library: Path, ask: Search) -> None:
    def files() -> dict[Path, tuple[int, int]]:
        return {
            path: (path.stat().st_mtime_ns, path.stat().st_size)
            for part in ("archive", "documents", "search")
            for path in (library / part).rglob("*")
            if path.is_file() and "lock" not in path.name.lower()
        }

    before = files()
    ask("kettle")
    assert files() == before
