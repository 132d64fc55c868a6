"""What crawls compete for: the matrices, a safe sequence, who waits for what; and the log of operators."""

import msgspec
from starlette.responses import Response

from gossamer.daemon.allocation.claims import RESOURCES
from gossamer.daemon.errors import ServiceError
from gossamer.model.reasons.reason import Reason
from gossamer.web.console.request_context import RequestContext, by_field
from gossamer.web.console.routes import get, post
from gossamer.web.console.waits import typed_amount, wait_text

MOST_SHOWN = 200


async def allocation(context: RequestContext) -> Response:
    """The page of what is held, wanted and free."""
    return _page(context)


async def set_limits(context: RequestContext) -> Response:
    """Other totals; what cannot be lowered at once is lowered as processes end."""
    wanted = {name: typed_amount(text) for name in RESOURCES if (text := context.sent(name))}
    problems: tuple[Reason | str, ...] = tuple(
        f"{name}: {context.words('new.no_number')}" for name, n in wanted.items() if isinstance(n, str)
    )
    if not problems:
        try:
            await context.daemon.set_limits(wanted, who=context.who)
        except ServiceError as error:
            if error.code == "internal":
                raise
            problems = error.wrong or (error.why,)
    if problems:
        return _page(context, problems)
    return context.go("/allocation", "limits")


def _page(context: RequestContext, problems: tuple[Reason | str, ...] = ()) -> Response:
    view = context.daemon.allocation()
    limits = {
        name: context.sent(name) or total for name, total in zip(view.resources, view.targets, strict=True)
    }
    beside, unplaced = by_field(problems, {name: name for name in view.resources})
    return context.page(
        "allocation.html",
        400 if problems else 200,
        section="allocation",
        a=view,
        columns=[place for place, total in enumerate(view.totals) if total],
        most=MOST_SHOWN,
        limits=limits,
        waiting=[wait_text(wait, context.words) for wait in view.waiting[:MOST_SHOWN]],
        beside=beside,
        problem="",
        details=unplaced,
    )


async def audit(context: RequestContext) -> Response:
    """Who did what, newest first."""
    listed = context.daemon.audit(context.asked("cursor") or None, 100)
    lines = [msgspec.to_builtins(line) for line in listed["items"]]
    return context.page(
        "audit.html", section="audit", list={"items": lines, "cursor": listed["cursor"], "total": None}
    )


PAGES = (
    get("/allocation", allocation),
    post("/allocation", set_limits),
    get("/audit", audit),
)
