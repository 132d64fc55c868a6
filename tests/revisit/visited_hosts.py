"""One crawl of all hosts, and what became of it."""

import time
from dataclasses import dataclass
from pathlib import Path

import archived
from changing_web import ChangingWeb, Seen
from revisit_crawls import EVERY, Crawl, Ended
from revisited_hosts import HOSTS, NEEDS

INTERVAL = 1.0


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


def visit_all(place: Path) -> Visited:
    """Crawl into a new folder in `place` until each host was visited often enough."""
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
                )
            )
            ended = crawl.stop(process)
        finally:
            crawl.clear()
        return Visited(crawl.folder, list(web.log), ended, web.addresses, web.port, time.monotonic() - begun)
