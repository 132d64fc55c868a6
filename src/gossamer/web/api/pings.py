"""Hears strangers who say that pages have changed: hubs (W3C WebSub) and submissions by IndexNow.

They need no log-in, so nothing they say is shown, kept or believed beyond what `daemon.pings` makes of it; and whether
a host is crawled here is not to be learned from the answers.
"""

import time
from collections.abc import Mapping

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from gossamer.daemon.daemon import Daemon
from gossamer.daemon.pings.config import PingsConfig
from gossamer.daemon.pings.indexnow import BadSubmissionError, read_json, read_query
from gossamer.daemon.pings.subscriber import MOST_BODY
from gossamer.web.api.problem import problem
from gossamer.web.security.body import BadBodyError, read_body
from gossamer.web.security.door import address_of
from gossamer.web.security.strangers import Strangers

INDEXNOW = "/indexnow"
WEBSUB = "/websub/"
_BUSY_SECONDS = 60


def strangers(config: PingsConfig) -> Strangers:
    """The addresses that need no log-in, of those pings that the settings want."""
    wanted = ((INDEXNOW, config.indexnow), (WEBSUB, config.websub))
    return Strangers(path for path, is_wanted in wanted if is_wanted)


class PingRoutes:
    """`/indexnow`, and a callback for each subscription; those that are not wanted are not there.

    What a stranger sends is read only once it is known that it will be heard.
    """

    def __init__(self, daemon: Daemon) -> None:
        self._pings = daemon.pings
        self._config = daemon.config.pings
        self._security = daemon.config.security

    def router(self) -> APIRouter:
        """The routes that need no log-in."""
        router = APIRouter(include_in_schema=False)
        if self._config.indexnow:
            router.add_api_route(INDEXNOW, self.submit, methods=["GET", "POST"])
        if self._pings.subscriber is not None:
            router.add_api_route(WEBSUB + "{token}", self.verify, methods=["GET"])
            router.add_api_route(WEBSUB + "{token}", self.deliver, methods=["POST"])
        return router

    async def submit(self, request: Request) -> Response:
        """Take a submission; whether its key is right is seen later, at the host."""
        if (refusal := self._too_often(request)) is not None:
            return refusal
        try:
            if request.method == "POST":
                submission = read_json(await self._body(request, self._security.max_body))
            else:
                submission = read_query(request.query_params)
        except (BadSubmissionError, BadBodyError) as error:
            return _unheard(error.status, str(error))
        if not self._pings.submit(submission):
            return _later(_BUSY_SECONDS)
        return PlainTextResponse("taken; the key is looked for on the host\n", 202)

    async def verify(self, token: str, request: Request) -> Response:
        """A hub asks whether we meant to subscribe, or says that it will not have us."""
        assert self._pings.subscriber is not None
        if (refusal := self._too_often(request)) is not None:
            return refusal
        challenge = self._pings.subscriber.verify(token, request.query_params)
        if challenge is None:
            return problem(404, "nothing was asked for here")
        # What a stranger sends is sent back, so it is never to be taken for a page.
        return PlainTextResponse(challenge)

    async def deliver(self, token: str, request: Request) -> Response:
        """A hub sends what is new; without a right signature it is ignored, as the standard wants (7)."""
        assert self._pings.subscriber is not None
        if (refusal := self._too_often(request)) is not None:
            return refusal
        one = self._pings.subscriber.subscription(token)
        if one is None:
            return _unheard(410, "there is no such subscription any more")
        try:
            body = await self._body(request, MOST_BODY)
        except BadBodyError as error:
            return _unheard(error.status, str(error))
        signatures = request.headers.getlist("x-hub-signature")
        # Of two nobody knows which is meant.
        self._pings.subscriber.deliver(one, signatures[0] if len(signatures) == 1 else "", body)
        return Response(status_code=202)

    async def _body(self, request: Request, most: int) -> bytes:
        lengths = request.headers.getlist("content-length")
        return await read_body(request.receive, lengths, most, self._security.body_time)

    def _too_often(self, request: Request) -> Response | None:
        wait = self._pings.allowance.wait(address_of(request), time.monotonic())
        return _later(int(wait) + 1) if wait else None


def _later(seconds: int) -> Response:
    return _unheard(429, f"try again in {seconds} s", {"Retry-After": str(seconds)})


def _unheard(status: int, sentence: str, headers: Mapping[str, str] | None = None) -> Response:
    """Whoever sent a body that was not read may not go on talking on this connection."""
    return problem(status, sentence, headers={**(headers or {}), "Connection": "close"})
