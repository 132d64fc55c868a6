"""One crawl of all hosts for all tests of this folder, and crawls of their own for those that need one."""

import fcntl
import pickle
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import archived
import pytest
from changing_web import ChangingWeb, Seen
from revisit_crawls import EVERY, Crawl, Ended
from revisited_hosts import HOSTS, NEEDS

INTERVAL = 1.0
SECONDS = 8.0
"""At least; robots files are read again after two."""
PATIENCE = 40.0


@dataclass
class Visited:
    """What became of the crawl of all hosts."""

    folder: Path
    log: list[Seen]
    ended: Ended
    addresses: dict[str, str]
    port: int
    seconds: float

    def __post_init__(self) -> None:
        self.records = archived.records(self.folder)

    def url(self, host: str, target: str = "/") -> str:
        return f"http://{self.addresses[host]}:{self.port}{target}"

    def of(self, host: str, target: str = "/") -> list[Seen]:
        """What the server was asked of a URL, in order."""
        address = self.addresses[host]
        return [s for s in self.log if (s.request.host, s.request.target) == (address, target)]

    def kept(self, host: str, target: str = "/") -> list[archived.Record]:
        """Responses and revisits of a URL, in the order of their times."""
        url = self.url(host, target)
        return sorted((r for r in self.records if r.tells and r.url == url), key=lambda r: r.at)


def _visit_all(place: Path) -> Visited:
    crawl = Crawl(
        place / "crawl",
        {
            EVERY: f"{INTERVAL:g}s",
            "robots.max_age": "2s",
            "engine.workers": 64,
            "archive.max_file_size": "64KiB",
        },
    )
    with ChangingWeb(HOSTS) as web:
        begun = time.monotonic()
        process = crawl.begin_crawl(*(web.url(name) for name in HOSTS))
        try:
            web.until(
                lambda: (
                    process.poll() is not None
                    or all(len(web.of(name)) >= number for name, number in NEEDS.items())
                ),
                PATIENCE,
            )
            ended = crawl.stop(process)
        finally:
            crawl.clear()
        return Visited(crawl.folder, list(web.log), ended, web.addresses, web.port, time.monotonic() - begun)


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
            partial.write_bytes(pickle.dumps(_visit_all(place)))
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
