"""The long lists of a job, page by page: hosts, queue, pages, log, traps."""

from typing import Any

from starlette.responses import Response

from gossamer.config.units import parse_duration
from gossamer.daemon.errors import ServiceError
from gossamer.model.link import LinkKind
from gossamer.model.reasons.reason import Reason, WrongValueError
from gossamer.web.console import drawings
from gossamer.web.console.desk import Desk
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


async def hosts(desk: Desk, job: str) -> Response:
    """States of hosts, and what they wait for."""
    sort = desk.asked("sort", 20) or SORTS[0]
    given = {"state": 20, "text": 253}
    found, problem = await _listed(desk, job, "hosts", given, sort="" if sort == UNSORTED else sort)
    first_only = sort != UNSORTED and (found["total"] or 0) > ALL_SORTED
    return _list_page(desk, job, "hosts", found, problem, sorts=SORTS, first_only=first_only)


async def queue(desk: Desk, job: str) -> Response:
    """What is still to be visited, with its sizes by depth and level on the first page."""
    numbers = {"depth": _whole(desk, "depth"), "level": _whole(desk, "level")}
    found, problem = await _listed(desk, job, "queue", {"host": 253}, **numbers)
    sizes: dict[str, Any] = {}
    if not problem and not desk.asked("cursor") and not desk.asked("host"):
        sizes = await desk.ask(job, "queue_sizes")
    charts = drawings.queue_charts(sizes, desk.words)
    return _list_page(desk, job, "queue", found, problem, sizes=sizes, charts=charts)


async def pages(desk: Desk, job: str) -> Response:
    """What was visited, the latest first if nothing else is asked for."""
    chosen = {"sort": desk.asked("sort", 20) or PAGE_SORTS[0], "status": _whole(desk, "status")}
    found, problem = await _listed(desk, job, "pages", {"host": 253, "mime": 100}, **chosen)
    return _list_page(desk, job, "pages", found, problem, sorts=PAGE_SORTS)


async def log(desk: Desk, job: str) -> Response:
    """The latest visits, the newest first."""
    given = {"host": 253, "text": 400, "kind": 20}
    found, problem = await _listed(desk, job, "log", given, status=_whole(desk, "status"), backwards=True)
    rows = [_row(line) for line in found["items"]]
    return _list_page(desk, job, "log", found, problem, rows=rows, kinds=KINDS)


async def traps(desk: Desk, job: str) -> Response:
    """Branches of sites, with what they brought."""
    found, problem = await _listed(desk, job, "traps", {"host": 253})
    return _list_page(desk, job, "traps", found, problem)


async def release(desk: Desk, job: str) -> Response:
    """Let a branch out that was set aside."""
    await desk.ask(job, "traps_release", branch=desk.sent("branch"), host=desk.sent("host"))
    return desk.go(f"/jobs/{job}/traps", "released")


async def host(desk: Desk, job: str) -> Response:
    """All that is known of one host."""
    return await _host_page(desk, job, desk.asked("name", 253), "")


async def host_act(desk: Desk, job: str) -> Response:
    """Rest, park, revive or block a host."""
    name, act = desk.sent("name"), desk.sent("do")
    if act not in HOST_ACTS:
        raise ServiceError("invalid", f"{act!r} is nothing that can be done to a host")
    params: dict[str, Any] = {"name": name}
    if act == "rest":
        try:
            params["seconds"] = parse_duration(desk.sent("seconds"))
        except ValueError as error:
            return await _host_page(
                desk, job, name, error.reasons[0] if isinstance(error, WrongValueError) else str(error)
            )
    await desk.ask(job, f"host_{act}", **params)
    return desk.go(f"/jobs/{job}/host", f"host_{act}", name=name)


async def _host_page(desk: Desk, job: str, name: str, problem: Reason | str) -> Response:
    found = await desk.ask(job, "host", name=name)
    quoted = '"' + name.replace("\\", "\\\\").replace('"', '\\"') + '"'
    return desk.job_page(
        desk.daemon.job(job),
        "host",
        400 if problem else 200,
        name=name,
        host=found,
        quoted=quoted,
        problem=problem,
    )


async def _listed(
    desk: Desk, job: str, method: str, given: dict[str, int], **chosen: Any
) -> tuple[dict[str, Any], Reason | str]:
    """A page of a list; or an empty one and why.

    Args:
        given: parameters of the address that are passed on, each with its greatest length.
        chosen: further parameters.
    """
    asked = {name: desk.asked(name, longest) for name, longest in given.items()}
    try:
        return await desk.ask(job, method, **asked, **chosen, cursor=desk.asked("cursor")), ""
    except ServiceError as error:
        if error.code == "internal":
            raise
        desk.daemon.job(job)  # a job that is not there is another matter
        return EMPTY, error.why


def _list_page(
    desk: Desk, job: str, tab: str, found: dict[str, Any], problem: Reason | str, /, **more: Any
) -> Response:
    return desk.job_page(desk.daemon.job(job), tab, list=found, problem=problem, **more)


def _whole(desk: Desk, name: str) -> int | None:
    text = desk.asked(name, 20)
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
    get("/jobs/{job}/traps", traps),
    post("/jobs/{job}/traps", release),
)
