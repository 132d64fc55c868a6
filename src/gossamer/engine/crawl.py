"""The lifetime of one crawl: starts the tasks, watches limits, ends well."""

import asyncio
import contextlib
import itertools
import shutil
import time
from collections.abc import Awaitable, Iterable, Sequence
from pathlib import Path

import msgspec

from gossamer.archive.cdxj import write_index
from gossamer.engine.admission.admission import Admission
from gossamer.engine.checkpoints import Checkpoints
from gossamer.engine.config import EngineConfig
from gossamer.engine.fault_points import fault_point
from gossamer.engine.heap import give_back
from gossamer.engine.in_thread import in_thread
from gossamer.engine.observe import Observers
from gossamer.engine.revisits import RevisitPace
from gossamer.engine.settlement.archivist import Archivist
from gossamer.engine.settlement.ledger import Ledger
from gossamer.engine.settlement.settlement import Settlement
from gossamer.engine.signals.signals import Signals
from gossamer.engine.visiting.crew import Crew
from gossamer.engine.visiting.dispatch import Dispatch
from gossamer.engine.visiting.worker import Worker
from gossamer.frontier.frontier import Frontier
from gossamer.model.candidate import Candidate
from gossamer.model.errors import StorageError
from gossamer.model.events import Stopped
from gossamer.model.reasons.ends import DISK_FULL, FAILED, FINISHED, INTERRUPTED, UNREACHABLE
from gossamer.model.reasons.reason import Reason
from gossamer.model.url import Url

UPKEEP_SECONDS = 1.0
MOMENT = 0.05
SEEDED_TOGETHER = 1_000


class Parts(msgspec.Struct, frozen=True):
    """What a crawl is made of; `assembly/build.py` puts it together."""

    frontier: Frontier
    admission: Admission
    dispatch: Dispatch
    settlement: Settlement
    archivist: Archivist
    checkpoints: Checkpoints
    ledger: Ledger
    observers: Observers
    worker: Worker
    pace: RevisitPace
    signals: Signals


