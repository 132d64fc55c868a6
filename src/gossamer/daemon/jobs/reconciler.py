"""Cares for one job: brings what is nearer to what is wanted, again and again."""

import asyncio
import contextlib
import time
import traceback
from collections.abc import Callable

from gossamer.assembly.hold import Ceilings, Hold, read_hold, write_hold
from gossamer.control.socket.protocol import NotRunning
from gossamer.daemon.allocation.claims import amounts_for
from gossamer.daemon.context import WHO, DaemonContext, crawl_config
from gossamer.daemon.errors import ServiceError
from gossamer.daemon.jobs.endings import beginning, ending_of, read_report, stopped_by_hand
from gossamer.daemon.jobs.enforcement import TOLD
from gossamer.daemon.jobs.job import Job, JobState, Mark
from gossamer.daemon.jobs.process import JobProcess, crawler_of, cut_errors, spawn
from gossamer.daemon.jobs.restart import CONFIG, Verdict, judge
from gossamer.daemon.jobs.run_control import RunControl
from gossamer.daemon.jobs.schedule import is_quiet, next_start, quiet_until
from gossamer.model.errors import ConfigError, GossamerError, StorageError
from gossamer.model.reasons.codes import JobCode, TextCode
from gossamer.model.reasons.reason import Reason, because

RETRY = 5.0
"""Seconds after which what could not be done is tried again."""
LONGEST_SLEEP = 60.0
"""So often a job is looked at that waits for a time of day: clocks are set."""
_ENDED = {
    Verdict.FINISHED: JobState.FINISHED,
    Verdict.STOPPED: JobState.STOPPED,
    Verdict.FAILED: JobState.FAILED,
    Verdict.AGAIN: JobState.QUEUED,
}


