"""Routes of the daemon itself: what it has, who holds it, who did what."""

from importlib.metadata import version
from typing import Annotated

import msgspec
from fastapi import APIRouter, Query
from starlette.requests import Request
from starlette.responses import Response

from gossamer.daemon.daemon import Daemon
from gossamer.daemon.views import AllocationView, AuditLine
from gossamer.web.api.bodies import Amounts
from gossamer.web.api.jobs import Who
from gossamer.web.api.pages import Cursor, Limit
from gossamer.web.api.shapes import Shapes, answer, sent


class ServiceView(msgspec.Struct, frozen=True, kw_only=True):
    """The daemon at a glance."""

    version: str
    folder: str
    jobs: dict[str, int]
    """How many, by state."""


class AuditPage(msgspec.Struct, frozen=True, kw_only=True):
    """Some of what was done, newest first."""

    items: list[AuditLine]
    cursor: str | None
    total: int | None = None


class ResourceRoutes:
    """Shows and changes what all jobs share."""

    def __init__(self, daemon: Daemon, shapes: Shapes) -> None:
        self._daemon = daemon
        self._shapes = shapes

    def router(self) -> APIRouter:
        """The routes of resources and the audit."""
        router = APIRouter(tags=["daemon"])
        shapes = self._shapes
        router.add_api_route(
            "/service",
            self.service,
            methods=["GET"],
            operation_id="service",
            responses=shapes.answers(ServiceView),
        )
        allocation = shapes.answers(AllocationView, "who holds, claims and waits for what")
        router.add_api_route(
            "/allocation",
            self.allocation,
            methods=["GET"],
            operation_id="allocation",
            responses=allocation,
            summary="Who holds, claims and waits for what",
        )
        router.add_api_route(
            "/limits",
            self.set_limits,
            methods=["PUT"],
            operation_id="set_limits",
            responses=allocation,
            openapi_extra={
                "requestBody": {
                    "required": True,
                    "content": {"application/json": {"schema": shapes.of(Amounts)}},
                }
            },
            summary="How much there is for all jobs together",
        )
        router.add_api_route(
            "/audit",
            self.audit,
            methods=["GET"],
            operation_id="audit",
            responses=shapes.answers(AuditPage),
            summary="Who did what, newest first",
        )
        return router

    async def service(self) -> Response:
        """The daemon at a glance."""
        counts: dict[str, int] = {}
        for job in self._daemon.jobs():
            counts[job.state] = counts.get(job.state, 0) + 1
        view = ServiceView(version=version("gossamer"), folder=str(self._daemon.path), jobs=counts)
        return answer(view)

    async def allocation(self) -> Response:
        """The matrices of the allocator, and an order in which all can end."""
        return answer(self._daemon.allocation())

    async def set_limits(self, request: Request, who: Who) -> Response:
        """Raised at once; lowered as fast as what is held comes back."""
        given = await sent(request, Amounts)
        return answer(await self._daemon.set_limits(given, who=who.name))

    async def audit(
        self,
        cursor: Cursor = None,
        limit: Limit = 100,
        job: Annotated[str, Query(max_length=64, description="of this job only")] = "",
    ) -> Response:
        """Who did what: starts, stops, changes, log-ins."""
        return answer(self._daemon.audit(cursor, limit, job))
