import shutil
from collections.abc import Iterator
from pathlib import Path

import in_process
import pytest
from mirrored_site import PAGES, Crawled
from small_site import small_site


@pytest.fixture(scope="session")
def crawl_of_pages(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Crawled]:
    """A crawl of `PAGES`; not to be changed."""
    folder = tmp_path_factory.mktemp("crawled")
    with small_site(PAGES.get) as address:
        options = ("--min-delay", "0", "--requisites", "any", "--dir", "c", "-q")
        assert in_process.gossamer("crawl", address, *options, cwd=folder).returncode == 0
    yield Crawled(folder / "c", address.removeprefix("http://").rstrip("/"))


@pytest.fixture
def crawled(crawl_of_pages: Crawled, tmp_path: Path) -> Crawled:
    """A copy."""
    shutil.copytree(crawl_of_pages.folder, tmp_path / "c")
    return Crawled(tmp_path / "c", crawl_of_pages.host)
