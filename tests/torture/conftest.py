"""Leaves no process behind, whatever fails."""

from collections.abc import Iterator

import pytest
from torture_lives import running


@pytest.fixture(autouse=True)
def _reap() -> Iterator[None]:
    yield
    while running:
        process = running.pop()
        if process.poll() is None:
            process.kill()
        process.communicate()
