"""What an operator does with a whole job: start, stop, schedule, clone, delete."""

from collections.abc import Awaitable, Callable
from typing import Any, Literal

from starlette.responses import Response

from gossamer.daemon.allocation.claims import RESOURCES
from gossamer.daemon.errors import ServiceError
from gossamer.daemon.jobs.schedule import Schedule
from gossamer.web.console.request_context import RequestContext, by_field, lines
from gossamer.web.console.routes import Page, get, post
from gossamer.web.console.waits import typed_amount
from gossamer.web.security.door import safe_next

MOST_KEPT = 1_000
MOST_HOURS = 8_760
ACTS = ("start", "pause", "unpause", "stop", "checkpoint", "withdraw")


def _act(name: str) -> Callable[..., Awaitable[Response]]:
    async def answer(context: RequestContext, job: str) -> Response:
        await getattr(context.daemon, name)(job, who=context.who)
        back = context.sent("back")
        return context.go(safe_next(back) if back else f"/jobs/{job}", name)

    return answer


async def ask_to_delete(context: RequestContext, job: str) -> Response:
    """Nothing is deleted without its name typed in."""
    return context.page("job/confirm.html", job=context.daemon.job(job), tab="", section="jobs", problem="")


async def delete(context: RequestContext, job: str) -> Response:
    """The job with its folder."""
    view = context.daemon.job(job)
    if context.sent("confirm") != job:
        problem = context.words("delete.mistyped", name=job)
        return context.page("job/confirm.html", 400, job=view, tab="", section="jobs", problem=problem)
    await context.daemon.delete(job, confirm=context.sent("confirm"), who=context.who)
    return context.go("/", "deleted")


async def ask_to_clone(context: RequestContext, job: str) -> Response:
    """Ask under which name to clone a job."""
    return _clone_page(context, job, f"{job}-2"[:64], None)


async def clone(context: RequestContext, job: str) -> Response:
    """The same configuration as a new job."""
    name = context.sent("name")
    try:
        copy = await context.daemon.clone(job, name, who=context.who)
    except ServiceError as error:
        return _clone_page(context, job, name, error)
    return context.go(f"/jobs/{copy.name}", "cloned")


def _clone_page(context: RequestContext, job: str, name: str, error: ServiceError | None) -> Response:
    return context.job_page(
        context.daemon.job(job),
        "clone",
        400 if error else 200,
        name=name,
        problem=error.why if error else "",
        details=error.wrong if error else (),
    )


async def show_schedule(context: RequestContext, job: str) -> Response:
    """Show when a job is to run."""
    view = context.daemon.job(job)
    return context.job_page(view, "schedule", schedule=view.schedule or Schedule(), problem="", details=())


async def set_schedule(context: RequestContext, job: str) -> Response:
    """Set when a job is to run."""
    if context.sent("do") == "clear":
        await context.daemon.schedule(job, None, who=context.who)
        return context.go(f"/jobs/{job}", "unscheduled")
    schedule = Schedule(
        cron=context.sent("cron")[:200],
        zone=context.sent("zone")[:64],
        how=_how(context.sent("how")),
        hours=_number(context.sent("hours"), Schedule().hours, MOST_HOURS),
        keep=_number(context.sent("keep"), Schedule().keep, MOST_KEPT),
        quiet=tuple(line[:64] for line in lines(context.sent("quiet"))[:50]),
    )
    try:
        await context.daemon.schedule(job, schedule, who=context.who)
    except ServiceError as error:
        if error.code == "internal":
            raise
        view = context.daemon.job(job)
        said: dict[str, Any] = {"problem": error.why, "details": error.wrong}
        return context.job_page(view, "schedule", 400, schedule=schedule, **said)
    return context.go(f"/jobs/{job}", "scheduled")


def _how(text: str) -> Literal["resume", "anew", "revisit"]:
    """What a start does; what is unknown is the default."""
    match text:
        case "anew" | "revisit":
            return text
        case _:
            return "resume"


def _number(text: str, default: int, most: int) -> int:
    """A number up to `most`; what is none is the default."""
    if not (text.isascii() and text.isdigit()):
        return default
    digits = text.lstrip("0")
    return min(int(digits or "0"), most) if len(digits) < 10 else most


async def show_claim(context: RequestContext, job: str) -> Response:
    """The most that it will ever hold."""
    return _claim_page(context, job, None)


async def set_claim(context: RequestContext, job: str) -> Response:
    """Set the most that a job may hold."""
    claim = {name: typed_amount(text) for name in RESOURCES if (text := context.sent(name))}
    try:
        wrong = [
            f"claim.{name}: {context.words('new.no_number')}"
            for name, n in claim.items()
            if isinstance(n, str)
        ]
        if wrong:
            raise ServiceError("invalid", "", wrong)
        await context.daemon.set_claim(job, claim, who=context.who)
    except ServiceError as error:
        if error.code == "internal":
            raise
        return _claim_page(context, job, error)
    return context.go(f"/jobs/{job}", "claim")


def _claim_page(context: RequestContext, job: str, error: ServiceError | None) -> Response:
    view = context.daemon.job(job)
    beside, unplaced = by_field(error.wrong if error else (), {name: f"claim.{name}" for name in RESOURCES})
    return context.job_page(
        view,
        "claim",
        400 if error else 200,
        resources=RESOURCES,
        values={name: context.sent(name) or getattr(view.claim, name) for name in RESOURCES},
        beside=beside,
        unplaced=unplaced,
        problem=error.why if error and not beside else "",
    )


PAGES: tuple[Page, ...] = (
    *(post(f"/jobs/{{job}}/{name}", _act(name)) for name in ACTS),
    get("/jobs/{job}/delete", ask_to_delete),
    post("/jobs/{job}/delete", delete),
    get("/jobs/{job}/clone", ask_to_clone),
    post("/jobs/{job}/clone", clone),
    get("/jobs/{job}/schedule", show_schedule),
    post("/jobs/{job}/schedule", set_schedule),
    get("/jobs/{job}/claim", show_claim),
    post("/jobs/{job}/claim", set_claim),
)
