"""What crawls compete for: the matrices, a safe sequence, who waits for what; and the log of operators."""

import msgspec
from starlette.responses import Response

from gossamer.daemon.allocation.claims import RESOURCES
from gossamer.daemon.errors import ServiceError
from gossamer.model.reasons.reason import Reason
from gossamer.web.console.desk import Desk, by_field
from gossamer.web.console.routes import get, post
from gossamer.web.console.waits import typed_amount, wait_text

MOST_SHOWN = 200


async def allocation(desk: Desk) -> Response:
    """The page of what is held, wanted and free."""
    return _page(desk)


async def set_limits(desk: Desk) -> Response:
    """Other totals; what cannot be lowered at once is lowered as processes end."""
    wanted = {name: typed_amount(text) for name in RESOURCES if (text := desk.sent(name))}
    problems: tuple[Reason | str, ...] = tuple(
        f"{name}: {desk.words('new.no_number')}" for name, n in wanted.items() if isinstance(n, str)
    )
    if not problems:
        try:
            await desk.daemon.set_limits(wanted, who=desk.who)
        except ServiceError as error:
            if error.code == "internal":
                raise
            problems = error.wrong or (error.why,)
    if problems:
        return _page(desk, problems)
    return desk.go("/allocation", "limits")


def _page(desk: Desk, problems: tuple[Reason | str, ...] = ()) -> Response:
    view = desk.daemon.allocation()
    limits = {
        name: desk.sent(name) or total for name, total in zip(view.resources, view.targets, strict=True)
    }
    beside, unplaced = by_field(problems, {name: name for name in view.resources})
    return desk.page(
        "allocation.html",
        400 if problems else 200,
        section="allocation",
        a=view,
        columns=[place for place, total in enumerate(view.totals) if total],
        most=MOST_SHOWN,
        limits=limits,
        waiting=[wait_text(wait, desk.words) for wait in view.waiting[:MOST_SHOWN]],
        beside=beside,
        problem="",
        details=unplaced,
    )


async def audit(desk: Desk) -> Response:
    """Who did what, newest first."""
    listed = desk.daemon.audit(desk.asked("cursor") or None, 100)
    lines = [msgspec.to_builtins(line) for line in listed["items"]]
    return desk.page(
        "audit.html", section="audit", list={"items": lines, "cursor": listed["cursor"], "total": None}
    )


PAGES = (
    get("/allocation", allocation),
    post("/allocation", set_limits),
    get("/audit", audit),
)
