"""The overview of all jobs, and the form for a new one."""

import asyncio
from typing import Any

import msgspec
from starlette.responses import Response

from gossamer.service.console.desk import Desk, by_field
from gossamer.service.console.new_job import FIELDS, GROUPS, NewJob, read_new_job
from gossamer.service.console.routes import get, post
from gossamer.service.errors import ServiceError
from gossamer.service.views import JobView

MOST_SHOWN = 200
PATIENCE = 2.0
"""Seconds that the overview waits for the figures of a job; one that hangs must not hold up the others."""
_ALIVE = ("running", "paused", "stopping")


class Glance(msgspec.Struct):
    """The figures of one job on the overview; `None` where nobody knows."""

    pages: int | None = None
    pages_s: float = 0.0
    bytes_s: float = 0.0
    queued: int | None = None
    hosts: int | None = None
    failed: int | None = None


async def overview(desk: Desk) -> Response:
    """All jobs with their figures."""
    jobs = list(desk.daemon.jobs())
    shown = jobs[:MOST_SHOWN]
    glances = await asyncio.gather(*(_glance(desk, job) for job in shown))
    return desk.page(
        "jobs.html",
        section="jobs",
        rows=list(zip(shown, glances, strict=True)),
        more=len(jobs) - len(shown),
        running=sum(job.state in _ALIVE for job in jobs),
        waiting=sum(job.waits is not None for job in jobs),
        total=Glance(
            pages_s=sum(one.pages_s for one in glances),
            bytes_s=sum(one.bytes_s for one in glances),
            queued=sum(one.queued or 0 for one in glances),
        ),
    )


async def _glance(desk: Desk, job: JobView) -> Glance:
    """From the crawl if it runs, else from what it reported at its last end: that costs nothing."""
    if job.state not in _ALIVE:
        return _from_sums(job.report) if job.report else Glance()
    try:
        async with asyncio.timeout(PATIENCE):
            status = await desk.daemon.figures(job.name)
    except (ServiceError, TimeoutError):
        return Glance()
    glance = _from_sums(status["sums"])
    if job.state == "running":
        glance.pages_s = status["rates"]["pages_per_s"]
        glance.bytes_s = status["rates"]["bytes_per_s"]
    return glance


def _from_sums(sums: dict[str, Any]) -> Glance:
    return Glance(
        pages=sums.get("pages"),
        queued=sums.get("queued", 0) + sums.get("waiting", 0),
        hosts=sums.get("hosts"),
        failed=sums.get("failed_visits"),
    )


async def new_job(desk: Desk) -> Response:
    """An empty form."""
    return _form(desk, NewJob(way=desk.asked("way") or "form"), ())


async def create_job(desk: Desk) -> Response:
    """Create it, start it if asked to; or show everything that is wrong, beside the fields."""
    new = read_new_job(desk.form)
    problems = list(new.problems)
    try:
        if new.way == "adopt":
            if desk.sent("do") != "check":
                await desk.daemon.adopt(new.name, new.folder, who=desk.who)
        elif desk.sent("do") == "check" or problems:
            problems += await desk.daemon.validate(new.name, new.source)
        else:
            await desk.daemon.create(new.name, new.source, who=desk.who)
    except ServiceError as error:
        if error.code == "internal":
            raise
        problems += error.details or (str(error),)
    if problems:
        return _form(desk, new, tuple(dict.fromkeys(problems)))
    if desk.sent("do") == "check":
        return _form(desk, new, (), checked=True)
    if desk.sent("do") == "start" and "start" in desk.daemon.job(new.name).can:
        await desk.daemon.start(new.name, who=desk.who)
    return desk.go(f"/jobs/{new.name}", "created")


def _form(desk: Desk, new: NewJob, problems: tuple[str, ...], checked: bool = False) -> Response:
    paths = {"name": "name", "folder": "folder", "seeds": "seeds", "toml": "toml"}
    paths |= {field.name: field.path for field in FIELDS}
    if new.way == "toml":
        paths = {"name": "name", "toml": "toml"}
    beside, unplaced = by_field(problems, paths)
    return desk.page(
        "new.html",
        400 if problems else 200,
        section="jobs",
        way=new.way,
        values=new.values,
        groups=GROUPS,
        beside=beside,
        unplaced=unplaced,
        count=len(problems),
        checked=checked,
    )


PAGES = (
    get("/", overview),
    get("/jobs/new", new_job),
    post("/jobs/new", create_job),
)
