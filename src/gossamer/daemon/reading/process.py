"""Has workers read for the daemon: a few at a time, each ended at its limit or when nobody waits any more."""

import asyncio
import contextlib
import os
import signal
import sys
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import TypeVar

import msgspec

from gossamer.daemon.errors import ServiceError
from gossamer.daemon.reading.orders import (
    AnyOrder,
    AuditOrder,
    CompareOrder,
    ContentHead,
    ContentOrder,
    DifferencesOrder,
    PageOrder,
    Part,
    Progress,
    Said,
    SqlAnswer,
    SqlOrder,
    SqlQuestion,
)
from gossamer.inspect.archive.reread import ReadAgain
from gossamer.inspect.compare.captures import Comparison

T = TypeVar("T")

READERS = 4
"""Workers that read pages at once; as many more may bring contents, which waits for whoever takes them."""
READ_SECONDS = 30.0
READ_MEMORY = 2 << 30
"""Bytes of address space; what is read twice over (`fetch.max_body`, `fetch.max_content`) has room in it."""
PATIENCE = 10.0
"""Seconds that an order waits for its turn."""
SLOWEST = 600.0
"""Seconds in which somebody must have taken a whole content."""
FOR_TABLES = 600.0
SQL_MEMORY = "512MB"
_MOST_LINE = 1 << 20
_PIECE = 1 << 16
_MOST_ERRORS = 4096


class Content:
    """A content on its way.

    Attributes:
        head: what it is.
    """

    def __init__(self, head: ContentHead, stream: asyncio.StreamReader) -> None:
        self.head = head
        self._stream = stream

    async def pieces(self) -> AsyncIterator[bytes]:
        """All of it, some 64 KiB at a time."""
        left = self.head.size
        while left and (piece := await self._stream.read(min(_PIECE, left))):
            left -= len(piece)
            yield piece


class Readers:
    """Orders to workers.

    Args:
        sql_seconds: the longest that a question may take.
        sql_at_once: questions that are answered at the same time.
    """

    def __init__(self, sql_seconds: float, sql_at_once: int) -> None:
        self.sql_seconds = sql_seconds
        self._reading = asyncio.Semaphore(READERS)
        self._bringing = asyncio.Semaphore(READERS)
        self._asking = asyncio.Semaphore(sql_at_once)

    @contextlib.asynccontextmanager
    async def content(self, folder: Path, url: str, at: str, part: Part) -> AsyncIterator[Content]:
        """A part of a capture, the last one if `at` is empty.

        Raises:
            ServiceError: there is none, or it cannot be read.
        """
        order = ContentOrder(str(folder), SLOWEST, READ_MEMORY, url, at, part)
        async with turn(self._bringing), _worker(order, READ_SECONDS) as (said, stream):
            if said.content is None:
                raise ServiceError("internal", "a reader said nothing of what it brings")
            yield Content(said.content, stream)

    async def page(self, folder: Path, url: str, at: str) -> ReadAgain:
        """A capture read again.

        Raises:
            ServiceError: as `content`.
        """
        order = PageOrder(str(folder), READ_SECONDS, READ_MEMORY, url, at)
        async with turn(self._reading):
            return await _read(order, READ_SECONDS, ReadAgain)

    async def compare(
        self, folder: Path, url: str, since: str, until: str, *, everything: bool
    ) -> Comparison:
        """Two captures compared: those nearest to two times, without them the last and the last that says otherwise.

        Raises:
            ServiceError: there are no two, or they cannot be read.
        """
        order = CompareOrder(str(folder), READ_SECONDS, READ_MEMORY, url, since, until, everything)
        async with turn(self._reading):
            return await _read(order, READ_SECONDS, Comparison)

    async def make(self, order: AuditOrder | DifferencesOrder, tell: Callable[[Progress], None]) -> None:
        """Have made what is kept in the folder of a crawl.

        Raises:
            ServiceError: it could not be made.
        """
        async with _worker(order, order.seconds, tell) as (said, stream):
            await stream.readexactly(said.size)

    async def sql(self, folder: Path, asked: SqlQuestion) -> SqlAnswer:
        """The answer to a question, after the tables were brought up to date.

        Raises:
            ServiceError: there is none.
        """
        seconds = self.sql_seconds if asked.seconds is None else asked.seconds
        if seconds > self.sql_seconds:
            raise ServiceError(
                "invalid", f"seconds: at most {self.sql_seconds:g} are allowed (sql.seconds of the daemon)"
            )
        order = SqlOrder(str(folder), seconds, 0, asked.question, asked.rows, FOR_TABLES, SQL_MEMORY)
        async with turn(self._asking):
            return await _read(order, seconds + FOR_TABLES, SqlAnswer)


