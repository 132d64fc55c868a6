"""`gossamer search --live`: the crawl that goes where the answer is, and ends when it has it."""

import threading
from collections import Counter
from pathlib import Path

import pytest
from search_world import Page, assert_plain, gossamer, here, html, site_of

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
            return html(f"Otters of river {parts[1]}", f"The otters of river {parts[1]} were counted again this year.",
                        NOISE)  # fmt: skip
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
    assert ran.code in (0, 1)
    assert_plain(ran)


@pytest.mark.slow
def test_seeds_that_are_none(tmp_path: Path) -> None:
    for seeds in ([], ["http://[bad"], ["http://127.0.0.1:9/"]):
        ran = gossamer("search", "--live", "otters", *seeds, "--dir", tmp_path / "d", "--set", "engine.give_up_after=1s",
                       "--set", "retry.url_waits=[]")  # fmt: skip
        assert ran.code in (1, 2)
        assert_plain(ran)
