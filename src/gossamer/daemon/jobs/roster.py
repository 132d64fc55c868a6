"""The jobs as they are now: in memory, on disk, and told to whoever listens."""

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Callable
from typing import Any

import msgspec

from gossamer.daemon.allocation.allocator import Wait
from gossamer.daemon.errors import ServiceError
from gossamer.daemon.jobs.job import Job
from gossamer.daemon.store import Store
from gossamer.daemon.views import Event, JobView, Seen, job_view
from gossamer.model.reasons.codes import ProblemCode
from gossamer.model.reasons.reason import because

BACKLOG = 256
"""Events that a slow listener may fall behind; then it misses the oldest."""


class Roster:
    """All jobs by name; what is changed is written down before anybody hears of it."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.waits: Callable[[str], Wait | None] = lambda _: None
        """What a job waits for, if it does; nobody does before there is an allocator."""
        self._jobs = {job.name: job for job in store.jobs()}
        self._seen: dict[str, Seen] = {}
        self._listeners: set[asyncio.Queue[Event]] = set()

    def names(self) -> list[str]:
        """Names of all jobs, sorted."""
        return sorted(self._jobs)

    def __contains__(self, name: str) -> bool:
        return name in self._jobs

    def get(self, name: str) -> Job:
        """A job.

        Raises:
            ServiceError: there is none of that name.
        """
        job = self._jobs.get(name)
        if job is None:
            raise ServiceError("not_found", because(ProblemCode.NO_JOB, name[:80]))
        return job

    def seen(self, name: str) -> Seen:
        """What was last seen of it."""
        return self._seen.get(name, Seen())

    def view(self, name: str) -> JobView:
        """A job as it is shown."""
        return job_view(self.get(name), self.seen(name), self.waits(name), time.time())

    # Changes

    def put(self, job: Job) -> None:
        """Add a job, or replace it, if it has changed."""
        if self._jobs.get(job.name) != job:
            self.store.save(job)
            self._jobs[job.name] = job
            self.tell(job.name)

    def change(self, name: str, **fields: Any) -> Job:
        """Replace some fields of a job, in memory and on disk."""
        job = msgspec.structs.replace(self.get(name), **fields)
        self.put(job)
        return job

    def see(self, name: str, **fields: Any) -> None:
        """Note what was seen; nobody is woken for that."""
        self._seen[name] = msgspec.structs.replace(self.seen(name), **fields)

    def forget(self, name: str) -> None:
        """Remove a job from memory and disk."""
        self.store.forget(name)
        self._jobs.pop(name, None)
        self._seen.pop(name, None)
        self._send(Event("gone", name))

    # Listeners

    def tell(self, name: str) -> None:
        """Let listeners hear of a job again."""
        if self._listeners and name in self._jobs:
            self._send(Event("job", name, self.view(name)))

    def tell_allocation(self) -> None:
        """Let listeners hear that resources have changed hands."""
        self._send(Event("allocation"))

    async def events(self) -> AsyncIterator[Event]:
        """Everything that changes from now on, until the listener goes."""
        queue: asyncio.Queue[Event] = asyncio.Queue(BACKLOG)
        self._listeners.add(queue)
        try:
            while True:
                yield await queue.get()
        finally:
            self._listeners.discard(queue)

    def _send(self, event: Event) -> None:
        for queue in self._listeners:
            if queue.full():
                with contextlib.suppress(asyncio.QueueEmpty):
                    queue.get_nowait()
            queue.put_nowait(event)
