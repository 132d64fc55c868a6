"""One crawl of all hosts for all tests of this folder, and crawls of their own for those that need one."""

import fcntl
import pickle
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from revisit_crawls import Crawl
from visited_hosts import Visited, visit_all


@pytest.fixture(scope="session")
def visited(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Visited:
    """Made once for all workers of pytest-xdist."""
    place = tmp_path_factory.getbasetemp()
    place = (place if worker_id == "master" else place.parent) / "visited-again"
    place.mkdir(exist_ok=True)
    with (place / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        stored = place / "visited.pickle"
        if not stored.exists():
            partial = stored.with_suffix(".partial")
            partial.write_bytes(pickle.dumps(visit_all(place)))
            partial.replace(stored)
        return pickle.loads(stored.read_bytes())


@pytest.fixture
def crawl_of(tmp_path: Path) -> Iterator[Callable[..., Crawl]]:
    """Makes crawls whose processes end with the test."""
    made: list[Crawl] = []

    def make(settings: dict[str, object] | None = None, name: str = "crawl", **how: object) -> Crawl:
        made.append(Crawl(tmp_path / name, settings or {}, **how))  # type: ignore[arg-type]
        return made[-1]

    yield make
    for crawl in made:
        crawl.clear()
