"""Runs what follows a crawl's archive beside it, at low priority, each in a process of its own.

That is `gossamer index` for documents and search, and `gossamer watch DIR --send`. A crawl that does not want them
pays nothing. The processes end by themselves once the crawl has ended and all is read; if the crawl was interrupted
they are told to stop, keep what they have, and the same commands go on.
"""

import asyncio
import contextlib
import os
import signal
import sys
from collections.abc import AsyncIterator
from importlib.util import find_spec
from pathlib import Path

from gossamer.documents.config import DocumentsConfig
from gossamer.model.errors import ConfigError

NICENESS = 19
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
        self._processes: list[asyncio.subprocess.Process] = []

    async def start(self, path: Path, *, documents: bool, search: bool, watch: bool) -> None:
        """Start those that are wanted; the crawl's state must be there.

        Args:
            path: folder of the crawl.
            documents: make the tables of documents.
            search: make them, and the search index.
            watch: compare what is watched, and tell of changes.
        """
        if documents or search:
            await self._run("index", str(path), "--quiet", *([] if search else ["--no-search"]))
        if watch:
            await self._run("watch", str(path), "--send", "--quiet")

    async def _run(self, *command: str) -> None:
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "gossamer",
            *command,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.DEVNULL,
            start_new_session=True,  # Ctrl-C is for the crawl, which tells it
        )
        self._processes.append(process)
        with contextlib.suppress(ProcessLookupError):
            os.setpriority(os.PRIO_PROCESS, process.pid, NICENESS)

    async def end(self, *, interrupted: bool) -> None:
        """Wait until all is read, the crawl's folder being free; or tell them to stop, and wait for that."""
        for process in self._processes:
            if interrupted:
                with contextlib.suppress(ProcessLookupError):
                    process.send_signal(signal.SIGTERM)
        for process in self._processes:
            await process.wait()


@contextlib.asynccontextmanager
async def beside() -> AsyncIterator[Beside]:
    """Processes that are told to stop, and waited for, if the crawl fails."""
    processes = Beside()
    try:
        yield processes
    except BaseException:
        await asyncio.shield(processes.end(interrupted=True))
        raise
