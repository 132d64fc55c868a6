"""Archived pages seen again: when they were captured, and as they looked, at an origin that is not ours."""

import calendar
from datetime import date
from typing import Any, NamedTuple

from starlette.responses import RedirectResponse, Response

from gossamer.daemon.errors import ServiceError
from gossamer.model.command_line import command_line
from gossamer.model.reasons.reason import Reason
from gossamer.replay.page import led
from gossamer.web.console.request_context import RequestContext
from gossamer.web.console.routes import get
from gossamer.web.security.own_name import is_loopback

ROWS = 50
"""Captures that a page lists."""
NOTHING: dict[str, Any] = {"items": [], "cursor": None, "total": 0}


class Month(NamedTuple):
    """A month: its name (`2026-01`), and its weeks, each of days: (day or 0, the same whole, captures)."""

    name: str
    weeks: list[list[tuple[int, str, int]]]


async def captures(context: RequestContext, job: str) -> Response:
    """When a page was captured: a year by days, and the captures of the time that is chosen."""
    url, year, during = (
        context.asked(name, longest) for name, longest in (("url", 20_000), ("year", 4), ("during", 10))
    )
    if not url:
        return context.go(f"/jobs/{job}/pages")
    found: dict[str, Any] = {"years": [], "year": "", "days": {}, "most": 0}
    listed = NOTHING
    problem: Reason | str = ""
    try:
        found = await context.ask(job, "calendar", url=url, year=year or during[:4])
        period = {"during": during or found["year"], "cursor": context.asked("cursor"), "limit": ROWS}
        listed = await context.ask(job, "captures", url=url, **period)
    except ServiceError as error:
        if error.code == "internal":
            raise
        problem = error.why
    return context.job_page(
        context.daemon.job(job),
        "captures",
        400 if problem else 200,
        url=url,
        calendar=found,
        months=months_of(found["days"]),
        captures=listed,
        read=None,
        during=during,
        problem=problem,
    )


def months_of(days: dict[str, int]) -> list[Month]:
    """The months of a year that have captures, by how many each day has."""
    found = []
    for name in sorted({day[:7] for day in days}):
        begin = date.fromisoformat(f"{name}-01")
        weeks = [
            [(day, f"{name}-{day:02}", days.get(f"{name}-{day:02}", 0)) for day in week]
            for week in calendar.monthcalendar(begin.year, begin.month)
        ]
        found.append(Month(name, weeks))
    return found


async def view(context: RequestContext, job: str) -> Response:
    """Lead to an archived page as it looked, or to the list of all; what is archived runs there, never here.

    It can be reached from this machine alone, so others are told how to look at it themselves.
    """
    found, url, at = context.daemon.job(job), context.asked("url", 20_000), context.asked("at", 40)
    client = context.request.client
    here = is_loopback(context.request.url.hostname or "") and client is not None and is_loopback(client.host)
    problem: Reason | str = ""
    if here:
        try:
            home = await context.daemon.replays.home(context.daemon.folder(job))
            return RedirectResponse(led(home, "view", url, at) if url else f"{home}/", status_code=303)
        except ServiceError as error:
            problem = error.why
    command = command_line("view", found.folder)
    return context.job_page(found, "view", 409, url=url, here=here, command=command, problem=problem)


PAGES = (get("/jobs/{job}/captures", captures), get("/jobs/{job}/view", view))
