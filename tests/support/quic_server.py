"""A server of HTTP/3 on loopback, beside one of HTTPS over TCP at the same port (aioquic)."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from pathlib import Path

from aioquic.asyncio import QuicConnectionProtocol, serve
from aioquic.h3.connection import H3Connection
from aioquic.h3.events import HeadersReceived
from aioquic.quic.configuration import QuicConfiguration
from aioquic.quic.events import ConnectionTerminated, ProtocolNegotiated, QuicEvent

Fields = list[tuple[bytes, bytes]]


class Asked:
    """One request over HTTP/3, to be answered."""

    def __init__(self, protocol: "_Speaker", h3: H3Connection, stream: int, fields: Fields) -> None:
        self._protocol, self._h3, self._stream = protocol, h3, stream
        self.fields = dict(fields)
        self.path = self.fields[b":path"].decode()

    def answer(self, body: bytes, fields: Fields = [], status: int = 200, *, whole: bool = True) -> None:  # noqa: B006
        """Send head and body; with `whole` the stream ends there."""
        body = b"" if self.fields[b":method"] == b"HEAD" else body
        self._h3.send_headers(self._stream, [(b":status", b"%d" % status), *fields])
        self._h3.send_data(self._stream, body, end_stream=whole)
        self._protocol.transmit()

    def break_off(self) -> None:
        """End the connection in the middle."""
        self._protocol.close(error_code=0x102)
        self._protocol.transmit()


class _Speaker(QuicConnectionProtocol):
    server: "QuicServer"
    h3: H3Connection | None = None

    def quic_event_received(self, event: QuicEvent) -> None:
        if isinstance(event, ProtocolNegotiated):
            self.h3 = H3Connection(self._quic)
            self.server.connections += 1
        elif isinstance(event, ConnectionTerminated):
            self.h3 = None
        if self.h3 is None:
            return
        for heard in self.h3.handle_event(event):
            if isinstance(heard, HeadersReceived):
                asked = Asked(self, self.h3, heard.stream_id, heard.headers)
                self.server.asked.append(asked.path)
                self.server.reply(asked)


class QuicServer:
    """What was asked over HTTP/3, and by how many connections."""

    def __init__(self, reply: Callable[[Asked], None]) -> None:
        self.reply = reply
        self.asked: list[str] = []
        self.connections = 0


@contextlib.asynccontextmanager
async def quic_serving(
    reply: Callable[[Asked], None], port: int, identity: tuple[Path, Path], idle_timeout: float = 60.0
) -> AsyncIterator[QuicServer]:
    """Answer HTTP/3 at a UDP port of loopback by `reply`."""
    server = QuicServer(reply)
    configuration = QuicConfiguration(is_client=False, alpn_protocols=["h3"], idle_timeout=idle_timeout)
    configuration.load_cert_chain(*identity)
    kind = type("Speaker", (_Speaker,), {"server": server})
    running = await serve("127.0.0.1", port, configuration=configuration, create_protocol=kind)
    try:
        yield server
    finally:
        running.close()
        await asyncio.sleep(0)
