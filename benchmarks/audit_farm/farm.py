"""Serves the farm on loopback, in a thread: HTTP, TLS, nginx, and the names of all of them."""

import asyncio
import contextlib
import socket
import ssl
import tempfile
import threading
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, cast

from benchmarks.audit_farm.behaviours import Home
from benchmarks.audit_farm.cases import DOMAIN, NGINX, SHARED, SITE, Case, Ports, cases, site
from benchmarks.audit_farm.certificates import Certificates
from benchmarks.audit_farm.conversation import Conversation, Request, page
from benchmarks.audit_farm.notes import Noted
from benchmarks.audit_farm.real_server import RealServer
from gossamer.simweb.servers.names import NameService, TcpNames, UdpNames
from gossamer.simweb.world.resource import Naming, Speech
from gossamer.simweb.world.spec import WorldSpec
from gossamer.simweb.world.world import World

ADDRESSES = [f"127.0.7.{number}" for number in range(1, 65)]
_NAMES_AT = "127.0.0.1"
_MAX_HEAD = 1 << 16
_TRIES = 20


class Names:
    """What the name server asks for, as the simulated web's world does."""

    spec = WorldSpec(seed=1)

    def __init__(self, hosts: Mapping[str, Naming]) -> None:
        self._hosts = hosts

    def naming(self, name: str) -> Naming | None:
        """Of one name."""
        return self._hosts.get(name)


