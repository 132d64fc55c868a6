"""A proxy for other programs: answers from a crawl's archive what is fresh there, and has the rest fetched politely.

No byte of a request goes on: of what a program asks for, the crawl hears the URL and how old an answer may be, and
makes a request of its own, with its own name, cookies and manners. No field of an answer goes on that is not known to
be harmless.
"""

import asyncio
import contextlib
import re
import time
from collections.abc import AsyncIterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from pathlib import Path
from socket import socket
from typing import Any

import msgspec

from gossamer.control.changes.demand import FETCH, MOST_WAITING, Demanded
from gossamer.control.socket.client import ask
from gossamer.control.socket.protocol import LiveError, NotRunning
from gossamer.inspect.archive.lookup import Indexed
from gossamer.model.errors import ConfigError, StorageError
from gossamer.replay.answers import as_archived
from gossamer.replay.archive import Archive, Shown
from gossamer.replay.conversations import Certify, Conversations, Proxying
from gossamer.replay.listening import written
from gossamer.replay.messages import Answer, Request, plain_text

__all__ = ["NAME", "proxy"]

NAME = "gossamer"
"""By which we know ourselves in `Via` (RFC 9110, 7.6.3) and `Cache-Status` (RFC 9211)."""
_TURN_SECONDS = 45.0
"""So long a request may wait for one of those before it to be answered."""
_METHODS = frozenset({"GET", "HEAD"})
_OURSELVES = re.compile(rf"(^|,)\s*[0-9.A-Za-z/]+\s+{NAME}\b")
_MAX_AGE = re.compile(r"max-age=\"?([0-9]{1,9})\"?")
_STATES = {"refused": 403, "failed": 502, "waits": 504}
_CODES = {"invalid": 400, "not_found": 504, "conflict": 503, "internal": 500}


@contextlib.asynccontextmanager
async def proxy(
    path: Path, sockets: Sequence[socket], fresh: str, certify: Certify | None
) -> AsyncIterator[str]:
    """Answer programs for the crawl that runs in `path` until the block ends; gives the proxy's address.

    Args:
        path: the crawl's folder.
        sockets: at which to listen, as `listening` opens them.
        fresh: time span: how old an answer may be if the program does not say; empty: as the crawl has it.
        certify: makes certificates of names for https; `None`: there is none.
    """
    host, number = sockets[0].getsockname()[:2]
    home = f"http://{written(host)}:{number}"
    with ThreadPoolExecutor(1, "gossamer-proxy") as reader, contextlib.closing(_Captures(path)) as captures:
        door = _Door(captures, reader, fresh, home)
        async with Conversations(door.answer, Proxying(certify=certify)).listening(sockets):
            yield home


class _Captures:
    """Reads what the crawl says that it has; for one thread at a time."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._archive: Archive | None = None

    def close(self) -> None:
        """Let go of the folder."""
        if self._archive is not None:
            self._archive.close()

    def read(self, one: Indexed) -> Shown | None:
        """A capture; `None` if it cannot be read."""
        with contextlib.suppress(ConfigError, StorageError):
            if self._archive is None:
                self._archive = Archive(self.path)
            with contextlib.suppress(StorageError):
                return self._archive.read(one)
            self._archive.look_again()  # what it refers to may be newer than our look at the state
            return self._archive.read(one)
        return None


class _Door:
    """Answers one request."""

    def __init__(self, captures: _Captures, reader: ThreadPoolExecutor, fresh: str, home: str) -> None:
        self._captures = captures
        self._reader = reader
        self._fresh = fresh
        self._home = home
        self._turns = asyncio.Semaphore(MOST_WAITING)

    async def answer(self, request: Request, secure: str) -> Answer:
        """For a conversation."""
        if request.method not in _METHODS:
            return plain_text(405, "This proxy only reads: GET and HEAD.", ("Allow", "GET, HEAD"))
        if _OURSELVES.search(request.fields.get("via", "")):
            return plain_text(508, "The request has come through this proxy already.")
        if request.target.startswith("/") is not bool(secure):
            return plain_text(400, f"This is a proxy. Ask by it: curl -x {self._home} URL")
        params = {"url": f"https://{secure}{request.target}" if secure else request.target}
        try:
            async with asyncio.timeout(_TURN_SECONDS):
                await self._turns.acquire()
        except TimeoutError:
            return plain_text(503, "Too many wait already.", ("Retry-After", "10"))
        try:
            return await self._demand(request, params | _directives(request, self._fresh))
        finally:
            self._turns.release()

    async def _demand(self, request: Request, params: dict[str, Any]) -> Answer:
        try:
            told = msgspec.convert(
                await ask(self._captures.path, FETCH, params, who="gossamer proxy"), Demanded
            )
        except NotRunning:
            return plain_text(503, "The crawl does not run, or has ended.")
        except LiveError as error:
            return plain_text(_CODES[error.code], error.message)
        if told.capture is None or told.state in _STATES:
            again = (("Retry-After", "30"),) if told.state == "waits" else ()
            words = f"{told.url}: {told.state}{': ' if told.says else ''}{told.says}"
            return plain_text(_STATES.get(told.state, 502), words, ("Cache-Control", "no-store"), *again)
        loop = asyncio.get_running_loop()
        shown = await loop.run_in_executor(self._reader, self._captures.read, told.capture)
        if shown is None:
            return plain_text(
                502, f"{told.url}: it cannot be read in the archive. 'gossamer check' says why."
            )
        if shown.truncated:
            return plain_text(
                502, f"{told.url}: only a part of it came, or a limit cut it. 'gossamer get' gives that."
            )
        return _told(as_archived(request, shown), told)


def _told(answer: Answer, told: Demanded) -> Answer:
    """The answer with how old it is, and whether the archive had it."""
    fields = [pair for pair in answer.fields if pair[0].lower() != "age"]
    age = max(0, int(time.time() - datetime.fromisoformat(told.at).timestamp())) if told.at else 0
    hit = "hit" if told.state == "archive" else "fwd=miss; stored"
    fields += [("Age", str(age)), ("Via", f"1.1 {NAME}"), ("Cache-Status", f"{NAME}; {hit}")]
    return msgspec.structs.replace(answer, fields=tuple(fields))


def _directives(request: Request, fresh: str) -> dict[str, Any]:
    """How old the answer may be, as the program says (RFC 9111, 5.2.1)."""
    control = request.fields.get("cache-control", request.fields.get("pragma", "")).lower()
    directives = {part.strip() for part in control.split(",")}
    params: dict[str, Any] = {"fresh": fresh} if fresh else {}
    if "no-cache" in directives or "no-store" in directives:
        params["fresh"] = "0s"
    elif ages := [int(found[1]) for part in directives if (found := _MAX_AGE.fullmatch(part))]:
        params["fresh"] = f"{min(ages)}s"
    if "only-if-cached" in directives:
        params["visit"] = False
    return params
