"""The index holds what the tables hold, whatever happened in between; what is damaged is made anew."""

import shutil
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from search_tables import Page, Tables, bring, everything, found, indexed
from test_query import PIECES

pytest.importorskip("tantivy", reason="the extra `search` is not installed")

from gossamer.config.search_config import SearchConfig
from gossamer.datasets import derived
from gossamer.model.errors import ConfigError, StorageError
from gossamer.search.following import Alongside, Following
from gossamer.search.query.parser import Unreadable, read_query
from gossamer.search.text import store
from gossamer.search.text.asking import read
from gossamer.search.text.kept import Kept, read_kept, write_kept
from gossamer.search.text.reader import Reader
from gossamer.search.text.store import TextIndex

SITE = [
    Page("http://a.example.org/docs/fox.html", "The quick brown fox sleeps.", "Fox", published="2026-01-31"),
    Page(
        "http://example.org:8080/Files/dog.pdf",
        "A lazy dog.",
        "Dog",
        type="application/pdf",
        published="2025-12",
    ),
    Page("http://example.net/", "Der Fuchs schläft.", "Fuchs", language="de-AT", published="not a date"),
    Page(
        "http://127.0.0.1/fox?q=1",
        "fox fox fox fox fox dog",
        "Other",
        markdown="# Badger\n\ntext\n\n## Set of a badger",
    ),
]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Reader:
    return indexed(tmp_path_factory.mktemp("crawl"), SITE)


@pytest.mark.parametrize(
    ("query", "pages"),
    [
        ("fox", [0, 3]),
        ("fox dog", [3]),
        ("fox -dog", [0]),
        ("-fox", [1, 2]),
        ("fuchs OR lazy", [2, 1]),
        ("badger", [3]),
        ("site:example.org", [0, 1]),
        ("site:a.example.org", [0]),
        ("site:org", [0, 1]),
        ("site:example.org/files", [1]),
        ("site:https://example.org:8080/Files/", [1]),
        ("site:127.0.0.1", [3]),
        ("site:0.0.1", []),
        ("type:pdf", [1]),
        ("type:application/pdf", [1]),
        ("filetype:html,pdf", [0, 1, 2, 3]),
        ("lang:de", [2]),
        ("lang:de-at", [2]),
        ("lang:at", []),
        ("title:fox", [0]),
        ("title:f*", []),
        ("title:fo*", [0]),
        ("url:fox", [0, 3]),
        ("url:docs/*.html", [0]),
        ("url:*.PDF", [1]),
        ("url:*fox", []),
        ("url:http://example.net/*", [2]),
        ("after:2026-01 before:2026-02", [0]),
        ("before:2026", [1, 2, 3]),  # what says no date has that of its capture, in 2025
        ("after:2026-01-31", [0]),
        ("http://a.example.org/docs/fox.html", [0]),
        ("example.org/docs", [0]),
        ("zebra", []),
        ("*", [0, 1, 2, 3]),
        ("!!! ???", []),
    ],
)
def test_what_a_query_finds(site: Reader, query: str, pages: list[int]) -> None:
    answers = found(site, query)
    assert sorted(answers) == sorted(SITE[number].url for number in pages)
    if query in ("fox", "fuchs OR lazy"):
        assert answers == [SITE[number].url for number in pages], "a title counts for more"


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.lists(st.sampled_from(PIECES), max_size=30).map("".join))
def test_any_query_can_be_asked(site: Reader, typed: str) -> None:
    from gossamer.search.query.parser import read_query

    try:
        asked = read_query(typed.encode("utf-8", "replace").decode())
    except Unreadable:
        return
    for some in (False, True):
        count, answers = site.find(asked, 3, some=some)
        assert len(answers) <= count


def test_the_newest_capture_of_a_page_stands(tmp_path: Path) -> None:
    tables = Tables(tmp_path)
    tables.add([Page("u", "the old text"), Page("v", "another"), Page("u", "the older newer text")])
    bring(tmp_path)
    tables.add([Page("u", "the newest words"), Page("w")])
    bring(tmp_path)
    reader = Reader(tmp_path)
    assert [found(reader, word) for word in ("old", "older", "newest")] == [[], [], ["u"]]
    assert sorted(found(reader, "")) == ["u", "v", "w"]


def test_in_small_steps_it_is_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pages = [Page(f"u{number % 40}", f"word{number} common") for number in range(100)]
    whole = everything(indexed(tmp_path / "whole", pages))
    monkeypatch.setattr(store, "ROWS", 7)
    tables = Tables(tmp_path / "steps")
    for number in range(0, 100, 5):
        tables.add(pages[number : number + 5])  # parts are merged meanwhile
        if number % 15 == 0:
            bring(tmp_path / "steps")
    bring(tmp_path / "steps")
    assert everything(Reader(tmp_path / "steps")) == whole
    assert bring(tmp_path / "steps") == []