class Farm:
    """All servers; `with farm(...)` runs one.

    Attributes:
        ports: where it listens.
        all_cases: what is linked.
        hosts: what each name leads to.
        nameserver: ADDRESS:PORT.
        authority: file of the one authority to be trusted.
        start: first page of the site.
    """

    def __init__(self, folder: Path, share: float) -> None:
        self._folder, self._share = folder, share
        self._certificates = Certificates(folder, DOMAIN)
        self.authority = self._certificates.authority
        self._noted: list[Noted] = []
        self._asked: defaultdict[str, list[float]] = defaultdict(list)
        self._real = RealServer(folder)
        self._stopping: list[Any] = []
        self._tasks: set[asyncio.Task[None]] = set()
        self.ports = Ports(0, 0, 0, 0, 0)
        self.all_cases: list[Case] = []
        self.hosts: dict[str, Naming] = {}
        self.nameserver = ""

    @property
    def start(self) -> str:
        return f"http://{SITE}:{self.ports.plain}/"

    def forget(self) -> list[Noted]:
        """What was asked since the last time; behaviours begin anew."""
        noted, self._noted = [*self._noted, *self._real.noted(NGINX)], []
        self._asked.clear()
        return sorted(noted)

    async def open(self) -> None:
        """Listen."""
        nginx = self._real.port
        dead, mute = self._reserve(listen=False), self._reserve(listen=True)
        plain = await self._listen(None)
        tls = await self._listen(self._chooser())
        self.ports = Ports(plain, tls, nginx, dead, mute)
        self.all_cases = list(cases(self.ports, self._share))
        self._by_name = {case.name: case for case in self.all_cases}
        self._by_host = {case.host: case for case in self.all_cases if case.behaviour.home is Home.OWN}
        self._pages = site(self.ports, self.all_cases)
        self._real.furnish(self.all_cases)
        for number, host in enumerate((SITE, *SHARED, *self._by_host)):
            speech = self._by_host[host].behaviour.speech if host in self._by_host else Speech.ANSWER
            self.hosts[host] = Naming(
                addresses=(ADDRESSES[number % len(ADDRESSES)],), ttl=3_600, speech=speech
            )
        self.hosts[NGINX] = Naming(addresses=(_NAMES_AT,), ttl=3_600)
        await self._name_them()

    async def close(self) -> None:
        """Stop it all."""
        for one in self._stopping:
            one.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self._real.stop()

    def _reserve(self, *, listen: bool) -> int:
        """A port of all addresses that refuses, or accepts and leaves it at that."""
        for _ in range(_TRIES):
            taken: list[socket.socket] = []
            with contextlib.suppress(OSError):
                for address in ADDRESSES:
                    one = socket.socket()
                    taken.append(one)
                    one.bind((address, taken[0].getsockname()[1] if len(taken) > 1 else 0))
                    if listen:
                        one.listen(100)
                self._stopping += taken
                return int(taken[0].getsockname()[1])
            for one in taken:
                one.close()
        raise OSError("no port is free on all of the farm's addresses")

    async def _listen(self, context: ssl.SSLContext | None) -> int:
        for _ in range(_TRIES):
            with socket.socket() as one:
                one.bind((ADDRESSES[0], 0))
                port = int(one.getsockname()[1])
            with contextlib.suppress(OSError):
                server = await asyncio.start_server(
                    self._serve,
                    ADDRESSES,
                    port,
                    ssl=context,
                    limit=_MAX_HEAD,
                    ssl_handshake_timeout=30 if context else None,
                )
                self._stopping.append(server)
                return port
        raise OSError("no port is free on all of the farm's addresses")

    def _chooser(self) -> ssl.SSLContext:
        """A context that becomes the one of the host asked for."""
        context = self._certificates.context("good")

        def choose(connection: ssl.SSLObject, name: str | None, _: ssl.SSLContext) -> None:
            case = self._by_host.get(name or "")
            kind = "soon" if name == SITE else case.behaviour.certificate if case is not None else "good"
            connection.context = self._certificates.context(kind)

        context.sni_callback = choose  # type: ignore[assignment]
        return context

    async def _name_them(self) -> None:
        loop = asyncio.get_running_loop()
        service = NameService(cast("World", Names(self.hosts)), None)
        questions: set[TcpNames] = set()
        for _ in range(_TRIES):  # a port that is free for one protocol is often taken for the other
            transport, _protocol = await loop.create_datagram_endpoint(
                lambda: UdpNames(service), local_addr=(_NAMES_AT, 0)
            )
            port = transport.get_extra_info("sockname")[1]
            try:
                server = await loop.create_server(lambda: TcpNames(service, questions), _NAMES_AT, port)
            except OSError:
                transport.close()
                continue
            self._stopping += [transport, server]
            self.nameserver = f"{_NAMES_AT}:{port}"
            return
        raise OSError("no port is free for the name server")

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = cast("asyncio.Task[None]", asyncio.current_task())
        self._tasks.add(task)
        try:
            while await self._answer(reader, writer):
                pass
        except (OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError, asyncio.CancelledError):
            pass  # the client went away, or is none; or the farm closes
        finally:
            self._tasks.discard(task)
            writer.close()

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        at = time.monotonic()
        method, target, _ = (head[0] + "  ").split(" ", 2)
        fields = {
            name.strip().lower(): value.strip()
            for name, _, value in (line.partition(":") for line in head[1:])
        }
        host = fields.get("host", "").rpartition(":")[0].lower()
        case = self._find(host, target)
        earlier = self._asked[case.name if case else ""]
        request = Request(method, host, target, fields, len(earlier), at - earlier[0] if earlier else 0.0)
        if case is not None and target != "/robots.txt":
            earlier.append(at)
        scheme = "https" if writer.get_extra_info("sslcontext") else "http"
        origin = f"{scheme}://{fields.get('host', '')}"
        talk = Conversation(request, case.name if case else "", origin, (reader, writer))
        notes, place = self._noted, len(self._noted)
        begun = Noted(at, at, host, method, target, talk.case, 0)
        notes.append(begun)
        try:
            await self._say(talk, case)
        finally:
            notes[place] = begun._replace(until=time.monotonic(), status=talk.status)
        return not talk.last and fields.get("connection", "").lower() != "close"

    def _find(self, host: str, target: str) -> Case | None:
        if host in self._by_host:
            return self._by_host[host]
        case = self._by_name.get(target.partition("?")[0].split("/")[1] if target.startswith("/") else "")
        return case if case is not None and case.host == host else None

    async def _say(self, talk: Conversation, case: Case | None) -> None:
        request = talk.request
        if request.host == SITE and request.path in self._pages:
            kinds = {"/robots.txt": "text/plain", "/sitemap.xml": "application/xml"}
            kind = kinds.get(request.path, "text/html; charset=utf-8")
            await talk.send(200, [("Content-Type", kind)], self._pages[request.path])
        elif request.path == "/robots.txt" and case is not None and case.behaviour.robots is not None:
            await case.behaviour.robots(talk)
        elif case is None or request.path == "/robots.txt":
            await talk.send(404, (), page("Not here"))
        else:
            await case.behaviour.says(talk)


@contextlib.contextmanager
def farm(share: float = 1.0) -> Iterator[Farm]:
    """A farm that is being served by a thread of this process."""
    with tempfile.TemporaryDirectory(prefix="audit-farm-") as name:
        loop = asyncio.new_event_loop()
        served = Farm(Path(name), share)
        thread = threading.Thread(target=loop.run_forever, daemon=True)
        thread.start()
        try:
            asyncio.run_coroutine_threadsafe(served.open(), loop).result()
            yield served
        finally:
            asyncio.run_coroutine_threadsafe(served.close(), loop).result()
            loop.call_soon_threadsafe(loop.stop)
            thread.join()
            loop.close()
