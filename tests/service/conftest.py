"""A service's folder, for the tests of this folder."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from service_world import no_survivors


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Path]:
    """Where a daemon may put what it keeps; the jobs' processes end with the test."""
    path = tmp_path / "service"
    with no_survivors(path):
        yield path
