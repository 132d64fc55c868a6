"""Makes the report of a job for its page, at most one at a time and not more often than it is worth."""

import asyncio
import time
from collections import OrderedDict
from pathlib import Path

import msgspec

from gossamer.daemon.errors import ServiceError
from gossamer.inspect.inspection import inspect
from gossamer.model.errors import ConfigError, StorageError
from gossamer.report import Figures, LogCensus, report_body
from gossamer.report.census.gather import gather, log_census
from gossamer.search.similar.reported import with_near_duplicates

FRESH = 15.0
"""Seconds for which everybody sees the same figures."""
KEPT = 8
"""Jobs whose census of the log is kept, so that only what came since is read."""


class _Made(msgspec.Struct):
    figures: Figures
    census: LogCensus
    at: float


class Reports:
    """Reports of the jobs that were looked at of late."""

    def __init__(self) -> None:
        self._made: OrderedDict[str, _Made] = OrderedDict()
        self._one = asyncio.Lock()

    async def figures(self, folder: str) -> Figures:
        """What the report says, as figures.

        Raises:
            ServiceError: nothing has been crawled yet, or the state cannot be read.
        """
        async with self._one:
            made = self._made.get(folder)
            if made is None or time.monotonic() - made.at > FRESH:
                try:
                    made = await asyncio.to_thread(_make, Path(folder), made)
                except ConfigError as error:
                    raise ServiceError("conflict", str(error)) from None
                except StorageError as error:
                    raise ServiceError("internal", str(error)) from None
                self._made[folder] = made
            self._made.move_to_end(folder)
            if len(self._made) > KEPT:
                self._made.popitem(last=False)
            return made.figures

    async def body(self, folder: str, language: str) -> str:
        """The report as markup, without the page around it.

        Raises:
            ServiceError: as `figures`.
        """
        figures = await self.figures(folder)
        return await asyncio.to_thread(report_body, figures, language)


def _make(folder: Path, before: _Made | None) -> _Made:
    with inspect(folder) as inspection:
        census = before.census if before else log_census(inspection)
        figures = with_near_duplicates(gather(inspection, census), inspection)
    return _Made(figures, census, time.monotonic())
