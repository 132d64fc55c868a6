"""Routes to what a crawl has archived, and to questions in SQL about it."""

import asyncio
import contextlib
import re
from collections.abc import AsyncIterator
from typing import Annotated

import msgspec
from fastapi import APIRouter, Query
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.types import Message, Send

from gossamer.daemon.daemon import Daemon
from gossamer.daemon.reading.orders import Part, SqlAnswer, SqlQuestion
from gossamer.daemon.reading.process import Content
from gossamer.datasets.tables import TABLES, Kind
from gossamer.inspect.archive.reread import ReadAgain
from gossamer.inspect.compare.captures import Comparison
from gossamer.web.api.jobs import Name
from gossamer.web.api.shapes import Routes, Shapes, answer, sent

PATIENCE = 30.0
"""Seconds that somebody may leave a piece unread."""
INERT = "sandbox; default-src 'none'"
"""Policy of a content: should a browser show it after all, nothing in it runs, loads or has our origin."""
_SAFE = re.compile(r"[^A-Za-z0-9._-]+")
_HEADER = re.compile(r"[^\x20-\x7e]+")
_NAME = 100

Url = Annotated[str, Query(min_length=1, max_length=8192, description="as `why` takes it")]
At = Annotated[
    str,
    Query(max_length=40, description="the capture nearest to it, as 2026-01-31T12:00:00Z; empty: the last"),
]
Since = Annotated[
    str, Query(alias="from", max_length=40, description="the capture nearest to it; empty: the one before")
]
Until = Annotated[
    str, Query(alias="to", max_length=40, description="the capture nearest to it; empty: the last")
]
Everything = Annotated[bool, Query(alias="all", description="also what differs at each visit")]


class ColumnMeaning(msgspec.Struct, frozen=True):
    """A column, and what it tells."""

    name: str
    kind: Kind
    meaning: str


class TableMeaning(msgspec.Struct, frozen=True):
    """A table, what a row of it is, and its columns."""

    name: str
    row: str
    columns: list[ColumnMeaning]


class ReadingRoutes:
    """Gives pages back, and answers questions; whoever may look at a job may ask."""

    def __init__(self, daemon: Daemon, shapes: Shapes) -> None:
        self._daemon = daemon
        self._shapes = shapes

    def router(self) -> APIRouter:
        """The routes to a job's archive."""
        shapes = self._shapes
        routes = Routes("reading", shapes, shapes.answers())
        add = routes.add
        says = "The bytes that were archived of a URL, as a file"
        content = shapes.files("application/octet-stream")
        add("GET", "/jobs/{name}/content", self.content, says, responses=content)
        says = "A capture of a URL read again: its text, head, fields, and links both ways"
        add("GET", "/jobs/{name}/document", self.document, says, responses=shapes.answers(ReadAgain))
        says = "What has changed between two captures of a URL"
        add("GET", "/jobs/{name}/compare", self.compare, says, responses=shapes.answers(Comparison))
        says = "The tables that questions are about"
        add("GET", "/jobs/{name}/tables", self.tables, says, responses=shapes.answers(list[TableMeaning]))
        says = "Answer a question in SQL"
        add(
            "POST",
            "/jobs/{name}/sql",
            self.sql,
            says,
            brings=SqlQuestion,
            responses=shapes.answers(SqlAnswer),
        )
        return routes.router

    async def content(self, name: Name, url: Url, at: At = "", part: Part = "content") -> Response:
        """`content` has content codings undone, `raw` is the response as it came, `headers` its head alone.

        Never shown by a browser: it is a file of no type, whatever it was. Headers `X-Archived-Type`,
        `-Status` and `-Time` tell what it was, `-Truncated` that the archive does not hold all of it.
        """
        folder = self._daemon.folder(name)
        stack = contextlib.AsyncExitStack()
        brought = await stack.enter_async_context(self._daemon.readers.content(folder, url, at, part))
        return ContentResponse(brought, stack, part)

    async def document(self, name: Name, url: Url, at: At = "") -> Response:
        """Read in a process of its own, which may take a second."""
        return answer(await self._daemon.readers.page(self._daemon.folder(name), url, at))

    async def compare(
        self, name: Name, url: Url, since: Since = "", until: Until = "", everything: Everything = False
    ) -> Response:
        """Without times the last capture is compared with the last one before that says something else.

        What differs at each visit (clocks, counters, boxes that rotate) is learned from the captures and left out. 404:
        there are no two captures with content.
        """
        found = await self._daemon.readers.compare(
            self._daemon.folder(name), url, since, until, everything=everything
        )
        return answer(found)

    async def tables(self, name: Name) -> Response:
        """With what each of their columns means."""
        self._daemon.job(name)
        return answer(
            [
                TableMeaning(
                    table.name,
                    table.row,
                    [ColumnMeaning(one.name, one.kind, one.meaning) for one in table.columns],
                )
                for table in TABLES
            ]
        )

    async def sql(self, name: Name, request: Request) -> Response:
        """One statement of DuckDB's SQL that reads the tables; it reaches no file, address or setting.

        The tables are brought up to date first. A question is ended at its limit of time.
        """
        question = await sent(request, SqlQuestion)
        return answer(await self._daemon.readers.sql(self._daemon.folder(name), question))


class ContentResponse(StreamingResponse):
    """A content that strangers wrote, as a file that no browser shows.

    Args:
        brought: it, on its way.
        stack: to be left at the end.
        part: which part it is.
    """

    def __init__(self, brought: Content, stack: contextlib.AsyncExitStack, part: Part) -> None:
        head = brought.head
        headers = {
            "Content-Length": str(head.size),
            "Content-Disposition": f'attachment; filename="{file_name(head.url, part)}"',
            "Content-Security-Policy": INERT,
            "X-Content-Type-Options": "nosniff",
            "X-Archived-Type": _HEADER.sub("?", head.media_type)[:200],
            "X-Archived-Status": str(head.status),
            "X-Archived-Time": head.time,
        }
        if head.truncated:
            headers["X-Archived-Truncated"] = "1"
        super().__init__(_pieces(brought, stack), media_type="application/octet-stream", headers=headers)

    async def stream_response(self, send: Send) -> None:
        """Send it piece by piece; who leaves one unread gets no more."""

        async def patiently(message: Message) -> None:
            async with asyncio.timeout(PATIENCE):
                await send(message)

        with contextlib.suppress(TimeoutError):
            await super().stream_response(patiently)


async def _pieces(brought: Content, stack: contextlib.AsyncExitStack) -> AsyncIterator[bytes]:
    async with stack:
        async for piece in brought.pieces():
            yield piece


def file_name(url: str, part: Part) -> str:
    """A name for a file that is safe wherever it is kept: the host, and the last part of the path."""
    rest = url.partition("://")[2].partition("?")[0].partition("#")[0]
    host, _, path = rest.partition("/")
    last = _SAFE.sub("_", path.rstrip("/").rpartition("/")[2])[-_NAME:]
    name = f"{_SAFE.sub('_', host)[:_NAME]}-{last}".strip("-.") or "content"
    return name if part == "content" else f"{name}.{'http' if part == 'raw' else 'head.txt'}"
