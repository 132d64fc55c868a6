"""Runs what follows a crawl's archive beside it, at low priority, each in a process of its own.

That is `gossamer index` for documents and search, `gossamer upload` for a store of objects, and `gossamer watch
DIR --send`. A crawl that does not want them
pays nothing. One that dies, or finds the disk full, is started again. The processes end by themselves once the crawl
has ended and all is read; if the crawl was interrupted they are told to stop, keep what they have, and the same
commands go on. A crawl that was killed leaves them behind: the index of the crawl that goes on waits until the other
has ended.
"""

import asyncio
import contextlib
import os
import signal
import sys
import time
from collections.abc import AsyncIterator, Callable
from functools import partial
from importlib.util import find_spec
from pathlib import Path

from gossamer.documents.config import DocumentsConfig
from gossamer.model.errors import ConfigError

NICENESS = 19
_AGAIN, _LATEST = 2.0, 300.0
"""Seconds until who died is started again: doubled each time that he did not live for so long, up to that."""
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


class _Follower:
    """A process that is there as long as it is wanted: one that dies is started again, later and later."""

    def __init__(
        self, wanted: Callable[[], bool], tell: Callable[[str], None], path: Path, command: str, *options: str
    ) -> None:
        self._wanted = wanted
        self._tell = tell
        self._name = f"'gossamer {command}'"
        self._line = (sys.executable, "-m", "gossamer", command, str(path), *options)
        self._begun: asyncio.Task[asyncio.subprocess.Process] | None = None
        self._keeping = asyncio.create_task(self._keep())

    async def end(self, *, interrupted: bool) -> None:
        """Wait until all is read, by another process if this one fails; or tell it to stop, and wait for that."""
        self._keeping.cancel()
        await asyncio.wait([self._keeping])
        begun = self._begun
        with contextlib.suppress(OSError):  # what is left over stays, and the closing words say so
            if not interrupted:
                if (begun is None or await (await begun).wait()) and self._wanted():
                    await self._run()
            elif begun is not None:
                process = await begun
                with contextlib.suppress(ProcessLookupError):
                    process.send_signal(signal.SIGTERM)
                await process.wait()

    async def _keep(self) -> None:
        rest = _AGAIN
        while True:
            rest = await self._once(rest) if self._wanted() else _AGAIN
            await asyncio.sleep(rest)

    async def _once(self, rest: float) -> float:
        """Let it run until it ends; seconds until the next time, the last time having been `rest`."""
        began, later = time.monotonic(), min(2 * rest, _LATEST)
        try:
            status = await self._run()
        except OSError as error:
            self._tell(f"{self._name} cannot be started: {error.strerror}; again in {later:g} s")
            return later
        if time.monotonic() - began > _LATEST:
            later = _AGAIN
        if status:
            self._tell(f"{self._name} ended with status {status}; it is started again in {later:g} s")
        return later

    async def _run(self) -> int:
        self._begun = asyncio.create_task(self._begin())
        # Who ends while it begins must not lose it.
        return await (await asyncio.shield(self._begun)).wait()

    async def _begin(self) -> asyncio.subprocess.Process:
        process = await asyncio.create_subprocess_exec(
            *self._line,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.DEVNULL,
            start_new_session=True,  # Ctrl-C is for the crawl, which tells it
        )
        with contextlib.suppress(ProcessLookupError):
            os.setpriority(os.PRIO_PROCESS, process.pid, NICENESS)
        return process


class Beside:
    """The processes beside one crawl."""

    def __init__(self) -> None:
        self._followers: list[_Follower] = []

    def start(
        self,
        path: Path,
        *,
        documents: bool,
        search: bool,
        upload: bool,
        watches: Callable[[], bool],
        tell: Callable[[str, str], None],
    ) -> None:
        """Start those that are wanted; the crawl's state must be there.

        Whoever dies is started again, because nobody would notice that he is not told, or finds nothing new.

        Args:
            path: folder of the crawl.
            documents: make the tables of documents.
            search: make them, and the search index.
            upload: copy it all to the store of the settings.
            watches: whether anything is watched, which may begin while the crawl runs.
            tell: says to the operator of what (`index`, `upload`, `watches`) a process ended, why, and when it is
                started again.
        """
        if documents or search:
            line = ("index", "--quiet", "--wait", *([] if search else ["--no-search"]))
            self._followers.append(_Follower(lambda: True, partial(tell, "index"), path, *line))
        if upload:
            tells = partial(tell, "upload")
            self._followers.append(_Follower(lambda: True, tells, path, "upload", "--quiet", "--wait"))
        self._followers.append(
            _Follower(watches, partial(tell, "watches"), path, "watch", "--send", "--quiet")
        )

    async def end(self, *, interrupted: bool) -> None:
        """Wait until all is read, the crawl's folder being free; or tell them to stop, and wait for that."""
        await asyncio.gather(*(follower.end(interrupted=interrupted) for follower in self._followers))


@contextlib.asynccontextmanager
async def beside() -> AsyncIterator[Beside]:
    """Processes that are told to stop, and waited for, if the crawl fails."""
    processes = Beside()
    try:
        yield processes
    except BaseException:
        await asyncio.shield(processes.end(interrupted=True))
        raise