@contextlib.asynccontextmanager
async def turn(places: asyncio.Semaphore) -> AsyncIterator[None]:
    """Hold one of some places, for which nobody waits long.

    Raises:
        ServiceError: none becomes free.
    """
    try:
        async with asyncio.timeout(PATIENCE):
            await places.acquire()
    except TimeoutError:
        raise ServiceError("conflict", "too much is being read just now: try again") from None
    try:
        yield
    finally:
        places.release()


async def _read(order: AnyOrder, seconds: float, kind: type[T]) -> T:
    async with _worker(order, seconds) as (said, stream):
        try:
            async with asyncio.timeout(seconds):
                return msgspec.json.decode(await stream.readexactly(said.size), type=kind)
        except (TimeoutError, asyncio.IncompleteReadError):
            raise ServiceError("internal", "the process that reads has ended") from None


@contextlib.asynccontextmanager
async def _worker(
    order: AnyOrder, seconds: float, tell: Callable[[Progress], None] = lambda _: None
) -> AsyncIterator[tuple[Said, asyncio.StreamReader]]:
    """What a worker answers, within `seconds`, and what follows; it is gone when the block is left.

    Before, it may `tell` how far it is.

    Raises:
        ServiceError: it says why there is nothing, or has ended without a word.
    """
    pipe = asyncio.subprocess.PIPE
    try:
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "gossamer.daemon.reading.worker",
            stdin=pipe, stdout=pipe, stderr=pipe, limit=_MOST_LINE, start_new_session=True,
        )  # fmt: skip
    except OSError as error:
        raise ServiceError("internal", f"a reader cannot be started ({error.strerror})") from None
    assert process.stdin is not None
    assert process.stdout is not None
    complaints = asyncio.create_task(_hear(process))
    try:
        with contextlib.suppress(ConnectionError):
            process.stdin.write(msgspec.json.encode(order) + b"\n")
            await process.stdin.drain()
        said: Said | None = None
        with contextlib.suppress(TimeoutError, ValueError):
            async with asyncio.timeout(seconds + PATIENCE):
                said = await _answer(process.stdout, tell)
        if said is None:
            _kill(process)
            await process.wait()
            raise _ended(process.returncode, await complaints, order)
        if said.failure is not None:
            raise ServiceError(said.failure.code, said.failure.message)
        yield said, process.stdout
    finally:
        _kill(process)
        while await process.stdout.read(_PIECE):  # what is left unread would keep its end from being noticed
            pass
        await process.wait()
        await complaints


async def _answer(stream: asyncio.StreamReader, tell: Callable[[Progress], None]) -> Said | None:
    """The line that answers; `None` if it ends without."""
    while (line := await stream.readline()).endswith(b"\n"):
        said = msgspec.json.decode(line, type=Said)
        if said.progress is None:
            return said
        tell(said.progress)
    return None


def _ended(code: int | None, errors: bytes, order: AnyOrder) -> ServiceError:
    if code in (-signal.SIGALRM, -signal.SIGKILL):
        return ServiceError("conflict", f"no answer within {order.seconds:g} s, or no memory for it")
    last = errors.decode(errors="replace").strip().rpartition("\n")[2][-300:]
    return ServiceError("internal", f"the process that reads has ended ({last or code})")


async def _hear(process: asyncio.subprocess.Process) -> bytes:
    """The end of what it says on standard error; nothing is in its way there."""
    assert process.stderr is not None
    heard = b""
    while some := await process.stderr.read(4096):
        heard = (heard + some)[-_MOST_ERRORS:]
    return heard


def _kill(process: asyncio.subprocess.Process) -> None:
    """End it, and what it has started: it leads a session of its own."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
