"""Lets all pages come again that were visited before that was wanted, some at a time beside the crawl."""

from collections.abc import Callable

from gossamer.engine.revisits import RevisitPace
from gossamer.engine.settlement.page_memory import PageMemory
from gossamer.engine.settlement.revisits import Revisits
from gossamer.frontier.frontier import Frontier
from gossamer.model.disposition import SETTLED
from gossamer.model.link import LinkKind, ends_at_robots
from gossamer.policy.revisit.gone import Presence
from gossamer.state.records import PageRecord


class Enrolling:
    """A walk through all pages, after visits again were switched on or fixed intervals were changed.

    Where it is stands in the record that the pages' entries are committed with, so a kill costs nothing.
    """

    def __init__(self, frontier: Frontier, memory: PageMemory, pace: RevisitPace, revisits: Revisits) -> None:
        self._frontier = frontier
        self._memory = memory
        self._pace = pace
        self._revisits = revisits

    @property
    def pending(self) -> bool:
        """There are pages that were not looked at yet."""
        return self._pace.on and self._pace.record.cursor is not None

    def step(self, over: Callable[[], bool]) -> None:
        """Go on until `over()`, or to the end; not within a batch."""
        cursor = self._pace.record.cursor
        assert cursor is not None
        with self._frontier.changes() as batch:
            for fingerprint, page in self._memory.all(cursor + b"\0" if cursor else b""):
                if _comes_again(page):
                    after = self._revisits.enrol(fingerprint, page)
                    if after is not None:
                        self._memory.put(fingerprint, after, batch)
                    self._revisits.wake(page)
                cursor = fingerprint
                if over():
                    break
            else:
                cursor = None
            self._pace.record.cursor = cursor
            self._pace.changed()
            self._pace.enter(batch)
        if cursor is None:
            self._pace.correct()  # by how many pages there are


def _comes_again(page: PageRecord) -> bool:
    if page.state not in SETTLED or not page.visits or ends_at_robots(page.hops):
        return False
    return page.kind is not LinkKind.SPECULATIVE or page.presence is not Presence.NEVER
