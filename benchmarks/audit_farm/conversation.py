"""One request to the farm and what a behaviour may do about it."""

import asyncio
import contextlib
import socket
import struct
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import NamedTuple

REASONS = {200: "OK", 301: "Moved Permanently", 404: "Not Found", 503: "Service Unavailable"}
_LINGER_NOT = struct.pack("ii", 1, 0)
_CHUNK = b"<p>more of it</p>" * 4_000

Field = tuple[str, str]


class Request(NamedTuple):
    """What a client asked for.

    Attributes:
        host: without port, lower case.
        target: path and query.
        fields: by name in lower case.
        nth: how often this case was asked before, by whatever method and path.
        since_first: seconds since it was asked for the first time.
    """

    method: str
    host: str
    target: str
    fields: Mapping[str, str]
    nth: int
    since_first: float

    @property
    def path(self) -> str:
        """Without the query."""
        return self.target.partition("?")[0]

    @property
    def step(self) -> int:
        """The number that the path ends with after its last slash, 0 if none."""
        last = self.path.rpartition("/")[2]
        return int(last) if last.isdigit() else 0

    @property
    def is_head(self) -> bool:
        return self.method == "HEAD"


class Conversation:
    """The answering side of one request.

    Attributes:
        request: what was asked.
        case: name of the case that answers.
        origin: scheme, host and port, as the client wrote them.
        last: whether the connection is over after it.
        status: that was answered; 0: none, or in bytes of the behaviour's own.
    """

    def __init__(
        self,
        request: Request,
        case: str,
        origin: str,
        streams: tuple[asyncio.StreamReader, asyncio.StreamWriter],
    ) -> None:
        self.request, self.case, self.origin = request, case, origin
        self._reader, self._writer = streams
        self.last = False
        self.status = 0

    async def send(self, status: int, fields: Sequence[Field] = (), body: str | bytes = b"") -> None:
        """An ordinary answer; no body where none may be."""
        data = body.encode() if isinstance(body, str) else body
        self.status = status
        given = {name.lower() for name, _ in fields}
        head = [f"HTTP/1.1 {status} {REASONS.get(status, 'Because')}", *(f"{k}: {v}" for k, v in fields)]
        if "content-type" not in given and data:
            head.append("Content-Type: text/html; charset=utf-8")
        if "content-length" not in given and "transfer-encoding" not in given and status not in (204, 304):
            head.append(f"Content-Length: {len(data)}")
        await self.raw("\r\n".join((*head, "", "")).encode("utf-8", "surrogateescape"))
        if not self.request.is_head and status not in (204, 304):
            await self.raw(data)

    async def raw(self, data: bytes) -> None:
        """These very bytes."""
        self._writer.write(data)
        with contextlib.suppress(OSError):
            await self._writer.drain()

    async def close(self) -> None:
        """The connection ends here, in order."""
        self.last = True

    async def reset(self) -> None:
        """The connection is torn."""
        self.last = True
        raw = self._writer.get_extra_info("socket")
        with contextlib.suppress(OSError):
            raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _LINGER_NOT)
        self._writer.transport.abort()

    async def hang(self) -> None:
        """Nothing comes, until the client goes away."""
        self.last = True
        while await self._reader.read(1 << 12):
            pass

    async def flood(self, seconds: float) -> None:
        """A body without end, slowly, for at most so long."""
        end = time.monotonic() + seconds
        self.last = True
        while time.monotonic() < end and not self._writer.is_closing():
            await self.raw(_CHUNK)
            await asyncio.sleep(0.02)


Says = Callable[[Conversation], Awaitable[None]]


def page(title: str, inside: str = "") -> str:
    """A page of which nothing is wrong."""
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{title}</title>'
        f'<meta name="description" content="All about {title}, at some length."></head>'
        f"<body><h1>{title}</h1><p>There is something to be read about {title} here.</p>{inside}</body></html>"
    )
