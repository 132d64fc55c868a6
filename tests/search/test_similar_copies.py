"""Copies of given texts: the pages that hold passages of them, and where."""

import random
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("pyarrow", reason="the extra `documents` is not installed")

from tests.search.similar_world import documents, edited, text_of, write_tables

from gossamer.search.similar.answers import SimilarPages
from gossamer.search.similar.copies import Given, copies_of
from gossamer.search.similar.following import SimilarFollower
from gossamer.search.similar.words import words


def _pages(crawl: Path, texts: list[tuple[str, str]]) -> SimilarPages:
    crawl.mkdir(parents=True)
    write_tables(crawl, documents(texts))
    follower = SimilarFollower(crawl)
    follower.catch_up(lambda: False)
    follower.close()
    return SimilarPages([crawl])


def test_a_passage_is_found_with_its_places(tmp_path: Path) -> None:
    original = text_of(1, 400)
    passage = " ".join(original.split(" ")[100:160])
    host = f"{text_of(2, 120)}\n{passage}\n{text_of(3, 80)}"
    pages = _pages(
        tmp_path / "c", [*((f"http://h/{n}", text_of(50 + n)) for n in range(60)), ("http://h/host", host)]
    )
    (found,) = pages.copies(original)
    assert (found.url, found.title) == ("http://h/host", "of http://h/host")
    (copied,) = found.passages
    assert 60 <= copied.words <= 62, "words next to it may be common ones"
    assert passage in copied.text
    assert host[copied.page_start : copied.page_end] == copied.text
    assert passage in original[copied.start : copied.end]
    assert 0.1 < found.containment < 0.2
    assert found.resemblance < 0.15
    assert pages.copies(text_of(4, 400)) == []


def test_words_that_were_changed_within_a_passage_do_not_hide_it(tmp_path: Path) -> None:
    original = text_of(1, 300)
    words_of = original.split(" ")
    taken = words_of[50:150]
    taken[48] = "another"
    taken[60:62] = ["and", "something", "more"]
    host = f"{text_of(2, 100)} {' '.join(taken)} {text_of(3, 100)}"
    (found,) = _pages(tmp_path / "c", [("http://h/host", host)]).copies(original)
    (copied,) = found.passages
    assert 95 <= copied.words <= 99
    assert copied.text.startswith(" ".join(taken[:40]))


def test_offsets_are_those_of_the_text_itself_where_folding_changes_its_length(tmp_path: Path) -> None:
    passage = " ".join(f"Straße{n} ﬁnd{n} ①② co\u00adop e\u0301t\u00e9{n}" for n in range(15))
    host = f"İstanbul ﬀ {text_of(2, 50)} {passage}. {text_of(3, 50)}"
    original = f"ẞ vorher {passage.upper()} ende"
    (found,) = _pages(tmp_path / "c", [("http://h/host", host)]).copies(original)
    (copied,) = found.passages
    assert copied.text == passage
    assert original[copied.start : copied.end] == passage.upper()


def test_chinese_is_found_by_its_characters(tmp_path: Path) -> None:
    passage = "".join(chr(0x4E00 + (number * 7919) % 5000) for number in range(80))
    other = "".join(chr(0x4E00 + (number * 104_729) % 5000) for number in range(80))
    pages = _pages(tmp_path / "c", [("http://h/zh", f"前言。{passage}。后记"), ("http://h/other", other)])
    (found,) = pages.copies(f"引用\uff1a{passage}")
    assert (found.url, found.passages[0].text) == ("http://h/zh", passage)


def test_a_page_that_resembles_is_found_without_a_passage_and_a_short_text_by_the_same(
    tmp_path: Path,
) -> None:
    text = text_of(1, 300)
    pages = _pages(
        tmp_path / "c",
        [
            ("http://h/edited", edited(text, 0.035, 1)),
            ("http://h/short", "Not found!"),
            ("http://h/empty", ""),
            ("http://h/longer", "Not found here"),
        ],
    )
    (found,) = pages.copies(text, least=290)
    assert (found.url, found.passages) == ("http://h/edited", ())
    assert found.resemblance >= 0.6
    assert [one.url for one in pages.copies("not  FOUND")] == ["http://h/short"]
    for nothing in ("", "  \n", "..."):
        assert pages.copies(nothing) == []


