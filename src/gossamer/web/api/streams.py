"""Sends server-sent events to a bounded number of viewers, none of whom can hold it up."""

import asyncio
import contextlib
import time
from collections import Counter
from collections.abc import AsyncGenerator, Callable, Iterator

import msgspec
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from gossamer.web.api.problem import problem

MEDIA_TYPE = "text/event-stream"
KEEP_ALIVE = 15.0
"""Seconds without an event after which a comment goes out, so that proxies and viewers know we live; as often
it is asked whether the viewer may still look."""
_PATIENCE = 30.0
"""Seconds a viewer may leave what we send unread."""
_FAREWELL = 1.0
_LONGEST = 6 * 3600.0
"""Seconds; then a viewer connects again by itself."""
_RETRY = 3000
"""Milliseconds until it does."""
_SHARE = 4
"""One name may hold a quarter of all streams."""

Frames = AsyncGenerator[bytes, None]


def frame(event: str, value: object) -> bytes:
    """One event (HTML standard, section 9.2.6); JSON holds no line ends."""
    return b"event: %s\ndata: %s\n\n" % (event.encode(), msgspec.json.encode(value))


class Streams:
    """The streams that are open: at most `most`, of one name at most a quarter of them."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._open: Counter[str] = Counter()
        self._closing = asyncio.Event()

    def __len__(self) -> int:
        return self._open.total()

    def close(self) -> None:
        """End all of them, and begin no more: the daemon goes, and they would hold it up."""
        self._closing.set()

    @contextlib.contextmanager
    def place(self, name: str) -> Iterator[asyncio.Event | None]:
        """Count one as open; gives what will end it, or `None` if there is no room."""
        most = max(1, self._most // _SHARE)
        if len(self) >= self._most or self._open[name] >= most or self._closing.is_set():
            yield None
            return
        self._open[name] += 1
        try:
            yield self._closing
        finally:
            self._open[name] -= 1
            self._open = +self._open  # without the names that have none


class EventStream(Response):
    """An answer without an end of its own.

    It ends if and only if the viewer goes, may look no more or does not read, nothing more comes, six hours
    have passed, or the daemon ends.

    Args:
        name: of the visitor.
        frames: what to send; closed at the end.
        welcome: they may still look.
    """

    def __init__(self, streams: Streams, name: str, frames: Frames, welcome: Callable[[], bool]) -> None:
        super().__init__(media_type=MEDIA_TYPE, headers={"X-Accel-Buffering": "no"})
        del self.headers["content-length"]
        self._streams = streams
        self._name = name
        self._frames = frames
        self._welcome = welcome

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send, if there is room for one more."""
        try:
            with self._streams.place(self._name) as closing:
                if closing is not None:
                    await self._serve(receive, send, closing)
                    return
        finally:
            await self._frames.aclose()
        full = problem(503, "too many live views are open: close one", headers={"Retry-After": "10"})
        await full(scope, receive, send)

    async def _serve(self, receive: Receive, send: Send, closing: asyncio.Event) -> None:
        await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
        pump = asyncio.ensure_future(self._pump(send))
        ends = [pump, asyncio.ensure_future(_gone(receive)), asyncio.ensure_future(closing.wait())]
        try:
            await asyncio.wait(ends, timeout=_LONGEST, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in ends:
                task.cancel()
            await asyncio.gather(*ends, return_exceptions=True)
        if not pump.cancelled():
            pump.result()  # a bug of ours is to be heard of
        with contextlib.suppress(OSError, TimeoutError):
            async with asyncio.timeout(_FAREWELL):  # who reads nothing does not read this either
                await send(_part(b"", more=False))

    async def _pump(self, send: Send) -> None:
        """Send until nothing more comes, or nobody is there who may and does read it."""
        await send(_part(b"retry: %d\n\n" % _RETRY))
        following = asyncio.ensure_future(anext(self._frames, b""))
        looked = time.monotonic()
        try:
            while True:
                await asyncio.wait({following}, timeout=KEEP_ALIVE)
                if time.monotonic() - looked >= KEEP_ALIVE:
                    looked = time.monotonic()
                    if not self._welcome():
                        return
                body = b": still here\n\n"
                if following.done():
                    if not (body := following.result()):
                        return
                    following = asyncio.ensure_future(anext(self._frames, b""))
                try:
                    async with asyncio.timeout(_PATIENCE):
                        await send(_part(body))
                except TimeoutError:
                    return
        finally:
            following.cancel()
            await asyncio.gather(following, return_exceptions=True)


def _part(body: bytes, *, more: bool = True) -> dict[str, object]:
    return {"type": "http.response.body", "body": body, "more_body": more}


async def _gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
