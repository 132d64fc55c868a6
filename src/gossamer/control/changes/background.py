"""Walks through the whole state that changes bring about, so many steps at a time beside the crawl."""

import asyncio
import time
from collections.abc import Callable
from typing import Protocol

from gossamer.engine.visiting.dispatch import Dispatch
from gossamer.frontier.steering import Steering

STEP_SECONDS = 0.005
REST_SECONDS = 0.02
"""After each step: a walk takes a fifth of the time of one core at most."""
MOST_AT_ONCE = 500
"""Entries of one step, which is one commit."""


class BackgroundTask(Protocol):
    """A walk that may be under way."""

    @property
    def pending(self) -> bool:
        """There is something to walk through."""

    def step(self, over: Callable[[], bool]) -> None:
        """Go on until `over()`, or to the end."""


class BackgroundTasks:
    """Does what is pending; meanwhile the crawl does not end by itself."""

    def __init__(self, dispatch: Dispatch, background: dict[str, BackgroundTask]) -> None:
        self._dispatch = dispatch
        self._background = background
        self._called = asyncio.Event()

    @property
    def pending(self) -> list[str]:
        """Names of those under way."""
        return [name for name, task in self._background.items() if task.pending]

    def call(self) -> None:
        """Something may have become pending; called before the crawl may go on."""
        for name in self.pending:
            self._dispatch.expect(name)
        self._called.set()

    async def run(self) -> None:
        """Do what is pending, for ever."""
        self.call()
        while True:
            await self._called.wait()
            self._called.clear()
            for name, task in self._background.items():
                while task.pending and not self._dispatch.ended:
                    try:
                        task.step(_Clock())
                    except Exception as error:  # noqa: BLE001 - memory may no longer match the disk
                        self._dispatch.fail(error)
                        return
                    self._dispatch.pump()
                    await asyncio.sleep(REST_SECONDS)
                self._dispatch.expect_no_more(name)


class _Clock:
    """Says when a step has taken long enough."""

    def __init__(self) -> None:
        self._until = time.monotonic() + STEP_SECONDS
        self._left = MOST_AT_ONCE

    def __call__(self) -> bool:
        self._left -= 1
        return self._left <= 0 or time.monotonic() >= self._until


class SpentHosts:
    """Revives hosts whose budget was spent and has grown since. A crash forgets it; `resume` begins anew."""

    def __init__(self, steering: Steering) -> None:
        self._steering = steering
        self._cursor: bytes | None = None

    @property
    def pending(self) -> bool:
        """There are hosts that were not looked at yet."""
        return self._cursor is not None

    def begin(self) -> None:
        """Begin to look at every host anew."""
        self._cursor = b""

    def step(self, over: Callable[[], bool]) -> None:  # noqa: ARG002 - it is short
        """Look at some hosts, and remember where to go on."""
        assert self._cursor is not None
        self._cursor = self._steering.revive_spent(self._cursor, MOST_AT_ONCE) or None