def test_alongside_the_tables_it_is_the_same_and_damage_is_told(tmp_path: Path) -> None:
    pages = [Page(f"u{number % 40}", f"word{number} common") for number in range(60)]
    whole = everything(indexed(tmp_path / "whole", pages))
    tables = Tables(tmp_path / "along")
    following = Following(tmp_path / "along", SearchConfig(similar=False))
    along = Alongside(following, lambda: False)
    for number in range(0, 60, 5):
        tables.add(pages[number : number + 5])
        along.more()
    along.finish()
    assert everything(Reader(tmp_path / "along")) == whole
    tables.add([Page("late", "word")])
    for path in (tmp_path / "along" / derived.FOLDER).glob("documents-*.parquet"):
        path.write_bytes(b"none")
    with pytest.raises(derived.DamagedTables):
        along.finish()
    along.close()
    following.close()


def test_a_reader_sees_what_comes_while_it_is_open(tmp_path: Path) -> None:
    tables = Tables(tmp_path)
    tables.add([Page("u", "first")])
    bring(tmp_path)
    reader = Reader(tmp_path)
    for url, word in (("v", "second"), ("w", "third")):
        tables.add([Page(url, word)])
        bring(tmp_path)
        assert found(reader, word) == []
        reader.refresh()
        reader.refresh()
        assert found(reader, word) == [url]


def test_few_hits_are_the_first_of_many(tmp_path: Path) -> None:
    """Equals too, of which the index may give others first."""
    texts = ["fox", "fox fox", "fox dog cat", "fox", "dog fox", "cat", "fox", "fox fox"] * 4
    reader = indexed(tmp_path, [Page(f"http://h/{'x' * (n % 3)}{n}", text) for n, text in enumerate(texts)])
    whole = reader.find(read("fox"), 100)[1]
    for most in range(1, len(whole) + 2):
        count, hits = reader.find(read("fox"), most)
        assert count == len(whole) == 28
        assert hits == whole[:most]


def test_one_process_writes_at_a_time(tmp_path: Path) -> None:
    Tables(tmp_path).add([Page("u", "words")])
    index = TextIndex(tmp_path)
    try:
        with pytest.raises(ConfigError, match="another process makes this index now"):
            TextIndex(tmp_path)
    finally:
        index.close()


def test_tables_of_other_settings_are_indexed_anew_and_found_until_then(tmp_path: Path) -> None:
    tables = Tables(tmp_path)
    tables.add([Page("u", "before")])
    tables.store.close()
    bring(tmp_path)
    reader = Reader(tmp_path)
    tables = Tables(tmp_path, made_of="others")
    tables.add([Page("u", "afterwards")])

    def seen() -> list[list[str]]:
        reader.refresh()
        return [found(one, word) for one in (reader, Reader(tmp_path)) for word in ("before", "afterwards")]

    old, new = [["u"], []] * 2, [[], ["u"]] * 2
    assert (bring(tmp_path), seen()) == ([], old), "the tables are not whole yet"
    tables.store.publish()
    told: list[str] = []
    with closing(TextIndex(tmp_path, tell=told.append)) as index:
        index.catch_up(lambda: True)
        assert seen() == old, "it was stopped before its end"
    assert "others now" in told[0]
    assert seen() == old
    shutil.copytree(tmp_path, killed := tmp_path.with_name("killed"))
    with closing(TextIndex(tmp_path, tell=told.append)) as index:
        assert index.catch_up() == 0, "it goes on where it stopped"
    assert (seen(), len(told)) == (new, 1)
    assert {path.name for path in (tmp_path / "search").iterdir()} == {"mark.json", "index-2"}
    (killed / "search" / "mark.new.json").write_bytes(b"damaged")
    assert "others now" in bring(killed)[0]
    assert found(Reader(killed), "afterwards") == ["u"]
    tables.store.close()
    tables = Tables(tmp_path, made_of="third")
    tables.add([Page("u", "third")])
    tables.store.publish()
    bring(tmp_path)
    assert found(Reader(tmp_path), "third") == ["u"]
    assert {path.name for path in (tmp_path / "search").iterdir()} == {"mark.json", "index"}


def _apart(path: Path) -> None:
    """Another file of the same content: tantivy maps files, also in threads that end late, and a mapped one that is
    cut kills the process that reads it. Disks damage what nobody has open."""
    content = path.read_bytes()
    path.unlink()
    path.write_bytes(content)


