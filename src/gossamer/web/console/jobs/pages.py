"""The overview of all jobs, and the form for a new one."""

import asyncio

from starlette.responses import Response

from gossamer.daemon.errors import ServiceError
from gossamer.daemon.jobs.job import JobState
from gossamer.model.reasons.reason import Reason
from gossamer.web.console.glance import Glance, glance_at
from gossamer.web.console.jobs.new_job import FIELDS, GROUPS, OWN, PRESETS, NewJobForm, read_new_job
from gossamer.web.console.request_context import RequestContext, by_field
from gossamer.web.console.routes import get, post

MOST_SHOWN = 200
PATIENCE = 2.0
"""Seconds that the overview waits for the figures of a job; one that hangs must not hold up the others."""


async def overview(context: RequestContext) -> Response:
    """All jobs with their figures."""
    jobs = list(context.daemon.jobs())
    shown = jobs[:MOST_SHOWN]
    glances = await asyncio.gather(*(glance_at(context.daemon, job, PATIENCE) for job in shown))
    return context.page(
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


async def new_job(context: RequestContext) -> Response:
    """An empty form for a new job."""
    return _form(context, NewJobForm(way=context.asked("way") or "form"), ())


async def create_job(context: RequestContext) -> Response:
    """Create it, start it if asked to; or show everything that is wrong, beside the fields."""
    new = read_new_job(context.form)
    problems: list[Reason | str] = list(new.problems)
    name = new.name
    try:
        if new.way == "adopt":
            if context.sent("do") != "check":
                await context.daemon.adopt(new.name, new.folder, who=context.who)
        elif context.sent("do") == "check" or problems:
            problems += await context.daemon.validate(new.name, new.source)
        else:
            name = (await context.daemon.create(new.name, new.source, who=context.who)).name
    except ServiceError as error:
        if error.code == "internal":
            raise
        problems += error.wrong or (error.why,)
    if problems:
        return _form(context, new, tuple(dict.fromkeys(problems)))
    if context.sent("do") == "check":
        return _form(context, new, (), checked=True)
    if context.sent("do") == "start" and "start" in context.daemon.job(name).can:
        await context.daemon.start(name, who=context.who)
    return context.go(f"/jobs/{name}", "created")


def _form(
    context: RequestContext, new: NewJobForm, problems: tuple[Reason | str, ...], checked: bool = False
) -> Response:
    paths = {"name": "name", "folder": "folder", "seeds": "seeds", "toml": "toml"}
    paths |= {field.name: field.path for field in FIELDS}
    if new.way == "toml":
        paths = {"name": "name", "toml": "toml"}
    beside, unplaced = by_field(problems, paths)
    return context.page(
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
