"""A crawl of a simulated web that runs in this process and answers on its socket."""

import asyncio
import contextlib
import json
import time
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any

from patience import PATIENCE

from gossamer.assembly.extensions import Extensions
from gossamer.assembly.folder import CrawlFolder
from gossamer.config.config import CrawlConfig
from gossamer.config.settings import load, merge
from gossamer.control.socket.client import RunningCrawl, ask, connect
from gossamer.control.socket.protocol import NotRunning
from gossamer.crawling.run import reopen, run, start
from gossamer.ports import Observer
from gossamer.simweb import SimulatedWeb

PACED = {
    "scope.mode": "any",
    "politeness.min_delay": 0.05,
    "politeness.factor": 0.0,
    "engine.workers": 8,
    "engine.give_up_after": 0.5,
    "engine.guess_sitemap": False,
    "retry.url_waits": [0.1],
    "retry.host_first": 0.1,
    "fetch.allow_private": True,
    "state.block_cache": 1 << 20,
    "state.write_buffers": 4 << 20,
}


class Running:
    """A crawl under way: its folder, a connection to it, and how it ended."""

    def __init__(self, folder: CrawlFolder, crawl: RunningCrawl, task: "asyncio.Task[str]") -> None:
        self.folder = folder
        self.crawl = crawl
        self.task = task

    async def ask(self, method: str, who: str = "tester", **params: Any) -> Any:
        """The result of a method."""
        return await self.crawl.ask(method, params, who=who)

    async def until(self, met: Any) -> dict[str, Any]:
        """The first status for which `met(status)` holds."""
        deadline = time.monotonic() + PATIENCE
        while not met(status := await self.ask("status")):
            assert time.monotonic() < deadline, status
            await asyncio.sleep(0.02)
        return status

    def log(self) -> list[dict[str, Any]]:
        """The crawl log so far."""
        return [json.loads(line) for line in self.folder.log.read_text().splitlines()]


@contextlib.asynccontextmanager
async def running(
    path: Path,
    web: SimulatedWeb,
    changes: dict[str, Any] | None = None,
    observers: Sequence[Observer] = (),
) -> AsyncIterator[Running]:
    """Crawl `web` into `path`; at the end the crawl is stopped, if it has not finished."""
    seeds = {"seeds": list(web.seeds), "dns.nameservers": [web.nameserver]}
    async with running_with(path, PACED | seeds | (changes or {}), observers) as live:
        yield live


@contextlib.asynccontextmanager
async def running_with(
    path: Path, settings: dict[str, Any], observers: Sequence[Observer] = ()
) -> AsyncIterator[Running]:
    """Crawl into `path`, or go on there; at the end the crawl is stopped, if it has not finished."""
    folder = CrawlFolder(path)
    resumed = folder.used
    config = reopen(folder) if resumed else start(folder, load(CrawlConfig, merge({}, settings)))
    begun = asyncio.Event()
    task = asyncio.create_task(
        run(
            folder,
            config,
            Extensions(observers=observers),
            resumed=resumed,
            on_start=lambda _: begun.set(),
            handle_signals=False,
        )
    )
    starting = asyncio.create_task(begun.wait())
    await asyncio.wait([task, starting], return_when=asyncio.FIRST_COMPLETED)
    starting.cancel()
    try:
        async with connect(path) as crawl:
            try:
                yield Running(folder, crawl, task)
            finally:
                with contextlib.suppress(NotRunning):
                    if not task.done():
                        await ask(path, "stop")
    finally:
        await asyncio.wait_for(asyncio.shield(task), PATIENCE)
