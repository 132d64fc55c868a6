"""Whether a page that was visited again says something else than at the last visit (decision 0027).

Of its text a fingerprint is kept, of 3 bytes, and one byte of what was known of the site then. While that is the same,
the fingerprints tell whether the page has changed. Otherwise, and in a part of the visits that seem to have changed,
the last capture is read back from the archive: it decides, and what differs is learned from.
"""

from collections import OrderedDict
from collections.abc import Callable
from pathlib import Path

import msgspec

from gossamer.archive.reader import read_record
from gossamer.archive.stored_body import ArchivedBody
from gossamer.engine.in_thread import in_thread
from gossamer.engine.page_text import page_pieces
from gossamer.engine.settlement.page_memory import PageMemory
from gossamer.engine.signals.sources import is_list
from gossamer.engine.visiting.visit import Compared, Visit
from gossamer.fetch.config import FetchConfig
from gossamer.fetch.decoding import Decoded, decode_content
from gossamer.frontier.frontier import Frontier
from gossamer.model.errors import StorageError
from gossamer.model.exchange import Body, Headers, StatusAction
from gossamer.model.outcome import Fetched
from gossamer.model.url import Url
from gossamer.policy.change.change import changed, fingerprint
from gossamer.policy.change.volatile import Volatile
from gossamer.policy.revisit.history import UNREAD, unpack
from gossamer.policy.visits.retry import action_of
from gossamer.state.records import PageRecord, PlaceRecord

__all__ = ["Changes"]

SITES = 256
"""Hosts of which what is volatile is in memory; others are read from their records."""
ALWAYS = 3
"""Readings of a host before only one in `SELDOM` of its visits may be read back to learn from."""
SELDOM = 10
LONGEST = 4 << 20
"""Bytes of a document that is compared; of a longer one another payload is a change."""


class _Site(msgspec.Struct):
    """What is volatile on a site; visits that were compared, and captures read back, since it is in memory."""

    volatile: Volatile
    visits: int = 0
    readings: int = 0


class Changes:
    """Compares visits with those before them, several at a time."""

    def __init__(self, archive: Path, frontier: Frontier, memory: PageMemory, fetch: FetchConfig) -> None:
        """`archive`: the folder of its files."""
        self._archive = archive
        self._frontier = frontier
        self._memory = memory
        self._fetch = fetch
        self._sites: OrderedDict[bytes, _Site] = OrderedDict()

    async def look(self, visit: Visit, fingerprint_of: Callable[[Url], bytes]) -> Visit:
        """The same, compared with the last visit, if it brought another payload.

        Sitemaps and feeds are not: what changes in them is what they list, and no reason to ignore it elsewhere.
        """
        outcome = visit.outcome
        if not isinstance(outcome, Fetched) or (visit.page is not None and is_list(visit.page)):
            return visit
        exchange = outcome.exchange
        if action_of(exchange) is not StatusAction.PROCESS or not exchange.body.size:
            return visit
        before = self._memory.get(fingerprint_of(visit.lease.candidate.url))
        if before is None or not before.history or exchange.body.sha256 == before.payload:
            return visit
        site = self._site(visit, before.visits_made)
        site.visits += 1
        known = unpack(before.history).text
        return msgspec.structs.replace(
            visit, compared=await in_thread(self._compared, visit, before, known, site)
        )

    def _compared(self, visit: Visit, before: PageRecord, known: bytes, site: _Site) -> Compared:
        """In a thread."""
        assert isinstance(visit.outcome, Fetched)
        exchange, host = visit.outcome.exchange, visit.lease.candidate.url.host
        pieces = self._pieces(exchange.body, exchange.headers, host)
        if pieces is None:
            return Compared(True, UNREAD)
        text = _text(pieces, site.volatile)
        if text == known:
            return Compared(False, text)
        # Where the server said at the last visit that nothing had changed, nothing here does so at each visit.
        stood = before.visits[-1].status == 304 if before.visits else False
        due = not stood and (site.readings < ALWAYS or site.readings * SELDOM < site.visits)
        if text[3] == known[3] and not due:
            return Compared(True, text)
        last = self._last(before.place, host)
        if last is None:
            return Compared(True, text)
        site.readings += 1
        is_changed = bool(changed(last, pieces, site.volatile))
        if stood:
            return Compared(is_changed, text)
        # A copy is taught, for others are compared at the same time.
        volatile = Volatile.unpack(site.volatile.pack())
        volatile.learn(last, pieces)
        site.volatile = volatile
        return Compared(is_changed, _text(pieces, volatile), volatile.pack())

    def _last(self, place: PlaceRecord | None, host: str) -> list[str] | None:
        """What the last capture says; `None` if it cannot be read back, for which no visit fails."""
        if place is None:
            return None
        try:
            record = read_record(self._archive, place.file, place.offset, LONGEST + 1)
        except StorageError:
            return None
        if record.is_revisit or record.payload_size > LONGEST:
            return None
        return self._pieces(ArchivedBody(record.payload), record.headers, host)

    def _pieces(self, body: Body, headers: Headers, host: str) -> list[str] | None:
        decoded = decode_content(body, headers, self._fetch, LONGEST + 1)
        if not isinstance(decoded, Decoded) or decoded.truncated or len(decoded.content) > LONGEST:
            return None
        return page_pieces(decoded.content, headers, host)

    def _site(self, visit: Visit, visits: int) -> _Site:
        """`visits`: of the page before."""
        key = self._frontier.host_hash(visit.lease.queue_key)
        site = self._sites.get(key)
        if site is None:
            record = self._frontier.hosts.get(key)
            site = _Site(Volatile.unpack(record.volatile if record is not None else b""))
            if record is not None and record.volatile:
                # It was in memory before. Where hosts take turns there, each of them is read back as seldom as if it
                # had stayed: in its turn by the page's own count.
                site.readings, site.visits = ALWAYS, ALWAYS * SELDOM - visits % SELDOM
            self._sites[key] = site
            if len(self._sites) > SITES:
                self._sites.popitem(last=False)
        self._sites.move_to_end(key)
        return site


def _text(pieces: list[str], volatile: Volatile) -> bytes:
    """What is kept of a text: three bytes of its fingerprint, and one that tells for what is ignored."""
    return fingerprint(pieces, volatile).to_bytes(8)[:3] + bytes((volatile.generation,))
