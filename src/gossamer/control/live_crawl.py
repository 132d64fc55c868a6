"""The running crawl as requests see it: what they look at, and what they change."""

import asyncio
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from gossamer.assembly.build import Built
from gossamer.assembly.hold import Ceilings, Hold, write_hold
from gossamer.config.config import CrawlConfig
from gossamer.config.settings import resolve_secrets, to_toml
from gossamer.control.changes.applier import SettingsApplier
from gossamer.control.changes.change_log import Change, ChangeLog
from gossamer.control.changes.changeable import Plan
from gossamer.control.changes.demand import Demands
from gossamer.control.changes.refetching import Refetching
from gossamer.control.changes.seeding import Seeding
from gossamer.control.socket.protocol import LiveError
from gossamer.control.speedometer import LONG, Speedometer
from gossamer.control.views.context import ViewContext, seen
from gossamer.engine.in_thread import in_thread
from gossamer.inspect.freshness import FreshnessSums
from gossamer.inspect.lag import Lag
from gossamer.model.errors import ConfigError, StorageError
from gossamer.model.reasons.codes import JobCode, ProblemCode
from gossamer.model.reasons.reason import Reason, because, of
from gossamer.state.whole_files import write_whole

T = TypeVar("T")


class _ViewRoom:
    """A view context with the one thread that uses it."""

    def __init__(self, context: ViewContext) -> None:
        self.context = context
        self.threads = ThreadPoolExecutor(1, "gossamer-views")


