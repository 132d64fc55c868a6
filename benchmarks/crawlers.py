"""How each crawler is started on the same work, and how its pages are counted."""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

import msgspec

Crawler = Literal["gossamer", "scrapy"]

ROBOTS_PATH = "/robots.txt"

_CONFIG = """[politeness]
min_delay = 0
factor = 0
visits_per_host = {visits_per_host}
{fetch}[engine]
guess_sitemap = false

[documents]
links = false
"""
_LOOPBACK_NAMES = """
[fetch]
allow_private = true
"""
_visit_lines = msgspec.json.Decoder(dict[str, Any])


class Work(msgspec.Struct, frozen=True):
    """One crawl to be done.

    Attributes:
        start: URLs.
        folder: an empty folder for whatever the crawl writes.
        pages: stop after so many; 0: crawl everything.
        workers: visits at once.
        visits_per_host: of these to one host.
        nameserver: `address:port` that knows the hosts' names, if they have any.
        seeds_file: take the start URLs from here, as there are too many for a command line.
        order: Gossamer's ordering policy.
    """

    start: Sequence[str]
    folder: Path
    pages: int = 0
    workers: int = 32
    visits_per_host: int = 16
    nameserver: str = ""
    seeds_file: Path | None = None
    order: str = "bfs"

    @property
    def crawl_folder(self) -> Path:
        """Where Gossamer puts the crawl."""
        return self.folder / "crawl"

    @property
    def log(self) -> Path:
        """What the crawler prints."""
        return self.folder / "output.log"


class Page(msgspec.Struct, frozen=True):
    """A page that was fetched with status 200, robots files left out."""

    url: str
    size: int


def command(crawler: Crawler, work: Work) -> list[str]:
    """The command line that does the work."""
    work.folder.mkdir(parents=True, exist_ok=True)
    return _gossamer(work) if crawler == "gossamer" else _scrapy(work)


def _gossamer(work: Work) -> list[str]:
    config = work.folder / "gossamer.toml"
    # Names that lie on loopback are reached by links too, which the address guard forbids by default.
    fetch = _LOOPBACK_NAMES if work.nameserver else ""
    config.write_text(_CONFIG.format(visits_per_host=work.visits_per_host, fetch=fetch), encoding="utf-8")
    line = [sys.executable, "-m", "gossamer", "crawl", "--dir", str(work.crawl_folder)]
    line += ["--config", str(config), "--workers", str(work.workers), "--min-delay", "0", "--quiet"]
    line += ["--order", work.order]
    if work.pages:
        line += ["--max-pages", str(work.pages)]
    if work.nameserver:
        line += ["--nameserver", work.nameserver]
    return [*line, "--seeds", str(work.seeds_file)] if work.seeds_file else [*line, *work.start]


def _scrapy(work: Work) -> list[str]:
    line = [sys.executable, "-m", "benchmarks.scrapy_peer", "--folder", str(work.folder)]
    line += ["--workers", str(work.workers), "--visits-per-host", str(work.visits_per_host)]
    return [*line, "--pages", str(work.pages), *work.start]


def fetched(crawler: Crawler, work: Work) -> list[Page]:
    """The pages that the crawl brought, by its own account."""
    if crawler == "scrapy":
        items = map(_visit_lines.decode, (work.folder / "items.jsonl").read_bytes().splitlines())
        return [Page(item["url"], item["length"]) for item in items]
    visits = map(_visit_lines.decode, (work.crawl_folder / "crawl.log").read_bytes().splitlines())
    return [
        Page(visit["url"], visit["size"])
        for visit in visits
        if visit.get("status") == 200 and visit.get("kind") != "robots"
    ]
