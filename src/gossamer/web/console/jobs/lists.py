"""The long lists of a job, page by page: hosts, queue, pages, log, traps."""

from typing import Any

from starlette.responses import Response

from gossamer.config.units import parse_duration
from gossamer.daemon.errors import ServiceError
from gossamer.model.link import LinkKind
from gossamer.model.reasons.reason import Reason, WrongValueError
from gossamer.web.console import drawings
from gossamer.web.console.request_context import RequestContext
from gossamer.web.console.routes import get, post

KINDS = ("", *(str(kind) for kind in LinkKind))
UNSORTED = "all"
SORTS = ("queued", "pages", "seconds", "name", UNSORTED)
PAGE_SORTS = ("newest", "stored")
ALL_SORTED = 20_000
"""Of more hosts only the first of an order are listed; without an order all are."""
EMPTY: dict[str, Any] = {"items": [], "cursor": None, "total": None, "estimated": False}
HOST_ACTS = ("rest", "park", "revive", "block", "unblock")
_WHOLE = 1 << 62


async def hosts(context: RequestContext, job: str) -> Response:
    """States of hosts, and what they wait for."""
    sort = context.asked("sort", 20) or SORTS[0]
    given = {"state": 20, "text": 253}
    found, problem = await _listed(context, job, "hosts", given, sort="" if sort == UNSORTED else sort)
    first_only = sort != UNSORTED and (found["total"] or 0) > ALL_SORTED
    return _list_page(context, job, "hosts", found, problem, sorts=SORTS, first_only=first_only)


async def queue(context: RequestContext, job: str) -> Response:
    """What is still to be visited, with its sizes by depth and level on the first page."""
    numbers = {"depth": _whole(context, "depth"), "level": _whole(context, "level")}
    found, problem = await _listed(context, job, "queue", {"host": 253}, **numbers)
    sizes: dict[str, Any] = {}
    if not problem and not context.asked("cursor") and not context.asked("host"):
        sizes = await context.ask(job, "queue_sizes")
    charts = drawings.queue_charts(sizes, context.words)
    return _list_page(context, job, "queue", found, problem, sizes=sizes, charts=charts)


async def pages(context: RequestContext, job: str) -> Response:
    """What was visited, the latest first if nothing else is asked for."""
    chosen = {"sort": context.asked("sort", 20) or PAGE_SORTS[0], "status": _whole(context, "status")}
    found, problem = await _listed(context, job, "pages", {"host": 253, "mime": 100}, **chosen)
    return _list_page(context, job, "pages", found, problem, sorts=PAGE_SORTS)


async def log(context: RequestContext, job: str) -> Response:
    """The latest visits, the newest first."""
    given = {"host": 253, "text": 400, "kind": 20}
    found, problem = await _listed(
        context, job, "log", given, status=_whole(context, "status"), backwards=True
    )
    rows = [_row(line) for line in found["items"]]
    return _list_page(context, job, "log", found, problem, rows=rows, kinds=KINDS)


async def gone(context: RequestContext, job: str) -> Response:
    """Pages that are gone, since when and who links to them, and hosts that have left; or orphans."""
    what = "orphans" if context.asked("what", 20) == "orphans" else "gone"
    left = await context.ask(job, "left") if what == "gone" else {"items": [], "total": 0}
    columns = "url,gone,soft,status,via,referrers"
    found, problem = await _listed(context, job, "list", {"host": 253}, columns=columns, **{what: True})
    return _list_page(context, job, "gone", found, problem, left=left, what=what)


async def traps(context: RequestContext, job: str) -> Response:
    """Branches of sites, with what they brought."""
    found, problem = await _listed(context, job, "traps", {"host": 253})
    return _list_page(context, job, "traps", found, problem)


async def release(context: RequestContext, job: str) -> Response:
    """Let a branch out that was set aside."""
    await context.ask(job, "traps_release", branch=context.sent("branch"), host=context.sent("host"))
    return context.go(f"/jobs/{job}/traps", "released")


async def host(context: RequestContext, job: str) -> Response:
    """All that is known of one host."""
    return await _host_page(context, job, context.asked("name", 253), "")


async def host_act(context: RequestContext, job: str) -> Response:
    """Rest, park, revive or block a host."""
    name, act = context.sent("name"), context.sent("do")
    if act not in HOST_ACTS:
        raise ServiceError("invalid", f"{act!r} is nothing that can be done to a host")
    params: dict[str, Any] = {"name": name}
    if act == "rest":
        try:
            params["seconds"] = parse_duration(context.sent("seconds"))
        except ValueError as error:
            return await _host_page(
                context, job, name, error.reasons[0] if isinstance(error, WrongValueError) else str(error)
            )
    await context.ask(job, f"host_{act}", **params)
    return context.go(f"/jobs/{job}/host", f"host_{act}", name=name)


async def _host_page(context: RequestContext, job: str, name: str, problem: Reason | str) -> Response:
    found = await context.ask(job, "host", name=name)
    quoted = '"' + name.replace("\\", "\\\\").replace('"', '\\"') + '"'
    return context.job_page(
        context.daemon.job(job),
        "host",
        400 if problem else 200,
        name=name,
        host=found,
        quoted=quoted,
        problem=problem,
    )


async def _listed(
    context: RequestContext, job: str, method: str, given: dict[str, int], **chosen: Any
) -> tuple[dict[str, Any], Reason | str]:
    """A page of a list; or an empty one and why.

    Args:
        given: parameters of the address that are passed on, each with its greatest length.
        chosen: further parameters.
    """
    asked = {name: context.asked(name, longest) for name, longest in given.items()}
    try:
        return await context.ask(job, method, **asked, **chosen, cursor=context.asked("cursor")), ""
    except ServiceError as error:
        if error.code == "internal":
            raise
        context.daemon.job(job)  # a job that is not there is another matter
        return EMPTY, error.why


def _list_page(
    context: RequestContext, job: str, tab: str, found: dict[str, Any], problem: Reason | str, /, **more: Any
) -> Response:
    return context.job_page(context.daemon.job(job), tab, list=found, problem=problem, **more)


def _whole(context: RequestContext, name: str) -> int | None:
    text = context.asked(name, 20)
    return min(int(text), _WHOLE) if text.isascii() and text.isdigit() else None


def _row(line: dict[str, Any]) -> dict[str, Any]:
    """A line of the log with what the table shows."""
    detail = line.get("reason") or line.get("detail") or line.get("type") or ""
    return {
        "time": line.get("at"),
        "url": line.get("url", ""),
        "status": line.get("status"),
        "fault": line.get("fault") or line.get("refused") or "",
        "bytes": line.get("size"),
        "seconds": line.get("seconds"),
        "detail": detail,
        "why": line.get("why"),
    }


PAGES = (
    get("/jobs/{job}/hosts", hosts),
    get("/jobs/{job}/host", host),
    post("/jobs/{job}/host", host_act),
    get("/jobs/{job}/queue", queue),
    get("/jobs/{job}/pages", pages),
    get("/jobs/{job}/log", log),
    get("/jobs/{job}/gone", gone),
    get("/jobs/{job}/traps", traps),
    post("/jobs/{job}/traps", release),
)
