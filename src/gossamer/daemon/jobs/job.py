"""What the daemon remembers of a job."""

import re
from enum import StrEnum
from pathlib import Path
from typing import Any, Literal, TypeAlias

import msgspec

from gossamer.daemon.allocation.claims import Amounts, Claim
from gossamer.daemon.jobs.schedule import Schedule
from gossamer.model.reasons.codes import ProblemCode
from gossamer.model.reasons.earlier import told_before
from gossamer.model.reasons.reason import Reason, because, of

NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}", re.ASCII)
"""A name is a folder's name below `jobs/`: it cannot leave it, nor hide in it."""

Wanted: TypeAlias = Literal["run", "pause", "stop"]


class JobState(StrEnum):
    """What a job is doing."""

    NEW = "new"
    """Never started."""
    SCHEDULED = "scheduled"
    """Wanted to run, but not now: quiet hours."""
    QUEUED = "queued"
    """Wanted to run; waits for resources, or for its turn after a crash."""
    RUNNING = "running"
    PAUSED = "paused"
    """No visit goes out."""
    STOPPING = "stopping"
    STOPPED = "stopped"
    FINISHED = "finished"
    """Nothing is left to do, or a limit of its settings is reached."""
    FAILED = "failed"
    """Given up; `reason` says why."""


class Mark(msgspec.Struct, frozen=True):
    """One process, not mistaken for a later one with the same number.

    Attributes:
        pid: its number.
        ticks: when it began, in the kernel's ticks since the machine did.
        boot: which start of the machine.
    """

    pid: int
    ticks: int
    boot: str


class Pending(msgspec.Struct, frozen=True):
    """A change of a running crawl that waits for what it needs.

    Attributes:
        changes: as for the crawl's method `set`.
        who: asked for it.
        since: seconds of the wall clock.
    """

    changes: dict[str, Any]
    who: str
    since: float


class Job(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A crawl folder with what is wanted of it, and what has become of that.

    Attributes:
        name: unique.
        folder: absolute path.
        adopted: the folder was made by hand and is not the daemon's to remove.
        copy_of: the job of which a schedule has made this one; empty for most.
        seeds: the first few.
        wanted: what the operator wants. A pause keeps the process, with its memory.
        by: who wanted that.
        at_once: it is to stop without waiting for visits that are under way.
        state: what is.
        reason: why it is so, where that says more.
        claim: the most it will ever hold.
        held: what its process has been granted; empty without one.
        process: of the running crawl, or none.
        created: seconds of the wall clock, as all times here.
        started: of the present or last process.
        ended: of the last process.
        queued: since when it waits for resources; the order in which a new daemon asks for them.
        crashes: in a row, without a visit in between.
        retry_at: not started before.
        log_size: of `crawl.log` when the process began; longer means progress.
        report_was: which `report.json` was there when the process began; another one is its own.
        schedule: when it runs by itself.
        next_run: by `schedule`.
        revisits: its schedule has started it to visit pages again.
        until: when it is stopped for that reason; `None`: not by itself.
        pending: a change that waits.
    """

    name: str
    folder: str
    adopted: bool = False
    copy_of: str = ""
    seeds: tuple[str, ...] = ()
    wanted: Wanted = "stop"
    by: str = ""
    at_once: bool = False
    state: JobState = JobState.NEW
    old_reason: str = msgspec.field(default="", name="reason")
    claim: Claim
    held: Amounts = {}
    process: Mark | None = None
    created: float
    started: float | None = None
    ended: float | None = None
    queued: float | None = None
    crashes: int = 0
    retry_at: float | None = None
    log_size: int = 0
    report_was: str = ""
    schedule: Schedule | None = None
    next_run: float | None = None
    revisits: bool = False
    until: float | None = None
    pending: Pending | None = None
    reason: Reason | None = msgspec.field(default=None, name="why")

    def __post_init__(self) -> None:
        if self.old_reason:  # of an older version
            msgspec.structs.force_setattr(self, "reason", told_before(self.old_reason))
            msgspec.structs.force_setattr(self, "old_reason", "")

    @property
    def path(self) -> Path:
        """The folder of the crawl."""
        return Path(self.folder)


def name_problems(name: str) -> list[Reason]:
    """What is wrong with the name of a new job."""
    if NAME.fullmatch(name):
        return []
    return [of("name", because(ProblemCode.JOB_NAME, name[:80]))]
