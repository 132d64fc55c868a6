"""Pages made by scripts and styles, replayed in Chromium with all servers stopped and no name resolvable."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from benchmarks.replay_looks import Look, closed_chromium, crawl_whole, live, look, replayed, viewed
from console_browser import needs_chromium
from scripted_site import first, pages, second
from small_site import small_site

needs_chromium()

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore::ResourceWarning")]


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with closed_chromium() as browser:
        yield browser


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory, browser: Any) -> tuple[Path, str, dict[str, Look]]:
    """The crawl of a site of two origins that is gone, its address, and how each page looked."""
    folder = tmp_path_factory.mktemp("replay")
    with small_site(second, "127.0.0.2") as other, small_site(first(other)) as site:
        crawl_whole(folder / "crawl", site, f"{other}page.html")
        looked = {name: look(browser, f"{site}{name}", live) for name in pages(other)}
    return folder / "crawl", site, looked


@pytest.fixture(scope="module")
def shown(crawled: tuple[Path, str, dict[str, Look]]) -> Iterator[Any]:
    with viewed(crawled[0]) as shown:
        yield shown


@pytest.mark.parametrize("name", pages("http://x/"))
def test_a_page_is_as_it_was(name: str, crawled: Any, shown: Any, browser: Any) -> None:
    _, site, looked = crawled
    now = look(browser, shown.address(f"{site}{name}"), replayed(shown))
    before = looked[name]
    loaded = {url.partition("?_=")[0] for url in now.loaded}
    wanted = {url.partition("?_=")[0] for url in before.loaded if not url.endswith("/favicon.ico")}
    assert now.text == before.text, now.problems
    assert wanted - loaded == set(), now.problems
    assert now.left == ()
