"""The server: goes by the name in a request to the list or the archive, and knows no other names.

A name that was not given out is refused, so no page of a stranger that makes a name of its own lead here can
read anything (DNS rebinding).
"""

import asyncio
import contextlib
import errno
import socket
import ssl
import time
from collections.abc import AsyncIterator, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import msgspec

from gossamer.model.errors import ConfigError
from gossamer.model.url import Url
from gossamer.replay.answers import Answers, Looks
from gossamer.replay.archive import Archive
from gossamer.replay.catalogue import Catalogue
from gossamer.replay.messages import LONGEST_HEAD, Answer, Request, read_request, write_answer
from gossamer.replay.names import Names

__all__ = ["How", "View", "view"]

_BACKLOG = 128
_TRIES = 20
"""Free ports that are tried until one is free at both addresses."""
_UNKNOWN_NAME = b"This server knows no such name. Open the address that 'gossamer view' printed.\n"
_TO_PROXIES = b"This server is no proxy. 'gossamer view --proxy' makes it one.\n"
_NO_TLS = b"https:// through this proxy needs the package 'cryptography': pip install 'gossamer[proxy]'\n"
_TEXT = (("Content-Type", "text/plain; charset=utf-8"),)
LOOPBACK = "127.0.0.1"

Certify = Callable[[str], ssl.SSLContext]
"""Makes what a server of a name shows who it is with."""


class How(msgspec.Struct, frozen=True):
    """How an archive is shown: options of the command.

    Attributes:
        host: address to listen at.
        port: 0: one that is free.
        at: time that is looked at, as of `Archive`.
        looks: of pages.
        proxy: answer programs that ask as a proxy, too.
        certify: makes certificates of names for https through the proxy; `None`: there is none.
        token: of the names, made up if empty.
        secret: the list has a name that nobody can guess, too, not the address: others who are logged in on the
            machine do not find it.
    """

    host: str = LOOPBACK
    port: int = 0
    at: str = ""
    looks: Looks = Looks()
    proxy: bool = False
    certify: Certify | None = None
    token: str = ""
    secret: bool = False


class View(msgspec.Struct, frozen=True):
    """A server that runs: `home` is the address of the list, without a slash at its end; `idle` tells for how many
    seconds nobody has asked for anything."""

    home: str
    names: Names
    idle: Callable[[], float]

    def address(self, url: str) -> str:
        """Where an archived URL is replayed; empty if it is none."""
        parsed = Url.parse(url)
        return self.names.address(parsed) if parsed is not None else ""


@contextlib.asynccontextmanager
async def view(path: Path, how: How) -> AsyncIterator[View]:
    """Serve the archive in `path` until the block ends.

    Raises:
        ConfigError: no crawl lives there, the time is none, or the address cannot be had.
        StorageError: its state is damaged.
    """
    archive = Archive(path, how.at)
    # The archive is for one thread at a time, and the loop must go on while a page is read.
    with contextlib.closing(archive), ThreadPoolExecutor(1, "gossamer-replay") as reader:
        sockets = _listening(how.host, how.port)
        port = sockets[0].getsockname()[1]
        names = Names(port, how.token)
        home = names.home if how.secret else f"http://{_written(how.host)}:{port}"
        door = _Door(archive, names, how, home, reader)
        servers = [await asyncio.start_server(door.serve, sock=each, limit=LONGEST_HEAD) for each in sockets]
        try:
            yield View(home, names, lambda: time.monotonic() - door.asked)
        finally:
            for server in servers:
                server.close()
            await door.close()


