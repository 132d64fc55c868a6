"""Everything by which others say what has changed, as the engine's other rooms see it."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from itertools import chain

from gossamer.engine.admission.admission import Admission
from gossamer.engine.admission.identity import Identity
from gossamer.engine.signals.announcements import Announcements
from gossamer.engine.signals.dated_lists import DatedLists
from gossamer.engine.signals.hubs import HubTable
from gossamer.engine.visiting.visit import Visit
from gossamer.frontier.frontier import Frontier
from gossamer.policy.revisit.history import unpack
from gossamer.state.environment import Batch
from gossamer.state.records import PageRecord


class Signals:
    """Told of each settled visit; deaf while nothing is visited again.

    Attributes:
        lists: sitemaps and feeds.
        announcements: pings.
        on: whether pages are visited again.
    """

    def __init__(
        self,
        frontier: Frontier,
        identity: Identity,
        admission: Admission,
        *,
        on: Callable[[], bool],
        rest: Callable[[float], Awaitable[None]],
        heard: Callable[[], None],
    ) -> None:
        """`rest` waits after so many seconds of work; `heard` is called when something was told."""
        self._some = asyncio.Event()
        self.lists = DatedLists(frontier, identity.fingerprint, self._some)
        self.announcements = Announcements(frontier, identity, admission)
        self.on, self._rest, self._heard = on, rest, heard
        self._wall = frontier.again.wall
        self._hubs = HubTable(frontier.environment)

    def now(self) -> float:
        """The date, as others tell it who say that something has changed now."""
        return self._wall.date_of(self._wall.now())

    async def run(self) -> None:
        """Hear what there is, for ever."""
        while True:
            await self._some.wait()
            self._some.clear()
            began = time.thread_time()
            for _ in chain(self.announcements.hear_proved(self.now()), self.lists.everything()):
                await self._rest(time.thread_time() - began)
                began = time.thread_time()
            self._heard()

    def settled(self, visit: Visit, before: PageRecord | None, batch: Batch) -> None:
        """After a visit, within the batch of its group; what is told of is heard later.

        Args:
            visit: with what was read.
            before: what was known of the page.
            batch: takes what is remembered.
        """
        if not self.on():
            return
        page = visit.page
        if page is not None:
            if page.hub:
                self._hubs.met(page, batch)
            if page.links:
                last = _last_visit(before)
                self.lists.take(page, self.now(), self._wall.date_of(last) if last else 0.0)
        if self.announcements.keys.in_question and self.announcements.visited(visit, self.now()):
            self._some.set()


def _last_visit(before: PageRecord | None) -> float:
    """Wall time of the visit before this one; 0 if there was none."""
    return float(unpack(before.history).last) if before is not None and before.history else 0.0
