"""What comes after a job has finished: more of it, or all of it again."""

from typing import NamedTuple

from starlette.responses import Response

from gossamer.config.units import parse_duration, parse_size
from gossamer.daemon.errors import ServiceError
from gossamer.daemon.jobs.job import JobState
from gossamer.daemon.views import JobView
from gossamer.model.reasons.codes import EndCode, ProblemCode
from gossamer.model.reasons.reason import because
from gossamer.web.console.request_context import RequestContext
from gossamer.web.console.routes import get, post

MOST = 10**18
_REACHED: dict[str, str] = {EndCode.MAX_PAGES: "pages", EndCode.MAX_BYTES: "bytes", EndCode.MAX_TIME: "time"}
_USED = {"pages": "pages", "bytes": "bytes", "time": "seconds"}
"""What the report calls that which a limit counts."""
_UNITS = {"pages": "", "bytes": "B", "time": "s"}


class Further(NamedTuple):
    """A limit that has ended a job.

    Attributes:
        limit: `pages`, `bytes` or `time`.
        amount: as much again as it was, as it is typed in.
        used: of what the limit counts.
    """

    limit: str
    amount: str
    used: float


def further(job: JobView) -> Further | None:
    """The limit that has ended a job, if one has."""
    limit = _REACHED.get(job.why.code) if job.why and job.state is JobState.FINISHED else None
    if limit is None or job.why is None or not isinstance(job.why.values[0], int | float):
        return None
    amount = int(job.why.values[0])
    return Further(limit, f"{amount}{_UNITS[limit]}", (job.report or {}).get(_USED[limit], 0))


async def ask_for_more(context: RequestContext, job: str) -> Response:
    """Ask how many more pages to fetch."""
    view = context.daemon.job(job)
    return context.job_page(view, "more", further=_ended_by(view), amount="", problem="")


async def more(context: RequestContext, job: str) -> Response:
    """Raise the limit that was reached by the amount sent, counted from now, and go on."""
    view = context.daemon.job(job)
    reached = _ended_by(view)
    try:
        amount = _amount(context, reached.limit)
        if not 0 < amount < MOST:
            raise ValueError(context.words("more.between"))
        raised = {f"budget.max_{reached.limit}": amount + reached.used}
        await context.daemon.ask(job, "set", {"changes": raised}, who=context.who)
    except (ValueError, ServiceError) as error:
        if isinstance(error, ServiceError) and error.code == "internal":
            raise
        said = {
            "amount": context.sent("amount"),
            "problem": error.why if isinstance(error, ServiceError) else str(error),
        }
        return context.job_page(view, "more", 400, further=reached, **said)
    await context.daemon.start(job, who=context.who)
    return context.go(f"/jobs/{job}", "more")


async def again(context: RequestContext, job: str) -> Response:
    """The same from the beginning, as a job of its own: what was crawled before stays."""
    copy = await context.daemon.clone(job, "", who=context.who)
    await context.daemon.start(copy.name, who=context.who)
    return context.go(f"/jobs/{copy.name}", "again")


def _ended_by(job: JobView) -> Further:
    found = further(job)
    if found is None:
        raise ServiceError("conflict", because(ProblemCode.NO_LIMIT, job.name))
    return found


def _amount(context: RequestContext, limit: str) -> float:
    """How many more; raises ValueError if that cannot be told."""
    text = context.sent("amount")
    if limit == "bytes":
        return parse_size(text)
    if limit == "time":
        return parse_duration(text)
    try:
        return int(text.replace(",", ""))
    except ValueError:
        raise ValueError(f"{text[:80]!r} {context.words('new.no_number')}") from None


PAGES = (
    get("/jobs/{job}/more", ask_for_more),
    post("/jobs/{job}/more", more),
    post("/jobs/{job}/again", again),
)
