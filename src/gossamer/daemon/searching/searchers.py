"""Has searchers answer for the daemon: a few of them, each for one question after the other."""

import asyncio
import os
import signal
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from gossamer.daemon.errors import ServiceError
from gossamer.daemon.line_process import LineProcess, NoAnswerError
from gossamer.daemon.reading.process import turn
from gossamer.daemon.searching.questions import (
    AlikePages,
    AskAlike,
    AskPages,
    AskTitles,
    FoundPages,
    Heard,
    Question,
    Suggestion,
    has_index,
)
from gossamer.search.similar.state import FOLDER as SIMILAR

T = TypeVar("T")

AT_ONCE = 2
"""Questions that are answered at the same time."""
SECONDS = 10.0
"""The longest that an answer may take, the opening of indexes included."""
COMMAND = (sys.executable, "-m", "gossamer.daemon.searching.searcher")
_BEYOND = 5.0
"""Seconds that a searcher has to begin, beside the answer."""
_MOST_LINE = 16 << 20
_ARROW_POOL = {"ARROW_DEFAULT_MEMORY_POOL": "system"}
"""Others reserve a gigabyte for later, which counts."""


class Searchers:
    """Processes that search; there are none while nobody asks."""

    def __init__(self) -> None:
        self._turns = asyncio.Semaphore(AT_ONCE)
        self._resting: list[LineProcess] = []
        self._ending: set[asyncio.Task[None]] = set()

    async def pages(self, folders: Mapping[str, Path], query: str, **more: Any) -> FoundPages:
        """The pages of some jobs that answer a query; `more`: other fields of `AskPages`.

        Raises:
            ServiceError: the extra is not installed, it takes too long, or a disk fails.
        """
        return await self._ask(
            AskPages(folders=_texts(folders), seconds=SECONDS, query=query, **more), FoundPages
        )

    async def titles(self, folders: Mapping[str, Path], text: str, limit: int) -> list[Suggestion]:
        """Titles that go on as was typed.

        Raises:
            ServiceError: as `pages`.
        """
        question = AskTitles(folders=_texts(folders), seconds=SECONDS, text=text, limit=limit)
        return await self._ask(question, list[Suggestion])

    async def alike(self, folders: Mapping[str, Path], url: str, limit: int) -> AlikePages:
        """The pages whose text is nearly that of a page; none, without a process, where no crawl has an index of them.

        Raises:
            ServiceError: as `pages`.
        """
        there = {name: path for name, path in folders.items() if has_index(path, SIMILAR)}
        if not there:
            return AlikePages()
        question = AskAlike(folders=_texts(there), seconds=SECONDS, url=url, limit=limit)
        return await self._ask(question, AlikePages)

    async def _ask(self, question: Question, kind: type[T]) -> T:
        async with turn(self._turns):
            heard = msgspec.json.decode(await self._line(msgspec.json.encode(question) + b"\n"), type=Heard)
        if heard.failure is not None:
            raise ServiceError(heard.failure.code, heard.failure.message)
        return msgspec.json.decode(heard.answer, type=kind)

    async def _line(self, line: bytes) -> bytes:
        """The answer of a searcher that rests, or of a new one."""
        while self._resting:
            process = self._resting.pop()
            try:
                return await self._asked(process, line)
            except NoAnswerError as error:
                if process.ended != 0:  # else it had gone by itself before it was asked
                    raise _ended(process, error) from None
        try:
            process = await LineProcess.start(COMMAND, _MOST_LINE, {**os.environ, **_ARROW_POOL})
        except NoAnswerError as error:
            raise ServiceError("internal", str(error)) from None
        try:
            return await self._asked(process, line)
        except NoAnswerError as error:
            raise _ended(process, error) from None

    async def _asked(self, process: LineProcess, line: bytes) -> bytes:
        try:
            answer = await process.ask(line, SECONDS + _BEYOND)
        except BaseException:
            self._let_go(process)
            raise
        self._resting.append(process)
        return answer

    def _let_go(self, process: LineProcess) -> None:
        task = asyncio.create_task(process.close())
        self._ending.add(task)
        task.add_done_callback(self._ending.discard)

    async def close(self) -> None:
        """End all of them; none begins after that."""
        while self._resting:
            self._let_go(self._resting.pop())
        await asyncio.gather(*self._ending, return_exceptions=True)


def _texts(folders: Mapping[str, Path]) -> dict[str, str]:
    return {name: str(path) for name, path in folders.items()}


def _ended(process: LineProcess, error: NoAnswerError) -> ServiceError:
    if process.ended is None or process.ended in (-signal.SIGALRM, -signal.SIGKILL, -signal.SIGABRT):
        return ServiceError("conflict", f"no answer within {SECONDS:g} s, or no memory for it: ask for less")
    return ServiceError("internal", f"the process that searches has ended ({error})")