def _flip(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 0x10
    path.write_bytes(content)


def _cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


@pytest.fixture(scope="module")
def fifty(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A crawl with an index of fifty pages, of which one was replaced; to be copied."""
    folder = tmp_path_factory.mktemp("fifty") / "crawl"
    folder.mkdir()
    tables = Tables(folder)
    tables.add([Page(f"u{number}", f"word{number} in common", f"Title {number}") for number in range(50)])
    bring(folder)
    tables.add([Page("u7", "changed in common")])
    bring(folder)
    return folder


@pytest.mark.parametrize("harm", [_flip, _cut, Path.unlink, lambda path: path.write_bytes(b"")])
@pytest.mark.parametrize(
    "kind", ["idx", "pos", "term", "store", "fast", "fieldnorm", "del", "mark.json", "meta.json"]
)
def test_damage_is_noticed_said_and_mended(
    fifty: Path, tmp_path: Path, kind: str, harm: Callable[[Path], object]
) -> None:
    shutil.copytree(fifty, tmp_path, dirs_exist_ok=True)
    whole = everything(Reader(tmp_path))
    harmed = [path for path in (tmp_path / "search").rglob("*") if path.name.endswith(kind)]
    assert harmed
    for path in harmed:
        _apart(path)
        harm(path)
    none = kind == "mark.json" and harm is Path.unlink  # then there is no index yet
    if not none and not (kind == "meta.json" and harm is _flip):  # which may be harmless
        with pytest.raises(StorageError, match=r"'gossamer index .*' makes it anew"):
            Reader(tmp_path)
    told = bring(tmp_path)
    assert all("made anew" in line and "\n" not in line for line in told)
    assert len(told) == (not none) or harm is _flip
    reader = Reader(tmp_path)
    assert everything(reader) == whole
    assert found(reader, "word9") == ["u9"]
    assert len(found(reader, "common")) == 50


def test_an_index_of_another_version_is_made_anew(tmp_path: Path) -> None:
    opened = indexed(tmp_path, [Page("u", "words")])
    mark = tmp_path / "search" / "mark.json"
    kept = read_kept(mark.parent)
    assert kept is not None
    write_kept(mark.parent, msgspec.structs.replace(kept, version=0))
    for look in (lambda: Reader(tmp_path), opened.refresh):
        with pytest.raises(StorageError, match="another version"):
            look()
    assert "another version" in bring(tmp_path)[0]
    assert found(Reader(tmp_path), "words") == ["u"]


@pytest.mark.parametrize("after_commit", [False, True])
def test_killed_around_the_commit_nothing_is_added_twice(
    tmp_path: Path, after_commit: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    tables = Tables(tmp_path)
    tables.add([Page("u", "first")])
    bring(tmp_path)
    tables.add([Page("v", "second"), Page("w", "third")])
    index = TextIndex(tmp_path)
    before = index.mark
    with monkeypatch.context() as patch:
        writes = iter([True, not after_commit])  # the mark that is to come, and that which is there

        def killed(folder: Path, kept: Kept, name: str) -> None:
            if not next(writes) or (not after_commit and kept.next == kept.mark):
                raise _KilledError
            write_kept(folder, kept)
            if not after_commit:
                raise _KilledError

        patch.setattr(store, "write_kept", killed)
        with pytest.raises(_KilledError):
            index.catch_up()
        patch.setattr(TextIndex, "_note_files", lambda self: None)
        index.close()
    again = TextIndex(tmp_path)
    assert (again.mark != before) is after_commit, "the mark of what the index holds"
    assert again.catch_up() == (0 if after_commit else 2)
    again.close()
    assert sorted(found(Reader(tmp_path), "")) == ["u", "v", "w"]


class _KilledError(BaseException):
    pass


TOGETHER = [
    Page("http://h/0", "The variable GIT_DIR names the repository, and foo.bar is a file.", "Together"),
    Page("http://h/1", "A dir that git made stands apart, as foo does, and bar.", "Apart"),
    Page("http://h/2", "Wir geben git und dir den Weg.", "Deutsch", language="de"),
    Page("http://h/3", "Nothing.", "Headings", markdown="# A git and\n\n# A dir\n\ntext"),
]


@pytest.mark.parametrize(
    ("query", "pages"),
    [
        ("GIT_DIR", {0, 2}),
        ("git-dir", {0, 2}),
        ('"git dir"', {0, 2}),
        ("foo.bar", {0}),
        ("git dir", {0, 1, 2, 3}),
    ],
)
def test_words_with_punctuation_within_stand_together(
    tmp_path_factory: pytest.TempPathFactory, query: str, pages: set[int]
) -> None:
    """German texts are kept without `dir`: there, any word may stand in its place; not so in others."""
    reader = indexed(tmp_path_factory.mktemp("crawl"), TOGETHER)
    assert {int(url[-1]) for url in found(reader, query)} == pages


NOTHING = ["q" * 300, "url:[", "e" + "\u20dd" * 3_000, "title:" + "a" * 3_000 + "*", "!?", "-" + "q" * 300,
           "(!? OR [)", f"({'q' * 300})", '"..."']  # fmt: skip


@pytest.mark.parametrize("query", NOTHING)
def test_what_cannot_be_looked_for_finds_nothing_and_it_is_said(site: Reader, query: str) -> None:
    with pytest.raises(Unreadable, match="nothing to look for"):
        read(query)
    assert found(site, query) == []


def test_beside_others_punctuation_is_no_word_and_a_word_too_long_is_on_no_page(site: Reader) -> None:
    assert found(site, "fox !") == found(site, "fox")
    assert found(site, "fox -!") == found(site, "fox")
    assert found(site, "fox " + "q" * 300) == []
    assert found(site, "site:example.org " + "q" * 300) == []
    assert found(site, "fox -" + "q" * 300) == found(site, "fox")
    asked = read_query("fox " + "q" * 300)
    assert site.find(asked, 10, some=True)[0] == 2, "some of its words"
    assert len(found(site, "")) == len(SITE)
