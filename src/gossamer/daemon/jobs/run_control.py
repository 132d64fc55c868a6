"""Keeps a running crawl to what is wanted of it."""

import signal
import time
from typing import Any

from gossamer.control.changes.changeable import plan_changes
from gossamer.control.socket.protocol import LiveError, NotRunning
from gossamer.daemon.allocation.claims import amounts_for, shortfall
from gossamer.daemon.context import WHO, DaemonContext, crawl_config
from gossamer.daemon.errors import ServiceError, service_error
from gossamer.daemon.jobs.enforcement import Enforcement
from gossamer.daemon.jobs.job import Job, JobState, Pending
from gossamer.daemon.jobs.process import JobProcess
from gossamer.daemon.jobs.schedule import is_quiet
from gossamer.model.reasons.codes import JobCode, ProblemCode
from gossamer.model.reasons.reason import Reason, because

PAUSED_BACK = ("connections", "bandwidth")
"""What a paused crawl gives back. Its memory, files and folder it keeps."""
PATIENCE = 15.0
"""Seconds that an answer to us may take; one that hangs is treated as one that does not answer."""
SOON = 0.2
"""Seconds until the next look where something is about to happen."""
UNANSWERED = 60.0
"""Seconds after which a crawl that is to pause, but does not answer, is stopped instead."""
CALM_TIMES = 4
"""Times as long until the next look at a crawl that runs and takes little; what changes wakes its reconciler."""
BY_HAND = 15.0
"""Seconds between two looks whether somebody has paused it by hand, or let it go on."""


