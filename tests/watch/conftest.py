import pytest
from watched_archive import WatchedArchive, watch


@pytest.fixture
def archive(tmp_path):
    written = WatchedArchive(tmp_path / "crawl", watch=watch())
    yield written
    written.close()
