"""Keeps the figures of one cluster fresh for as long as somebody looks at them."""

import asyncio
import contextlib
import time
from pathlib import Path
from typing import Literal, NamedTuple, TypeAlias

import msgspec

from gossamer.daemon.clusters.process import ClusterProcess, command_for
from gossamer.daemon.errors import ServiceError
from gossamer.daemon.line_process import NoAnswerError
from gossamer.inspect.clusters.cluster_questions import ADDRESS, PLAN, AskFigures, ClusterAnswer, Order
from gossamer.inspect.clusters.cluster_view import ClusterFigures

EVERY = 2.0
"""Seconds between two questions."""
IDLE = 60.0
"""Seconds that nobody has looked before the process is let go."""
LATE = 10.0
"""Seconds without an answer after which a cluster counts as silent."""
BEGIN_SECONDS = 60.0
"""For the first answer: Ray is imported and reached first, on a busy machine."""
ANSWER_SECONDS = 25.0
"""For others: more than the process waits for coordinator and agents."""
PROBLEMS = 3
"""So many in a row, and another process tries: names may have passed to other actors."""
_FIRST_WAIT, _LONGEST_WAIT = 2.0, 30.0

ClusterState: TypeAlias = Literal["stopped", "unseen", "asking", "running", "stopping", "over", "silent"]


class ClusterView(msgspec.Struct, frozen=True, kw_only=True):
    """A cluster as the interface shows it.

    Attributes:
        state: `stopped`: nothing runs; `unseen`: nobody has looked of late; `asking`: no answer yet;
            `running`; `stopping`; `over`; `silent`: it should answer and does not.
        problem: why there are no newer figures; empty if all is well.
        seen: when the figures were heard, seconds of the wall clock; `None` without.
        figures: the latest, as old as `seen` says.
    """

    name: str
    folder: str
    state: ClusterState
    problem: str = ""
    seen: float | None = None
    figures: ClusterFigures | None = None


Place: TypeAlias = Literal["unknown", "empty", "stopped", "runs"]
"""What the folder says."""


class _Heard(NamedTuple):
    figures: ClusterFigures
    wall: float
    at: float  # monotonic


class ClusterWatch:
    """One cluster; its process exists only while it is looked at."""

    def __init__(self, name: str, folder: Path) -> None:
        self.name = name
        self.folder = folder
        self.looked = 0.0
        """When somebody did last, by the monotonic clock."""
        self._place: Place = "unknown"
        self._heard: _Heard | None = None
        self._problem = ""
        self._since = 0.0  # when the task began
        self._task: asyncio.Task[None] | None = None
        self._process: ClusterProcess | None = None
        self._ending: asyncio.Task[None] | None = None
        self._news = asyncio.Condition()
        self._hurry = asyncio.Event()

    @property
    def asks(self) -> bool:
        """Whether there is a process, or about to be one."""
        return self._task is not None and not self._task.done()

    def view(self) -> ClusterView:
        """What is known, without asking."""
        heard = self._heard
        state, problem = self._state()
        return ClusterView(
            name=self.name,
            folder=str(self.folder),
            state=state,
            problem=problem,
            seen=heard.wall if heard else None,
            figures=heard.figures if heard else None,
        )

    def _state(self) -> tuple[ClusterState, str]:
        match self._place:
            case "empty":
                return "stopped", "the folder holds no cluster's crawl"
            case "stopped":
                return "stopped", ""
        now = time.monotonic()
        fresh = self._heard is not None and now - self._heard.at < LATE
        if fresh and not self._problem:
            assert self._heard is not None
            overview = self._heard.figures.overview
            return ("over" if overview.over else "stopping" if overview.stop else "running"), ""
        if not self.asks:
            return "asking" if self._place == "unknown" and self.looked else "unseen", ""
        if self._problem:
            return "silent", self._problem
        if self._heard is not None and self._heard.at > self._since:
            return "silent", f"nothing was answered for {now - self._heard.at:.0f} s"
        return "asking", ""

    async def inspect(self) -> None:
        """Look into the folder; in a thread, for it may be on another machine's disk."""
        self._place = await asyncio.to_thread(_place_of, self.folder)

    async def look(self, patience: float) -> ClusterView:
        """What is known; begins to ask, and waits for news if there are none yet.

        Args:
            patience: seconds to wait at most.
        """
        self.looked = time.monotonic()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(patience):
                await self.inspect()
                if self._place == "runs":
                    self._begin()
                    async with self._news:
                        await self._news.wait_for(lambda: self._state()[0] != "asking")
        return self.view()

    async def order(self, order: Order) -> ClusterAnswer:
        """Tell the cluster to do something.

        Raises:
            ServiceError: it does not run, or cannot be reached now.
        """
        view = await self.look(BEGIN_SECONDS)
        if self._process is None or view.state in ("stopped", "asking", "silent"):
            reason = view.problem or ("it does not run" if view.state == "stopped" else "it does not answer")
            raise ServiceError("conflict", f"nothing was changed: {reason}")
        try:
            answer = await self._process.ask(order, ANSWER_SECONDS)
        except NoAnswerError as error:
            raise ServiceError("conflict", f"it is not known whether that was heard: {error}") from None
        if answer.problem:
            raise ServiceError("conflict", f"the cluster does not answer: {answer.problem}")
        self._hurry.set()
        return answer

    def _begin(self) -> None:
        if not self.asks:  # what was heard before shows until there is an answer
            self._since = time.monotonic()
            self._problem = ""
            self._task = asyncio.create_task(self._watch())

    async def _watch(self) -> None:
        """Ask again and again until nobody looks; what fails is tried again, ever more seldom."""
        wait = _FIRST_WAIT
        while time.monotonic() - self.looked < IDLE and self._place == "runs":
            began = time.monotonic()
            try:
                self._process = await ClusterProcess.start(command_for(self.folder))
                await self._listen(self._process)
            except NoAnswerError as error:
                await self._note(str(error))
            finally:
                if self._process is not None:
                    self._ending = asyncio.create_task(self._process.close())
                    self._process = None
                    await asyncio.shield(self._ending)
            if self._heard is not None and self._heard.at > began:
                wait = _FIRST_WAIT
            await self._pause(wait)
            await self.inspect()
            wait = min(2 * wait, _LONGEST_WAIT)

    async def _listen(self, process: ClusterProcess) -> None:
        patience, problems = BEGIN_SECONDS, 0
        while time.monotonic() - self.looked < IDLE and problems < PROBLEMS:
            answer = await process.ask(AskFigures(), patience)
            patience = ANSWER_SECONDS
            problems = problems + 1 if answer.problem else 0
            if answer.figures is not None:
                self._heard = _Heard(answer.figures, time.time(), time.monotonic())
            await self._note(answer.problem)
            await self._pause(EVERY)

    async def _note(self, problem: str) -> None:
        async with self._news:
            self._problem = problem
            self._news.notify_all()

    async def _pause(self, seconds: float) -> None:
        """Wait, unless there is a hurry."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._hurry.wait()
        self._hurry.clear()

    async def close(self) -> None:
        """Let the process that asks the cluster go."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
            self._task = None
        if self._ending is not None:
            await self._ending


def _place_of(folder: Path) -> Place:
    try:
        if not (folder / PLAN).is_file():
            return "empty"
        return "runs" if (folder / ADDRESS).is_file() else "stopped"
    except OSError:  # its disk is away
        return "empty"