class LiveCrawl:
    """One crawl that runs in this process.

    Args:
        built: the crawl with its parts.
        config: as it was given, with references in place of secrets; this is what `crawl.toml` holds.
        speed: how fast it is.

    Raises:
        StorageError: the log of changes cannot be read.
    """

    def __init__(self, built: Built, config: CrawlConfig, speed: Speedometer) -> None:
        self.built = built
        self.folder = built.folder
        self.crawl = built.crawl
        self.config = config
        self.refetching = Refetching(
            built.folder.path, built.environment, built.crawl.parts.frontier, lambda: built.effective.config
        )
        self.applier = SettingsApplier(built, self.refetching)
        self.demands = Demands(built.identity, built.crawl.parts.observers)
        self.seeding = Seeding(built, self.applier)
        self.log = ChangeLog(built.folder.path)
        self._rooms = {slow: _ViewRoom(self._context()) for slow in (False, True)}
        self.speed = speed
        self.started = speed.started
        self.paused_by = ""
        self.hosts_by_state: tuple[dict[str, int], bool] = {}, True
        """As last counted, and whether that is an estimate."""
        self.followers: list[Lag] = []
        """How far what is made of the archive is behind, as last told."""
        self.freshness: FreshnessSums | None = None
        """As last estimated; `estimating` is the estimate that is under way."""
        self.estimating: asyncio.Task[None] | None = None
        self.changing = asyncio.Lock()
        """One change after the other."""

    # Looking …

    async def look(self, view: Callable[[ViewContext, Any], T], params: Any, *, slow: bool = False) -> T:
        """What a view sees, in a thread of the views' own; slow ones have another.

        Raises:
            LiveError: also for what the state or the parameters make impossible.
        """
        room = self._rooms[slow]
        # A thread cannot be stopped: the state must not be closed under it if whoever asked has left.
        return await asyncio.shield(
            asyncio.get_running_loop().run_in_executor(room.threads, seen, view, room.context, params)
        )

    async def close(self) -> None:
        """Wait for views that are looking; nobody may look afterwards."""
        for room in self._rooms.values():
            await asyncio.to_thread(room.threads.shutdown, wait=True, cancel_futures=True)

    def _context(self) -> ViewContext:
        return ViewContext(self.folder, self.built.environment, lambda: self.config, self._pulse)

    def _pulse(self) -> tuple[float, bool]:
        rate = self.speed.rates(self.crawl.parts.ledger.counters, LONG).visits_per_s
        return rate, self.crawl.busy >= self.crawl.workers

    @property
    def state(self) -> str:
        """`running`, `pausing`, `paused` or `stopping`."""
        dispatch = self.crawl.parts.dispatch
        if dispatch.ended:
            return "stopping"
        if dispatch.paused:
            return "pausing" if self.crawl.parts.frontier.lent else "paused"
        return "running"

    @property
    def reason(self) -> Reason | None:
        """Why it is not running, if it is not."""
        dispatch = self.crawl.parts.dispatch
        if dispatch.ended:
            return dispatch.ended
        return because(JobCode.PAUSED_BY, self.paused_by) if dispatch.paused else None

    # Changing, with `changing` held …

    def refuse_if_ending(self) -> None:
        """Raise a conflict if nothing can be changed any more."""
        if self.crawl.parts.dispatch.ended:
            raise LiveError("conflict", because(ProblemCode.ENDING, self.crawl.parts.dispatch.ended))

    async def note(self, *changes: dict[str, Any], who: str) -> list[Change]:
        """Put entries into the log of changes, before they are made; `changes` are fields of `Change`."""
        now = time.time()
        ids = self.log.next_ids(len(changes))
        entries = [
            Change(id=number, when=now, who=who or "someone", together=ids[0], **fields)
            for number, fields in zip(ids, changes, strict=True)
        ]
        await kept(self.log.append, entries)
        return entries

    async def pause(self, who: str) -> None:
        """Lend no URL until `unpause`, not even after a crash.

        Raises:
            LiveError: `internal` if the disk refuses; then it goes on.
        """
        await self._keep(Hold(who or "someone", self.applier.ceilings))
        self.paused_by = who or "someone"
        self.crawl.pause()

    async def unpause(self) -> None:
        """Go on.

        Raises:
            LiveError: `internal` if the disk refuses; then it stays paused.
        """
        await self._keep(Hold("", self.applier.ceilings))
        self.paused_by = ""
        self.crawl.unpause()

    async def hold_to(self, ceilings: Ceilings) -> None:
        """Keep to these ceilings from now on, after a crash too.

        Raises:
            LiveError: `internal` if the disk refuses; then nothing has changed.
        """
        await self._keep(Hold(self.paused_by, ceilings))
        self.applier.hold_to(ceilings)

    def take_up(self, hold: Hold) -> None:
        """Be held back as before a crash; nothing was lent yet."""
        self.applier.hold_to(hold.ceilings)
        if hold.paused_by:
            self.paused_by = hold.paused_by
            self.crawl.pause()

    async def _keep(self, hold: Hold) -> None:
        await kept(write_hold, self.folder.path, hold)

    def _refuse_above_ceilings(self, config: CrawlConfig) -> None:
        """Raise a conflict if a setting exceeds what the crawl may take, and more so than it does now."""
        ceilings = self.applier.ceilings
        workers, speed = config.engine.workers, config.fetch.max_speed
        if ceilings.connections and workers > max(ceilings.connections, self.config.engine.workers):
            raise LiveError(
                "conflict", of("engine.workers", because(ProblemCode.GRANTED, ceilings.connections))
            )
        within = 0 < speed <= (ceilings.bandwidth or speed)
        if ceilings.bandwidth and speed != self.config.fetch.max_speed and not within:
            raise LiveError(
                "conflict", of("fetch.max_speed", because(ProblemCode.GRANTED_SPEED, ceilings.bandwidth))
            )

    async def write_down(self, config: CrawlConfig) -> None:
        """Have `crawl.toml` say so from now on.

        Raises:
            LiveError: `internal` if the disk refuses; then nothing has changed.
        """
        await kept(write_whole, self.folder.config, to_toml(config))
        self.config = config

    async def apply(self, plan: Plan, who: str, undoes: int = 0) -> list[Change]:
        """Make a planned change of settings: note it, write it down, go by it.

        Raises:
            LiveError: `invalid` if it cannot be done here, `internal` if the disk refuses.
        """
        if not plan.items:
            return []
        self._refuse_above_ceilings(plan.config)
        try:
            effective = resolve_secrets(plan.config)
            move = await self.applier.prepare(effective, plan.groups)
        except ConfigError as error:
            raise LiveError("conflict", "; ".join(error.problems)) from None
        fields = ({"path": one.path, "old": one.old, "new": one.new, "undoes": undoes} for one in plan.items)
        entries = await self.note(*fields, who=who)
        await self.write_down(plan.config)
        move()
        return entries


async def kept(write: Callable[..., None], *args: Any) -> None:
    """Have `write` put something on the disk.

    Raises:
        LiveError: `internal`, if the disk refuses.
    """
    try:
        await in_thread(write, *args)
    except StorageError as error:
        raise LiveError("internal", str(error)) from None
