"""Asks a running crawl, from another process."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import msgspec

from gossamer.control.socket.address import connected
from gossamer.control.socket.protocol import (
    LONGEST_REPLY,
    LONGEST_REQUEST,
    LiveError,
    NotRunning,
    Reply,
    Request,
)

PATIENCE = 60.0
"""Seconds that an answer may take: a checkpoint of a large crawl is the longest."""

_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(Reply).decode


class RunningCrawl:
    """A connection to a crawl that runs. Requests go one after the other, whoever makes them."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, patience: float) -> None:
        self._reader = reader
        self._writer = writer
        self._patience = patience
        self._turn = asyncio.Lock()
        self._number = 0
        self._broken = False

    async def ask(self, method: str, params: dict[str, Any] | None = None, *, who: str = "") -> Any:
        """The result of a method.

        Raises:
            LiveError: the crawl says no, and why.
            NotRunning: it has ended, or does not answer in time; what was asked for may have been done.
        """
        async with self._turn:
            if self._broken:
                raise NotRunning("the connection to the crawl is lost")
            self._number += 1
            try:
                line = _encode(Request(method, self._number, params or {}, who)) + b"\n"
            except UnicodeEncodeError:
                raise LiveError("invalid", "a request must be UTF-8") from None
            if len(line) > LONGEST_REQUEST:
                raise LiveError("invalid", f"a request may have {LONGEST_REQUEST} bytes at most")
            # Until the answer is here the connection is not fit for another question.
            self._broken = True
            reply = await self._exchange(line)
            self._broken = reply.id is None
        if isinstance(reply.error, msgspec.UnsetType):
            return reply.result
        raise LiveError(reply.error.code, reply.error.why or reply.error.message, reply.error.details)

    async def _exchange(self, line: bytes) -> Reply:
        try:
            self._writer.write(line)
            async with asyncio.timeout(self._patience):
                return _decode(await self._reader.readline())
        except TimeoutError:
            raise NotRunning(f"the crawl has not answered for {self._patience:g} s") from None
        except (OSError, ValueError, msgspec.DecodeError):
            raise NotRunning("the crawl has ended before it answered") from None


@contextlib.asynccontextmanager
async def connect(folder: Path, *, patience: float = PATIENCE) -> AsyncIterator[RunningCrawl]:
    """A connection to the crawl that runs in `folder`.

    Args:
        folder: of the crawl.
        patience: seconds that an answer may take.

    Raises:
        NotRunning: no process answers there.
    """
    with connected(folder) as peer:
        reader, writer = await asyncio.open_unix_connection(sock=peer, limit=LONGEST_REPLY)
    try:
        yield RunningCrawl(reader, writer, patience)
    finally:
        writer.close()
        with contextlib.suppress(ConnectionError):
            await writer.wait_closed()


async def ask(folder: Path, method: str, params: dict[str, Any] | None = None, *, who: str = "") -> Any:
    """Connect, ask once, and leave.

    Raises:
        LiveError, NotRunning: as `RunningCrawl.ask`.
    """
    async with connect(folder) as crawl:
        return await crawl.ask(method, params, who=who)
