"""Texts made to flood or fool an index: each is found by what can be read of it, and the rest is not harmed."""

import random
import unicodedata
from pathlib import Path

import pytest
from odd_pages import html
from search_world import Page, crawled, indexed, peak, search, site_of


def many_scripts() -> str:
    """Half a second's work, which only the test that reads it pays, not each worker that collects it."""
    letters = "".join(
        letter
        for number in range(0x20000)
        if (letter := chr(number)).isalpha() and unicodedata.name(letter, "")
    )
    chance = random.Random(5)
    return " ".join("".join(chance.sample(letters, 8)) for _ in range(20_000))


TEXTS: dict[str, str] = {
    "many scripts": "",
    "many different words": " ".join(f"w{number:x}" for number in range(300_000)),
    "one word often": "again " * 500_000,
    "one long word": "a" * (3 << 20),
    "long words": " ".join("b" * 70_000 + str(number) for number in range(30)),
    "long han": "数据库" * 300_000,
    "marks": ("z" + "\u0301" * 2_000 + " ") * 300,
    "emoji": "🦡👩‍👩‍👧‍👦" * 50_000,
    "controls": "".join(map(chr, range(1, 32))) * 10_000,
    "bidi": "\u202e\u2066wolf" * 50_000,
    "invisible": "\u200b\u00ad\ufeff" * 200_000,
    "noncharacters": "\ufffe\uffff\U0010ffff" * 10_000,
    "lines": "\n" * 1_000_000,
    "syntax": '"((((title:a AND OR NOT [a TO *] ' * 20_000,
}
NO_TEXTS = {"controls", "noncharacters"}
"""Mostly characters that no text has: bytes of something else under a wrong type, which are marked as such."""


@pytest.mark.slow
def test_each_is_found_by_its_first_words(tmp_path: Path) -> None:
    pages = {
        f"/{number}": Page(f"walrus{number} stands first.\n{text}".encode(), "text/plain; charset=utf-8")
        for number, text in enumerate((TEXTS | {"many scripts": many_scripts()}).values())
    }
    pages["/ordinary"] = html("Ordinary", "An ordinary page about a porcupine among all these.")
    with site_of(pages) as address:
        folder = indexed(crawled(address, tmp_path / "d"))
    for number, name in enumerate(TEXTS):
        found = search(folder, f"walrus{number}")
        if name in NO_TEXTS:
            assert found.paths == [], name
            continue
        assert found.paths == [f"/{number}"], name
        assert len(str(found.hits[0])) < 20_000, "a snippet, not a text"
    assert search(folder, "porcupine").paths == ["/ordinary"]


@pytest.mark.slow
def test_a_long_text_is_found_beyond_its_beginning(tmp_path: Path) -> None:
    filler = "Some hundred thousand characters of a report that nobody has read to its end so far. "
    pages = {
        "/report": html("Report", *[filler * 20] * 60, "At its end there is a porcupine.", *[filler] * 3)
    }
    with site_of(pages) as address:
        folder = indexed(crawled(address, tmp_path / "d"))
    found = search(folder, "porcupine")
    assert found.paths == ["/report"]
    assert "porcupine" in str(found.hits[0]["snippet"])


@pytest.mark.slow
def test_fifty_megabytes_of_text(tmp_path: Path) -> None:
    line = "".join(f"word{number} " for number in range(10_000))
    text = "walrus at the start\n" + line * ((50 << 20) // len(line)) + "\nporcupine at the end"
    with site_of(
        {"/big.txt": Page(text.encode(), "text/plain"), "/small": html("Small", "A small badger.")}
    ) as address:
        folder = crawled(address, tmp_path / "d")
    indexing = peak("index", folder, "-q", "--once")
    assert search(folder, "walrus").paths == ["/big.txt"]
    assert search(folder, "badger").paths == ["/small"]
    assert search(folder, "porcupine").paths in ([], ["/big.txt"]), (
        "a text may be cut at a limit, which is told"
    )
    comparing = peak("similar", folder, f"{address}/big.txt")
    assert max(indexing, comparing) < 2 << 20, f"{indexing >> 10} and {comparing >> 10} MiB"


@pytest.mark.slow
def test_a_small_crawl_has_a_small_index(tmp_path: Path) -> None:
    with site_of({"/n": html("Number", "walrus")}) as address:
        folder = indexed(crawled(address, tmp_path / "d"))
    taken = sum(path.stat().st_size for path in (folder / "search").rglob("*") if path.is_file())
    assert taken < 4 << 20, "two pages"
