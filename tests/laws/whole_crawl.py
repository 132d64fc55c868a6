"""Runs whole crawls of a simulated web in this process, and reads what came out."""

import asyncio
import json
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from gossamer.assembly.extensions import Extensions
from gossamer.assembly.folder import CrawlFolder
from gossamer.config.config import CrawlConfig
from gossamer.config.settings import load, merge
from gossamer.crawling.run import run, start
from gossamer.fetch.config import FORBIDDEN_NETWORKS
from gossamer.model.reasons.reason import Reason
from gossamer.simweb import SimulatedWeb

QUICK = {
    "scope.mode": "any",
    "politeness.min_delay": 0.01,
    "politeness.factor": 0.0,
    "engine.give_up_after": 1.0,
    "engine.guess_sitemap": False,
    "engine.checkpoint_every": 0.0,
    "retry.url_waits": [0.2, 0.2, 0.2],
    "retry.host_first": 0.2,
    "retry.not_found_first": 5.0,
    "retry.host_longest": 5.0,
    "robots.hold_first": 0.2,
    "robots.hold_longest": 5.0,
    "fetch.forbidden_networks": [
        # The simulated web lies in 127.0.0.0/16; 127.99.99.99 stands for the operator's own network.
        *(network for network in FORBIDDEN_NETWORKS if network != "127.0.0.0/8"),
        "127.99.99.99/32",
    ],
    "state.block_cache": 1 << 20,
    "state.write_buffers": 4 << 20,
}


@dataclass
class Crawled:
    """What one crawl left behind."""

    folder: CrawlFolder
    reason: Reason
    lines: list[dict]

    @property
    def final(self) -> dict[str, int]:
        """Status by URL, of visits that were not to be repeated; robots files left out."""
        return {
            line["url"]: line["status"]
            for line in self.lines
            if line["kind"] != "robots" and line["became"] != "retry" and "status" in line
        }

    @property
    def settled(self) -> Counter:
        """How often each URL came to an end."""
        ends = [
            line for line in self.lines if line["kind"] != "robots" and line["became"] in ("done", "dropped")
        ]
        return Counter(line["url"] for line in ends)

    @property
    def report(self) -> dict:
        return json.loads(self.folder.report.read_text())


def crawl(web: SimulatedWeb, path: Path, extensions: Extensions | None = None, **changes) -> Crawled:
    """Crawl `web` from its seeds; `changes` are settings with `__` for the dot."""
    settings = {**QUICK, **{name.replace("__", "."): value for name, value in changes.items()}}
    tree = merge({"seeds": list(web.seeds), "dns": {"nameservers": [web.nameserver]}}, settings)
    folder = CrawlFolder(path)
    config = start(folder, load(CrawlConfig, tree))
    reason = asyncio.run(run(folder, config, extensions or Extensions(), resumed=False))
    return Crawled(folder, reason, [json.loads(line) for line in folder.log.read_text().splitlines()])
