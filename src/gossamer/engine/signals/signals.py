"""Everything by which others say what has changed, as the engine's other rooms see it."""

import time
from collections.abc import Awaitable, Callable

from gossamer.engine.admission.admission import Admission
from gossamer.engine.admission.identity import Identity
from gossamer.engine.signals.announcements import Announcements
from gossamer.engine.signals.dated_lists import DatedLists, Hearer
from gossamer.engine.signals.hubs import HubTable
from gossamer.engine.visiting.visit import Visit
from gossamer.frontier.frontier import Frontier
from gossamer.state.environment import Batch
from gossamer.state.records import PageRecord


class Signals:
    """Told of each settled visit; there is none in a crawl that visits nothing again.

    Attributes:
        lists: sitemaps and feeds.
        announcements: pings.
    """

    def __init__(self, frontier: Frontier, identity: Identity, admission: Admission, hearer: Hearer) -> None:
        self.lists = DatedLists(hearer, identity.fingerprint, lambda url: frontier.host_key(url)[0])
        self.announcements = Announcements(frontier, identity, admission, hearer)
        self._hubs = HubTable(frontier.environment)

    async def run(self, rest: Callable[[float], Awaitable[None]]) -> None:
        """Hear what was read, for ever; `rest` waits after so many seconds of work."""
        await self.lists.run(rest)

    def settled(self, visit: Visit, before: PageRecord | None, batch: Batch) -> None:
        """After a visit, within the batch of its group.

        Args:
            visit: with what was read.
            before: what was known of the page.
            batch: takes what is remembered.
        """
        page = visit.page
        if page is not None:
            if page.hub:
                self._hubs.met(page, batch)
            if page.links:
                earlier = before.visits[-1].at if before is not None and before.visits else 0.0
                self.lists.take(page.url, page.links, time.time(), earlier)
        self.announcements.visited(visit, time.time())