def test_the_last_capture_of_a_page_counts_and_the_page_itself_does_not(tmp_path: Path) -> None:
    text = text_of(1, 300)
    pages = _pages(
        tmp_path / "c",
        [
            ("http://h/a", text),
            ("http://h/b", text),
            ("http://h/a", text_of(2)),
            ("http://h/c", text_of(3)),
            ("http://h/c", text),
        ],
    )
    assert [one.url for one in pages.copies(text)] == ["http://h/b", "http://h/c"]
    assert [one.url for one in pages.copies(text, itself="http://h/b")] == ["http://h/c"]
    assert pages.text_of("http://h/a") == text_of(2)
    assert pages.text_of("http://h/nothing") is None


def test_several_crawls_are_looked_through_together(tmp_path: Path) -> None:
    text = text_of(1, 300)
    for name in "ab":
        _pages(tmp_path / name, [(f"http://{name}/", text), (f"http://{name}/2", edited(text, 0.01, 2))])
    pages = SimilarPages([tmp_path / "a", tmp_path / "nothing", tmp_path / "b"])
    assert {one.url for one in pages.copies(text)} == {"http://a/", "http://a/2", "http://b/", "http://b/2"}
    assert pages.counts().near_duplicates == 4


def test_clusters_go_across_the_agents_of_a_crawl(tmp_path: Path) -> None:
    """The same clusters as if one had crawled it all; what is in doubt is compared by the texts of both."""
    chance = random.Random(3)
    texts = []
    for number in range(40):
        text = text_of(number, chance.randrange(40, 300))
        texts.append((f"http://a/{number}", text))
        if number % 2:
            texts.append(
                (f"http://b/{number}", edited(text, chance.choice([0.01, 0.04, 0.055, 0.07]), number))
            )
        if number % 5 == 0:
            texts.append((f"http://c/{number}", text))
    whole = _pages(tmp_path / "whole", texts)
    agents = []
    for name in "abc":
        agents.append(tmp_path / name)
        _pages(agents[-1], [one for one in texts if one[0].startswith(f"http://{name}/")])
    apart = SimilarPages(agents)

    def told(pages: SimilarPages) -> set[frozenset[str]]:
        return {frozenset(page.url for page in one.pages) for one in pages.clusters(1000, 1000)}

    assert len(told(whole)) > 15
    assert told(apart) == told(whole)
    rows = list(apart.near_duplicates())
    assert len(rows) == apart.counts().near_duplicates == whole.counts().near_duplicates
    clusters = {row.cluster for row in rows}
    assert all({row.url for row in rows if row.cluster == one} in told(whole) for one in clusters)
    assert clusters <= {row.url for row in rows}


@settings(max_examples=25, deadline=None)
@given(st.lists(st.sampled_from("ab"), max_size=120), st.lists(st.sampled_from("ab"), max_size=120))
def test_passages_are_common_words_in_both_texts(one: list[str], other: list[str]) -> None:
    from gossamer.search.similar.copies import _passages

    mine, theirs = Given(" ".join(one)), Given(" ".join(other))
    for passage in _passages(mine, theirs, 1):
        here = words(mine.text[passage.start : passage.end]).hashes.tolist()
        there = words(passage.text).hashes.tolist()
        assert passage.words <= min(len(here), len(there))
        assert here[:5] == there[:5]
        assert here[-5:] == there[-5:]


def test_texts_that_repeat_themselves_take_no_longer(tmp_path: Path) -> None:
    """Each word of the given text is looked at once, whatever the page repeats."""
    began = time.process_time()
    for number, text in enumerate(("a " * 100_000, "a b " * 50_000, "x " * 50_000 + "y " * 50_000)):
        assert Given(text).set.size < 10
        (found,) = _pages(tmp_path / str(number) / "c", [("http://h/", text + "end")]).copies(text)
        assert found.containment == 1.0
    assert time.process_time() - began < 30


def test_copies_of_needs_no_more_than_an_index(tmp_path: Path) -> None:
    from gossamer.search.similar.state import FOLDER
    from gossamer.search.similar.store import opened
    from gossamer.search.similar.texts import Tables

    text = text_of(1)
    _pages(tmp_path / "c", [("http://h/", text)])
    index = opened(tmp_path / "c" / FOLDER)
    assert index is not None
    (found,) = copies_of(Given(text), index[1], Tables(tmp_path / "c" / "documents"))
    assert (found.resemblance, found.containment) == (1.0, 1.0)
