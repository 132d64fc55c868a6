"""Has archives replayed: a few at a time, each by a process that ends with the daemon, or when it is idle."""

import asyncio
import contextlib
import sys
from pathlib import Path

from gossamer.daemon.errors import ServiceError
from gossamer.daemon.line_process import LineProcess, NoAnswerError

MOST = 4
"""Archives that are replayed; the one that was opened first makes room for one more."""
IDLE = 1_800.0
"""Seconds without a request, after which a process ends."""
SECONDS = 30.0
"""That it has to begin."""


class Replays:
    """Processes that replay, by folder; there are none while nobody looks.

    Args:
        idle: seconds without a request after which one ends.
    """

    def __init__(self, idle: float = IDLE) -> None:
        self._idle = idle
        self._processes: dict[Path, LineProcess] = {}
        self._turn = asyncio.Lock()

    async def home(self, folder: Path) -> str:
        """The address of the list of a crawl's archived pages, without a slash at its end; at loopback alone.

        Raises:
            ServiceError: it cannot be replayed.
        """
        async with self._turn:
            if (process := self._processes.get(folder)) is not None:
                with contextlib.suppress(NoAnswerError):
                    return await _home(process)
                await self._end(folder)
            if len(self._processes) >= MOST:
                await self._end(next(iter(self._processes)))
            command = (sys.executable, "-m", "gossamer.daemon.reading.replayer", str(folder), str(self._idle))
            try:
                process = self._processes[folder] = await LineProcess.start(command, 1 << 10)
                return await _home(process)
            except NoAnswerError as error:
                await self._end(folder)
                raise ServiceError("conflict", str(error)) from None

    async def end(self, folder: Path | None = None) -> None:
        """Replay a crawl, or any, no longer."""
        async with self._turn:
            for one in [one for one in self._processes if folder in (None, one)]:
                await self._end(one)

    async def _end(self, folder: Path) -> None:
        if (process := self._processes.pop(folder, None)) is not None:
            await process.close()


async def _home(process: LineProcess) -> str:
    return (await process.ask(b"\n", SECONDS)).decode().strip()
