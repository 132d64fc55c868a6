"""One job at a glance: overview, codes, names, why, forecast, report."""

import asyncio
from typing import Any

import msgspec
from starlette.responses import Response

from gossamer.config.dotted import split_path
from gossamer.daemon.errors import ServiceError
from gossamer.daemon.views import JobView
from gossamer.inspect.freshness import CrawlFreshness
from gossamer.model.reasons.reason import Reason
from gossamer.web.console import drawings
from gossamer.web.console.drawings import drawn
from gossamer.web.console.jobs.next_steps import further
from gossamer.web.console.renderer import shown
from gossamer.web.console.request_context import RequestContext
from gossamer.web.console.routes import get
from gossamer.web.console.story import chapters
from gossamer.web.console.waits import wait_text
from gossamer.words.catalogue import Words

POINTS = 160
"""Of a chart over time: as many as its pixels can tell apart, with their hints."""
_NEW = ("new", "queued", "scheduled")


async def overview(context: RequestContext, job: str) -> Response:
    """Figures and charts over time."""
    view = context.daemon.job(job)
    status: dict[str, Any] | None = None
    charts: list[drawings.Drawing] = []
    t = context.words
    if context.asked("part") != "head":
        try:
            status, charts = await asyncio.gather(context.daemon.figures(job), _over_time(context, view))
        except ServiceError:
            if view.state not in _NEW and view.started is None:
                raise
    return context.job_page(
        view,
        "overview",
        status=status,
        charts=charts,
        further=further(view),
        hosts_chart=drawings.hosts_by_state(status["hosts_by_state"], t) if status else "",
        wait_text=wait_text(view.waits, t) if view.waits else "",
    )


async def _over_time(context: RequestContext, view: JobView) -> list[drawings.Drawing]:
    known = context.charts.known(view, context.words)
    if known is not None:
        return known
    history = await context.ask(view.name, "history", points=POINTS)
    return context.charts.draw(view, drawings.History(history), context.words)


async def codes(context: RequestContext, job: str) -> Response:
    """Counts by status, fault, type, size, depth and language."""
    found = await context.ask(job, "codes")
    return context.job_page(
        context.daemon.job(job),
        "codes",
        charts=drawings.codes(found, context.words),
        sampled=found.get("sampled", False),
    )


async def freshness(context: RequestContext, job: str) -> Response:
    """How much is stale, how far to believe that, and what visits again have brought."""
    found = msgspec.convert(await context.ask(job, "freshness"), CrawlFreshness)
    return context.job_page(
        context.daemon.job(job),
        "freshness",
        fresh=found,
        charts=drawings.freshness(found, context.words) if found.known else [],
    )


async def names(context: RequestContext, job: str) -> Response:
    """What became of questions for names; the robots rules of a host."""
    asked = context.asked("host", 253)
    robots: list[dict[str, Any]] | None = None
    problem: Reason | str = ""
    if asked:
        try:
            robots = (await context.ask(job, "robots", host=asked))["items"]
        except ServiceError as error:
            problem = error.why
    under = context.asked("under", 253)
    found = await context.ask(job, "names", under=under) if under else await context.ask(job, "names")
    return context.job_page(
        context.daemon.job(job),
        "names",
        names=found,
        charts=drawings.names(found, context.words),
        robots=robots,
        problem=problem,
    )


async def why(context: RequestContext, job: str) -> Response:
    """The story of one URL."""
    url = context.asked("url")
    story: dict[str, Any] | None = None
    problem: Reason | str = ""
    if url:
        try:
            story = await context.ask(job, "why", url=url)
        except ServiceError as error:
            if error.code == "internal":
                raise
            problem = error.why
    facts = chapters(story, context.words) if story else []
    view = context.daemon.job(job)
    return context.job_page(view, "why", 404 if problem else 200, story=story, facts=facts, problem=problem)


async def forecast(context: RequestContext, job: str) -> Response:
    """Time left, who binds it, and what would change it."""
    found = await context.ask(job, "forecast")
    left = found.get("seconds_left")
    what_if = [_changed(one, left, context.words) for one in found.get("what_if", ())]
    return context.job_page(
        context.daemon.job(job),
        "forecast",
        forecast=found,
        what_if=what_if,
        chart=drawings.binding_hosts(found["binding"], context.words) if found.get("binding") else "",
    )


def _changed(one: dict[str, Any], left: float | None, t: Words) -> dict[str, Any]:
    """One change with what it would save, in words of the reader's language."""
    path, value = next(iter(one["change"].items()), ("", None))
    keys = _keys(path)
    said = one["words"]
    match keys:
        case ["place", host, "politeness", "min_delay"]:
            said = t("forecast.host_delay", host=host, time=t.duration(value))
        case ["place", host, "politeness", "visits_per_host"]:
            said = t("forecast.host_visits", host=host, n=value)
        case ["politeness", "min_delay"]:
            said = t("forecast.min_delay", time=t.duration(value))
        case ["engine", "workers"]:
            said = t("forecast.workers", n=value)
        case ["host_block"]:
            said = t("forecast.without", host=value)
    then = one.get("seconds_left")
    saved = left - then if left and then is not None else None
    path = "" if path == "host_block" else path
    return {"said": said, "path": path, "value": shown(value), "seconds_left": then, "saved": saved}


def _keys(path: str) -> list[str]:
    try:
        return split_path(path)
    except ValueError:
        return []


async def report(context: RequestContext, job: str) -> Response:
    """The whole report, as `gossamer report` writes it."""
    body = await context.reports.body(context.daemon.job(job).folder, context.words.language)
    return context.job_page(context.daemon.job(job), "report", body=drawn(body))


PAGES = (
    get("/jobs/{job}", overview),
    get("/jobs/{job}/codes", codes),
    get("/jobs/{job}/names", names),
    get("/jobs/{job}/freshness", freshness),
    get("/jobs/{job}/why", why),
    get("/jobs/{job}/forecast", forecast),
    get("/jobs/{job}/report", report),
)