class _Door:
    """Answers the requests of each connection, one after another."""

    def __init__(
        self, archive: Archive, names: Names, how: How, home: str, reader: ThreadPoolExecutor
    ) -> None:
        self._answers = Answers(archive, names, how.looks, home)
        self._catalogue = Catalogue(archive, names)
        self._names = names
        self._how = how
        self._reader = reader
        self._connections: set[asyncio.Task[None]] = set()
        self._own = {home.removeprefix("http://")}
        if not how.secret:
            self._own |= {f"{host}:{names.port}" for host in (LOOPBACK, "localhost", "[::1]")}
        self.asked = time.monotonic()
        """When somebody last asked for something."""

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One connection, as long as it is used."""
        task = asyncio.current_task()
        assert task is not None
        self._connections.add(task)
        try:
            await self._converse(reader, writer, "")
        except (OSError, asyncio.CancelledError, ssl.SSLError):
            pass  # the browser has gone, or we end
        finally:
            self._connections.discard(task)
            writer.close()

    async def close(self) -> None:
        """Break off what is under way."""
        for task in self._connections:
            task.cancel()
        await asyncio.gather(*self._connections, return_exceptions=True)

    async def _converse(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, secure: str
    ) -> None:
        """`secure`: the authority that a tunnel leads to; empty outside of one."""
        while (request := await read_request(reader)) is not None:
            self.asked = time.monotonic()
            if request.method == "CONNECT" and not secure:
                await self._tunnel(reader, writer, request)
                return
            work = partial(self._answer, request, secure)
            answer = await asyncio.get_running_loop().run_in_executor(self._reader, work)
            await write_answer(writer, request, answer)
            if not request.keep_alive:
                return

    def _answer(self, request: Request, secure: str) -> Answer:
        if secure:
            return self._proxied(request, f"https://{secure}{request.target}")
        if not request.target.startswith("/"):
            return self._proxied(request, request.target)
        host = request.host.lower()
        if host in self._own:
            return self._catalogue.answer(request)
        place = self._names.place(host)
        if place is None:
            return Answer(421, _TEXT, _UNKNOWN_NAME)
        return self._answers.replayed(request, place)

    # As a proxy …

    def _proxied(self, request: Request, target: str) -> Answer:
        if not self._how.proxy:
            return Answer(421, _TEXT, _TO_PROXIES)
        url = Url.parse(target)
        if url is None:
            return Answer(400, _TEXT, b"That is no URL.\n")
        authority = url.origin.partition("://")[2]
        if authority in self._own:
            return self._catalogue.answer(msgspec.structs.replace(request, target=url.target))
        return self._answers.plain(request, url)

    async def _tunnel(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, request: Request
    ) -> None:
        if not self._how.proxy or self._how.certify is None:
            text = _NO_TLS if self._how.proxy else _TO_PROXIES
            await write_answer(writer, request, Answer(501, _TEXT, text))
            return
        authority = request.target.removesuffix(":443").lower()
        place = Url.parse(f"https://{authority}/")
        if place is None or not place.host:
            await write_answer(writer, request, Answer(400, _TEXT, b"That is no host.\n"))
            return
        context = self._how.certify(place.host.strip("[]"))
        writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
        await writer.drain()
        await writer.start_tls(context)
        await self._converse(reader, writer, authority)


def _listening(host: str, port: int) -> Sequence[socket.socket]:
    """Sockets that listen: at 127.0.0.1 also at ::1, where browsers look for names below `localhost` first.

    Raises:
        ConfigError: the address is not ours, or somebody listens there.
    """
    for _ in range(_TRIES):
        first = _socket(host, port)
        if host != LOOPBACK:
            return [first]
        try:
            return [first, socket.create_server(("::1", first.getsockname()[1]), family=socket.AF_INET6)]
        except OSError as error:
            if error.errno != errno.EADDRINUSE:
                return [first]  # there is no IPv6 here
            first.close()
        if port:
            break
    raise ConfigError(f"--port {port}: somebody listens at ::1, where browsers would ask. Choose another.")


def _socket(host: str, port: int) -> socket.socket:
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0][0]
        return socket.create_server((host, port), family=family, backlog=_BACKLOG)
    except (OSError, OverflowError) as error:
        told = getattr(error, "strerror", None) or error
        raise ConfigError(f"--host {host} --port {port}: cannot be had ({told}). Choose another.") from None


def _written(host: str) -> str:
    return f"[{host}]" if ":" in host else host
