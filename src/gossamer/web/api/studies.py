"""Routes to audits of jobs and to what jobs differ in: made beside the crawls, and kept."""

import asyncio
from collections.abc import Iterator
from itertools import chain
from typing import Annotated, Literal

import msgspec
from fastapi import APIRouter, Query
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from gossamer.daemon.daemon import Daemon
from gossamer.daemon.reading.studies import (
    FORMS,
    AuditAsked,
    AuditShown,
    DifferencesAsked,
    DifferencesShown,
    audit_file,
)
from gossamer.web.api.jobs import Name, Who
from gossamer.web.api.shapes import Routes, Shapes, answer, asked, sent

Form = Annotated[Literal["json", "csv", "sarif"], Query(description="as `gossamer audit` writes it")]


class NewAudit(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An audit to be made; `outside`: ask politely for links that the crawl did not visit, if it does not run."""

    outside: bool = False


class NewComparison(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A comparison to be made, with the crawl of another job, which counts as the earlier one."""

    other: str


class StudyRoutes:
    """Begins audits and comparisons of jobs, and shows what they have found."""

    def __init__(self, daemon: Daemon, shapes: Shapes) -> None:
        self._daemon = daemon
        self._shapes = shapes

    def router(self) -> APIRouter:
        """The routes to what is made of a job's crawl."""
        shapes = self._shapes
        routes = Routes("reading", shapes, shapes.answers())
        add = routes.add
        add(
            "GET", "/jobs/{name}/audit", self.audit, "What the last audit has found", operation_id="site_audit",
            openapi_extra=shapes.query(AuditAsked), responses=shapes.answers(AuditShown),
        )  # fmt: skip
        begun = shapes.answers(None, "it was begun", 202)
        says = "Audit the site: links, redirects, titles, duplicates"
        add("POST", "/jobs/{name}/audit", self.make_audit, says, brings=NewAudit, responses=begun)
        content = shapes.files(*(kind for kind, _ in FORMS.values()))
        says = "All that the last audit has found, as a file"
        add("GET", "/jobs/{name}/audit/file", self.file, says, responses=content, operation_id="audit_file")
        add(
            "GET", "/jobs/{name}/differences", self.differences, "What it differs in from another job",
            openapi_extra=shapes.query(DifferencesAsked), responses=shapes.answers(DifferencesShown),
        )  # fmt: skip
        says = "Compare it with another job: pages new, gone, changed, moved"
        add(
            "POST", "/jobs/{name}/differences", self.compare_jobs, says, brings=NewComparison, responses=begun
        )
        return routes.router

    async def audit(self, name: Name, request: Request) -> Response:
        """Findings come in pages; `verdict` narrows them to links, `rule` to one kind of them."""
        found = await self._daemon.studies.audited(self._daemon.folder(name), asked(request, AuditAsked))
        return answer(found)

    async def make_audit(self, name: Name, request: Request, who: Who) -> Response:
        """Takes minutes; `GET` tells how far it is. One is made at a time, of all jobs."""
        wanted = await sent(request, NewAudit)
        await self._daemon.study(name, who=who.name, outside=wanted.outside)
        return answer(None, 202)

    async def file(self, name: Name, form: Form = "json") -> Response:
        """404: there is no audit that came to its end."""
        pieces = audit_file(self._daemon.folder(name), form)
        return await file_of(pieces, FORMS[form][0], f"{name}-audit.{form}")

    async def differences(self, name: Name, request: Request) -> Response:
        """Differences of one kind come in pages; with `text` those of pages that have changed have their passages."""
        wanted = asked(request, DifferencesAsked)
        return answer(await self._daemon.studies.differences(self._daemon.folder(name), wanted))

    async def compare_jobs(self, name: Name, request: Request, who: Who) -> Response:
        """Takes minutes; `GET` tells how far it is. One is made at a time, of all jobs."""
        wanted = await sent(request, NewComparison)
        await self._daemon.study(name, who=who.name, other=wanted.other)
        return answer(None, 202)


async def file_of(pieces: Iterator[bytes], kind: str, name: str) -> Response:
    """A file that is written while it is sent.

    Raises:
        ServiceError: there is none.
    """
    first = await asyncio.to_thread(next, pieces)
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return StreamingResponse(chain((first,), pieces), media_type=kind, headers=headers)
