"""Routes of one crawl, made from the tables of what a crawl answers."""

from collections.abc import Awaitable, Callable
from typing import Any

import msgspec
from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from gossamer.control.changes.operations import OPERATIONS
from gossamer.control.views.views import VIEWS
from gossamer.daemon.daemon import Daemon
from gossamer.report import Figures
from gossamer.web.api.jobs import Name, Who
from gossamer.web.api.shapes import Routes, Shapes, answer, asked, plain, result_of, sent
from gossamer.web.console.reports import Reports

_OF_THE_DAEMON = frozenset({"pause", "unpause", "stop", "checkpoint", "limits"})
"""Operations that the daemon must know of, with routes of their own; `limits` is the allocator's alone."""

Route = Callable[..., Awaitable[Response]]


class CrawlRoutes:
    """Views by GET, for crawls that run and that do not; operations by POST."""

    def __init__(self, daemon: Daemon, shapes: Shapes) -> None:
        self._daemon = daemon
        self._shapes = shapes
        self._reports = Reports()

    def router(self) -> APIRouter:
        """The routes to a job's crawl."""
        shapes = self._shapes
        routes = Routes("crawl", shapes, shapes.answers())
        for method, (kind, view) in VIEWS.items():
            routes.add(
                "GET",
                f"/jobs/{{name}}/{method}",
                self._status() if method == "status" else self._view(method, kind),
                _sentence(view),
                operation_id=method,
                description=_words(kind),
                openapi_extra=shapes.query(kind),
                responses=shapes.answers(result_of(view)),
            )
        for method, (kind, operation) in OPERATIONS.items():
            if method not in _OF_THE_DAEMON:
                routes.add(
                    "POST",
                    f"/jobs/{{name}}/{method}",
                    self._operation(method, kind),
                    _sentence(operation),
                    brings=kind,
                    operation_id=method,
                    description=_words(kind),
                    responses={**shapes.answers(), 202: {"description": "it waits for what it needs"}},
                )
        says = "The figures of `gossamer report`, at most 15 s old"
        routes.add("GET", "/jobs/{name}/report", self.report, says, responses=shapes.answers(Figures))
        return routes.router

    async def report(self, name: Name) -> Response:
        """Hosts, answers, content, duplicates, traps, names, politeness as kept. Reads the whole log once."""
        return answer(await self._reports.figures(self._daemon.job(name).folder))

    def _status(self) -> Route:
        async def route(name: Name) -> Response:
            return answer(await self._daemon.figures(name))

        return route

    def _view(self, method: str, kind: type[msgspec.Struct]) -> Route:
        async def route(name: Name, request: Request, who: Who) -> Response:
            params = asked(request, kind)
            return answer(await self._daemon.ask(name, method, plain(params), who=who.name))

        return route

    def _operation(self, method: str, kind: type[msgspec.Struct]) -> Route:
        async def route(name: Name, request: Request, who: Who) -> Response:
            params = await sent(request, kind)
            result: Any = await self._daemon.ask(name, method, plain(params), who=who.name)
            waits = isinstance(result, dict) and "waits" in result
            return answer(result, 202 if waits else 200)

        return route


def _sentence(function: Callable[..., Any]) -> str:
    return (function.__doc__ or "").strip().partition("\n")[0]


def _words(kind: type[msgspec.Struct]) -> str:
    return " ".join((kind.__doc__ or "").split())
