"""Runs `gossamer index` beside a crawl, at low priority, in a process of its own.

A crawl that does not want it pays nothing. The process ends by itself once the crawl has ended and all is
read; if the crawl was interrupted it is told to stop, keeps what it has, and 'gossamer index' goes on. A crawl that
was killed leaves its process behind: that of the crawl that goes on waits until the other has ended.
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
    """The process beside one crawl."""

    def __init__(self) -> None:
        self._process: asyncio.subprocess.Process | None = None

    async def start(self, path: Path, *, documents: bool, search: bool) -> None:
        """Start it if it is wanted; the crawl's state must be there.

        Args:
            path: folder of the crawl.
            documents: make the tables of documents.
            search: make them, and the search index.
        """
        if not documents and not search:
            return
        command = [sys.executable, "-m", "gossamer", "index", str(path), "--quiet", "--wait"]
        if not search:
            command.append("--no-search")
        self._process = await asyncio.create_subprocess_exec(
            *command,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.DEVNULL,
            start_new_session=True,  # Ctrl-C is for the crawl, which tells it
        )
        with contextlib.suppress(ProcessLookupError):
            os.setpriority(os.PRIO_PROCESS, self._process.pid, NICENESS)

    async def end(self, *, interrupted: bool) -> None:
        """Wait until all is read, the crawl's folder being free; or tell it to stop, and wait for that."""
        if self._process is None:
            return
        if interrupted:
            with contextlib.suppress(ProcessLookupError):
                self._process.send_signal(signal.SIGTERM)
        await self._process.wait()


@contextlib.asynccontextmanager
async def beside() -> AsyncIterator[Beside]:
    """One that is told to stop, and waited for, if the crawl fails."""
    process = Beside()
    try:
        yield process
    except BaseException:
        await asyncio.shield(process.end(interrupted=True))
        raise