class RunControl:
    """One process of one job, which takes part in the allocation."""

    def __init__(self, name: str, process: JobProcess, around: DaemonContext) -> None:
        self.process = process
        self.ending: Reason | None = None
        """Why the process must end though the job is to run, if it must."""
        self._name = name
        self._around = around
        self._limits = Enforcement(name, process, around)
        self._paused: bool | None = None  # not known yet
        self._looked = time.monotonic()
        self._unanswered: float | None = None
        self._stop_told: float | None = None
        self._drop_told = False
        self._excess = True  # more may be held than the settings need

    @property
    def _job(self) -> Job:
        return self._around.roster.get(self._name)

    async def _ask(self, method: str, params: dict[str, Any] | None = None) -> Any:
        job = self._job
        # A pause of ours ends by itself: quiet hours, memory. One that an operator wants does not.
        ours = method == "pause" and job.wanted != "pause"
        who = WHO if ours else job.by or WHO
        return await self._around.asking.running(self._job.path, method, params or {}, who, patience=PATIENCE)

    @property
    def held_back(self) -> bool:
        """Whether the daemon itself has paused the crawl."""
        return bool(self._paused)

    async def step(self) -> float:
        """Do what is to be done now; seconds until the next look."""
        self._limits.note()
        job = self._job
        if job.wanted != "stop":
            self.ending = self.ending or self._limits.watch_memory()
            job = self._job
        if job.wanted == "stop" or self.ending:
            return await self._end(job)
        why = self._reason_to_hold(job)
        try:
            if self._paused is None:  # it may have been adopted
                self._paused = await self._is_paused()
            pace = await (self._hold(why) if why else self._go_on())
        except NotRunning:
            return self._no_answer(why)
        self._unanswered = None
        return pace

    # Ending

    async def _end(self, job: Job) -> float:
        """Stop well; then drop the visits under way; then kill."""
        now = time.monotonic()
        patience = self._around.config.watch.stop_patience
        self._around.roster.change(self._name, state=JobState.STOPPING, reason=self.ending or job.reason)
        if self._stop_told is None:
            self._stop_told, self._drop_told = now, job.at_once
            await self._tell_stop(at_once=job.at_once)
        elif not self._drop_told and (job.at_once or now - self._stop_told > patience):
            self._stop_told, self._drop_told = now, True
            await self._tell_stop(at_once=True)
        elif self._drop_told and now - self._stop_told > patience:
            self.process.send(signal.SIGKILL)
        return self._around.config.watch.every

    async def _tell_stop(self, *, at_once: bool) -> None:
        """Over the socket, which notes who; by a signal if nobody answers there."""
        try:
            await self._ask("stop", {"now": at_once})
        except (NotRunning, ServiceError):
            self.process.send(signal.SIGTERM)

    def _no_answer(self, why: Reason | None) -> float:
        """It may be starting; or its file system has no sockets, or it hangs."""
        now = time.monotonic()
        if self._unanswered is None:
            self._unanswered = now
        if why and now - self._unanswered > UNANSWERED:
            self.ending = because(JobCode.NO_ANSWER, why)
        return min(SOON, self._around.config.watch.every)

    # Pausing and going on

    def _reason_to_hold(self, job: Job) -> Reason | None:
        """Why no visit may go out, or nothing."""
        if job.wanted == "pause":
            return because(JobCode.PAUSED_BY, job.by) if job.by else Reason(JobCode.PAUSED)
        if job.schedule is not None and is_quiet(job.schedule, time.time()):
            return Reason(JobCode.QUIET)
        if not self._limits.held["memory"]:  # somebody else has started it
            return Reason(JobCode.RESOURCES)
        return Reason(JobCode.MEMORY) if self._limits.waits_for_memory else None

    async def _hold(self, why: Reason) -> float:
        now = time.monotonic()
        if self._paused and self._job.state is JobState.PAUSED:
            self._around.roster.change(self._name, reason=why)
            if now - self._looked < BY_HAND:
                return self._around.config.watch.every
            if self._job.wanted == "pause" and not await self._is_paused():
                self._around.roster.change(self._name, wanted="run", by="by hand")
                return 0.0
        self._paused = True
        self._looked = now
        if (await self._ask("pause"))["state"] != "paused":
            return SOON
        held = self._limits.held
        self._limits.give_back({name: held[name] for name in PAUSED_BACK})
        # While nothing is lent, settings may be changed to whatever the claim allows.
        claimed = {name: amount for name, amount in self._job.claim.amounts().items() if name in PAUSED_BACK}
        await self._limits.tell({**self._limits.held, **claimed})
        self._around.roster.change(self._name, state=JobState.PAUSED, reason=why)
        return self._around.config.watch.every

    async def _is_paused(self) -> bool:
        return (await self._ask("status"))["state"] in ("paused", "pausing")

    async def _go_on(self) -> float:
        every = self._around.config.watch.every
        now = time.monotonic()
        if not self._paused and now - self._looked >= BY_HAND:
            self._looked = now
            if await self._is_paused():
                self._around.roster.change(self._name, wanted="pause", by="by hand")
                return 0.0
        if self._paused and not await self._regain():
            return every
        await self._limits.tell(self._limits.held)
        if self._paused:
            await self._ask("unpause")
            self._paused = False
        self._around.roster.change(self._name, state=JobState.RUNNING, reason=None)
        if self._job.pending is not None and not self._around.grants.waits(self._name):
            await self._apply_pending(self._job.pending)
        elif self._excess:
            await self._return_excess()
        elif self._limits.calm:
            return CALM_TIMES * every
        return every

    async def _regain(self) -> bool:
        """Ask for what was given back; whether it is all here."""
        grants = self._around.grants
        config = await crawl_config(self._job)
        short = shortfall(amounts_for(config, self._job.claim), self._limits.held)
        short = {name: amount for name, amount in short.items() if name in PAUSED_BACK}
        if not grants.waits(self._name) and self._limits.request(short):
            return True
        reason = Reason(JobCode.REGAIN)
        self._around.roster.change(self._name, state=JobState.PAUSED, reason=reason)
        return False

    # Changes of what it needs

    async def change(self, changes: dict[str, Any], who: str) -> Any:
        """Change settings of the crawl, after asking for what they need.

        Returns:
            What the crawl answers, or `{"waits": ...}`: it will be done when more is granted.

        Raises:
            ServiceError: it is above the claim, something waits already, or the crawl says no.
            NotRunning: it does not answer.
        """
        if self._job.pending is not None:
            raise ServiceError("conflict", Reason(ProblemCode.OTHER_CHANGE))
        if not await self._provide(changes):
            pending = Pending(changes, who, time.time())
            self._around.roster.change(self._name, pending=pending)
            return {"waits": self._around.grants.why(self._name)}
        return await self._set(changes, who)

    async def _provide(self, changes: dict[str, Any]) -> bool:
        """Ask for what settings need; whether it is here."""
        try:
            plan = plan_changes(await crawl_config(self._job), changes)
        except LiveError as error:
            raise service_error(error) from None
        short = shortfall(amounts_for(plan.config, self._job.claim), self._limits.held)
        if self._paused:  # what it gave back it asks for when it goes on
            short = {name: amount for name, amount in short.items() if name not in PAUSED_BACK}
        return self._limits.request(short)

    async def _set(self, changes: dict[str, Any], who: str) -> Any:
        self._excess = True
        if not self._paused:
            await self._limits.tell(self._limits.held)
        return await self._around.asking.running(self._job.path, "set", {"changes": changes}, who)

    async def _apply_pending(self, pending: Pending) -> None:
        """Do what has waited, or ask for what it needs if that was given up meanwhile."""
        roster = self._around.roster
        try:
            if not await self._provide(pending.changes):
                return
            await self._set(pending.changes, pending.who)
        except ServiceError as error:
            roster.store.note(WHO, "change given up", self._name, str(error))
        roster.change(self._name, pending=None)

    async def _return_excess(self) -> None:
        """Give back what fewer workers or a lower speed leave over, once visits that hold it have ended."""
        config = await crawl_config(self._job)
        held = self._limits.held
        over = shortfall(held, amounts_for(config, self._job.claim))
        over.pop("memory", None)  # the process has it still
        if not over:
            self._excess = False
            return
        workers = (await self._ask("status"))["workers"]
        if workers["busy"] <= config.engine.workers:
            left = {name: held[name] - over.get(name, 0) for name in held}
            await self._limits.tell(left)
            self._limits.give_back(over)
            self._excess = False
