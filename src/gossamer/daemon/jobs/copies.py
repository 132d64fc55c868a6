"""Starts a copy of a job by its schedule, and removes the oldest of those that it has made before."""

import time
from typing import Protocol

from gossamer.daemon.context import WHO
from gossamer.daemon.jobs.job import Job
from gossamer.daemon.jobs.roster import Roster
from gossamer.model.errors import GossamerError


class Jobs(Protocol):
    """What a daemon does with jobs, by name."""

    async def clone(self, name: str, new: str, /, *, who: str) -> object:
        """Make a job of the same settings and seeds, under a new name."""

    async def start(self, name: str, /, *, who: str) -> object:
        """Have a job run from now on."""

    async def delete(self, name: str, /, *, confirm: str, who: str) -> object:
        """Remove a job with its folder; its name once more as `confirm`."""


async def copy_and_start(daemon: Jobs, roster: Roster, name: str) -> None:
    """Let a fresh copy of a job run; of its copies as many are kept as its schedule says.

    Trouble is noted in the audit: nobody waits for this.
    """
    new = f"{name[:48]}-{time.strftime('%Y%m%d-%H%M%S')}"
    try:
        await daemon.clone(name, new, who=WHO)
        roster.change(new, copy_of=name)
        await daemon.start(new, who=WHO)
    except GossamerError as error:
        roster.store.note(WHO, "scheduled start failed", name, str(error))
    try:
        for copy in too_old(roster, name):
            await daemon.delete(copy, confirm=copy, who=WHO)
    except GossamerError as error:
        roster.store.note(WHO, "trouble", name, f"an old copy cannot be removed: {error}")


def too_old(roster: Roster, name: str) -> list[str]:
    """Copies of a job that were made by its schedule and are beyond those kept.

    One that runs, or is to, stays; so does one that was given a schedule of its own: somebody has use for it.
    """
    schedule = roster.get(name).schedule
    if schedule is None or not schedule.keep:
        return []
    jobs = map(roster.get, roster.names())
    copies = sorted((job for job in jobs if job.copy_of == name), key=lambda job: job.created)
    return [job.name for job in copies[: -schedule.keep] if _is_over(job)]


def _is_over(job: Job) -> bool:
    return job.process is None and job.wanted == "stop" and job.schedule is None