class Crawl:
    """One run of a crawl in its folder."""

    def __init__(
        self, folder: Path, config: EngineConfig, parts: Parts, elsewhere: Sequence[Path] = ()
    ) -> None:
        """A crawl in `folder`, parts of which lie `elsewhere`, on disks that may get full, too."""
        self._folder = folder
        self._places = (folder, *elsewhere)
        self._config = config
        self._parts = parts
        self._crew: Crew | None = None
        self._disk_low: StorageError | None = None
        self._task: asyncio.Task[object] | None = None
        self._soon: asyncio.TimerHandle | None = None
        self._settled = asyncio.Event()
        self._limited: float | None = None
        self.cut = 0
        """Visits that were broken off because they went on for too long after a limit was reached."""
        self._saving = asyncio.Lock()

    @property
    def parts(self) -> Parts:
        """For whoever reports on the crawl."""
        return self._parts

    def seed(self, urls: Iterable[Url]) -> int:
        """Admit seeds, so many in a commit that memory is bounded; how many were new.

        After a crash in between, `resume` admits the others: it is given all of them again.
        """
        admitted, rest = 0, iter(urls)
        while some := list(itertools.islice(rest, SEEDED_TOGETHER)):
            with self._parts.frontier.changes() as batch:
                admitted += sum(self._parts.admission.admit(Candidate(url)) for url in some)
                self._parts.ledger.enter(batch)
        return admitted

    def take_up(self) -> int:
        """Try again what the last session left, if it ended by itself; how many hosts that concerns."""
        return self._parts.frontier.take_up() if self._parts.ledger.ended in (FINISHED, UNREACHABLE) else 0

    @property
    def workers(self) -> int:
        """Workers that are wanted; some more may be on their last visit."""
        return self._crew.size if self._crew is not None else self._config.workers

    @property
    def busy(self) -> int:
        """Workers that are at a visit."""
        return self._crew.present - self._parts.dispatch.idle if self._crew is not None else 0

    def set_workers(self, workers: int) -> None:
        """Change the number of workers; those too many leave after their current visit."""
        self._config = msgspec.structs.replace(self._config, workers=workers)
        if self._crew is not None and not self._parts.dispatch.ended:
            self._crew.resize(workers)

    def configure(self, config: EngineConfig) -> None:
        """Go on with other settings, as far as they can change; workers stay as many as they are."""
        self._config = msgspec.structs.replace(config, workers=self._config.workers)
        self._parts.dispatch.give_up_after(int(config.give_up_after * 1e6))

    def pause(self) -> None:
        """Lend nothing until `unpause`; what is lent is finished and settled."""
        self._parts.dispatch.pause()
        self._parts.ledger.hold()

    def unpause(self) -> None:
        """Lend URLs again after a pause."""
        self._parts.ledger.go_on()
        self._parts.dispatch.unpause()

    def stop(self, reason: Reason = INTERRUPTED) -> None:
        """Lend nothing more; what is lent is finished and settled."""
        self._parts.dispatch.end(reason)

    def stop_now(self) -> None:
        """Drop what is lent; it will be visited again by `resume`."""
        self._parts.dispatch.end(INTERRUPTED)
        if self._task is not None:
            self._task.cancel()

    def stop_soon(self) -> None:
        """As `stop_now`, but whoever calls this has a moment to hear of it."""
        self._parts.dispatch.end(INTERRUPTED)
        self._soon = asyncio.get_running_loop().call_later(MOMENT, self.stop_now)

    async def run(self) -> Reason:
        """Crawl until finished, stopped, or at a limit; the reason.

        Raises:
            StorageError: what was fetched cannot be kept. The state is as of the last commit.
        """
        self._task = asyncio.current_task()
        parts = self._parts
        broken: StorageError | None = None
        try:
            await self._work()
        except* StorageError as failures:
            broken = _first(failures)
        finally:
            if self._soon is not None:  # nothing is lent any more: it would hit what the task does next
                self._soon.cancel()
        reason = parts.dispatch.ended or INTERRUPTED
        if broken is None:
            await self._end(reason)
        if failure := broken or self._disk_low:
            raise failure
        return reason

    async def _work(self) -> None:
        parts = self._parts
        async with asyncio.TaskGroup() as tasks:
            settling = tasks.create_task(self._or_fail(parts.settlement.run()))
            tasks.create_task(self._or_fail(self._upkeep()))
            tasks.create_task(self._or_fail(self._lead_revisits()))
            hearing = tasks.create_task(self._or_fail(parts.signals.run()))
            self._crew = Crew(tasks, parts.dispatch, lambda: self._or_fail(parts.worker.run()))
            self._crew.resize(self._config.workers)
            await self._crew.wait_gone()
            await parts.settlement.finish()
            await settling
            hearing.cancel()
            self._settled.set()

    async def _or_fail(self, work: Awaitable[None]) -> None:
        """Do `work`; if it fails, lend nothing more from that moment on."""
        try:
            await work
        except Exception:
            self._parts.dispatch.end(FAILED)
            raise

    async def _lead_revisits(self) -> None:
        """Follow the visits that are spent on what was visited before, until everything is settled."""
        parts = self._parts
        while True:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._settled.wait(), parts.pace.rest)
                return
            if parts.pace.on:
                parts.pace.correct()
                parts.dispatch.pump()

    async def _upkeep(self) -> None:
        """Keep memory small; checkpoint at intervals; stop before the disk is full or when the time is up.

        Returns after everything is settled, but never in the middle of a checkpoint.
        """
        parts = self._parts
        checkpointed = time.monotonic()
        while True:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._settled.wait(), UPKEEP_SECONDS)
                return
            give_back()
            config = self._config
            if full := next((place for place in self._places if _free(place) < config.min_free_disk), None):
                self._disk_low = StorageError(
                    f"{full}: less than {config.min_free_disk >> 20} MiB of disk are free "
                    "(engine.min_free_disk), so the crawl has stopped. Free some space, then resume."
                )
                self.stop(DISK_FULL)
            if config.checkpoint_every and time.monotonic() - checkpointed >= config.checkpoint_every:
                await self.checkpoint()
                checkpointed = time.monotonic()
            # A limit may be reached while nothing is settled: time passes by itself.
            parts.dispatch.pump()
            self._keep_to_limit()

    def _keep_to_limit(self) -> None:
        """Break off what is under way if it does not come to its end soon after a limit was reached."""
        dispatch = self._parts.dispatch
        limit = dispatch.limit
        if not limit or dispatch.paused or self._crew is None:
            self._limited = None
            return
        now = time.monotonic()
        self._limited = now if self._limited is None else self._limited
        if now - self._limited >= self._config.limit_grace and not self.cut:
            self.cut = self._parts.frontier.lent
            dispatch.end(limit)
            self._crew.cut()

    async def checkpoint(self, *, index: bool = True) -> str:
        """Take a checkpoint and write the index, unless told not to, one at a time; its name.

        Raises:
            StorageError: the disk refuses.
        """
        parts = self._parts
        async with self._saving:
            taken = await parts.checkpoints.take(parts.settlement.held)
            parts.observers.tell(taken)
            if index:
                await self.write_index()
        return taken.name

    async def write_index(self) -> None:
        """Stream the sorted index out to `index.cdxj`."""
        captures = self._parts.archivist.captures()
        await in_thread(write_index, captures, self._folder / "index.cdxj")

    async def _end(self, reason: Reason) -> None:
        parts = self._parts
        async with self._saving:  # somebody may be taking a checkpoint
            parts.archivist.close()
            fault_point("end.archive_closed")
            with parts.frontier.changes() as batch:
                parts.archivist.enter(batch)
            fault_point("end.committed")
            await self.write_index()
            fault_point("end.indexed")
            # Last: a crawl that has ended has its whole index, so `check` can hold it to that.
            with parts.frontier.changes() as batch:
                parts.ledger.enter(batch, ended=reason)
            fault_point("end.told")
            parts.observers.tell(await parts.checkpoints.take(parts.settlement.held))
        parts.observers.tell(Stopped(reason))


def _free(place: Path) -> int:
    """Bytes that are free on its disk.

    Raises:
        StorageError: it cannot be reached.
    """
    try:
        return shutil.disk_usage(place).free
    except OSError as error:
        raise StorageError(
            f"{place}: cannot be reached ({error.strerror}), so the crawl has stopped. Mount its disk, then resume."
        ) from None


def _first(failures: BaseExceptionGroup[StorageError]) -> StorageError:
    first = failures.exceptions[0]
    return first if isinstance(first, StorageError) else _first(first)
