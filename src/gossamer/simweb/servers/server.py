"""The HTTP server: one protocol object per connection, no parsing beyond what a crawler's requests need."""

import asyncio
import socket
import struct
import time
from collections.abc import Iterator
from typing import Any, cast

from gossamer.simweb.servers.service import REFUSAL, Service
from gossamer.simweb.servers.visits import Ledger
from gossamer.simweb.world.resource import Ending, Reply, Request

_LONGEST_HEAD = 1 << 20  # crawlers may send URLs of 100,000 bytes
_RESET = struct.pack("ii", 1, 0)


class Connection(asyncio.Protocol):
    """Answers requests one after another.

    Invariant: `_visit` is set if and only if an answer is under way; what arrives meanwhile waits
    in `_received`.
    """

    def __init__(self, service: Service, ledger: Ledger | None, connections: set["Connection"]) -> None:
        self._service = service
        self._ledger = ledger
        self._connections = connections
        self._received = b""
        self._transport: asyncio.Transport
        self._visit: dict[str, Any] | None = None
        self._ending = Ending.KEEP
        self._task: asyncio.Task[None] | None = None
        self._drained = asyncio.Event()
        self._drained.set()
        self._client = self._address = ""

    # Receiving …

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Set the transport up to tell when everything has reached the kernel."""
        self._transport = cast("asyncio.Transport", transport)
        self._transport.set_write_buffer_limits(high=0)
        self._connections.add(self)
        if self._ledger is not None:
            peer, here = transport.get_extra_info("peername"), transport.get_extra_info("sockname")
            self._client = f"{peer[0]}:{peer[1]}" if peer else ""
            self._address = here[0] if here else ""

    def data_received(self, data: bytes) -> None:
        """Take in part of a request, or several requests."""
        self._received = self._received + data if self._received else data
        if self._visit is None:
            self._next()
        elif len(self._received) > _LONGEST_HEAD:
            self._transport.abort()

    def _next(self) -> None:
        """Answer what has arrived, until an answer must wait for the network."""
        while self._visit is None and self._received and not self._transport.is_closing():
            end = self._received.find(b"\r\n\r\n")
            if end < 0:
                if len(self._received) > _LONGEST_HEAD:
                    self._begin(Request("", "", "", {}), REFUSAL)
                return
            head, self._received = self._received[:end], self._received[end + 4 :]
            request, keep = parse(head)
            reply = self._service.answer(request)
            self._begin(request, reply, keep=keep)

    # Answering …

    def _begin(self, request: Request, reply: Reply, *, keep: bool = True) -> None:
        self._visit = visit = dict[str, Any](status=reply.status, sent=len(reply.data))
        self._ending = Ending.CLOSE if reply.ending is Ending.KEEP and not keep else reply.ending
        if self._ledger is not None:
            started, now_open = self._ledger.begin(request.host)
            visit |= {
                "host": request.host,
                "target": request.target,
                "started": started,
                "open": now_open,
                "method": request.method,
                "fields": dict(request.fields),
            }
        if reply.data:
            self._write(visit, reply.data)
        if reply.steps is not None:
            self._task = asyncio.get_running_loop().create_task(self._perform(reply.steps()))
        elif self._drained.is_set():
            self._finish(whole=True)

    async def _perform(self, steps: Iterator[bytes | float]) -> None:
        """Send and pause as the script says, never faster than the visitor reads."""
        assert self._visit is not None
        for step in steps:
            if isinstance(step, bytes):
                await self._drained.wait()
                self._visit["sent"] += len(step)
                self._write(self._visit, step)
            else:
                self._visit.pop("ended", None)
            # Also after bytes: where the kernel takes everything, nothing else would let others run.
            await asyncio.sleep(0 if isinstance(step, bytes) else step)
        await self._drained.wait()
        self._task = None
        self._finish(whole=True)
        self._next()

    def _write(self, visit: dict[str, Any], data: bytes) -> None:
        """Send what may be the end: its moment is taken before, as afterwards the visitor may be ahead."""
        visit["ended"] = time.monotonic()
        self._transport.write(data)

    def pause_writing(self) -> None:
        """The kernel has not taken everything."""
        self._drained.clear()
        if self._visit is not None:
            self._visit.pop("ended", None)

    def resume_writing(self) -> None:
        """The kernel has taken everything."""
        self._drained.set()
        if self._visit is not None and self._task is None:
            self._finish(whole=True)
            self._next()

    def _finish(self, *, whole: bool) -> None:
        visit, self._visit = self._visit, None
        if self._ledger is not None and visit is not None:
            if not whole:
                visit.pop("ended", None)
            visit |= {"whole": whole, "client": self._client, "address": self._address}
            self._ledger.end(visit)
        if self._ending is Ending.RESET:
            reset(self._transport)
        elif self._ending is Ending.CLOSE:
            self._transport.close()

    def connection_lost(self, _: Exception | None) -> None:
        """The visitor has gone, or we closed."""
        self._connections.discard(self)
        if self._task is not None:
            self._task.cancel()
            self._task = None
        if self._visit is not None:
            self._finish(whole=False)

    def abort(self) -> None:
        """Give up the connection at once."""
        self._transport.abort()


class Dropper(asyncio.Protocol):
    """Resets every connection at once."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Reset the connection as it is made."""
        reset(cast("asyncio.Transport", transport))


def reset(transport: asyncio.Transport) -> None:
    """End a connection with RST instead of FIN."""
    connection = transport.get_extra_info("socket")
    if connection is not None and not transport.is_closing():
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)
    transport.abort()


def parse(head: bytes) -> tuple[Request, bool]:
    """Read a request head; the second value tells whether the connection may stay open.

    The target may be a whole URL (RFC 9112 3.2.2), so the server can be used as a proxy.
    """
    first, *lines = head.decode("latin-1").split("\r\n")
    method, _, rest = first.partition(" ")
    target, _, version = rest.rpartition(" ")
    fields = {}
    for line in lines:
        name, _, value = line.partition(":")
        fields[name.lower()] = value.strip()
    host = fields.get("host", "")
    if not target.startswith("/"):
        scheme, _, after = target.partition("://")
        if scheme == "http":
            host, _, path = after.partition("/")
            target = "/" + path
    if not host.endswith("]"):
        host = host.rpartition(":")[0] or host
    keep = fields.get("connection", "").lower() != "close" and version != "HTTP/1.0"
    return Request(method, host.lower(), target, fields), keep
