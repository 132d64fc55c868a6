"""An index that is damaged, half, foreign, gone or in the way: a sentence, and the index is made again."""

import random
import shutil
import threading
from collections.abc import Callable
from itertools import cycle
from pathlib import Path

import pytest
from odd_pages import html
from search_world import INDEX, Found, Ran, answers, assert_plain, crawled, gossamer, here, indexed, site_of

QUERIES = ["wolf", '"cold spring"', "报告", "title:kettle", "type:pdf", "lang:de", "site:127.0.0.1"]


def _randomly(path: Path) -> None:
    path.write_bytes(random.Random(path.name.rpartition(".")[2]).randbytes(path.stat().st_size))


def _flipped(path: Path) -> None:
    content = bytearray(path.read_bytes())
    if content:
        content[len(content) // 2] ^= 0xFF
    path.write_bytes(content)


def _halved(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def _emptied(path: Path) -> None:
    path.write_bytes(b"")


DAMAGE: dict[str, Callable[[Path], None]] = {
    "random bytes": _randomly,
    "one byte": _flipped,
    "half": _halved,
    "empty": _emptied,
    "gone": Path.unlink,
}


@pytest.fixture(scope="module")
def right(library: Path) -> dict[str, tuple[int, list[str]]]:
    return answers(library, QUERIES)


def files_of(folder: Path, *rooms: str) -> list[Path]:
    return sorted(path for room in rooms or [INDEX] for path in (folder / room).rglob("*") if path.is_file())


def assert_told_or_right(folder: Path, right: dict[str, tuple[int, list[str]]]) -> None:
    """A damaged index answers as if it were whole, or says what to do; never something else."""
    ran = gossamer("search", folder, "wolf", "--json", "--limit", "1000")
    assert_plain(ran._replace(out=""))  # JSON is for programs
    if ran.code == 0 and ran.out.strip():
        assert Found(ran).shown == right["wolf"][1]
    else:
        assert ran.code in (1, 2, 3)
        assert "gossamer index" in ran.err


def assert_made_again(folder: Path, right: dict[str, tuple[int, list[str]]]) -> None:
    ran = gossamer("index", folder, "-q", "--once")
    assert ran.code == 0, ran.err
    assert "Traceback" not in ran.err and "panicked" not in ran.err
    assert answers(folder, QUERIES) == right


@pytest.mark.slow
@pytest.mark.parametrize(
    "damage",
    [
        "random bytes",
        "gone",
        *(pytest.param(more, marks=pytest.mark.slow) for more in ("one byte", "half", "empty")),
    ],
)
def test_all_of_it(copied: Path, right: dict[str, tuple[int, list[str]]], damage: str) -> None:
    for path in files_of(copied):
        DAMAGE[damage](path)
    assert_told_or_right(copied, right)
    assert_made_again(copied, right)


@pytest.mark.slow
def test_each_file(library: Path, tmp_path: Path, right: dict[str, tuple[int, list[str]]]) -> None:
    """By itself, by one kind of damage after the other: all kinds of all of them take four minutes."""
    for number, (path, damage) in enumerate(zip(files_of(library), cycle(DAMAGE.values()), strict=False)):
        copy = tmp_path / str(number)
        shutil.copytree(library, copy)
        damage(copy / path.relative_to(library))
        assert_told_or_right(copy, right)
        assert_made_again(copy, right)
        shutil.rmtree(copy)


@pytest.mark.slow
def test_each_file_that_the_index_is_made_of_or_that_is_made_beside_it(
    library: Path, tmp_path: Path, right: dict[str, tuple[int, list[str]]]
) -> None:
    """The tables of documents, and the index of near-duplicates, without which copies are hits of their own."""
    damages = cycle(DAMAGE.values())
    for number, (path, damage) in enumerate(
        zip(files_of(library, "documents", "similar"), damages, strict=False)
    ):
        copy = tmp_path / str(number)
        shutil.copytree(library, copy)
        damage(copy / path.relative_to(library))
        asked = here("similar", copy, "http://127.0.0.1/fox")
        assert_plain(asked)
        assert asked.code in (0, 1, 2, 3)
        assert_made_again(copy, right)
        shutil.rmtree(copy)


@pytest.mark.slow
@pytest.mark.parametrize(
    "folder", [INDEX, *(pytest.param(more, marks=pytest.mark.slow) for more in ("documents", "similar"))]
)
def test_a_mark_that_is_no_text(copied: Path, right: dict[str, tuple[int, list[str]]], folder: str) -> None:
    mark = copied / folder / "mark.json"
    mark.write_bytes(mark.read_bytes().replace(b"max_content", b"max\x93content", 1))
    assert_told_or_right(copied, right)
    assert_made_again(copied, right)


@pytest.mark.slow
def test_the_folder_is_gone(copied: Path, right: dict[str, tuple[int, list[str]]]) -> None:
    shutil.rmtree(copied / INDEX)
    ran = gossamer("search", copied, "wolf")
    assert ran.code in (1, 2)
    assert "gossamer index" in ran.err
    assert_plain(ran)
    assert_made_again(copied, right)


@pytest.mark.slow
def test_a_file_is_in_its_place(copied: Path, right: dict[str, tuple[int, list[str]]]) -> None:
    shutil.rmtree(copied / INDEX)
    (copied / INDEX).write_bytes(b"not a folder")
    assert_told_or_right(copied, right)
    ran = gossamer("index", copied, "-q", "--once")
    assert_plain(ran)
    if ran.code == 0:
        assert answers(copied, QUERIES) == right
    else:
        assert str(INDEX) in ran.err


@pytest.mark.slow
def test_texts_and_index_are_made_again_from_the_archive(
    copied: Path, right: dict[str, tuple[int, list[str]]]
) -> None:
    shutil.rmtree(copied / INDEX)
    shutil.rmtree(copied / "documents")
    assert_made_again(copied, right)


@pytest.mark.slow
def test_the_index_of_another_crawl(
    copied: Path, tmp_path: Path, right: dict[str, tuple[int, list[str]]]
) -> None:
    with site_of({"/a": html("Walrus", "A walrus that belongs to quite another crawl.")}) as address:
        other = indexed(crawled(address, tmp_path / "other"))
    shutil.rmtree(copied / INDEX)
    shutil.copytree(other / INDEX, copied / INDEX)
    assert_made_again(copied, right)
    assert answers(copied, ["walrus"]) == {"walrus": (0, [])}


@pytest.mark.slow
def test_texts_and_index_of_another_crawl(
    copied: Path, tmp_path: Path, right: dict[str, tuple[int, list[str]]]
) -> None:
    with site_of({"/a": html("Walrus", "A walrus that belongs to quite another crawl.")}) as address:
        other = indexed(crawled(address, tmp_path / "other"))
    for name in ("documents", INDEX, "similar"):
        shutil.rmtree(copied / name)
        shutil.copytree(other / name, copied / name)
    assert_made_again(copied, right)
    assert answers(copied, ["walrus"]) == {"walrus": (0, [])}


@pytest.mark.slow
def test_an_index_with_strange_files(copied: Path, right: dict[str, tuple[int, list[str]]]) -> None:
    (copied / INDEX / "strange").write_bytes(b"x")
    (copied / INDEX / ".tantivy-writer.lock").write_bytes(b"")
    (copied / INDEX / ".tantivy-meta.lock").write_bytes(b"")
    assert_made_again(copied, right)


@pytest.mark.slow
def test_it_is_taken_away_while_it_is_asked(copied: Path, here: Callable[..., Ran]) -> None:
    away, done = copied / "away", threading.Event()

    def take_and_give() -> None:
        while not done.is_set():
            (copied / INDEX).rename(away)
            away.rename(copied / INDEX)

    thief = threading.Thread(target=take_and_give)
    thief.start()
    try:
        for _ in range(30):
            ran = here("search", copied, "wolf")
            assert ran.code in (0, 1, 2, 3)
            assert_plain(ran)
    finally:
        done.set()
        thief.join()
    assert here("search", copied, "wolf").code == 0


@pytest.mark.slow
def test_a_crawl_that_was_never_indexed(tmp_path: Path) -> None:
    with site_of({"/a": html("Walrus", "A walrus on the ice.")}) as address:
        folder = crawled(address, tmp_path / "d")
    for command in (("search", folder, "walrus"), ("similar", folder, f"{address}/a")):
        ran = gossamer(*command)
        assert ran.code in (1, 2)
        assert "gossamer index" in ran.err
        assert_plain(ran)


@pytest.mark.slow
def test_tables_that_are_made_anew_are_told_of_once(copied: Path) -> None:
    [table, *_] = sorted((copied / "documents").glob("documents-*.parquet"))
    table.unlink()
    ran = gossamer("index", copied, "-q")
    told = ran.err.splitlines()
    assert ran.code == 0
    assert len(told) <= 2, ran.err
    assert table.name in told[0] and "made anew from the archive" in told[0]
    assert "part-" not in ran.err and "settings" not in ran.err, (
        "what follows from it is no damage of its own"
    )
    assert gossamer("index", copied, "-q").err == ""
