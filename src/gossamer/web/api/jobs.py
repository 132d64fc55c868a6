"""Routes of jobs: what they are, and what is done with them as a whole."""

from collections.abc import Awaitable, Callable
from typing import Annotated, Any

import msgspec
from fastapi import APIRouter, Depends, Path, Query
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from gossamer.daemon.daemon import Daemon
from gossamer.daemon.errors import ServiceError
from gossamer.daemon.jobs.schedule import Schedule
from gossamer.daemon.views import JobView
from gossamer.model.reasons.reason import Reason, text
from gossamer.web.api.bodies import Adoption, Amounts, Ending, NewJob, NewName
from gossamer.web.api.shapes import Cursor, Limit, Routes, Shapes, answer, page_after, sent
from gossamer.web.security.visitor import Visitor, known_visitor

Name = Annotated[str, Path(pattern=r"^[a-z0-9][a-z0-9._-]{0,63}$", max_length=64, description="of the job")]
Who = Annotated[Visitor, Depends(known_visitor)]

_ONE = "/jobs/{name}"
_VERBS = {
    "start": "Let it run, as soon as what it needs is free",
    "pause": "Let no more visits go out; the process stays",
    "unpause": "Go on",
    "checkpoint": "Take a checkpoint",
    "withdraw": "Ask no more for what it waits for",
}


class JobPage(msgspec.Struct, frozen=True, kw_only=True):
    """Some of the jobs, by name."""

    items: list[JobView]
    cursor: str | None
    total: int


class Verdict(msgspec.Struct, frozen=True):
    """What is wrong with a job to be, in words and as values; nothing: it may be made."""

    problems: tuple[str, ...]
    reasons: tuple[Reason, ...] = ()


class JobRoutes:
    """Makes, shows, starts, stops, copies and removes jobs."""

    def __init__(self, daemon: Daemon, shapes: Shapes) -> None:
        self._daemon = daemon
        self._shapes = shapes

    def router(self) -> APIRouter:
        """The routes that concern jobs."""
        shapes = self._shapes
        routes = Routes("jobs", shapes, shapes.answers(JobView, "the job as it is now"))
        add = routes.add
        made = {"status_code": 201, "responses": shapes.answers(JobView, "the new job", 201)}
        add("GET", "/jobs", self.jobs, "Jobs by name", responses=shapes.answers(JobPage))
        add("POST", "/jobs", self.create, "Make a job", brings=NewJob, **made)
        says, verdict = "What would be wrong with a job, all at once", shapes.answers(Verdict)
        add("POST", "/validate", self.validate, says, brings=NewJob, responses=verdict)
        add("GET", _ONE, self.job, "One job")
        routes.add_silent("DELETE", _ONE, self.delete, "Remove a job with all it has crawled")
        toml = {"content": {"text/plain": {"schema": {"type": "string"}}}, "description": "a crawl.toml"}
        text: dict[str, Any] = {"response_class": PlainTextResponse}
        text["responses"] = {200: toml, "default": shapes.trouble()}
        add("GET", f"{_ONE}/configuration", self.configuration, "Its configuration as TOML", **text)
        for verb, says in _VERBS.items():
            add("POST", f"{_ONE}/{verb}", self._verb(verb), says, operation_id=f"{verb}_job")
        stop = shapes.body(Ending)
        stop["requestBody"]["required"] = False
        add("POST", f"{_ONE}/stop", self.stop, "End its crawl well", openapi_extra=stop)
        add("POST", f"{_ONE}/clone", self.clone, "Make a copy", brings=NewName, **made)
        add("POST", f"{_ONE}/adopt", self.adopt, "Take in a folder", brings=Adoption, **made)
        add("PUT", f"{_ONE}/schedule", self.schedule, "When it runs by itself", brings=Schedule)
        add("DELETE", f"{_ONE}/schedule", self.unschedule, "Run only when told to")
        add("PUT", f"{_ONE}/claim", self.set_claim, "The most it will ever hold", brings=Amounts)
        return routes.router

    async def jobs(self, cursor: Cursor = None, limit: Limit = 100) -> Response:
        """All of them, in pages."""
        views = self._daemon.jobs()
        items, following = page_after(views, cursor, limit)
        return answer(JobPage(items=items, cursor=following, total=len(views)))

    async def create(self, request: Request, who: Who) -> Response:
        """It is not started. All that is wrong with it is told at once."""
        given = await sent(request, NewJob)
        view = await self._daemon.create(
            given.name,
            _source(given),
            who=who.name,
            claim=given.claim,
            seeds=_seeds(given),
        )
        return _made(view)

    async def validate(self, request: Request) -> Response:
        """Say what is wrong with a job; nothing is made."""
        given = await sent(request, NewJob)
        wrong = await self._daemon.validate(given.name, _source(given), given.claim)
        reasons = tuple(text(one) if isinstance(one, str) else one for one in wrong)
        return answer(Verdict(tuple(map(str, reasons)), reasons))

    async def job(self, name: Name) -> Response:
        """One job as it is now."""
        return answer(self._daemon.job(name))

    async def delete(
        self,
        name: Name,
        who: Who,
        confirm: Annotated[str, Query(max_length=64, description="its name, again")],
    ) -> Response:
        """For ever. A folder that was adopted is only forgotten."""
        await self._daemon.delete(name, confirm=confirm, who=who.name)
        return Response(status_code=204)

    async def configuration(self, name: Name) -> Response:
        """Without secrets, which are in none."""
        return PlainTextResponse(self._daemon.configuration(name))

    async def stop(self, name: Name, request: Request, who: Who) -> Response:
        """What is being visited is finished first, unless `now`."""
        given = await sent(request, Ending)
        return answer(await self._daemon.stop(name, who=who.name, now=given.now))

    async def clone(self, name: Name, request: Request, who: Who) -> Response:
        """Same configuration and claim, nothing crawled."""
        given = await sent(request, NewName)
        return _made(await self._daemon.clone(name, given.name, who=who.name))

    async def adopt(self, name: Name, request: Request, who: Who) -> Response:
        """Below one of the folders that `roots` names; running or not."""
        given = await sent(request, Adoption)
        return _made(await self._daemon.adopt(name, given.folder, who=who.name))

    async def schedule(self, name: Name, request: Request, who: Who) -> Response:
        """Times as crontab(5) has them, and quiet hours."""
        given = await sent(request, Schedule)
        return answer(await self._daemon.schedule(name, given, who=who.name))

    async def unschedule(self, name: Name, who: Who) -> Response:
        """The job stays as it is."""
        return answer(await self._daemon.schedule(name, None, who=who.name))

    async def set_claim(self, name: Name, request: Request, who: Who) -> Response:
        """What is not named stays. A larger claim is taken if that is safe at once."""
        given = await sent(request, Amounts)
        return answer(await self._daemon.set_claim(name, given, who=who.name))

    def _verb(self, verb: str) -> Callable[..., Awaitable[Response]]:
        act = getattr(self._daemon, verb)

        async def route(name: Name, who: Who) -> Response:
            return answer(await act(name, who=who.name))

        route.__doc__ = f"{_VERBS[verb]}."
        return route


def _source(given: NewJob) -> str | dict[str, Any]:
    if given.toml is not None and given.settings is not None:
        raise ServiceError("invalid", "give toml or settings, not both")
    return given.toml if given.toml is not None else (given.settings or {})


def _seeds(given: NewJob) -> str | None:
    return None if given.seeds is None else "".join(f"{line}\n" for line in given.seeds)


def _made(view: JobView) -> Response:
    return answer(view, 201, {"Location": f"/api/v1/jobs/{view.name}"})
