"""The connections of a server of an archive: requests one after another, and tunnels if it is a proxy."""

import asyncio
import contextlib
import ssl
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from socket import socket

import msgspec

from gossamer.model.url import Url
from gossamer.replay.messages import (
    LONGEST_HEAD,
    UNREAD,
    Answer,
    Request,
    plain_text,
    read_request,
    write_answer,
)

__all__ = ["Certify", "Conversations", "Proxying"]

MOST_CONNECTIONS = 256
LINGER_SECONDS = 1.0
_PIECE = 64 << 10
_NO_TLS = (
    "https:// through this proxy needs the package 'cryptography': pip install 'gossamer[proxy]'."
    " Without it, ask for http:// addresses, or send the proxy a plain request: GET https://... HTTP/1.1"
)

Certify = Callable[[str], ssl.SSLContext]
"""Makes what a server of a name shows who it is with."""


class Proxying(msgspec.Struct, frozen=True):
    """Whether programs may ask as they ask a proxy.

    Attributes:
        refusal: what those are told that may not; empty: they may.
        certify: makes certificates of names for https; `None`: there is none.
    """

    refusal: str = ""
    certify: Certify | None = None


class Conversations:
    """Answers the requests of each connection, one after another.

    Args:
        answer: to a request; the text is the authority of the tunnel that it came by, empty outside of one.
        proxying: who may open tunnels.
    """

    def __init__(self, answer: Callable[[Request, str], Awaitable[Answer]], proxying: Proxying) -> None:
        self._answer = answer
        self._proxying = proxying
        self._connections: set[asyncio.Task[None]] = set()
        self.asked = time.monotonic()
        """When somebody last asked for something."""

    @contextlib.asynccontextmanager
    async def listening(self, sockets: Sequence[socket]) -> AsyncIterator[None]:
        """Serve who connects to sockets that listen, until the block ends; then break off what is under way."""
        servers = [await asyncio.start_server(self._serve, sock=each, limit=LONGEST_HEAD) for each in sockets]
        try:
            yield
        finally:
            for server in servers:
                server.close()
            for task in self._connections:
                task.cancel()
            await asyncio.gather(*self._connections, return_exceptions=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._connections.add(task)
        try:
            if len(self._connections) > MOST_CONNECTIONS:
                await _refuse(reader, writer, plain_text(503, "There are too many connections already."))
            else:
                await self._converse(reader, writer, "")
        except (OSError, asyncio.CancelledError, ssl.SSLError):
            pass  # the client has gone, or we end
        finally:
            self._connections.discard(task)
            writer.close()

    async def _converse(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, secure: str
    ) -> None:
        """`secure`: the authority that a tunnel leads to; empty outside of one."""
        while (request := await read_request(reader)) is not None:
            self.asked = time.monotonic()
            if isinstance(request, Answer):
                await _refuse(reader, writer, request)
                return
            if request.method == "CONNECT" and not secure:
                await self._tunnel(reader, writer, request)
                return
            await write_answer(writer, request, await self._answer(request, secure))
            if not request.keep_alive:
                return

    async def _tunnel(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, request: Request
    ) -> None:
        certify = self._proxying.certify
        if self._proxying.refusal or certify is None:
            await _refuse(reader, writer, plain_text(501, self._proxying.refusal or _NO_TLS))
            return
        authority = request.target.removesuffix(":443").lower()
        place = Url.parse(f"https://{authority}/")
        if place is None or not place.host:
            await _refuse(reader, writer, plain_text(400, "That is no host."))
            return
        context = certify(place.host.strip("[]"))
        writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
        await writer.drain()
        await writer.start_tls(context)
        await self._converse(reader, writer, authority)


async def _refuse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, answer: Answer) -> None:
    """Give the last answer of a connection. What the client still says is thrown away for a while: who closes with
    something unread resets the connection, and the answer is lost (RFC 9112, 9.6)."""
    await write_answer(writer, UNREAD, answer)
    if writer.can_write_eof():
        writer.write_eof()
    async with asyncio.timeout(LINGER_SECONDS):
        while await reader.read(_PIECE):
            pass
