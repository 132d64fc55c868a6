"""`gossamer search --live`: the crawl that goes where the answer is, and ends when it has it."""

import threading
from collections import Counter
from pathlib import Path

import pytest
from search_world import Page, assert_plain, gossamer, here, html, site_of

from gossamer.crawling.live_search import Distinct

NOISE = "Here we speak of tables, chairs, lamps, and of the weather in the harbour, as we always do. "


class Library(dict[str, Page]):
    """A wide site of which one branch leads to what is asked for."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: Counter[str] = Counter()
        self.lock = threading.Lock()

    def get(self, path: str, default: Page | None = None) -> Page | None:  # type: ignore[override]
        with self.lock:
            self.asked[path] += 1
        parts = path.strip("/").split("/")
        if path == "/":
            links = "".join(
                f'<a href="/chairs/{number}">chairs and lamps {number}</a> ' for number in range(40)
            )
            return html("Contents", NOISE, links=links + '<a href="/otters">about otters and rivers</a>')
        if parts[0] == "chairs" and len(parts) < 4:
            links = "".join(f'<a href="{path}/{number}">more chairs {number}</a> ' for number in range(5))
            return html(f"Chairs {path}", NOISE * 3, links=links)
        if path == "/otters":
            links = "".join(
                f'<a href="/otters/{number}">otters of the river {number}</a> ' for number in range(12)
            )
            return html(
                "Otters", "Otters live at rivers, and here is what we know about otters.", links=links
            )
        if parts[0] == "otters" and len(parts) == 2:
            river = chr(ord("a") + int(parts[1])) * 5
            seen = " ".join(f"{river}{number}" for number in range(40))
            return html(f"Otters of river {parts[1]}", f"The otters of river {parts[1]} were counted again this year.",
                        seen)  # fmt: skip
        return default


@pytest.mark.slow
@pytest.mark.parametrize("words", ["otters river", pytest.param('"otters of river"', marks=pytest.mark.slow)])
def test_it_goes_where_the_answer_is(tmp_path: Path, words: str) -> None:
    pages = Library()
    with site_of(pages) as address:
        ran = gossamer("search", "--live", words, f"{address}/", "--dir", tmp_path / "d", "--min-delay", "0")
    assert ran.code == 0, ran.err
    assert_plain(ran)
    assert "/otters/" in ran.out
    chairs = sum(path.startswith("/chairs") for path in pages.asked)
    assert chairs < 400, "it does not crawl all 1,240 pages of chairs"
    assert here("search", tmp_path / "d", "otters").code == 0, "what it crawled is a crawl as any other"


@pytest.mark.slow
def test_no_answer_is_said_when_all_is_crawled(tmp_path: Path) -> None:
    with site_of({"/a": html("A", "nothing of the kind")}) as address:
        ran = gossamer(
            "search", "--live", "xylophonists", f"{address}/", "--dir", tmp_path / "d", "--min-delay", "0"
        )
        again = gossamer(
            "search", "--live", "nothing", f"{address}/", "--dir", tmp_path / "d", "--min-delay", "0"
        )
    assert ran.code in (0, 1)
    assert_plain(ran)
    assert again.code == 1
    assert "nothing found on pages that are new" in again.err, "one that was there before answers"


@pytest.mark.slow
def test_seeds_that_are_none(tmp_path: Path) -> None:
    for seeds in ([], ["http://[bad"], ["http://127.0.0.1:9/"]):
        ran = gossamer("search", "--live", "otters", *seeds, "--dir", tmp_path / "d", "--set", "engine.give_up_after=1s",
                       "--set", "retry.url_waits=[]")  # fmt: skip
        assert ran.code in (1, 2)
        assert_plain(ran)


def test_texts_that_resemble_each_other_are_told_once() -> None:
    told, words = Distinct(), [f"word{number}" for number in range(12)]
    assert told.takes(" ".join(words))
    assert not told.takes(" ".join(words).upper() + "!")
    assert not told.takes(" ".join(words[:-1]))
    assert told.takes(" ".join(words[:6])), "it resembles little of the first"
    assert told.takes("") and told.takes(""), "nothing resembles nothing"


@pytest.mark.slow
@pytest.mark.parametrize("words", ["otters", "otters gazebo"])
def test_pages_that_resemble_each_other_are_shown_once(tmp_path: Path, words: str) -> None:
    said = "The otters of the river were counted again this year, and there were as many as in the year before that."
    pages = {f"/{name}": html(f"Otters {name}", f"{said} {name}") for name in ("one", "two", "three")}
    pages["/other"] = html(
        "Others", "Here is nothing but the word otters, which all that is looked for comes down to."
    )
    links = "".join(f'<a href="{path}">otters {path}</a>' for path in pages)
    with site_of({"/": html("Contents", NOISE, links=links), **pages}) as address:
        ran = gossamer("search", "--live", words, f"{address}/", "--min-delay", "0")
    hits = [line for line in ran.out.splitlines() if line.startswith(address)]
    assert ran.code == 0 and f"{address}/other" in hits and len(hits) == 2 + (f"{address}/" in hits), ran.out
