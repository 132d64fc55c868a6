"""Takes snapshots of a running agent, at intervals and when a move asks for one."""

import asyncio
from functools import partial
from typing import Protocol

from gossamer.assembly.folder import CrawlFolder
from gossamer.cluster.agent.outbox import Inbox
from gossamer.cluster.protocol import Registered
from gossamer.cluster.snapshots import snapshots
from gossamer.cluster.snapshots.manifest import Manifest
from gossamer.engine.crawl import Crawl
from gossamer.engine.in_thread import in_thread
from gossamer.model.errors import StorageError
from gossamer.state.object_store import Store

AGAIN_SECONDS = 5.0
"""After which a store that refused is tried again; the crawl goes on meanwhile, its outboxes grow."""


class Announced(Protocol):
    """What is announced of captures before it cannot be lost any more."""

    @property
    def committed(self) -> int:
        """How many captures were committed that other agents may be told of."""

    def cover(self, committed: int) -> None:
        """No loss can take back what was committed when `committed` stood at this."""


class Snapshooter:
    """One snapshot at a time. The store may fail for as long as it likes: nothing is forgotten meanwhile."""

    def __init__(
        self,
        folder: CrawlFolder,
        crawl: Crawl,
        store: Store,
        me: Registered,
        keep: int,
        announcements: Announced | None = None,
    ) -> None:
        """`announcements`: of captures to other agents, if they share what content they have met."""
        self._folder = folder
        self._crawl = crawl
        self._store = store
        self._me = me
        self._keep = keep
        self._taking = asyncio.Lock()
        self._taken: list[Manifest] = []
        self._announcements = announcements
        self._promised: set[int] = set()
        self._announced: dict[int, int] = {}  # by the id of the snapshot that has them
        self.latest = 0
        """Id of the latest finished one; 0 if there is none."""
        self.pages = 0
        self.bytes = 0
        self.problem = ""
        """Why the last attempt failed; empty if it did not."""

    async def run(self, every: float) -> None:
        """Take one at intervals, until cancelled."""
        while True:
            await asyncio.sleep(every)
            await self.take()

    async def take(self, *, doubted: bool = False) -> int:
        """Take one that holds all that was committed until now; its id. Tries until the store lets it.

        `doubted`: see `snapshots.take`.
        """
        while True:
            try:
                async with self._taking:
                    return await self._take(doubted=doubted)
            except StorageError as error:
                self.problem = str(error)
                await asyncio.sleep(AGAIN_SECONDS)

    def promise(self, ids: set[int]) -> None:
        """Spare these snapshots from now on: other agents read them, or would if we were lost."""
        self._promised = ids

    async def _take(self, *, doubted: bool) -> int:
        counters = self._crawl.parts.ledger.counters
        announced = self._announcements.committed if self._announcements is not None else 0
        name = await self._crawl.checkpoint(index=False)
        pages, received = counters.pages, counters.bytes
        pinned = await in_thread(snapshots.pin, self._folder, name)
        me = self._me
        take = partial(snapshots.take, doubted=doubted)
        manifest = await in_thread(take, self._folder, pinned, self._store, me.name, me.incarnation)
        self._taken.append(manifest)
        self._announced[manifest.id] = announced
        self.latest, self.pages, self.bytes, self.problem = manifest.id, pages, received, ""
        spare = {taken.id for taken in self._taken} | self._promised
        try:
            await in_thread(snapshots.prune, self._store, me.name, self._keep, spare)
        except StorageError as error:  # what was taken counts; the next one prunes
            self.problem = str(error)
        return manifest.id

    def on_record(self, snapshot: int, inbox: Inbox) -> None:
        """The coordinator would take up `snapshot` if we died now: what it holds can no longer be lost."""
        if self._taken and self._taken[0].id <= snapshot:
            while len(self._taken) > 1 and self._taken[1].id <= snapshot:
                del self._announced[self._taken.pop(0).id]
            if self._announcements is not None:
                self._announcements.cover(self._announced[self._taken[0].id])
            inbox.cover((place.shard, place.sender, place.sequence) for place in self._taken[0].inbox)
