import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

pytest.importorskip("tantivy", reason="the extra `search` is not installed")

from odd_pages import LATER, PAGES
from search_world import Found, Page, Ran, Search, crawled, indexed, site_of

from gossamer.cli import main


class Odd(dict[str, Page]):
    """Pages, of which some are not linked from the front page."""

    def get(self, path: str, default: Page | None = None) -> Page | None:  # type: ignore[override]
        return super().get(path) or LATER.get(path, default)


@pytest.fixture(scope="session")
def address() -> Iterator[str]:
    with site_of(Odd(PAGES)) as where:
        yield where


@pytest.fixture(scope="session")
def library(address: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An indexed crawl of all pages; not to be changed."""
    return indexed(crawled(address, tmp_path_factory.mktemp("library") / "d"))


@pytest.fixture
def copied(library: Path, tmp_path: Path) -> Path:
    """One to be changed."""
    return Path(shutil.copytree(library, tmp_path / "d"))


@pytest.fixture
def here(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Callable[..., Ran]:
    """The command in this process, whose arguments have no limit of length."""

    def run(*arguments: str | Path) -> Ran:
        monkeypatch.setattr(sys, "argv", ["gossamer", *map(str, arguments)])
        capsys.readouterr()
        code = 0
        try:
            main()
        except SystemExit as ended:
            code = int(ended.code or 0)
        return Ran(code, *capsys.readouterr())

    return run


@pytest.fixture
def ask(library: Path, here: Callable[..., Ran]) -> Search:
    """A question to the library."""
    return lambda query, *options: Found(here("search", library, query, "--json", "--facets", *options))
