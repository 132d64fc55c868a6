"""Decides how a visit stands in the archive: response, revisit of a twin, or not at all."""

from collections import deque
from collections.abc import Iterable, Iterator
from hashlib import blake2b

import msgspec

from gossamer.archive.cdxj import index_entry
from gossamer.archive.committed import archive_key
from gossamer.archive.placement import Original, Placed
from gossamer.archive.stamps import warc_date
from gossamer.archive.writer import ArchiveWriter
from gossamer.engine.admission.other_agents import OtherAgentsDigests
from gossamer.engine.in_thread import in_thread
from gossamer.engine.settlement.visit_log import LOG, VisitLog
from gossamer.engine.visiting.visit import Visit
from gossamer.model.events import NameAnswered, Visited
from gossamer.model.exchange import Exchange
from gossamer.model.link import LinkKind
from gossamer.model.name import Answer
from gossamer.model.outcome import Fetched
from gossamer.model.page import Page
from gossamer.model.url import Url
from gossamer.state.environment import Batch, Environment, Family
from gossamer.state.records import (
    Counters,
    DigestRecord,
    PageRecord,
    SharedDigestRecord,
    decode_digest,
    encode,
)

THREAD_ABOVE = 1 << 20
"""Bodies above this are compressed in a thread, because a MiB takes about 5 ms."""

_PAYLOAD = b"p"
_CONTENT = b"c"
_NAME = b"n"

NAMES_AT_ONCE = 200
"""`dns:` records written with one group, some 50 us each: thousands of names may be resolved ahead."""


class Kept(msgspec.Struct, frozen=True):
    """Where a visit went in the archive."""

    placed: Placed
    twin: str  # another URL, of the first response with the same payload, if this is a revisit record


class Archivist:
    """Writes visits in settlement order and enters them in the batch: digests, captures, lengths of files.

    Digests of the group that is being settled are remembered until its commit, so that two equal pages
    found at once are told apart from their first copy.
    """

    def __init__(
        self,
        writer: ArchiveWriter,
        log: VisitLog,
        environment: Environment,
        counters: Counters,
        digests: OtherAgentsDigests | None = None,
    ) -> None:
        """`digests`: what the other agents have met, in a cluster that shares it."""
        self._writer = writer
        self._log = log
        self._environment = environment
        self._counters = counters
        self._group: dict[bytes, bytes] = {}
        self._answers: deque[NameAnswered] = deque()
        self._captures: list[tuple[bytes, bytes]] = []
        self._news: list[tuple[bytes, SharedDigestRecord]] = []
        self._digests = digests

    @property
    def repairs(self) -> list[str]:
        """What was cut off or removed from the archive at start, one sentence each."""
        return self._writer.repairs

    # Names …

    def note_name(self, answer: NameAnswered) -> None:
        """Archive an answer of the name servers with the next group."""
        if answer.addresses:
            self._answers.append(answer)

    def write_names(self, most: int = NAMES_AT_ONCE) -> None:
        """Append `dns:` records of answers that are new, or other than the last of their name."""
        while self._answers and most:
            event = self._answers.popleft()
            key = _NAME + event.name.encode()
            mark = blake2b("\n".join(sorted(event.addresses)).encode(), digest_size=8).digest()
            if mark == self._known(key):
                continue
            self._group[key] = mark
            most -= 1
            answer = Answer(
                event.name,
                event.addresses,
                event.ttl,
                server=event.server,
                seconds=event.seconds,
                asked=event.at,
            )
            self._writer.append_dns(answer)

    def _known(self, key: bytes) -> bytes | None:
        """What is known here of a digest."""
        return self._group.get(key) or self._environment.get(Family.DIGESTS, key)

    # Visits …

    async def look_up(self, visit: Visit) -> Visit:
        """The visit, with what other agents know of its content if nothing is known of it here."""
        key = _content_key(visit) if self._digests is not None else b""
        if self._digests is None or not key or self._known(key) is not None:
            return visit
        met = await self._digests.look_up(key)
        return visit if met is None else msgspec.structs.replace(visit, met=met)

    async def write(self, visit: Visit, exchange: Exchange, before: PageRecord | None) -> Kept:
        """Append the records of one visit; a payload met before is archived as a reference to it."""
        original = self._original(exchange, before, visit.met)
        # Of what the server says is as it was, all but the time of the visit stands beside the capture referred to; and
        # the time in the log.
        unmodified = original is not None and exchange.status == 304
        fields = [] if unmodified else _metadata(visit)
        if exchange.body.size > THREAD_ABOVE:
            placed = await in_thread(self._writer.append, exchange, fields, original)
        else:
            placed = self._writer.append(exchange, fields, original)
        if original is None and _comparable(exchange):
            record = DigestRecord(exchange.url.text, placed.date, placed.record_id)
            self._group[_PAYLOAD + exchange.body.sha256] = encode(record)
        media_type = visit.page.media_type if visit.page else "" if unmodified else _essence(exchange)
        entry = index_entry(exchange.url, exchange.started, placed, exchange.status, media_type)
        self._captures.append(entry)
        self._counters.archived += placed.length
        for target, kind, beside in placed.further:
            url = Url.parse(target)
            if url is not None:  # else it has a name of its own, by which nobody looks it up
                self._captures.append(index_entry(url, exchange.started, beside, 0, kind))
            self._counters.archived += beside.length
        twin = original.url if original and placed.is_revisit else ""
        return Kept(placed, "" if twin == exchange.url.text else twin)

    def _original(
        self, exchange: Exchange, before: PageRecord | None, met: SharedDigestRecord | None
    ) -> Original | None:
        if exchange.status == 304:
            if before is None or not before.captured or not before.payload:
                return None
            # What was captured last may be a reference itself, and readers do not follow two.
            first = self._known(_PAYLOAD + before.payload)
            if first is None:
                return Original(exchange.url.text, before.captured, before.payload)
            return _original_of(first, before.payload)
        if not _comparable(exchange):
            return None
        digest = exchange.body.sha256
        key = _PAYLOAD + digest
        data = self._known(key)
        if data is None:
            if met is None or met.payload != digest:
                return None
            # Kept, so that nobody is asked for it again.
            data = self._group[key] = encode(DigestRecord(met.url, met.date, met.record_id))
        return _original_of(data, digest)

    def met_at(self, page: Page, met: SharedDigestRecord | None = None) -> str:
        """The URL at which the decoded content was met before (W10), or empty.

        `met`: what another agent knows of it.
        """
        if not page.content_digest:
            return ""
        first = self._known(_CONTENT + page.content_digest.to_bytes(8, "big"))
        at = first.decode() if first is not None else met.url if met is not None else ""
        return "" if at == page.url.text else at  # its own, visited again

    def first_seen(self, page: Page, met: SharedDigestRecord | None = None) -> str:
        """As `met_at`; it has been met, from now on."""
        first = self.met_at(page, met)
        if page.content_digest:
            key = _CONTENT + page.content_digest.to_bytes(8, "big")
            if self._known(key) is None:
                self._group[key] = (first or page.url.text).encode()
        return first

    def tell_elsewhere(self, visit: Visit, kept: Kept | None, first_seen: str) -> None:
        """Have other agents hear of a visit that was written, if its content is new here."""
        key = _content_key(visit) if self._digests is not None else b""
        if not key or first_seen or key not in self._group or not isinstance(visit.outcome, Fetched):
            return
        url = visit.outcome.exchange.url.text
        if kept is not None and not kept.twin and _comparable(visit.outcome.exchange):
            placed = kept.placed
            self._news.append((key, SharedDigestRecord(url, placed.sha256, placed.date, placed.record_id)))
        elif key.startswith(_CONTENT):
            self._news.append((key, SharedDigestRecord(url)))

    # Committing …

    def enter(self, batch: Batch, visits: Iterable[Visited] = ()) -> None:
        """Log `visits`, and put what was written since the last commit into `batch`."""
        batch.put(Family.META, LOG, encode(self._log.write(visits)))
        for key, data in self._group.items():
            batch.put(Family.DIGESTS, key, data)
        for key, line in self._captures:
            batch.put(Family.CAPTURES, key, line)
        for file in self._writer.positions():
            batch.put(Family.META, archive_key(file.name), encode(file))

    async def committed(self) -> None:
        """The batch is on disk; a file that is full is closed now."""
        self._group.clear()
        self._captures.clear()
        if self._digests is not None:
            for key, record in self._news:
                self._digests.learnt(key, record)
            self._news.clear()
        self._writer.committed()
        if self._writer.rotate_due:
            await in_thread(self._writer.rotate)

    def close(self) -> None:
        """Finish the current file; `enter` its final length afterwards."""
        self.write_names(len(self._answers))
        self._writer.close()

    def captures(self) -> Iterator[bytes]:
        """The lines of the index in key order."""
        for _, line in self._environment.scan(Family.CAPTURES):
            yield line


