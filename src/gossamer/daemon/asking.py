"""Asks a crawl, over its socket if it runs, in its folder if it does not."""

import asyncio
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec

from gossamer.control.changes.demand import FETCH, Demand, fetch_offline
from gossamer.control.changes.refetch_operation import REFETCH
from gossamer.control.changes.refetching import Refetch, ask_offline
from gossamer.control.socket.client import PATIENCE, connect
from gossamer.control.socket.protocol import LiveError, NotRunning
from gossamer.control.views.context import ViewContext, seen
from gossamer.control.views.views import VIEWS, answer_view, parameters
from gossamer.daemon.errors import ServiceError, service_error
from gossamer.daemon.state_cache import StateCache
from gossamer.model.errors import ConfigError, StorageError
from gossamer.model.reasons.codes import ProblemCode
from gossamer.model.reasons.reason import because

STATUS_SECONDS = 1.0
"""How old the figures of a crawl may be that several viewers share."""

_OFFLINE: dict[str, tuple[type[msgspec.Struct], Callable[[ViewContext, Any, str], Any]]] = {
    REFETCH: (Refetch, ask_offline),  # it is written down
    FETCH: (Demand, fetch_offline),  # what is fresh enough is given
}
"""Operations that a stopped crawl can do a part of."""


class Asking:
    """Questions to crawls, by folder."""

    def __init__(self) -> None:
        self._status: dict[Path, tuple[float, Any]] = {}
        self._asked: dict[Path, asyncio.Task[Any]] = {}
        self._states = StateCache()

    async def close(self) -> None:
        """Let go of what is open."""
        await asyncio.to_thread(self._states.clear)

    def forget(self, folder: Path) -> None:
        """Nothing that was known of a crawl holds any more: its process has begun or ended."""
        self._forget_status(folder)
        self._states.discard(folder)

    def sweep(self) -> None:
        """Close what nobody looks at any more."""
        self._states.sweep()

    async def running(
        self, folder: Path, method: str, params: dict[str, Any], who: str, *, patience: float = PATIENCE
    ) -> Any:
        """Ask the process.

        Args:
            patience: seconds that the answer may take.

        Raises:
            NotRunning: none answers.
            ServiceError: it says no.
        """
        try:
            async with connect(folder, patience=patience) as crawl:
                return await crawl.ask(method, params, who=who)
        except LiveError as error:
            raise service_error(error) from None
        finally:
            if method not in VIEWS:
                self._forget_status(folder)

    async def any(self, folder: Path, method: str, params: dict[str, Any], who: str) -> Any:
        """Ask the process if there is one; else look into the folder, if it is a view.

        Raises:
            ServiceError: it cannot be done.
        """
        try:
            return await self.running(folder, method, params, who)
        except NotRunning:
            if method not in VIEWS and method not in _OFFLINE:
                raise ServiceError("conflict", because(ProblemCode.NOT_RUNNING, method)) from None
        if method in _OFFLINE:
            return await asyncio.to_thread(self._ask_offline, folder, method, params, who)
        return await asyncio.to_thread(self._look, folder, method, params)

    async def status(self, folder: Path) -> Any:
        """The view `status`, at most a second old, asked for once for all who want it.

        Raises:
            ServiceError: it cannot be told.
        """
        known = self._status.get(folder)
        if known is not None and time.monotonic() - known[0] < STATUS_SECONDS:
            return known[1]
        task = self._asked.get(folder)
        if task is None:
            task = self._asked[folder] = asyncio.create_task(self.any(folder, "status", {}, ""))
            task.add_done_callback(lambda done: self._on_status(folder, done))
        return await asyncio.shield(task)

    def _on_status(self, folder: Path, task: asyncio.Task[Any]) -> None:
        current = self._asked.get(folder) is task
        if current:
            del self._asked[folder]
        if not task.cancelled() and task.exception() is None and current:
            self._status[folder] = (time.monotonic(), task.result())

    def _forget_status(self, folder: Path) -> None:
        """Something was changed: what is asked from now on shows it."""
        self._status.pop(folder, None)
        self._asked.pop(folder, None)

    def _ask_offline(self, folder: Path, method: str, params: dict[str, Any], who: str) -> Any:
        """What an operation does of which a stopped crawl does a part."""
        kind, ask = _OFFLINE[method]
        try:
            with self._states.lend(folder) as look:
                asked = parameters(kind, params)
                return msgspec.to_builtins(seen(lambda look, asked: ask(look, asked, who), look, asked))
        except LiveError as error:
            raise service_error(error) from None
        except ConfigError as error:
            raise ServiceError("conflict", error.why) from None

    def _look(self, folder: Path, method: str, params: dict[str, Any]) -> Any:
        try:
            with self._states.lend(folder) as look:
                return answer_view(look, method, params)
        except LiveError as error:
            raise service_error(error) from None
        except ConfigError as error:
            raise ServiceError("conflict", error.why) from None
        except StorageError as error:
            raise ServiceError("internal", str(error)) from None
