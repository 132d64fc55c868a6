"""What a crawl of many hosts holds in memory stays within its configured bounds."""

import asyncio
from pathlib import Path

import pytest

from gossamer.assembly.extensions import Extensions
from gossamer.assembly.folder import CrawlFolder
from gossamer.config.config import CrawlConfig
from gossamer.config.settings import load
from gossamer.crawling.run import run, start
from gossamer.engine.crawl import Crawl
from gossamer.simweb import SimulatedWeb, WorldSpec

HOSTS = 20_000
PAGES = 3_000
BOUNDS = {"hosts": 200, "seen": 2_000, "names": 500, "robots": 200_000, "links": 2_000}


class Largest:
    """The largest that each cache was seen to be."""

    def __init__(self) -> None:
        self.crawl: Crawl | None = None
        self.sizes: dict[str, int] = {}

    def hear(self, _: object) -> None:
        if self.crawl is None:
            return
        frontier = self.crawl.parts.frontier
        recent = self.crawl.parts.admission._recent
        names = self.crawl.parts.worker._modules["http"]._router._resolver._cache
        for name, size in {
            "hosts": len(frontier.schedule.served),
            "records": len(frontier.hosts._held),
            "turns": len(frontier.schedule._ready) + len(frontier.schedule._resting),
            "seen": len(frontier.seen._fingerprint_cache),
            "robots": frontier.robots._used,
            "names": len(names),
            "awaited": frontier.census().awaiting_names,
            "links": len(recent),
        }.items():
            self.sizes[name] = max(size, self.sizes.get(name, 0))


@pytest.mark.slow
def test_caches_keep_their_bounds_with_many_hosts_queued(tmp_path: Path) -> None:
    seeds = tmp_path / "seeds.txt"
    largest = Largest()
    with SimulatedWeb(WorldSpec.plain(pages=HOSTS, hosts=HOSTS, page_bytes=2_000), log=False) as web:
        seeds.write_text("".join(f"{seed}\n" for seed in web.seeds))
        folder = CrawlFolder(tmp_path / "crawl")
        settings = {
            "seeds_file": str(seeds),
            "budget": {"max_pages": PAGES},
            "politeness": {"min_delay": 0, "factor": 0},
            "fetch": {"allow_private": True},
            "dns": {"nameservers": [web.nameserver], "cache": "plain", "cache_entries": BOUNDS["names"]},
            "frontier": {
                "max_hosts": BOUNDS["hosts"],
                "seen_cache": BOUNDS["seen"],
                "recent_links": BOUNDS["links"],
                "robots_cache": BOUNDS["robots"],
            },
        }
        config = start(folder, load(CrawlConfig, settings))
        extensions = Extensions(observers=(largest.hear,))
        on_start = lambda crawl: setattr(largest, "crawl", crawl)  # noqa: E731
        asyncio.run(run(folder, config, extensions, resumed=False, on_start=on_start))
    assert largest.crawl is not None
    counters = largest.crawl.parts.ledger.counters
    assert counters.pages >= PAGES
    assert counters.queued > HOSTS - PAGES - 500
    sizes = largest.sizes
    # Full, or nothing was put to the test; and not beyond.
    assert BOUNDS["seen"] // 2 <= sizes["seen"] <= BOUNDS["seen"]
    assert sizes["names"] == BOUNDS["names"]
    assert BOUNDS["robots"] - 1_000 <= sizes["robots"] <= BOUNDS["robots"] + 1_000
    assert 32 < sizes["hosts"] <= BOUNDS["hosts"]
    assert sizes["records"] <= BOUNDS["hosts"]
    assert sizes["awaited"] <= BOUNDS["hosts"]
    assert sizes["turns"] <= 3 * BOUNDS["hosts"]
    assert BOUNDS["links"] // 2 <= sizes["links"] <= BOUNDS["links"]
