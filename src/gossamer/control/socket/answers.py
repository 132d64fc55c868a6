"""Finds who answers a request to a running crawl."""

from typing import Any

from gossamer.control.at_a_glance import status_now
from gossamer.control.changes.operations import OPERATIONS
from gossamer.control.live_crawl import LiveCrawl
from gossamer.control.socket.protocol import LiveError, Nothing, Request
from gossamer.control.views.views import SLOW, VIEWS, parameters


async def answer(live: LiveCrawl, request: Request) -> Any:
    """The result of one request.

    Raises:
        LiveError: it cannot be done.
    """
    if request.method == "status":
        parameters(Nothing, request.params)
        return await status_now(live)
    if request.method in VIEWS:
        kind, view = VIEWS[request.method]
        params = parameters(kind, request.params)
        slow = request.method in SLOW
        return await live.look(view, params, slow=slow)
    if request.method in OPERATIONS:
        kind, operation = OPERATIONS[request.method]
        return await operation(live, parameters(kind, request.params), request.who)
    known = ", ".join(sorted({*VIEWS, *OPERATIONS}))
    raise LiveError("not_found", f"there is no method {request.method!r}; there are {known}")
