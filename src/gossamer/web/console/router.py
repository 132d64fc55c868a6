"""All pages of the console as one router."""

from collections.abc import Awaitable, Callable

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from gossamer.daemon.daemon import Daemon
from gossamer.daemon.errors import ServiceError
from gossamer.web.console import door_pages, searching
from gossamer.web.console.assets import own_assets
from gossamer.web.console.clusters import pages as cluster_pages
from gossamer.web.console.glance import glance_at
from gossamer.web.console.jobs import acts as job_acts
from gossamer.web.console.jobs import allocation_pages, next_steps
from gossamer.web.console.jobs import lists as job_lists
from gossamer.web.console.jobs import pages as jobs_pages
from gossamer.web.console.jobs import reading as job_reading
from gossamer.web.console.jobs import seeing as job_seeing
from gossamer.web.console.jobs import settings as job_settings
from gossamer.web.console.jobs import studies as job_studies
from gossamer.web.console.jobs import views as job_views
from gossamer.web.console.jobs import watching as job_watching
from gossamer.web.console.kept_charts import KeptCharts
from gossamer.web.console.renderer import Renderer
from gossamer.web.console.reports import Reports
from gossamer.web.console.request_context import RequestContext
from gossamer.web.console.routes import Page

PAGES: tuple[Page, ...] = (
    *door_pages.PAGES,
    *jobs_pages.PAGES,
    *allocation_pages.PAGES,
    *cluster_pages.PAGES,
    *job_acts.PAGES,
    *job_settings.PAGES,
    *job_lists.PAGES,
    *job_views.PAGES,
    *job_reading.PAGES,
    *job_watching.PAGES,
    *job_seeing.PAGES,
    *job_studies.PAGES,
    *next_steps.PAGES,
    *searching.PAGES,
)
PATIENCE = 0.5
"""Seconds that a page waits for what its head says."""
_STATUS = {"invalid": 400, "not_found": 404, "conflict": 409, "refused": 409}

Handler = Callable[[Request], Awaitable[Response]]


def console_router(daemon: Daemon) -> APIRouter:
    """The console over `daemon`, at the root of the site; the gate of `service.security` stands around it."""
    assets, renderer = own_assets(), Renderer()
    kept = Reports(), KeptCharts()
    router = APIRouter(include_in_schema=False, default_response_class=Response)

    async def asset(request: Request) -> Response:
        found = assets.answer(request.path_params["version"], request.path_params["name"])
        return found or Response("not found", 404, media_type="text/plain")

    async def favicon(_: Request) -> Response:
        return assets.answer(assets.version, "mark.svg") or Response(status_code=404)

    router.add_route("/static/{version}/{name}", asset, methods=["GET"])
    router.add_route("/favicon.ico", favicon, methods=["GET"])
    for page in PAGES:
        router.add_route(
            page.path,
            _handler(page, lambda request: RequestContext(request, daemon, renderer, kept)),
            methods=[page.method],
        )
    return router


def _handler(page: Page, desk_of: Callable[[Request], RequestContext]) -> Handler:
    async def answer(request: Request) -> Response:
        context = desk_of(request)
        try:
            if request.method == "GET" and (name := request.path_params.get("job")):
                context.glance = await glance_at(context.daemon, context.daemon.job(name), PATIENCE)
            return await page.answer(context, **request.path_params)
        except ServiceError as error:
            return _problem(context, error)

    return answer


def _problem(context: RequestContext, error: ServiceError) -> Response:
    """What went wrong, as a page."""
    parts = context.request.url.path.split("/")
    inside = parts[1:2] in (["jobs"], ["clusters"]) and len(parts) > 3 and error.code != "not_found"
    return context.page(
        "problem.html",
        _STATUS.get(error.code, 500),
        code=error.code,
        message=error.why,
        details=error.wrong,
        back=f"/{parts[1]}/{parts[2]}" if inside else "/",
    )
