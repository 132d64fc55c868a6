"""What the daemon shows of a job, and of what happens."""

from typing import Any, Literal, TypeAlias

import msgspec

from gossamer.daemon.allocation.allocator import Wait
from gossamer.daemon.allocation.claims import Amounts, Claim
from gossamer.daemon.allocation.grants import AllocationView
from gossamer.daemon.jobs.job import Job, JobState, Pending
from gossamer.daemon.jobs.schedule import Schedule, next_starts, quiet_until
from gossamer.daemon.store import AuditLine
from gossamer.model.reasons.reason import Reason, sentence

__all__ = ["AllocationView", "AuditLine", "Event", "JobView", "Operation", "Seen", "job_view"]

NEXT_RUNS = 3

Operation: TypeAlias = Literal[
    "start", "pause", "unpause", "stop", "checkpoint", "withdraw", "clone", "delete", "schedule", "set_claim"
]


class Seen(msgspec.Struct, frozen=True):
    """What was last seen of a job from outside.

    Attributes:
        memory: resident bytes of its process; 0 without one.
        files: open files of its process.
        disk: bytes that its folder takes.
        ended: figures of its last report; `None` if it has none.
    """

    memory: int = 0
    files: int = 0
    disk: int = 0
    ended: dict[str, Any] | None = None


class JobView(msgspec.Struct, frozen=True, kw_only=True):
    """A job as the interface shows it; times are seconds of the wall clock.

    Attributes:
        reason, why: why it is so, in words and as a value.
        name, folder, adopted, seeds, wanted, state, created, started, ended, crashes, retry_at,
            claim, held, schedule, next_run, pending: as in `Job`.
        pid: of its process, if it has one.
        waits: for what and for whom, if it waits.
        next_runs: by its schedule.
        quiet_until: the end of quiet hours that are on.
        memory, files, disk: bytes, open files, bytes, as last seen.
        report: of its last end.
        can: what may be done with it now.
    """

    name: str
    folder: str
    adopted: bool
    seeds: tuple[str, ...]
    wanted: str
    state: JobState
    reason: str
    why: Reason | None = None
    created: float
    started: float | None
    ended: float | None
    crashes: int
    retry_at: float | None
    claim: Claim
    held: Amounts
    schedule: Schedule | None
    next_run: float | None
    pending: Pending | None
    pid: int | None
    waits: Wait | None
    next_runs: list[float]
    quiet_until: float | None
    memory: int
    files: int
    disk: int
    report: dict[str, Any] | None
    can: tuple[Operation, ...]


class Event(msgspec.Struct, frozen=True):
    """Something changed.

    Attributes:
        kind: `job`: it is new, or another than before; `gone`: it was deleted; `allocation`: who holds or
            waits for what.
        name: of the job, or empty.
        job: as it is now, of kind `job`.
    """

    kind: Literal["job", "gone", "allocation"]
    name: str = ""
    job: JobView | None = None


def job_view(job: Job, seen: Seen, waits: Wait | None, now: float) -> JobView:
    """Put together what is shown of a job."""
    schedule = job.schedule
    return JobView(
        **{name: getattr(job, name) for name in _SAME},
        reason=sentence(job.reason),
        why=job.reason,
        pid=job.process.pid if job.process else None,
        waits=waits,
        next_runs=next_starts(schedule, now, NEXT_RUNS) if schedule else [],
        quiet_until=quiet_until(schedule, now) if schedule else None,
        memory=seen.memory,
        files=seen.files,
        disk=seen.disk,
        report=seen.ended,
        can=possible(job, waits=waits is not None),
    )


_SAME = tuple(
    name for name in JobView.__struct_fields__ if name in Job.__struct_fields__ and name != "reason"
)


def possible(job: Job, *, waits: bool) -> tuple[Operation, ...]:
    """What may be done with a job now."""
    runs = job.process is not None
    can: list[Operation] = []
    if job.wanted == "stop" and job.state is not JobState.STOPPING:
        can.append("start")
    if job.wanted == "run":
        can.append("pause")
    if job.wanted == "pause":
        can.append("unpause")
    if runs or job.wanted != "stop":
        can.append("stop")
    if runs and job.state in (JobState.RUNNING, JobState.PAUSED):
        can.append("checkpoint")
    if waits or job.pending is not None:
        can.append("withdraw")
    if not runs and job.wanted == "stop":
        can.append("delete")
    return (*can, "clone", "schedule", "set_claim")