class JobReconciler:
    """One job's.

    Args:
        name: of the job. If it has a process that lives, it takes part in the allocation.
        anew: starts a copy of the job in an empty folder.
    """

    def __init__(self, name: str, around: DaemonContext, anew: Callable[[str], None]) -> None:
        self._name = name
        self._around = around
        self._anew = anew
        self._woken = asyncio.Event()
        self._turn = asyncio.Lock()
        self._run_control: RunControl | None = None
        self._trouble = ""
        if self._job.process is not None:
            self._take_over(self._job.process)
        self._task = asyncio.create_task(self._run(), name=f"job {name}")

    async def close(self) -> None:
        """Care no longer; the process goes on."""
        self._task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await self._task
        if self._run_control is not None:
            self._run_control.process.close()

    def measure(self) -> None:
        """Note what the process takes."""
        if self._run_control is not None:
            found = self._run_control.process.footprint()
            self._around.roster.see(self._name, memory=found.memory, files=found.files)

    def wake(self) -> None:
        """Something has changed: look at once."""
        self._woken.set()

    async def change(self, changes: dict[str, object], who: str) -> object:
        """Change settings of the running crawl; see `RunControl.change`.

        Raises:
            NotRunning: it does not run.
            ServiceError: it cannot be done.
        """
        async with self._turn:
            if self._run_control is None:
                raise NotRunning("the crawl does not run")
            return await self._run_control.change(changes, who)

    @property
    def _job(self) -> Job:
        return self._around.roster.get(self._name)

    async def _run(self) -> None:
        while True:
            self._woken.clear()
            try:
                async with self._turn:
                    sleep = await self._step()
            except Exception as error:  # noqa: BLE001 - a mistake of ours must not leave the job without care
                self._note_trouble(error)
                sleep = RETRY
            # Not `wait_for`: until Python 3.12 it loses a cancellation that comes as what it waits for does.
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(sleep):
                    await self._until_something()

    def _note_trouble(self, error: Exception) -> None:
        """Once, however often it comes back; whoever looks at the job sees what the disk refuses to it."""
        if self._run_control is None and isinstance(error, StorageError):
            self._around.roster.change(self._name, reason=error.why)
        trouble = f"{type(error).__name__}: {error}"
        if trouble != self._trouble:
            details = f"{trouble}\n{traceback.format_exc(limit=-5)}"
            with contextlib.suppress(GossamerError):
                self._around.roster.store.note(WHO, "trouble", self._name, details)
        self._trouble = trouble

    async def _until_something(self) -> None:
        """Until this is woken, or the process has ended."""
        waits = [asyncio.ensure_future(self._woken.wait())]
        if self._run_control is not None:
            waits.append(asyncio.ensure_future(self._run_control.process.ended.wait()))
        try:
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for wait in waits:
                wait.cancel()

    async def _step(self) -> float | None:
        """Do what is to be done now; seconds until the next look, `None`: when woken."""
        if self._run_control is not None and self._run_control.process.ended.is_set():
            await self._on_end(self._run_control)
        self._follow_schedule()
        self._close_window()
        if self._run_control is not None:
            return self._within_window(await self._run_control.step())
        job = self._job
        if job.wanted == "run":
            return await self._bring_up(job)
        self._around.grants.leave(self._name)
        if job.wanted == "pause":
            self._rest(JobState.PAUSED, job.reason or Reason(JobCode.PAUSED))
        elif job.state not in (JobState.NEW, JobState.FINISHED, JobState.FAILED):
            self._rest(JobState.STOPPED, job.reason)
        return self._until_next_run()

    # By the clock

    def _follow_schedule(self) -> None:
        """Start the job if its time has come; also if it came while no daemon ran."""
        job = self._job
        now = time.time()
        if job.schedule is None or job.next_run is None or now < job.next_run:
            return
        self._around.roster.change(self._name, next_run=next_start(job.schedule, now))
        if job.wanted != "stop":
            return
        self._around.roster.store.note(WHO, "scheduled start", self._name)
        if job.schedule.how == "anew" and job.state is not JobState.NEW:
            self._anew(self._name)
        else:
            revisits = job.schedule.how == "revisit"
            self._around.roster.change(
                self._name,
                wanted="run",
                by=WHO,
                at_once=False,
                crashes=0,
                retry_at=None,
                revisits=revisits,
                until=now + job.schedule.hours * 3600 if revisits and job.schedule.hours else None,
            )

    def _close_window(self) -> None:
        """Stop a job that was started to visit pages again, if the hours for that are over."""
        job = self._job
        if job.wanted == "run" and job.until is not None and time.time() >= job.until:
            self._around.roster.store.note(WHO, "scheduled stop", self._name)
            self._around.roster.change(
                self._name, wanted="stop", by=WHO, until=None, reason=Reason(JobCode.HOURS)
            )

    def _within_window(self, sleep: float | None) -> float | None:
        """Not longer than until it closes."""
        until = self._job.until
        if until is None:
            return sleep
        left = min(max(0.05, until - time.time()), LONGEST_SLEEP)
        return left if sleep is None else min(sleep, left)

    def _until_next_run(self) -> float | None:
        job = self._job
        if job.schedule is None or job.next_run is None:
            return None
        now = time.time()
        next_run = min(job.next_run, next_start(job.schedule, now) or job.next_run)
        self._around.roster.change(self._name, next_run=next_run)  # another, if the clock was set back
        return min(max(0.05, next_run - now), LONGEST_SLEEP)

    # Beginning

    async def _bring_up(self, job: Job) -> float | None:
        """Start the process, or say what it waits for."""
        now = time.time()
        if job.schedule is not None and is_quiet(job.schedule, now):
            self._around.grants.leave(self._name)
            self._rest(JobState.SCHEDULED, Reason(JobCode.QUIET))
            return min((quiet_until(job.schedule, now) or now + LONGEST_SLEEP) - now, LONGEST_SLEEP)
        if job.retry_at is not None and now < job.retry_at <= now + self._around.config.restart.longest_wait:
            self._around.grants.leave(self._name)
            return job.retry_at - now
        try:
            ready = await self._provide(job)
            if (mark := crawler_of(job.path)) is not None:
                return self._adopt(mark)
            if not ready:
                return RETRY
        except ConfigError as error:
            self._around.roster.change(self._name, wanted="stop", state=JobState.FAILED, reason=error.why)
            return None
        except ServiceError as error:  # above a limit: later it may not be
            self._around.grants.leave(self._name)
            self._rest(JobState.QUEUED, error.why)
            return RETRY
        self._spawn(job)
        return 0.0

    async def _provide(self, job: Job) -> bool:
        """Ask for what the crawl begins with; whether it is here."""
        grants, roster = self._around.grants, self._around.roster
        if self._name not in grants:
            amounts = amounts_for(await crawl_config(job), job.claim)
            grants.join(self._name, job.claim)
            if not grants.request(self._name, amounts):
                roster.change(
                    self._name, state=JobState.QUEUED, reason=Reason(JobCode.RESOURCES), queued=time.time()
                )
            roster.tell_allocation()
        return not grants.waits(self._name)

    def _spawn(self, job: Job) -> None:
        """Start the process; what it may hold is written down before, for whoever finds it."""
        around = self._around
        errors = around.errors_of(self._name)
        cut_errors(errors, around.config.watch.max_errors)
        found = beginning(job.path)
        around.roster.change(
            self._name,
            held=around.grants.held(self._name),
            log_size=found.log_size,
            report_was=found.report,
            started=time.time(),
            queued=None,
            retry_at=None,
        )
        # It is told again once it answers; until then it keeps to this.
        held = around.grants.held(self._name)
        write_hold(job.path, Hold(ceilings=Ceilings(**{name: held[name] for name in TOLD})))
        mark = spawn(job.path, errors, revisit=job.revisits)
        self._take_over(mark)
        around.roster.change(self._name, process=mark, state=JobState.RUNNING, reason=None)

    def _adopt(self, mark: Mark) -> float:
        """Take over a process that somebody else has started; it pauses until it has what it takes."""
        around = self._around
        found = beginning(self._job.path)
        around.roster.store.note(WHO, "found running", self._name, f"process {mark.pid}")
        around.roster.change(
            self._name, process=mark, log_size=found.log_size, report_was=found.report, started=time.time()
        )
        self._take_over(mark)
        return 0.0

    def _take_over(self, mark: Mark) -> None:
        process = JobProcess(mark)
        held = self._job.held
        if held:
            process.limit_files(held["files"], self._job.claim.files)
        self._run_control = RunControl(self._name, process, self._around)
        self._around.asking.forget(self._job.path)

    # Ending

    async def _on_end(self, run_control: RunControl) -> None:
        """See how the process ended, take back what it held, decide what follows."""
        around, job = self._around, self._job
        run_control.process.close()
        self._run_control = None
        around.asking.forget(job.path)
        status = run_control.process.status
        if status == CONFIG and (mark := crawler_of(job.path)) is not None:
            self._adopt(mark)  # another process was faster than ours
            return
        around.grants.leave(self._name)
        if by := self._paused_by_hand(run_control):
            job = around.roster.change(
                self._name, wanted="pause", by=by, reason=because(JobCode.PAUSED_BY, by)
            )
        stopped = job.wanted != "run" or (not run_control.ending and stopped_by_hand(job))
        ending = ending_of(job, status, around.errors_of(self._name), stopped=stopped)
        sentence = judge(ending, job.crashes, around.config.restart)
        now = time.time()
        again = sentence.verdict is Verdict.AGAIN
        held_back = sentence.verdict is Verdict.STOPPED and job.wanted == "pause"
        reason = run_control.ending or sentence.reason or (job.reason if job.wanted == "stop" else None)
        if held_back:
            paused = because(JobCode.PAUSED_BY, job.by)
            reason = because(TextCode.ALSO, paused, reason) if reason else paused
        if again or sentence.verdict is Verdict.FAILED:
            around.roster.store.note(WHO, "crash" if again else "failed", self._name, reason or "")
        around.roster.see(self._name, memory=0, files=0, ended=read_report(job.path))
        around.roster.change(
            self._name,
            process=None,
            held={},
            pending=job.pending if again else None,
            ended=now,
            state=_ENDED[sentence.verdict],
            reason=reason,
            crashes=sentence.crashes,
            retry_at=now + sentence.wait if again else None,
            wanted=job.wanted if again or held_back else "stop",
            revisits=job.revisits and (again or held_back),
            until=job.until if again or held_back else None,
        )
        around.roster.tell_allocation()

    def _paused_by_hand(self, run_control: RunControl) -> str:
        """Who had paused a crawl, past the daemon, that has died since; empty if nobody had."""
        if self._job.wanted != "run" or run_control.held_back:
            return ""
        by = read_hold(self._job.path).paused_by
        return "" if by == WHO else by

    def _rest(self, state: JobState, reason: Reason | None) -> None:
        self._around.roster.change(self._name, state=state, reason=reason)
