"""Cares for all jobs: finds what runs, has a reconciler for each, counts what lies on the disk."""

import asyncio
import contextlib
from collections.abc import Callable

from gossamer.daemon.allocation.grants import Restored
from gossamer.daemon.context import WHO, DaemonContext
from gossamer.daemon.jobs.endings import beginning, read_report
from gossamer.daemon.jobs.job import Job, JobState
from gossamer.daemon.jobs.process import crawler_of, cut_errors, folder_size, mark_of
from gossamer.daemon.jobs.reconciler import JobReconciler
from gossamer.daemon.jobs.roster import Roster
from gossamer.model.errors import StorageError
from gossamer.model.reasons.codes import JobCode
from gossamer.model.reasons.reason import Reason, because


def find_running(roster: Roster) -> list[Restored]:
    """Note in the roster which jobs have a living process, started by whomever; what those hold."""
    restored = []
    for name in roster.names():
        job = roster.get(name)
        mark = job.process if job.process and mark_of(job.process.pid) == job.process else None
        if mark is None and (mark := crawler_of(job.path)) is not None:
            # A daemon was killed between a start and its note, or somebody has started it by hand.
            job = _found(roster, job)
            job = roster.change(name, process=mark, wanted="run" if job.wanted == "stop" else job.wanted)
        if mark is not None:
            restored.append(Restored(name, job.claim, job.held))
        roster.see(name, ended=read_report(job.path))
    return restored


def _found(roster: Roster, job: Job) -> Job:
    lies = beginning(job.path)
    return roster.change(
        job.name,
        log_size=lies.log_size,
        report_was=lies.report,
        state=JobState.RUNNING,
        reason=Reason(JobCode.FOUND),
    )


class Supervisor:
    """The keepers.

    Args:
        disk: the limit on what all folders take together.
        anew: starts a copy of a job.
    """

    def __init__(self, around: DaemonContext, disk: Callable[[], int], anew: Callable[[str], None]) -> None:
        self._around = around
        self._disk = disk
        self._anew = anew
        self._reconcilers: dict[str, JobReconciler] = {}
        self._measuring: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Care for every job, in the order in which they have waited."""
        roster = self._around.roster
        jobs = [roster.get(name) for name in roster.names()]
        for job in sorted(jobs, key=lambda job: (job.queued is None, job.queued or 0.0)):
            self.add(job.name)
        self._measuring = asyncio.create_task(self._measure_often(), name="disk")

    async def close(self) -> None:
        """Care no longer; the crawls go on."""
        if self._measuring is not None:
            self._measuring.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._measuring
        await asyncio.gather(*(reconciler.close() for reconciler in self._reconcilers.values()))
        self._reconcilers.clear()

    def add(self, name: str) -> None:
        """Care for a job from now on."""
        self._reconcilers[name] = JobReconciler(name, self._around, self._anew)

    async def remove(self, name: str) -> None:
        """Care for it no longer."""
        reconciler = self._reconcilers.pop(name, None)
        if reconciler is not None:
            await reconciler.close()
        self._around.grants.leave(name)

    def wake(self, name: str) -> None:
        """Something has changed for a job."""
        if (reconciler := self._reconcilers.get(name)) is not None:
            reconciler.wake()

    def reconciler(self, name: str) -> JobReconciler:
        """Who cares for the job of that name."""
        return self._reconcilers[name]

    # The disk

    async def measure(self) -> None:
        """Count what the folders take; let those stop that take more than they claim."""
        around = self._around
        jobs = [around.roster.get(name) for name in around.roster.names()]
        for job in jobs:
            size = await asyncio.to_thread(folder_size, job.path)
            if job.name in around.roster:
                around.roster.see(job.name, disk=size)
                self._judge_size(job.name, size)
        self.share_disk()

    def share_disk(self) -> None:
        """What folders of jobs that do not run take, nobody else can have."""
        around = self._around
        taken = sum(
            around.roster.seen(name).disk for name in around.roster.names() if name not in around.grants
        )
        around.grants.set_limit("disk", max(0, self._disk() - taken))

    def _judge_size(self, name: str, size: int) -> None:
        roster = self._around.roster
        job = roster.get(name)
        if job.process is None or size <= job.claim.disk or job.wanted == "stop":
            return
        reason = because(JobCode.TOO_LARGE, size >> 20, job.claim.disk >> 20)
        roster.store.note(WHO, "stop", name, reason)
        roster.change(name, wanted="stop", by=WHO, reason=reason)
        self.wake(name)

    async def _measure_often(self) -> None:
        while True:
            with contextlib.suppress(StorageError):
                self._around.roster.store.catch_up()
                await self.measure()
                self._around.asking.sweep()
                for name in self._around.roster.names():
                    self._look_around(name)
            await asyncio.sleep(self._around.config.watch.disk_every)

    def _look_around(self, name: str) -> None:
        """What need not be seen at once: files that are open, errors that pile up, starts by hand."""
        roster = self._around.roster
        job = roster.get(name)
        cut_errors(self._around.errors_of(name), self._around.config.watch.max_errors)
        if name in self._reconcilers:
            self._reconcilers[name].measure()
        if job.process is None and job.wanted == "stop" and crawler_of(job.path) is not None:
            roster.change(name, wanted="run", by="by hand")
            self.wake(name)
