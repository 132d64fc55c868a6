"""Routes of what a job watches, and of what it told."""

from typing import Annotated, Any

import msgspec
from fastapi import APIRouter
from msgspec import Meta
from starlette.requests import Request
from starlette.responses import Response

from gossamer.daemon.daemon import Daemon
from gossamer.daemon.watching import Act, JobWatches, NewWatch
from gossamer.watch.feed import MEDIA_TYPE
from gossamer.watch.shown import WatchView
from gossamer.watch.wording import notices_as_json
from gossamer.web.api.jobs import Name, Who
from gossamer.web.api.shapes import Routes, Shapes, answer, asked, sent


class NoticeParams(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which notices are wanted: of one watch, or of all, from a number on."""

    watch: Annotated[str, Meta(max_length=300, description="of this watch alone")] = ""
    before: Annotated[
        int, Meta(ge=0, le=(1 << 63) - 1, description="those before this number; 0: the last")
    ] = 0
    limit: Annotated[int, Meta(ge=1, le=1_000, description="at most")] = 100


class NoticeShown(msgspec.Struct, frozen=True, kw_only=True):
    """What was told.

    Attributes:
        number: to page by.
        owed: receivers that were not told yet.
        id: the same wherever it is told.
        watch, url, title: what it is about.
        kind: `changed`, `condition`, `new`, `answers`, `gone`, `back`.
        condition: that began to hold.
        number_seen: of a condition on numbers.
        time: of the visit, UTC.
        added, removed: words.
        difference: places, each a list of lines as [sign, text]: `-` went, `+` came, a blank stands around.
    """

    number: int
    owed: int
    id: str
    watch: str
    url: str
    title: str
    kind: str
    condition: str
    number_seen: float | None
    time: str
    added: int
    removed: int
    difference: list[list[list[str]]]


class Counted(msgspec.Struct, frozen=True):
    """How many messages are sent."""

    messages: int


class WatchRoutes:
    """What jobs watch, what they told, and how both are changed."""

    def __init__(self, daemon: Daemon, shapes: Shapes) -> None:
        self._watches = JobWatches(daemon)
        self._shapes = shapes

    def router(self) -> APIRouter:
        """The routes of watches, below those of a job."""
        shapes = self._shapes
        routes = Routes("watches", shapes, shapes.answers())
        at = "/jobs/{name}/watches"
        routes.add(
            "GET",
            at,
            self.views,
            "What is watched, and how it stands",
            responses=shapes.answers(list[WatchView]),
        )
        routes.add("POST", at, self.add, "Watch something more", brings=NewWatch)
        routes.add("POST", f"{at}/act", self.act, "Pause, unpause or remove a watch", brings=Act)
        routes.add(
            "POST", f"{at}/test", self.test, "Send everybody a test", responses=shapes.answers(Counted)
        )
        routes.add(
            "POST",
            f"{at}/retry",
            self.retry,
            "Send again what was given up",
            responses=shapes.answers(Counted),
        )
        routes.add(
            "GET",
            f"{at}/notices",
            self.notices,
            "What was told, the last first",
            responses=shapes.answers(list[NoticeShown]),
            openapi_extra=shapes.query(NoticeParams),
        )
        routes.add(
            "GET",
            f"{at}/feed.xml",
            self.feed,
            "The last notices as an Atom feed",
            responses={
                200: {"description": "the feed", "content": {MEDIA_TYPE: {"schema": {"type": "string"}}}},
                "default": shapes.trouble(),
            },
        )
        return routes.router

    async def views(self, name: Name) -> Response:
        """Receivers are named without what is secret of them."""
        return answer(await self._watches.views(name))

    async def add(self, name: Name, request: Request, who: Who) -> Response:
        """Its pages become seeds of the crawl; with `every` they are visited again that often."""
        return answer(await self._watches.add(name, await sent(request, NewWatch), who=who.name))

    async def act(self, name: Name, request: Request, who: Who) -> Response:
        """A paused watch goes on seeing and does not tell."""
        return answer(await self._watches.act(name, await sent(request, Act), who=who.name))

    async def test(self, name: Name, who: Who) -> Response:
        """It is told also in the quiet time."""
        return answer(Counted(await self._watches.test(name, who=who.name)))

    async def retry(self, name: Name, who: Who) -> Response:
        """Each the same, with the same id as before."""
        return answer(Counted(await self._watches.retry(name, who=who.name)))

    async def notices(self, name: Name, request: Request) -> Response:
        """Texts are as the pages had them: escape them where they are shown."""
        params = asked(request, NoticeParams)
        found = await self._watches.notices(name, params.watch, params.before, params.limit)
        return answer([_shown(one.number, one.owed, notices_as_json([one.notice])[0]) for one in found])

    async def feed(self, name: Name) -> Response:
        """Readers of feeds bring a token as `Authorization: Bearer`."""
        return Response(await self._watches.feed(name), media_type=MEDIA_TYPE)


def _shown(number: int, owed: int, told: dict[str, Any]) -> NoticeShown:
    return NoticeShown(number=number, owed=owed, number_seen=told.pop("number"), **told)
