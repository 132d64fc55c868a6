"""Settings that change while a crawl runs: forms, preview, the log of changes, more seeds."""

from typing import Any

from starlette.responses import Response

from gossamer.daemon.errors import ServiceError
from gossamer.model.reasons.reason import Reason
from gossamer.web.console.jobs.live_settings import GROUPS, OFFERED, changes_of, effective, shown_groups
from gossamer.web.console.request_context import RequestContext, by_field, lines
from gossamer.web.console.routes import get, post
from gossamer.web.security.door import safe_next

_PREVIEWED = ("scope.", "traps.")


async def settings(context: RequestContext, job: str) -> Response:
    """What is in force, and forms to change it."""
    return await _page(context, job)


async def change(context: RequestContext, job: str) -> Response:
    """Preview changes of the scope, or apply all that was changed."""
    wanted = changes_of(context.form)
    if context.sent("do") == "preview":
        return await _preview(context, job, wanted)
    back = context.sent("back")
    if not wanted:
        return context.go(f"/jobs/{job}/settings", "nothing")
    try:
        answer = await context.ask(job, "set", changes=wanted)
    except ServiceError as error:
        if error.code == "internal":
            raise
        return await _page(context, job, error=error)
    waits = isinstance(answer, dict) and answer.get("waits")
    said = "waits" if waits else "changed"
    return context.go(safe_next(back) if back else f"/jobs/{job}/settings", said)


async def _preview(context: RequestContext, job: str, wanted: dict[str, Any]) -> Response:
    scope = {path: value for path, value in wanted.items() if path.startswith(_PREVIEWED)}
    if not scope:
        return await _page(context, job, problem=context.words("preview.nothing"))
    try:
        preview = await context.ask(job, "preview_scope", changes=scope)
    except ServiceError as error:
        if error.code == "internal":
            raise
        return await _page(context, job, error=error)
    return await _page(context, job, preview=preview)


async def _page(
    context: RequestContext,
    job: str,
    *,
    error: ServiceError | None = None,
    problem: Reason | str = "",
    preview: dict[str, Any] | None = None,
) -> Response:
    view = context.daemon.job(job)
    known = await context.ask(job, "settings")
    described: dict[str, dict[str, Any]] = known.get("described", {})
    paths = {field.path: field.path for _, fields in GROUPS for field in fields}
    if other := context.sent("path") or context.asked("path"):
        paths[other] = other
    beside, unplaced = by_field(error.wrong if error else (), paths)
    message = problem or (error.why if error and not error.wrong else "")
    return context.job_page(
        view,
        "settings",
        400 if error or problem else 200,
        groups=shown_groups(described, known.get("settings", {}), context.form),
        changeable=[path for path in known.get("live", ()) if path not in OFFERED],
        effective=effective(described, known.get("settings", {}), context.words),
        beside=beside,
        unplaced=unplaced,
        problem=message,
        other_path=other,
        other_value=context.sent("value") or context.asked("value"),
        preview=preview,
        again={name: value for name, value in context.form.items() if name not in ("csrf", "do")},
    )


async def changes(context: RequestContext, job: str) -> Response:
    """Who changed what, the newest first."""
    found = await context.ask(job, "changes")
    return context.job_page(context.daemon.job(job), "changes", list=found, problem="")


async def undo(context: RequestContext, job: str) -> Response:
    """Take the latest change of settings back."""
    try:
        await context.ask(job, "undo", id=int(context.sent("id")))
    except ValueError:
        raise ServiceError("invalid", f"{context.sent('id')!r} is not the number of a change") from None
    return context.go(f"/jobs/{job}/changes", "undone")


async def seeds(context: RequestContext, job: str) -> Response:
    """Where it began; more may be added."""
    return _seeds_page(context, job, None)


async def add_seeds(context: RequestContext, job: str) -> Response:
    """More seeds for a crawl that may be running."""
    try:
        await context.ask(job, "seeds", urls=lines(context.sent("urls")))
    except ServiceError as error:
        if error.code == "internal":
            raise
        return _seeds_page(context, job, error)
    return context.go(f"/jobs/{job}/seeds", "seeds")


def _seeds_page(context: RequestContext, job: str, error: ServiceError | None) -> Response:
    return context.job_page(
        context.daemon.job(job),
        "seeds",
        400 if error else 200,
        urls=context.sent("urls"),
        problem=error.why if error and not error.wrong else "",
        details=error.wrong if error else (),
    )


PAGES = (
    get("/jobs/{job}/settings", settings),
    post("/jobs/{job}/settings", change),
    get("/jobs/{job}/changes", changes),
    post("/jobs/{job}/changes", undo),
    get("/jobs/{job}/seeds", seeds),
    post("/jobs/{job}/seeds", add_seeds),
)
