"""The overview of all jobs, and the form for a new one."""

import asyncio

from starlette.responses import Response

from gossamer.daemon.errors import ServiceError
from gossamer.daemon.jobs.job import JobState
from gossamer.model.reasons.reason import Reason
from gossamer.web.console.desk import Desk, by_field
from gossamer.web.console.glance import Glance, glance_at
from gossamer.web.console.jobs.new_job import FIELDS, GROUPS, OWN, PRESETS, NewJobForm, read_new_job
from gossamer.web.console.routes import get, post

MOST_SHOWN = 200
PATIENCE = 2.0
"""Seconds that the overview waits for the figures of a job; one that hangs must not hold up the others."""


async def overview(desk: Desk) -> Response:
    """All jobs with their figures."""
    jobs = list(desk.daemon.jobs())
    shown = jobs[:MOST_SHOWN]
    glances = await asyncio.gather(*(glance_at(desk.daemon, job, PATIENCE) for job in shown))
    return desk.page(
        "jobs.html",
        section="jobs",
        rows=list(zip(shown, glances, strict=True)),
        more=len(jobs) - len(shown),
        running=sum(job.state is JobState.RUNNING for job in jobs),
        paused=sum(job.state is JobState.PAUSED for job in jobs),
        waiting=sum(job.waits is not None for job in jobs),
        total=Glance(
            pages_s=sum(one.pages_s for one in glances),
            bytes_s=sum(one.bytes_s for one in glances),
            queued=sum(one.queued or 0 for one in glances),
        ),
    )


async def new_job(desk: Desk) -> Response:
    """An empty form for a new job."""
    return _form(desk, NewJobForm(way=desk.asked("way") or "form"), ())


async def create_job(desk: Desk) -> Response:
    """Create it, start it if asked to; or show everything that is wrong, beside the fields."""
    new = read_new_job(desk.form)
    problems: list[Reason | str] = list(new.problems)
    name = new.name
    try:
        if new.way == "adopt":
            if desk.sent("do") != "check":
                await desk.daemon.adopt(new.name, new.folder, who=desk.who)
        elif desk.sent("do") == "check" or problems:
            problems += await desk.daemon.validate(new.name, new.source)
        else:
            name = (await desk.daemon.create(new.name, new.source, who=desk.who)).name
    except ServiceError as error:
        if error.code == "internal":
            raise
        problems += error.wrong or (error.why,)
    if problems:
        return _form(desk, new, tuple(dict.fromkeys(problems)))
    if desk.sent("do") == "check":
        return _form(desk, new, (), checked=True)
    if desk.sent("do") == "start" and "start" in desk.daemon.job(name).can:
        await desk.daemon.start(name, who=desk.who)
    return desk.go(f"/jobs/{name}", "created")


def _form(desk: Desk, new: NewJobForm, problems: tuple[Reason | str, ...], checked: bool = False) -> Response:
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
        presets=tuple(PRESETS),
        beside=beside,
        unplaced=unplaced,
        listed=[(name, line) for name, lines in beside.items() for line in lines],
        own=OWN,
        count=len(problems),
        checked=checked,
    )


PAGES = (
    get("/", overview),
    get("/jobs/new", new_job),
    post("/jobs/new", create_job),
)
