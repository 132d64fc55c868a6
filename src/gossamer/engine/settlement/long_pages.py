"""Follows the links of pages with very many, a few at a time, so that the visits of all others pass by."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Any

import msgspec

from gossamer.engine.admission.admission import Led
from gossamer.engine.fault_points import fault_point
from gossamer.engine.settlement.archivist import Archivist
from gossamer.engine.settlement.doors import Doors
from gossamer.engine.settlement.spare_time import SpareTime
from gossamer.engine.visiting.visit import Visit
from gossamer.frontier.frontier import Frontier
from gossamer.model.link import Link

LINKS_AT_ONCE = 1_500
"""Links of the pages that are settled at once, some 20 us each; of a page with more all but a few are
admitted before."""
SLICE = 100
"""Links admitted in one commit meanwhile."""
PAGES = 16
"""Pages under way; then workers wait with theirs, for a page of 50,000 links takes some 30 MB."""


class Followed(msgspec.Struct):
    """How far the links of a page were admitted.

    Attributes:
        links: those that are to be followed.
        upto: so many of them were.
        led: where these have led.
        gift_to: what each brings, if the ordering tells them apart.
    """

    links: tuple[Link, ...] = ()
    upto: int = 0
    led: Led = Led(0, on=False)
    gift_to: Callable[[Link], Any] | None = None

    def note(self, led: Led) -> None:
        """Add where some more of it has led."""
        self.led = Led(self.led.admitted + led.admitted, on=self.led.on or led.on)


class LongPages:
    """Pages whose links are admitted in commits of their own, in turns.

    A crash before the page's own commit fetches it again; what was admitted is then seen already.
    """

    def __init__(
        self, frontier: Frontier, doors: Doors, archivist: Archivist, held: asyncio.Lock, spare: SpareTime
    ) -> None:
        self._frontier = frontier
        self._doors = doors
        self._archivist = archivist
        self._held = held
        self._turns: asyncio.Queue[tuple[Visit, Followed | None] | None] = asyncio.Queue()
        self._room = asyncio.Semaphore(PAGES)
        self._finished = asyncio.Event()
        self._spare = spare

    async def take(self, visit: Visit) -> None:
        """Accept a visit with many links; waits while there are many such."""
        await self._room.acquire()
        self._turns.put_nowait((visit, None))

    async def finish(self) -> None:
        """Follow what was taken so far without any rest; returns when that is done."""
        self._spare.hurry = True
        self._turns.put_nowait(None)
        await self._finished.wait()

    async def run(self, settle: Callable[[Visit, Followed], Awaitable[None]]) -> None:
        """Follow until told to finish; each page is given to `settle` when few of its links are left."""
        finishing = False
        while not (finishing and self._turns.empty()):
            turn = await self._turns.get()
            if turn is None:
                finishing = True
                continue
            visit, followed = turn
            async with self._held:
                started = time.thread_time()
                followed = followed or self._begin(visit)
                self._go_on(visit, followed)
                worked = time.thread_time() - started
            if len(followed.links) - followed.upto > SLICE:
                self._turns.put_nowait((visit, followed))
            else:
                await settle(visit, followed)
                self._room.release()
            await self._spare.rest(worked)
        self._finished.set()

    def followed(self, visit: Visit, fingerprint: bytes, *, seen_before: bool) -> Followed:
        """What is to be followed of an archived visit; nothing is admitted yet."""
        page = visit.page
        if page is None:  # robots files and redirects have none
            return Followed()
        gift_to = self._frontier.appraise(fingerprint, visit.lease.candidate, page)
        return Followed(self._doors.links.followed(page, seen_before=seen_before), gift_to=gift_to)

    def _begin(self, visit: Visit) -> Followed:
        page, doors = visit.page, self._doors
        if page is None or not doors.judge.judge(visit, self._frontier.now()).archive:
            return Followed()
        seen_before = doors.links.skip_duplicates and bool(self._archivist.met_at(page, visit.met))
        fingerprint = doors.identity.fingerprint(visit.lease.candidate.url)
        return self.followed(visit, fingerprint, seen_before=seen_before)

    def _go_on(self, visit: Visit, followed: Followed) -> None:
        """Admit the next few links of a page."""
        start, followed.upto = followed.upto, min(followed.upto + SLICE, len(followed.links))
        with self._frontier.changes():
            led = self._doors.admission.links(
                visit.lease.candidate,
                followed.links[start : followed.upto],
                honour_nofollow=self._doors.links.honour_nofollow,
                later=len(followed.links) - followed.upto,
                gift_to=followed.gift_to,
            )
            followed.note(led)
        fault_point("settlement.ahead")
