"""The workers of a crawl, whose number can change while it runs (K14)."""

import asyncio
from collections.abc import Callable, Coroutine

from gossamer.engine.visiting.dispatch import Dispatch


class Crew:
    """Starts workers as tasks of one group, and retires them after their current visit."""

    def __init__(
        self,
        tasks: asyncio.TaskGroup,
        dispatch: Dispatch,
        work: Callable[[], Coroutine[None, None, None]],
    ) -> None:
        self._tasks = tasks
        self._dispatch = dispatch
        self._work = work
        self._wanted = 0
        self._working: set[asyncio.Task[None]] = set()
        self._gone = asyncio.Event()

    @property
    def size(self) -> int:
        """Workers that are wanted; some more may be on their last visit."""
        return self._wanted

    @property
    def present(self) -> int:
        """Workers that have not left yet."""
        return len(self._working)

    def resize(self, workers: int) -> None:
        """Have this number of workers from now on."""
        change = workers - self._wanted
        self._wanted = workers
        for _ in range(change):
            task = self._tasks.create_task(self._work())
            self._working.add(task)
            task.add_done_callback(self._left)
        if change < 0:
            self._dispatch.retire(-change)

    def cut(self) -> None:
        """Break off every visit; what was lent stays lent on disk, and is lent anew by the next session."""
        for task in tuple(self._working):
            task.cancel()

    async def wait_gone(self) -> None:
        """Wait until every worker has left, because the crawl has ended."""
        await self._gone.wait()

    def _left(self, task: asyncio.Task[None]) -> None:
        self._working.discard(task)
        if not self._working:
            self._gone.set()
