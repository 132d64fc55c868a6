"""Runs what follows a crawl's archive beside it, at low priority, each in a process of its own.

That is `gossamer index` for documents and search, and `gossamer watch DIR --send`. A crawl that does not want them
pays nothing. The processes end by themselves once the crawl has ended and all is read; if the crawl was interrupted
they are told to stop, keep what they have, and the same commands go on. A crawl that was killed leaves them behind:
the index of the crawl that goes on waits until the other has ended.
"""

import asyncio
import contextlib
import os
import signal
import sys
import time
from collections.abc import AsyncIterator, Callable
from importlib.util import find_spec
from pathlib import Path

from gossamer.documents.config import DocumentsConfig
from gossamer.model.errors import ConfigError

NICENESS = 19
_WATCH = ("watch", "--send", "--quiet")
_AGAIN, _LATEST = 2.0, 300.0
"""Seconds until who watches is started again: doubled each time that he did not live for so long, up to that."""
_NEEDED = ("html_to_markdown", "numpy", "py3langid", "pyarrow", "pypdfium2")


def prove_documents(config: DocumentsConfig, asked: str = "documents.follow (--documents)") -> None:
    """Refuse settings that need what is not installed; `asked`: what the user gave.

    Raises:
        ConfigError: the extra 'documents' is not installed.
    """
    missing = [name for name in _NEEDED if find_spec(name) is None] if config.follow else []
    if missing:
        raise ConfigError(
            f"{asked}: needs the extra 'documents': pip install 'gossamer[documents]' (from a checkout:"
            f" pip install '.[documents]'); missing: {', '.join(missing)}"
        )


class Beside:
    """The processes beside one crawl."""

    def __init__(self) -> None:
        self._index: asyncio.subprocess.Process | None = None
        self._watch: asyncio.subprocess.Process | None = None
        self._watching: asyncio.Task[None] | None = None
        self._path = Path()

    async def start(
        self,
        path: Path,
        *,
        documents: bool,
        search: bool,
        watches: Callable[[], bool],
        tell: Callable[[str], None],
    ) -> None:
        """Start those that are wanted; the crawl's state must be there.

        Args:
            path: folder of the crawl.
            documents: make the tables of documents.
            search: make them, and the search index.
            watches: whether anything is watched, which may begin while the crawl runs. Whoever watches is started
                again if he dies, later and later, because nobody would notice that he is not told.
            tell: says to the operator why it was, and when he is started again.
        """
        self._path = path
        if documents or search:
            self._index = await self._run("index", "--quiet", "--wait", *([] if search else ["--no-search"]))
        self._watching = asyncio.create_task(self._keep_watching(watches, tell))

    async def end(self, *, interrupted: bool) -> None:
        """Wait until all is read, the crawl's folder being free; or tell them to stop, and wait for that."""
        if self._watching is not None:
            self._watching.cancel()
            await asyncio.wait([self._watching])
            watch = self._watch
            if watch is not None and watch.returncode not in (None, 0) and not interrupted:
                with contextlib.suppress(OSError):  # what was not sent stays, and the closing words say so
                    self._watch = await self._run(*_WATCH)
        processes = [process for process in (self._index, self._watch) if process is not None]
        for process in processes:
            if interrupted:
                with contextlib.suppress(ProcessLookupError):
                    process.send_signal(signal.SIGTERM)
        for process in processes:
            await process.wait()

    async def _keep_watching(self, watches: Callable[[], bool], tell: Callable[[str], None]) -> None:
        rest = _AGAIN
        while True:
            rest = await self._watch_once(rest, tell) if watches() else _AGAIN
            await asyncio.sleep(rest)

    async def _watch_once(self, rest: float, tell: Callable[[str], None]) -> float:
        """Let somebody watch until he ends; seconds until the next time, the last time having been `rest`."""
        began, later = time.monotonic(), min(2 * rest, _LATEST)
        try:
            self._watch = await self._run(*_WATCH)
            status = await self._watch.wait()
        except OSError as error:
            tell(f"'gossamer watch' cannot be started: {error.strerror}; again in {later:g} s")
            return later
        if time.monotonic() - began > _LATEST:
            later = _AGAIN
        if status:
            tell(f"'gossamer watch' ended with status {status}; it is started again in {later:g} s")
        return later

    async def _run(self, command: str, *options: str) -> asyncio.subprocess.Process:
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "gossamer",
            command,
            str(self._path),
            *options,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.DEVNULL,
            start_new_session=True,  # Ctrl-C is for the crawl, which tells it
        )
        with contextlib.suppress(ProcessLookupError):
            os.setpriority(os.PRIO_PROCESS, process.pid, NICENESS)
        return process


@contextlib.asynccontextmanager
async def beside() -> AsyncIterator[Beside]:
    """Processes that are told to stop, and waited for, if the crawl fails."""
    processes = Beside()
    try:
        yield processes
    except BaseException:
        await asyncio.shield(processes.end(interrupted=True))
        raise
