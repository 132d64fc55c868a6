"""The number of workers changes while a crawl runs (K14)."""

import asyncio
from pathlib import Path

import pytest

from gossamer.assembly.extensions import Extensions
from gossamer.assembly.folder import CrawlFolder
from gossamer.config.config import CrawlConfig
from gossamer.config.settings import load
from gossamer.crawling.run import run, start
from gossamer.engine.crawl import Crawl
from gossamer.model.events import Event, Visited
from gossamer.simweb import SimulatedWeb, WorldSpec

pytestmark = pytest.mark.slow

SPEC = WorldSpec.friendly(hosts=12, pages=150, page_bytes=1_000)
PLAN = {0: 1, 30: 12, 80: 2}
"""Workers from so many visits on."""


def test_growing_and_shrinking(tmp_path: Path) -> None:
    crawls: list[Crawl] = []
    lent: dict[int, list[int]] = {workers: [] for workers in PLAN.values()}
    now = PLAN[0]

    def hear(event: Event) -> None:
        nonlocal now
        if isinstance(event, Visited):
            lent[now].append(crawls[0].parts.frontier.lent)
            visits = sum(map(len, lent.values()))
            if visits in PLAN:
                now = PLAN[visits]
                crawls[0].set_workers(now)

    with SimulatedWeb(SPEC) as web:
        config = load(
            CrawlConfig,
            {
                "seeds": list(web.seeds),
                "scope": {"mode": "any"},
                "politeness": {"min_delay": 0, "factor": 0},
                "engine": {"workers": PLAN[0], "give_up_after": 0.2},
                "retry": {"host_first": 0.1, "url_waits": [0.1]},
                "fetch": {"allow_private": True},
                "dns": {"nameservers": [web.nameserver]},
            },
        )
        folder = CrawlFolder(tmp_path / "crawl")
        start(folder, config)
        extensions = Extensions(observers=[hear])
        reason = asyncio.run(run(folder, config, extensions, resumed=False, on_start=crawls.append))
    assert str(reason) == "finished"
    assert max(lent[1]) <= 1
    assert 2 < max(lent[12]) <= 12
    assert max(lent[2][-20:]) <= 2
