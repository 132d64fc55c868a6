"""Has a crawl answer while it runs.

What answers is loaded with the first question: most crawls are never asked, and start the sooner.
"""

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Coroutine
from typing import TYPE_CHECKING, Any

from gossamer.assembly.build import Built
from gossamer.assembly.hold import NOTHING, forget_hold, read_hold
from gossamer.config.config import CrawlConfig
from gossamer.control.history import EVERY, write_line
from gossamer.control.socket.address import ControlSocket
from gossamer.control.socket.protocol import Request
from gossamer.control.socket.server import ControlServer
from gossamer.control.speedometer import Speedometer, memory_bytes
from gossamer.engine.admission.reclaim import RECLAIM
from gossamer.frontier.reweighing import REWEIGH
from gossamer.inspect.hosts import resting_hosts
from gossamer.model.command_line import command_line
from gossamer.model.errors import StorageError
from gossamer.model.events import ProblemFound
from gossamer.model.reasons.ends import FAILED
from gossamer.state.environment import Family

if TYPE_CHECKING:
    from gossamer.control.live_crawl import LiveCrawl

NOTE_SECONDS = 1.0
LISTEN_SECONDS = 1.0
"""After which, at most, whoever waits for a host that an idle crawl keeps is heard (decision 0018)."""


@contextlib.asynccontextmanager
async def answering(built: Built, config: CrawlConfig) -> AsyncIterator[None]:
    """Answer on the control socket until the end of the block; the state must be open for longer.

    Where no socket can be had (a file system without them) the crawl goes on unasked.

    Raises:
        StorageError: the state, or the log of changes, cannot be used.
    """
    session = _Session(built, config)
    session.begin()
    try:
        await session.listen()
        yield
    finally:
        await session.leave()


class _Session:
    """The tasks beside one crawl."""

    def __init__(self, built: Built, config: CrawlConfig) -> None:
        self._built = built
        self._config = config
        self._live: LiveCrawl | None = None
        self._speed = Speedometer()
        self._tasks: list[asyncio.Task[None]] = []
        self._server: ControlServer | None = None

    def begin(self) -> None:
        """Before anything is lent: what is queued may have been admitted under another scope."""
        built = self._built
        widened = built.rejudging.changed
        with built.crawl.parts.frontier.changes() as batch:
            built.rejudging.begin(built.crawl.parts.ledger.counters.sequence, batch)
        built.crawl.parts.dispatch.expect("demands", lambda: built.effective.config.demand.stay)
        self._start("history", self._tick())
        self._start("shared rests", self._share())
        under_way = any(built.environment.get(Family.META, key) is not None for key in (RECLAIM, REWEIGH))
        under_way |= self._built.folder.refetches.exists()
        under_way = under_way or built.enrolling.pending
        hold = read_hold(self._built.folder.path)
        if widened or under_way or self._config.seeds_watch or hold != NOTHING:
            live = self._loaded()
            live.take_up(hold)
            if widened:
                live.applier.reclaim.begin()
            live.applier.background.call()
        if hold.paused_by:
            how = f"'{command_line('unpause', self._built.folder.path)}' lets it go on"
            self._tell("pause", f"{hold.paused_by} had paused it when it died, so it still is: {how}")

    async def listen(self) -> None:
        """Open the socket, if there can be one."""
        try:
            control = ControlSocket(self._built.folder.path)
        except OSError as error:
            self._tell("control socket", f"nobody can ask this crawl: {error}")
            return
        self._server = ControlServer(control, self._answer)
        await self._server.start()

    async def leave(self) -> None:
        """Answer no more, and remove the socket."""
        for task in self._tasks:
            task.cancel()
        if self._server is not None:
            await self._server.close()
        await asyncio.wait(self._tasks)
        if self._live is not None:
            await self._live.close()
        if self._built.crawl.parts.dispatch.ended not in ("", FAILED):
            with contextlib.suppress(StorageError):
                forget_hold(self._built.folder.path)
        try:
            self._note_line()
        except Exception as error:  # noqa: BLE001 - nothing here is worth the crawl
            self._tell("history", f"{type(error).__name__}: {error}")

    async def _answer(self, request: Request) -> Any:
        from gossamer.control.socket.answers import answer

        return await answer(self._loaded(), request)

    def _loaded(self) -> "LiveCrawl":
        """The crawl for those who ask, from the first time on."""
        if self._live is None:
            from gossamer.control.changes.seed_operations import watch
            from gossamer.control.live_crawl import LiveCrawl

            live = self._live = LiveCrawl(self._built, self._config, self._speed)
            self._start("background", live.applier.background.run())
            self._start("seeds", watch(live))
        return self._live

    def _start(self, name: str, work: Coroutine[Any, Any, None]) -> None:
        self._tasks.append(asyncio.create_task(self._guarded(name, work)))

    async def _guarded(self, name: str, work: Coroutine[Any, Any, None]) -> None:
        """Do `work`; a mistake in it is told of, and the crawl goes on without it."""
        try:
            await work
        except Exception as error:  # noqa: BLE001 - nothing here is worth the crawl
            self._tell(name, f"{type(error).__name__}: {error}")

    def _tell(self, where: str, problem: str) -> None:
        self._built.crawl.parts.observers.tell(ProblemFound(where, problem))

    async def _tick(self) -> None:
        """Note the speed every second, and a line of history every few; go on with walks that have become pending."""
        next_line = time.monotonic()
        while True:
            parts = self._built.crawl.parts
            self._speed.note(parts.ledger.counters)
            if time.monotonic() >= next_line:
                next_line = time.monotonic() + EVERY
                self._note_line()
            if self._built.enrolling.pending:
                self._loaded().applier.background.call()
            await asyncio.sleep(NOTE_SECONDS)

    async def _share(self) -> None:
        """Let other crawls of this machine have the hosts that this one keeps.

        A task of its own, because they would wait for an idle crawl that has stopped listening until it ends.
        """
        serving = self._built.crawl.parts.frontier.serving
        told = False
        while True:
            try:
                serving.listen()
            except StorageError as error:  # nothing is lost: it keeps what it kept, and who waits rings again
                if not told:  # once: it may be so every second
                    told = True
                    self._tell("shared rests", f"other crawls wait for hosts that it keeps: {error}")
            await asyncio.sleep(LISTEN_SECONDS)

    def _note_line(self) -> None:
        """The figures of now, as `history.COLUMNS` names them."""
        crawl = self._built.crawl
        counters = crawl.parts.ledger.counters
        line = [
            round(time.time(), 1),
            counters.pages,
            counters.bytes,
            counters.failed,
            counters.queued,
            counters.waiting,
            resting_hosts(self._built.environment, int(crawl.parts.frontier.now() * 1e6), counters.hosts),
            counters.hosts_parked,
            crawl.workers,
            memory_bytes(),
        ]
        write_line(self._built.folder.path, line)
