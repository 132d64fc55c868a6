"""Routes of live figures: what changes, told as it does."""

import asyncio
import time
from collections.abc import AsyncGenerator
from contextlib import aclosing

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from gossamer.daemon.daemon import Daemon
from gossamer.daemon.errors import ServiceError
from gossamer.daemon.jobs.job import JobState
from gossamer.daemon.views import Event
from gossamer.web.api.jobs import Name, Who
from gossamer.web.api.shapes import Routes, Shapes
from gossamer.web.api.streams import MEDIA_TYPE, EventStream, Frames, Streams, frame
from gossamer.web.security.door import Door, server_port
from gossamer.web.security.visitor import Visitor

JOB_EVERY, ALL_EVERY = 2.0, 5.0
"""Seconds between figures of one crawl, of all: each is a question to a crawl, shared by all viewers."""
_AT_ONCE = 8
"""Crawls asked at the same time."""
_MOVING = frozenset({JobState.RUNNING, JobState.PAUSED, JobState.STOPPING})

_KINDS = """\
`job`: a job as `GET /api/v1/jobs/{name}` shows it; `gone`: `{"name"}` was removed; `allocation`: `{}`, look
again; `status`: the view of that name; `figures`: of all crawls that run, `{name: status}`."""


class EventRoutes:
    """Streams of events, for a bounded number of viewers."""

    def __init__(self, daemon: Daemon, door: Door, streams: Streams, shapes: Shapes) -> None:
        self._daemon = daemon
        self._door = door
        self._streams = streams
        self._shapes = shapes

    def router(self) -> APIRouter:
        """The routes that concern events."""
        stream = {"description": _KINDS, "content": {MEDIA_TYPE: {"schema": {"type": "string"}}}}
        routes = Routes("events", self._shapes, {200: stream, "default": self._shapes.trouble()})
        says = "What happens to jobs, and the figures of all that run"
        routes.add("GET", "/events", self.all_events, says)
        routes.add("GET", "/jobs/{name}/events", self.job_events, "What happens to one job, and its figures")
        return routes.router

    async def all_events(self, request: Request, who: Who) -> Response:
        """What happens in all jobs, as server-sent events."""
        return self._stream(request, who, self._of_all())

    async def job_events(self, name: Name, request: Request, who: Who) -> Response:
        """Server-sent events; the stream ends when the job is removed."""
        self._daemon.job(name)  # it is there
        return self._stream(request, who, self._of_one(name))

    def _stream(self, request: Request, who: Visitor, frames: Frames) -> Response:
        scope = request.scope

        def welcome() -> bool:
            found = self._door.knows(scope["headers"], scope["scheme"], server_port(scope))
            return found is not None and found.name == who.name

        return EventStream(self._streams, who.name, frames, welcome)

    async def _of_all(self) -> Frames:
        for job in self._daemon.jobs():
            yield frame("job", job)
        async with aclosing(_ticking(self._daemon, ALL_EVERY)) as ticks:
            async for event in ticks:
                if event is not None:
                    yield _told(event)
                    continue
                moving = [job.name for job in self._daemon.jobs() if job.state in _MOVING]
                yield frame("figures", await figures_of(self._daemon, moving))

    async def _of_one(self, name: str) -> Frames:
        last = b""
        try:
            yield frame("job", self._daemon.job(name))
            async with aclosing(_ticking(self._daemon, JOB_EVERY)) as ticks:
                async for event in ticks:
                    if event is not None:
                        if event.name in (name, ""):
                            yield _told(event)
                    elif self._daemon.job(name).state in _MOVING or not last:
                        found = await figures_of(self._daemon, [name])
                        now = frame("status", found[name]) if name in found else b""
                        if now and now != last:
                            last = now
                            yield now
        except ServiceError:  # the job was removed
            return


async def figures_of(daemon: Daemon, names: list[str]) -> dict[str, object]:
    """The `status` of crawls, without those that cannot tell just now."""
    found: dict[str, object] = {}
    gate = asyncio.Semaphore(_AT_ONCE)

    async def ask(name: str) -> None:
        try:
            async with gate, asyncio.timeout(JOB_EVERY):
                found[name] = await daemon.figures(name)
        except (ServiceError, TimeoutError):
            return

    await asyncio.gather(*map(ask, names))
    return found


def _told(event: Event) -> bytes:
    value = event.job if event.job is not None else {"name": event.name} if event.name else {}
    return frame(event.kind, value)


async def _ticking(daemon: Daemon, every: float) -> AsyncGenerator[Event | None, None]:
    """Events as they come, and `None` at once and then each `every` seconds."""
    events = daemon.events()
    following = asyncio.ensure_future(anext(events))
    due = time.monotonic()
    try:
        while True:
            await asyncio.wait({following}, timeout=max(0.0, due - time.monotonic()))
            if following.done():
                yield following.result()
                following = asyncio.ensure_future(anext(events))
            if time.monotonic() >= due:
                yield None
                due = time.monotonic() + every
    finally:
        following.cancel()
        await asyncio.gather(following, return_exceptions=True)
