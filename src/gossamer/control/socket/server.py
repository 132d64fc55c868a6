"""Answers on the control socket of a running crawl."""

import asyncio
import contextlib
import os
import socket
import struct
from collections.abc import Awaitable, Callable
from typing import Any

import msgspec

from gossamer.control.socket.address import ControlSocket
from gossamer.control.socket.protocol import (
    LONGEST_REPLY,
    LONGEST_REQUEST,
    LiveError,
    Reply,
    Request,
    trouble_of,
)

MOST_CONNECTIONS = 32
REFUSED_SECONDS = 1.0
"""For which a client that is one too many may say what nobody will do."""
WRITE_SECONDS = 30.0
"""After which a client that does not take an answer is left."""

Answer = Callable[[Request], Awaitable[Any]]
"""The result of a request, or a `LiveError`."""

_PEER = struct.Struct("3i")
_TURNS_OF_ACCEPTING = 4
"""Of the event loop, from a connection that is there to a task that serves it."""
_decode = msgspec.json.Decoder(Request).decode
_encode = msgspec.json.Encoder(enc_hook=str).encode


class ControlServer:
    """Takes requests from a bounded number of connections, one after the other on each."""

    def __init__(self, control: ControlSocket, answer: Answer) -> None:
        self._control = control
        self._answer = answer
        self._server: asyncio.Server | None = None
        self._connections: set[asyncio.Task[None]] = set()

    async def start(self) -> None:
        """Listen on the socket from now on."""
        self._server = await asyncio.start_unix_server(
            self._serve, sock=self._control.listening, limit=LONGEST_REQUEST
        )

    async def close(self) -> None:
        """Listen no more; requests that are being answered are given up, and whoever asked hears nothing."""
        if self._server is not None:
            # What is accepted already must get its transport first: of a server that has closed it gets none,
            # and its socket is left open (Python 3.11).
            asyncio.get_running_loop().remove_reader(self._control.listening)
            for _ in range(_TURNS_OF_ACCEPTING):
                await asyncio.sleep(0)
            self._server.close()
        self._control.close()
        for task in self._connections:
            task.cancel()
        if self._connections:
            await asyncio.wait(self._connections)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._connections.add(task)
        try:
            with contextlib.suppress(ConnectionError, TimeoutError, asyncio.CancelledError):
                await self._converse(reader, writer)
        finally:
            self._connections.discard(task)
            writer.close()
            with contextlib.suppress(ConnectionError, asyncio.CancelledError):
                await writer.wait_closed()

    async def _converse(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if not _is_ours(writer.get_extra_info("socket")):
            return
        if len(self._connections) > MOST_CONNECTIONS:
            # Read first: who closes with something unread resets the connection, and the answer is lost.
            with contextlib.suppress(ValueError):
                async with asyncio.timeout(REFUSED_SECONDS):
                    await reader.readline()
            error = LiveError("conflict", f"there are {MOST_CONNECTIONS} connections already; try again")
            await _send(writer, Reply(None, error=trouble_of(error)))
            return
        while True:
            try:
                line = await reader.readline()
            except ValueError:
                error = LiveError("invalid", f"a request may have {LONGEST_REQUEST} bytes at most")
                await _send(writer, Reply(None, error=trouble_of(error)))
                return
            if not line.endswith(b"\n"):
                return
            await _send(writer, await self._reply(line))

    async def _reply(self, line: bytes) -> Reply:
        number = None
        try:
            try:
                request = _decode(line)
            except (msgspec.DecodeError, UnicodeDecodeError) as error:
                raise LiveError("invalid", f"the line is no request: {error}") from None
            number = request.id
            return Reply(number, result=await self._answer(request))
        except LiveError as error:
            return Reply(number, error=trouble_of(error))
        except Exception as error:  # noqa: BLE001 - a mistake of ours must not end the crawl
            return Reply(number, error=trouble_of(LiveError("internal", f"{type(error).__name__}: {error}")))


async def _send(writer: asyncio.StreamWriter, reply: Reply) -> None:
    text = _encode(reply)
    if len(text) > LONGEST_REPLY:
        error = LiveError("invalid", "the answer is too long; ask for a smaller page")
        text = _encode(Reply(reply.id, error=trouble_of(error)))
    writer.write(text + b"\n")
    async with asyncio.timeout(WRITE_SECONDS):
        await writer.drain()


def _is_ours(peer: socket.socket) -> bool:
    """Whether the process at the other end is our user's, or root's; the file's mode says so already."""
    credentials = getattr(socket, "SO_PEERCRED", None)
    if credentials is None:
        return True
    _, user, _ = _PEER.unpack(peer.getsockopt(socket.SOL_SOCKET, credentials, _PEER.size))
    return user in (0, os.geteuid())
