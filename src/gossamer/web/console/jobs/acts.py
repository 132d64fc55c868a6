"""What an operator does with a whole job: start, stop, schedule, clone, delete."""

from collections.abc import Awaitable, Callable
from typing import Any

from starlette.responses import Response

from gossamer.daemon.allocation.claims import RESOURCES
from gossamer.daemon.errors import ServiceError
from gossamer.daemon.jobs.schedule import Schedule
from gossamer.web.console.desk import Desk, by_field, lines
from gossamer.web.console.routes import Page, get, post
from gossamer.web.console.waits import typed_amount
from gossamer.web.security.door import safe_next

MOST_KEPT = 1_000
ACTS = ("start", "pause", "unpause", "stop", "checkpoint", "withdraw")


def _act(name: str) -> Callable[..., Awaitable[Response]]:
    async def answer(desk: Desk, job: str) -> Response:
        await getattr(desk.daemon, name)(job, who=desk.who)
        back = desk.sent("back")
        return desk.go(safe_next(back) if back else f"/jobs/{job}", name)

    return answer


async def ask_to_delete(desk: Desk, job: str) -> Response:
    """Nothing is deleted without its name typed in."""
    return desk.page("job/confirm.html", job=desk.daemon.job(job), tab="", section="jobs", problem="")


async def delete(desk: Desk, job: str) -> Response:
    """The job with its folder."""
    view = desk.daemon.job(job)
    if desk.sent("confirm") != job:
        problem = desk.words("delete.mistyped", name=job)
        return desk.page("job/confirm.html", 400, job=view, tab="", section="jobs", problem=problem)
    await desk.daemon.delete(job, confirm=desk.sent("confirm"), who=desk.who)
    return desk.go("/", "deleted")


async def ask_to_clone(desk: Desk, job: str) -> Response:
    """Ask under which name to clone a job."""
    return _clone_page(desk, job, f"{job}-2"[:64], None)


async def clone(desk: Desk, job: str) -> Response:
    """The same configuration as a new job."""
    name = desk.sent("name")
    try:
        copy = await desk.daemon.clone(job, name, who=desk.who)
    except ServiceError as error:
        return _clone_page(desk, job, name, error)
    return desk.go(f"/jobs/{copy.name}", "cloned")


def _clone_page(desk: Desk, job: str, name: str, error: ServiceError | None) -> Response:
    return desk.job_page(
        desk.daemon.job(job),
        "clone",
        400 if error else 200,
        name=name,
        problem=error.why if error else "",
        details=error.wrong if error else (),
    )


async def show_schedule(desk: Desk, job: str) -> Response:
    """Show when a job is to run."""
    view = desk.daemon.job(job)
    return desk.job_page(view, "schedule", schedule=view.schedule or Schedule(), problem="", details=())


async def set_schedule(desk: Desk, job: str) -> Response:
    """Set when a job is to run."""
    if desk.sent("do") == "clear":
        await desk.daemon.schedule(job, None, who=desk.who)
        return desk.go(f"/jobs/{job}", "unscheduled")
    schedule = Schedule(
        cron=desk.sent("cron")[:200],
        zone=desk.sent("zone")[:64],
        how="anew" if desk.sent("how") == "anew" else "resume",
        keep=_kept(desk.sent("keep")),
        quiet=tuple(line[:64] for line in lines(desk.sent("quiet"))[:50]),
    )
    try:
        await desk.daemon.schedule(job, schedule, who=desk.who)
    except ServiceError as error:
        if error.code == "internal":
            raise
        view = desk.daemon.job(job)
        said: dict[str, Any] = {"problem": error.why, "details": error.wrong}
        return desk.job_page(view, "schedule", 400, schedule=schedule, **said)
    return desk.go(f"/jobs/{job}", "scheduled")


def _kept(text: str) -> int:
    """How many copies; what is no number is the default."""
    if not (text.isascii() and text.isdigit()):
        return Schedule().keep
    digits = text.lstrip("0")
    return min(int(digits or "0"), MOST_KEPT) if len(digits) < 10 else MOST_KEPT


async def show_claim(desk: Desk, job: str) -> Response:
    """The most that it will ever hold."""
    return _claim_page(desk, job, None)


async def set_claim(desk: Desk, job: str) -> Response:
    """Set the most that a job may hold."""
    claim = {name: typed_amount(text) for name in RESOURCES if (text := desk.sent(name))}
    try:
        wrong = [
            f"claim.{name}: {desk.words('new.no_number')}" for name, n in claim.items() if isinstance(n, str)
        ]
        if wrong:
            raise ServiceError("invalid", "", wrong)
        await desk.daemon.set_claim(job, claim, who=desk.who)
    except ServiceError as error:
        if error.code == "internal":
            raise
        return _claim_page(desk, job, error)
    return desk.go(f"/jobs/{job}", "claim")


def _claim_page(desk: Desk, job: str, error: ServiceError | None) -> Response:
    view = desk.daemon.job(job)
    beside, unplaced = by_field(error.wrong if error else (), {name: f"claim.{name}" for name in RESOURCES})
    return desk.job_page(
        view,
        "claim",
        400 if error else 200,
        resources=RESOURCES,
        values={name: desk.sent(name) or getattr(view.claim, name) for name in RESOURCES},
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
