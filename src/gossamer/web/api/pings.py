"""Hears strangers who say that pages have changed: hubs (W3C WebSub) and submissions by IndexNow.

They need no log-in, so nothing they say is shown, kept or believed beyond what `daemon.pings` makes of it; and whether
a host is crawled here is not to be learned from the answers.
"""

import time

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from gossamer.daemon.daemon import Daemon
from gossamer.daemon.pings.config import PingsConfig
from gossamer.daemon.pings.indexnow import BadSubmissionError, read_json, read_query
from gossamer.daemon.pings.subscriber import MOST_BODY
from gossamer.web.api.problem import problem
from gossamer.web.security.door import address_of
from gossamer.web.security.strangers import Strangers

INDEXNOW = "/indexnow"
WEBSUB = "/websub/"
_BUSY_SECONDS = 60


def strangers(config: PingsConfig, max_body: int) -> Strangers:
    """Where strangers are heard, and how much they may send."""
    open_to = {}
    if config.indexnow:
        open_to[INDEXNOW] = max_body
    if config.websub:
        open_to[WEBSUB] = MOST_BODY
    return Strangers(open_to)


class PingRoutes:
    """`/indexnow`, and a callback for each subscription; those that are not wanted are not there."""

    def __init__(self, daemon: Daemon) -> None:
        self._pings = daemon.pings
        self._config = daemon.config.pings

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
                submission = read_json(await request.body())
            else:
                submission = read_query(request.query_params)
        except BadSubmissionError as error:
            return problem(error.status, str(error))
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
        """A hub sends what is new; without a right signature it is ignored, as the standard wants."""
        assert self._pings.subscriber is not None
        if (refusal := self._too_often(request)) is not None:
            return refusal
        signature = request.headers.get("x-hub-signature", "")
        if not self._pings.subscriber.deliver(token, signature, await request.body()):
            return problem(410, "there is no such subscription any more")
        return Response(status_code=202)

    def _too_often(self, request: Request) -> Response | None:
        wait = self._pings.allowance.wait(address_of(request), time.monotonic())
        return _later(int(wait) + 1) if wait else None


def _later(seconds: int) -> Response:
    return problem(429, f"try again in {seconds} s", headers={"Retry-After": str(seconds)})
