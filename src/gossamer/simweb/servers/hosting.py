"""Puts a world on loopback sockets, inside a running event loop."""

import asyncio
import socket
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path

from gossamer.simweb.servers.names import NameService, TcpNames, UdpNames
from gossamer.simweb.servers.server import Connection, Dropper
from gossamer.simweb.servers.service import ANSWERS, Service
from gossamer.simweb.servers.visits import Ledger, Question, Visit, read_questions, read_visits
from gossamer.simweb.world.atlas import DROP_ADDRESS, FORBIDDEN_ADDRESS
from gossamer.simweb.world.spec import WorldSpec
from gossamer.simweb.world.world import World

_ATTEMPTS = 20  # to find a port that is free on every address


class Hosting:
    """A world that is being served by this process.

    Use `async with Hosting(spec) as web`. Ports of 0 are chosen by the kernel.

    Attributes:
        world: what is served; set once started.
        http_port: of every host.
        dns_port: UDP and TCP.
    """

    def __init__(
        self,
        spec: WorldSpec,
        *,
        http_port: int = 0,
        dns_port: int = 0,
        log: Path | None = None,
        control: Path | None = None,
        answers: int = ANSWERS,
    ) -> None:
        """`log`, `control`: files of visits and questions, and for `NameService`; `answers`: bytes kept."""
        self.spec = spec
        self.http_port = http_port
        self.dns_port = dns_port
        self.world: World
        self._log = log
        self._control = control
        self._answers = answers
        self._ledger: Ledger | None = None
        self._servers: list[asyncio.Server] = []
        self._datagrams: asyncio.DatagramTransport | None = None
        self._connections: set[Connection] = set()
        self._questions: set[TcpNames] = set()

    async def __aenter__(self) -> "Hosting":
        await self.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.stop()

    @property
    def _home(self) -> str:
        return f"{self.spec.network}.0.1"

    @property
    def nameserver(self) -> str:
        """`ADDRESS:PORT` of the name server."""
        return f"{self._home}:{self.dns_port}"

    @property
    def seeds(self) -> list[str]:
        """URLs at which to begin a crawl."""
        return self.world.seeds()

    def log(self) -> list[Visit]:
        """Visits so far; empty if started without a log."""
        return read_visits(self._log) if self._log else []

    def questions(self) -> list[Question]:
        """Questions to the name server so far; empty if started without a log."""
        return read_questions(self._log) if self._log else []

    async def start(self) -> None:
        """Bind all sockets and answer. Raises OSError if the ports are taken."""
        loop = asyncio.get_running_loop()
        world = World(self.spec)  # a bad spec is told before anything is bound
        self._ledger = Ledger(self._log) if self._log else None
        special = [FORBIDDEN_ADDRESS, DROP_ADDRESS] if world.cases else []
        listeners = bind(world.atlas.addresses(), special, self.http_port)
        self.http_port = listeners[self._home].getsockname()[1]
        self.world = World(self.spec, self.http_port)
        self.world.naming("")  # sets all scenes now: later it would make visitors wait
        service = Service(self.world, self._answers)
        for address, listener in listeners.items():
            factory: Callable[[], asyncio.Protocol] = partial(
                Connection, service, self._ledger, self._connections
            )
            if address == DROP_ADDRESS:
                factory = Dropper
            self._servers.append(await loop.create_server(factory, sock=listener, backlog=4_096))
        await self._start_names(loop)

    async def _start_names(self, loop: asyncio.AbstractEventLoop) -> None:
        names = NameService(self.world, self._ledger, self._control)
        stream, datagram = _bind_names(self._home, self.dns_port)
        self.dns_port = stream.getsockname()[1]
        self._servers.append(await loop.create_server(lambda: TcpNames(names, self._questions), sock=stream))
        self._datagrams, _ = await loop.create_datagram_endpoint(lambda: UdpNames(names), sock=datagram)

    async def stop(self) -> None:
        """Close everything; visits under way are cut off."""
        for server in self._servers:
            server.close()
        for connection in tuple(self._connections):
            connection.abort()
        for question in tuple(self._questions):
            question.abort()
        if self._datagrams is not None:
            self._datagrams.abort()
        for server in self._servers:
            await server.wait_closed()
        await asyncio.sleep(0.01 if self._connections or self._questions else 0)  # connections say good-bye
        if self._ledger is not None:
            self._ledger.close()
            self._ledger = None


def bind(addresses: list[str], special: list[str], port: int) -> dict[str, socket.socket]:
    """Listening sockets by address, all with the same port; `special` ones only where the system has them."""
    for attempt in range(_ATTEMPTS):
        bound: dict[str, socket.socket] = {}
        try:
            for address in addresses:
                bound[address] = _bind(socket.SOCK_STREAM, address, port or _port_of(bound))
        except OSError:
            for made in bound.values():
                made.close()
            if port or attempt == _ATTEMPTS - 1:
                raise
            continue
        for address in special:
            with suppress(OSError):  # only Linux has all of 127.0.0.0/8
                bound[address] = _bind(socket.SOCK_STREAM, address, _port_of(bound))
        return bound
    raise AssertionError("unreachable")


def _bind_names(address: str, port: int) -> tuple[socket.socket, socket.socket]:
    """A stream and a datagram socket with the same port."""
    for attempt in range(_ATTEMPTS):
        stream = _bind(socket.SOCK_STREAM, address, port)
        try:
            return stream, _bind(socket.SOCK_DGRAM, address, stream.getsockname()[1])
        except OSError:
            stream.close()
            if port or attempt == _ATTEMPTS - 1:
                raise
    raise AssertionError("unreachable")


def _bind(kind: socket.SocketKind, address: str, port: int) -> socket.socket:
    made = socket.socket(socket.AF_INET, kind)
    try:
        if kind == socket.SOCK_STREAM:
            made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        made.setblocking(False)
        made.bind((address, port))
    except OSError:
        made.close()
        raise
    return made


def _port_of(bound: dict[str, socket.socket]) -> int:
    first = next(iter(bound.values()), None)
    return first.getsockname()[1] if first else 0
