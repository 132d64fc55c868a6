"""The frontier, which never waits, as a stream of leases to workers that do."""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable

from gossamer.frontier.frontier import Frontier
from gossamer.model.lease import Lease
from gossamer.model.reasons.ends import FAILED, FINISHED, UNREACHABLE
from gossamer.model.reasons.reason import Reason

PATIENCE = 10_000_000
"""Microseconds within which other seeds must fall due, or a crawl that no server has answered ends."""


class Dispatch:
    """Hands leases to waiting workers, and notices when there will be no more.

    `limit_reached` says why no further lease may go out for now (a page budget all of which may be in
    flight), or nothing. `unreachable` says that this session has asked and no server has ever answered:
    then nobody wants to wait until `give_up_after` to read that a name is misspelt. `may_lend` says whether
    one more lease may go out beside so many; whoever forbids it pumps when that changes.

    The argument for termination (K17): only settlements and admissions make work, admissions happen
    only in settlements, and each lease is settled once; so when no lease is out and nothing on disk can
    fall due within `give_up_after` microseconds, nothing will. A host that only rests between visits, however
    long, is not waited for in vain.
    """

    def __init__(
        self,
        frontier: Frontier,
        now: Callable[[], int],
        give_up_after: int,
        limit_reached: Callable[[int], Reason | None],
        unreachable: Callable[[], bool] = lambda: False,
        may_lend: Callable[[int], bool] = lambda _: True,
    ) -> None:
        self._frontier = frontier
        self._now = now
        self._give_up_after = give_up_after
        self._limit_reached = limit_reached
        self._unreachable = unreachable
        self._waiting: deque[asyncio.Future[Lease | None]] = deque()
        self._timer: asyncio.TimerHandle | None = None
        self._retiring = 0
        self._paused = False
        self._expected: dict[str, Callable[[], bool]] = {}
        self._may_lend = may_lend
        self.ended: Reason | None = None
        """Why no more leases will go out; empty while some may."""

    async def leases(self) -> AsyncIterator[Lease]:
        """Leases for one worker, until the crawl ends or the worker is retired."""
        while (lease := await self._next()) is not None:
            yield lease

    async def _next(self) -> Lease | None:
        if self._retiring:
            self._retiring -= 1
            return None
        if self.ended:
            return None
        future: asyncio.Future[Lease | None] = asyncio.get_running_loop().create_future()
        self._waiting.append(future)
        self.pump()
        return await future

    def retire(self, workers: int) -> None:
        """Let as many workers go, each after its current visit."""
        self._retiring += workers
        while self._retiring and self._waiting:
            self._retiring -= 1
            self._answer(None)

    @property
    def idle(self) -> int:
        """Workers that wait for a lease."""
        return len(self._waiting)

    @property
    def paused(self) -> bool:
        """Nothing is lent for now; what is lent goes on to its end."""
        return self._paused

    @property
    def quiet(self) -> bool:
        """Nothing is under way here, nothing falls due: with nothing expected, the crawl would be over."""
        return not self._frontier.under_way and self._frontier.next_due() > self._now() + self._patience

    @property
    def _patience(self) -> int:
        return max(self._give_up_after, self._frontier.longest_rest)

    @property
    def limit(self) -> Reason | None:
        """The limit that the crawl has reached, whatever becomes of what is under way."""
        return self._limit_reached(0)

    def pause(self) -> None:
        """Lend nothing until `unpause`. The crawl does not end by itself meanwhile."""
        self._paused = True

    def unpause(self) -> None:
        """Lend URLs to workers again."""
        self._paused = False
        self.pump()

    def expect(self, source: str, still: Callable[[], bool] = lambda: True) -> None:
        """`source` may bring work while `still` says so, and until `expect_no_more`: the crawl does not end
        by itself before. Whoever makes `still` say otherwise pumps."""
        self._expected[source] = still

    def expect_no_more(self, source: str) -> None:
        """`source` has brought all that it had."""
        self._expected.pop(source, None)
        self.pump()

    def give_up_after(self, micros: int) -> None:
        """The crawl ends when nothing can fall due within `micros`, from now on."""
        self._give_up_after = micros
        self.pump()

    def end(self, reason: Reason) -> None:
        """Lend nothing more; idle workers are let go."""
        self.ended = self.ended or reason
        if self._timer is not None:
            self._timer.cancel()
        while self._waiting:
            self._answer(None)

    def pump(self) -> None:
        """Lend what can be lent; called whenever something was settled or has fallen due."""
        if self._paused:
            return
        while self._waiting and not self.ended:
            lent = self._frontier.lent
            if not self._may_lend(lent):
                return
            limit = self._limit_reached(lent)
            lease = None if limit else self._frontier.lend()
            if lease is None:
                self._wait_or_end(limit)
                return
            self._answer(lease)

    def _answer(self, lease: Lease | None) -> None:
        future = self._waiting.popleft()
        if not future.done():
            future.set_result(lease)

    def _wait_or_end(self, limit: Reason | None) -> None:
        due = self._frontier.next_due()
        now = self._now()
        if limit and not self._frontier.lent:
            self.end(limit)
            return
        if not self._frontier.under_way and not any(still() for still in self._expected.values()):
            if due > now + min(PATIENCE, self._give_up_after) and self._unreachable():
                self.end(UNREACHABLE)
                return
            if due > now + self._patience:
                self.end(FINISHED)
                return
        if self._timer is not None:
            self._timer.cancel()
        if limit:
            return  # only a settlement can change that
        # At most a minute, so that a mistake in a due time costs a minute and not the crawl.
        wait = min(max(due - now, 0) / 1e6, 60.0) + 0.0005
        self._timer = asyncio.get_running_loop().call_later(wait, self.pump_or_fail)

    def pump_or_fail(self) -> None:
        """For a timer or a name that was answered.

        Nobody waits for these, so what is met (a disk that is full) is raised in a worker.
        """
        try:
            self.pump()
        except Exception as error:  # noqa: BLE001 - raised again where it is heard
            self.fail(error)

    def fail(self, error: Exception) -> None:
        """Lend nothing more, because memory may no longer match the disk."""
        while self._waiting:
            future = self._waiting.popleft()
            if not future.done():
                future.set_exception(error)
                break
        self.end(FAILED)
