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
from gossamer.web.api.shapes import Cursor, Limit, Routes, Shapes, answer, sent


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
        shapes = self._shapes
        routes = Routes(
            "daemon", shapes, shapes.answers(AllocationView, "who holds, claims and waits for what")
        )
        routes.add(
            "GET", "/service", self.service, "The daemon at a glance", responses=shapes.answers(ServiceView)
        )
        routes.add("GET", "/allocation", self.allocation, "Who holds, claims and waits for what")
        says = "How much there is for all jobs together"
        routes.add("PUT", "/limits", self.set_limits, says, brings=Amounts)
        audit = shapes.answers(AuditPage)
        routes.add("GET", "/audit", self.audit, "Who did what, newest first", responses=audit)
        return routes.router

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
