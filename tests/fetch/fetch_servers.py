"""Loopback servers that misbehave on purpose, and what the tests of the fetch room share."""

import asyncio
import contextlib
import shutil
import ssl
import subprocess
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import pytest
from patience import PATIENCE

from gossamer.fetch.config import FORBIDDEN_NETWORKS, FetchConfig
from gossamer.fetch.cookies import CookieJar
from gossamer.fetch.guard import AddressGuard
from gossamer.fetch.http import HttpModule, LocalFetch
from gossamer.model.candidate import Candidate
from gossamer.model.exchange import Exchange
from gossamer.model.lease import Lease, Validators
from gossamer.model.name import Answer
from gossamer.model.outcome import Failed, Fault, Fetched
from gossamer.model.url import Url

OK = b"HTTP/1.1 200 OK\r\n"
WITHOUT_LOOPBACK = tuple(network for network in FORBIDDEN_NETWORKS if network != "127.0.0.0/8")

Reply = bytes | Callable[[asyncio.StreamWriter], Awaitable[None]]


class StaticResolver:
    """Answers from a table; anything else is an address already, or does not exist."""

    def __init__(self, table: dict[str, tuple[str, ...]] | None = None) -> None:
        self.table = table or {}
        self.asked: list[str] = []

    async def resolve(self, name: str) -> Answer:
        self.asked.append(name)
        if name in self.table:
            return Answer(name, self.table[name], ttl=60)
        if name.replace(".", "").isdigit() or name.startswith("["):
            return Answer(name, (name.strip("[]"),), ttl=60)
        return Answer(name, fault=Fault.NAME_NOT_FOUND, detail="NXDOMAIN")

    async def close(self) -> None:
        pass


async def whole_head(reader: asyncio.StreamReader) -> bytes:
    return await reader.readuntil(b"\r\n\r\n")


async def first_byte(reader: asyncio.StreamReader) -> bytes:
    return await reader.read(1)


class RawServer:
    """Sends given bytes to whoever asks; keeps the heads of all requests."""

    def __init__(self, reply: Reply, *, keep_alive: bool = False, address: str = "127.0.0.1") -> None:
        self.reply = reply
        self.keep_alive = keep_alive
        self.address = address
        self.requests: list[bytes] = []
        self.connections = 0
        self.port = 0
        self.wait: Callable[[asyncio.StreamReader], Awaitable[bytes]] = whole_head
        self._tasks: set[asyncio.Task[None]] = set()

    async def __aenter__(self, tls: ssl.SSLContext | None = None) -> "RawServer":
        self._tls = tls is not None
        self._server = await asyncio.start_server(self._accept, self.address, 0, ssl=tls)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *_: object) -> None:
        self._server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        # Connections that failed in their TLS handshake never had a task; the loop closes them.
        await asyncio.sleep(0.01 if self._tls else 0)

    def url(self, path: str = "/", host: str = "", scheme: str = "http") -> str:
        return f"{scheme}://{host or self.address}:{self.port}{path}"

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        self.connections += 1
        with contextlib.suppress(
            ConnectionError, asyncio.IncompleteReadError, ssl.SSLError, asyncio.CancelledError
        ):
            while True:
                self.requests.append(await self.wait(reader))
                if isinstance(self.reply, bytes):
                    writer.write(self.reply)
                else:
                    await self.reply(writer)
                await writer.drain()
                if not self.keep_alive:
                    break
        await hang_up(writer)


async def until(condition: Callable[[], bool]) -> None:
    """Let others run until `condition` holds."""
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline, "waited in vain"
        await asyncio.sleep(0.001)


async def hang_up(writer: asyncio.StreamWriter) -> None:
    """Close a connection to the end, whatever its other side does."""
    with contextlib.suppress(ConnectionError, ssl.SSLError, asyncio.CancelledError):
        writer.close()
        await writer.wait_closed()


@contextlib.asynccontextmanager
async def serving(
    reply: Reply, *, keep_alive: bool = False, tls: ssl.SSLContext | None = None, address: str = "127.0.0.1"
) -> AsyncIterator[RawServer]:
    server = RawServer(reply, keep_alive=keep_alive, address=address)
    await server.__aenter__(tls)
    try:
        yield server
    finally:
        await server.__aexit__()


class Cookies(dict[str, bytes]):
    """A store of cookies in memory."""

    def put(self, site: str, data: bytes) -> None:
        self[site] = data


@contextlib.asynccontextmanager
async def fetching(
    tmp_path: Path,
    *,
    table: dict[str, tuple[str, ...]] | None = None,
    credentials: Callable[[Url], object] | None = None,
    local: LocalFetch | None = None,
    **settings: object,
) -> AsyncIterator[HttpModule]:
    settings.setdefault("allow_private", True)
    config = FetchConfig(**settings)  # type: ignore[arg-type]
    if local is None:
        jar = CookieJar(Cookies()) if config.keeps_cookies else None
        local = LocalFetch(credentials or (lambda _: None), cookies=jar)  # type: ignore[arg-type]
    module = HttpModule(config, StaticResolver(table), AddressGuard(config), tmp_path, local)  # type: ignore[arg-type]
    try:
        yield module
    finally:
        await module.close()


def lease(url: str, validators: Validators | None = None, attempts: int = 1) -> Lease:
    parsed = Url.parse(url)
    assert parsed is not None
    return Lease(Candidate(parsed, attempts=attempts), parsed.host, b"ticket", validators)


async def fetched(module: HttpModule, url: str) -> Exchange:
    outcome = await module.fetch(lease(url))
    assert isinstance(outcome, Fetched), outcome
    return outcome.exchange


async def failed(module: HttpModule, url: str) -> Failed:
    outcome = await module.fetch(lease(url))
    assert isinstance(outcome, Failed), outcome
    return outcome


def certificate(folder: Path, name: str = "tls.example") -> tuple[Path, Path]:
    """(certificate, key), self-signed; behind the name may stand others, `a.example,DNS:b.example,IP:127.0.0.2`."""
    openssl = shutil.which("openssl")
    if openssl is None:
        pytest.skip("openssl is not installed")
    cert, key = folder / "cert.pem", folder / "key.pem"
    subprocess.run(
        (
            f"{openssl} req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 "
            f"-subj /CN={name.partition(',')[0]} -addext subjectAltName=DNS:{name},IP:127.0.0.1 "
            f"-keyout {key} -out {cert}"
        ).split(),
        check=True,
        capture_output=True,
    )
    return cert, key


def tls_server_context(cert: Path, key: Path) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(cert, key)
    return context
