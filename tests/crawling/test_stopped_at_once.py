"""A crawl that is stopped at once, as by a second Ctrl-C, tells how long it went on, not when it last committed."""

import asyncio
import json
from pathlib import Path

import pytest
from small_site import small_site

from gossamer.assembly.extensions import Extensions
from gossamer.assembly.folder import CrawlFolder
from gossamer.config.config import CrawlConfig
from gossamer.config.settings import load
from gossamer.crawling.run import run, start
from gossamer.engine.crawl import Crawl
from gossamer.engine.settlement.ledger import Ledger
from gossamer.model.reasons.ends import INTERRUPTED

DAY = 86_400.0


def test_the_time_of_a_crawl_that_is_stopped_at_once_is_all_of_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def a_day_passes(crawl: Crawl) -> None:
        def stop() -> None:
            monkeypatch.setattr(Ledger, "seconds", property(lambda _: DAY))
            crawl.stop_now()

        asyncio.get_running_loop().call_soon(stop)

    async def crawl(address: str) -> None:
        folder = CrawlFolder(tmp_path / "crawl")
        config = load(CrawlConfig, {"seeds": [address], "fetch": {"allow_private": True}})
        config = start(folder, config)
        ended = await run(
            folder, config, Extensions(), resumed=False, on_start=a_day_passes, handle_signals=False
        )
        assert ended == INTERRUPTED
        assert json.loads(folder.report.read_text())["seconds"] == DAY

    with small_site(lambda _: None) as address:
        asyncio.run(crawl(address))
