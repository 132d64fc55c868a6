"""Listens for questions over UDP and TCP (RFC 1035 4.2, RFC 7766), in bounded room."""

import asyncio
import contextlib
import struct
from collections.abc import AsyncIterator
from typing import Any, cast

from gossamer.dns.serving.messages import HEADER_BYTES, MAX_MESSAGE
from gossamer.dns.serving.name_service import NameService

MAX_CONNECTIONS = 100
"""Over TCP at once; those beyond are closed."""
MAX_WAITING = 100
"""Questions of one connection that wait for an answer; the next is read when one has it."""
IDLE_SECONDS = 20.0
"""After which a connection ends on which no whole message comes, or whose answers are not taken."""


@contextlib.asynccontextmanager
async def serving(service: NameService, address: str, port: int) -> AsyncIterator[int]:
    """Answer what comes to a numeric address; yields the port, which the kernel chooses for 0. Closes `service`.

    Raises:
        OSError: the address cannot be had.
    """
    loop = asyncio.get_running_loop()
    conversations = _Conversations(service)
    server = await asyncio.start_server(conversations.hold, address, port)
    try:
        at = server.sockets[0].getsockname()[:2]
        transport, _ = await loop.create_datagram_endpoint(lambda: _Datagrams(service), local_addr=at)
        try:
            yield at[1]
        finally:
            transport.close()
    finally:
        server.close()
        await service.close()
        await conversations.end()


class _Datagrams(asyncio.DatagramProtocol):
    """Datagrams; while the kernel takes no more answers, further ones are lost, as datagrams may be."""

    def __init__(self, service: NameService) -> None:
        self._service = service
        self._full = False
        self._transport: asyncio.DatagramTransport

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.DatagramTransport", transport)

    def datagram_received(self, data: bytes, addr: tuple[Any, ...]) -> None:
        self._service.take(data, lambda reply: self._send(reply, addr))

    def _send(self, reply: bytes, address: tuple[Any, ...]) -> None:
        if not self._full and not self._transport.is_closing():
            self._transport.sendto(reply, address)

    def pause_writing(self) -> None:
        self._full = True

    def resume_writing(self) -> None:
        self._full = False


class _Conversations:
    """Connections, each with many questions, which are answered as the answers come (RFC 7766 6.2.1.1)."""

    def __init__(self, service: NameService) -> None:
        self._service = service
        self._held: dict[asyncio.Task[None], asyncio.WriteTransport] = {}

    async def hold(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer one client until it has no more questions."""
        task = cast("asyncio.Task[None]", asyncio.current_task())
        self._held[task] = writer.transport
        waiting: set[asyncio.Task[None]] = set()
        try:
            if len(self._held) <= MAX_CONNECTIONS:
                with contextlib.suppress(OSError, asyncio.IncompleteReadError):
                    await self._listen(reader, writer, waiting)
                    if waiting:
                        await asyncio.wait(waiting)
                    async with asyncio.timeout(IDLE_SECONDS):
                        await writer.drain()
                        writer.close()
                        await writer.wait_closed()
        finally:
            writer.transport.abort()
            del self._held[task]

    async def end(self) -> None:
        """Break off all of them."""
        for transport in self._held.values():
            transport.abort()
        if self._held:
            await asyncio.wait(self._held)

    async def _listen(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, waiting: set[asyncio.Task[None]]
    ) -> None:
        """Take questions until the client says no more, says nothing, or does not speak DNS."""

        def send(reply: bytes) -> None:
            if not writer.is_closing():
                writer.write(struct.pack("!H", len(reply)) + reply)

        with contextlib.suppress(TimeoutError, asyncio.IncompleteReadError):
            while True:
                async with asyncio.timeout(IDLE_SECONDS):
                    await writer.drain()
                    (length,) = struct.unpack("!H", await reader.readexactly(2))
                    if length < HEADER_BYTES:
                        return
                    message = await reader.readexactly(length)
                task = self._service.take(message, send, MAX_MESSAGE)
                if task is not None:
                    waiting.add(task)
                    task.add_done_callback(waiting.discard)
                await asyncio.sleep(0)  # what is there is read without a pause: let others have their turn
                if len(waiting) >= MAX_WAITING:
                    await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
