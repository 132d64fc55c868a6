"""Hears sitemaps and feeds that were read: which of the pages they date have changed since they were visited.

A list is looked through before any of it is believed (`policy.revisit.trust.Reading`), and what is believed is told in
the order of keys, a few pages at a time, so that neither its length nor its lies cost more than reading its dates.
"""

import asyncio
import zlib
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from typing import Protocol

import msgspec

from gossamer.engine.signals.sources import is_list, source_of
from gossamer.model.page import Page
from gossamer.model.url import Url
from gossamer.policy.revisit.trust import DatesVerdict, Reading, Signal
from gossamer.policy.urls.registrable import registrable_domain

MOST_WAITING = 200_000
"""Entries of lists that wait to be heard, some 200 bytes each; lists beyond are heard when they are read again."""
LOOKED_THROUGH = 1_000
"""Entries looked through without a pause, some 1 us each."""
PROVED = 256
"""Entries of a list, spread over it, that are looked up to see whether its dates move with each reading."""
TOLD_AT_ONCE = 100
"""Pages told of in a batch, some 20 us each."""
REMINDED = 8
"""Of pages with older dates it is told that the list speaks of them, in so many readings of all of them once."""
SLACK = 7 * 86_400.0
"""Lists are made of what is older than they are: dates count that are so much older than the last reading."""
AHEAD = 86_400.0
"""Clocks of other zones are ahead; what is further in the future is not heard."""
MOST_HOSTS = 100
"""Hosts that one list may speak of."""


class Hearer(Protocol):
    """Who is told, in batches of its own: the frontier."""

    def told(self, signals: Sequence[Signal]) -> int:
        """Make pages due as far as the sources are trusted; how many were told of something new."""

    def dates_read(self, page: Url, source: int, reading: Reading) -> None:
        """A list of dates was read that speaks of pages of the host of this one."""

    def knows(self, page: bytes) -> bool:
        """Whether a page was ever admitted."""


class DatedList(msgspec.Struct, frozen=True):
    """A sitemap or feed as it was read.

    Attributes:
        source: its number.
        domain: registrable domain of its host; it is not heard about others.
        read: wall time of this reading.
        before: of the one before; 0: there was none.
        entries: dates with the pages that bear them.
    """

    source: int
    domain: str
    read: float
    before: float
    entries: list[tuple[float, Url]]


class DatedLists:
    """Lists that wait to be heard, and the work of hearing them.

    Args:
        hearer: is told.
        fingerprint: key of a URL.
        some: set when there is something to hear.
    """

    def __init__(self, hearer: Hearer, fingerprint: Callable[[Url], bytes], some: asyncio.Event) -> None:
        self._hearer = hearer
        self._fingerprint = fingerprint
        self._lists: deque[DatedList] = deque()
        self._waiting = 0
        self._some = some
        self.told = 0
        """Pages that were told of something new."""
        self.lies: dict[DatesVerdict, int] = {}
        """Lists that were not believed, by what they are."""
        self.dropped = 0
        """Lists for which there was no room."""

    def take(self, page: Page, read: float, before: float) -> None:
        """Hear of what was read, if it dates what it lists; at `read`, and the time before at `before`."""
        entries = [(link.lastmod, link.url) for link in page.links if link.lastmod] if is_list(page) else []
        if not entries:
            return
        if self._waiting + len(entries) > MOST_WAITING:
            self.dropped += 1
            return
        self._waiting += len(entries)
        self._lists.append(
            DatedList(source_of(page), registrable_domain(page.url.host), read, before, entries)
        )
        self._some.set()

    def everything(self) -> Iterator[None]:
        """Hear all that waits, with a pause wherever this yields."""
        while self._lists:
            one = self._lists.popleft()
            self._waiting -= len(one.entries)
            yield from self._hear(one)

    def _hear(self, one: DatedList) -> Iterator[None]:
        entries = self._of_its_site(one)
        yield
        reading = Reading(one.read)
        every = max(1, len(entries) // PROVED)
        for number, (date, url) in enumerate(entries):
            # At its last reading it could not truly bear a later date than that.
            proved = one.before and not number % every and self._hearer.knows(self._fingerprint(url))
            reading.add(date, one.before if proved else None)
            if not (number + 1) % LOOKED_THROUGH:
                yield
        verdict = reading.verdict
        hosts = {url.host: url for _, url in entries}
        for url in list(hosts.values())[:MOST_HOSTS]:
            self._hearer.dates_read(url, one.source, reading)
        if verdict is not DatesVerdict.PLAUSIBLE:
            self.lies[verdict] = self.lies.get(verdict, 0) + 1
            return
        yield from self._tell(one, entries)

    def _of_its_site(self, one: DatedList) -> list[tuple[float, Url]]:
        """What it may speak of: anybody can make a list of the pages of others."""
        domains = {url.host: "" for _, url in one.entries}
        ours = {host for host in domains if registrable_domain(host) == one.domain}
        return [entry for entry in one.entries if entry[1].host in ours]

    def _tell(self, one: DatedList, entries: list[tuple[float, Url]]) -> Iterator[None]:
        earliest, latest = one.before - SLACK, one.read + AHEAD
        turn = int(one.read // 3_600) % REMINDED
        signals: list[Signal] = []
        for number, (date, url) in enumerate(entries, 1):
            late = date > earliest
            if date <= latest and (late or zlib.crc32(url.text.encode()) % REMINDED == turn):
                signals.append(
                    Signal(self._fingerprint(url), min(date, one.read) if late else 0.0, one.source)
                )
                if not len(signals) % TOLD_AT_ONCE:
                    yield
            elif not number % LOOKED_THROUGH:
                yield
        signals.sort(key=lambda signal: signal.page)
        for start in range(0, len(signals), TOLD_AT_ONCE):
            self.told += self._hearer.told(signals[start : start + TOLD_AT_ONCE])
            yield