def _original_of(data: bytes, sha256: bytes) -> Original:
    """The first record of a payload, by what is kept of it."""
    first = decode_digest(data)
    return Original(first.url, first.date, sha256, first.record_id)


def _comparable(exchange: Exchange) -> bool:
    """Only whole, non-empty, successful responses stand for their content."""
    return exchange.status == 200 and exchange.body.size > 0 and exchange.truncated is None


def _content_key(visit: Visit) -> bytes:
    """By what a cluster knows the content of a visit; empty if there is nothing to be compared.

    One key a visit, so that one agent is asked: the decoded content if the visit is a page, else the payload.
    """
    if visit.page is not None and visit.page.content_digest:
        return _CONTENT + visit.page.content_digest.to_bytes(8, "big")
    if not isinstance(visit.outcome, Fetched) or visit.lease.candidate.kind is LinkKind.ROBOTS:
        return b""  # a robots file is as short as the reference to another
    exchange = visit.outcome.exchange
    return _PAYLOAD + exchange.body.sha256 if _comparable(exchange) else b""


def _essence(exchange: Exchange) -> str:
    return exchange.headers.get("content-type").partition(";")[0].strip().lower()


def _metadata(visit: Visit) -> list[tuple[str, str]]:
    """Fields of the metadata record, named as Heritrix names them where it has them."""
    candidate = visit.lease.candidate
    fields = []
    if candidate.via:
        fields.append(("via", candidate.via))
    if candidate.hops:
        fields.append(("hopsFromSeed", candidate.hops))
    fields.append(("fetchTimeMs", str(int(visit.elapsed * 1000))))
    if isinstance(visit.outcome, Fetched):
        place = 0
        for part in visit.outcome.exchange.parts:
            end = place + part.size
            fields.append(("bodyPart", f"{warc_date(part.started)} bytes {place}-{end - 1} {part.address}"))
            place = end
    page = visit.page
    if page is not None:
        if page.charset:
            fields.append(("charsetForLinkExtraction", page.charset))
        if page.directives.noarchive:
            fields.append(("robotsDirective", "noarchive"))
    return fields
