"""The server: goes by the name in a request to the list or the archive, and knows no other names.

A name that was not given out is refused, so no page of a stranger that makes a name of its own lead here can
read anything (DNS rebinding).
"""

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import msgspec

from gossamer.model.url import Url
from gossamer.replay.answers import Answers, Looks
from gossamer.replay.archive import Archive
from gossamer.replay.catalogue import Catalogue
from gossamer.replay.conversations import Certify, Conversations, Proxying
from gossamer.replay.listening import LOOPBACK, listening, written
from gossamer.replay.messages import Answer, Request, plain_text
from gossamer.replay.names import Names

__all__ = ["How", "View", "view"]

_UNKNOWN_NAME = "This server knows no such name. Open the address that 'gossamer view' printed."
_TO_PROXIES = "This server is no proxy. 'gossamer view --proxy' makes it one."


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
        sockets = listening(how.host, how.port)
        port = sockets[0].getsockname()[1]
        names = Names(port, how.token)
        home = names.home if how.secret else f"http://{written(how.host)}:{port}"
        door = _Door(archive, names, how, home, reader)
        proxying = Proxying("" if how.proxy else _TO_PROXIES, how.certify)
        conversations = Conversations(door.answer, proxying)
        async with conversations.listening(sockets):
            yield View(home, names, lambda: time.monotonic() - conversations.asked)


class _Door:
    """Finds who answers a request."""

    def __init__(
        self, archive: Archive, names: Names, how: How, home: str, reader: ThreadPoolExecutor
    ) -> None:
        self._answers = Answers(archive, names, how.looks, home)
        self._catalogue = Catalogue(archive, names)
        self._names = names
        self._how = how
        self._reader = reader
        self._own = {home.removeprefix("http://")}
        if not how.secret:
            self._own |= {f"{host}:{names.port}" for host in (LOOPBACK, "localhost", "[::1]")}

    async def answer(self, request: Request, secure: str) -> Answer:
        """For a conversation."""
        return await asyncio.get_running_loop().run_in_executor(self._reader, self._answer, request, secure)

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
            return plain_text(421, _UNKNOWN_NAME)
        return self._answers.replayed(request, place)

    # As a proxy …

    def _proxied(self, request: Request, target: str) -> Answer:
        if not self._how.proxy:
            return plain_text(421, _TO_PROXIES)
        url = Url.parse(target)
        if url is None:
            return plain_text(400, "That is no URL.")
        authority = url.origin.partition("://")[2]
        if authority in self._own:
            return self._catalogue.answer(msgspec.structs.replace(request, target=url.target))
        return self._answers.plain(request, url)
