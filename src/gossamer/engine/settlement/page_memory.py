"""What we know of single URLs: read before a visit, brought up to date after it."""

import time
from collections.abc import Iterator

import msgspec

from gossamer.engine.settlement.archivist import Kept
from gossamer.engine.visiting.visit import Visit
from gossamer.model.disposition import Again, Disposition, Done, Dropped, PageState, page_state
from gossamer.model.exchange import BROKEN_OFF, Exchange, StatusAction
from gossamer.model.lease import Lease
from gossamer.model.link import LinkKind
from gossamer.model.outcome import Failed, Fetched, Refused
from gossamer.model.page import Page
from gossamer.model.reasons.codes import NoteCode
from gossamer.model.reasons.reason import Reason, because, text
from gossamer.model.url import Url
from gossamer.policy.revisit.gone import GONE_STATUSES, Presence
from gossamer.policy.visits.freshness import fresh_until
from gossamer.policy.visits.retry import CUTS, action_of, redirect_location
from gossamer.state.environment import Batch, Environment, Family
from gossamer.state.keys import arrival_of, split_ticket
from gossamer.state.records import PageRecord, PlaceRecord, VisitRecord, decode_page, encode, recent_page

VISITS_KEPT = 5
LONGEST_VALIDATOR = 1_000
LONGEST_DETAIL = 500
MOST_NOTES = 10


class PageMemory:
    """The `pages` family: one record per URL that was visited or turned away (K7)."""

    def __init__(self, environment: Environment) -> None:
        self._environment = environment

    def get(self, fingerprint: bytes) -> PageRecord | None:
        """What is known, or `None`."""
        data = self._environment.get(Family.PAGES, fingerprint)
        return recent_page(data) if data else None

    def of_host(self, host: bytes, start: bytes = b"") -> Iterator[tuple[bytes, PageRecord]]:
        """(fingerprint, what is known) of what is committed of a host, in order from `start` on."""
        for fingerprint, data in self._environment.scan(Family.PAGES, start, host):
            yield fingerprint, decode_page(data)

    def all(self, start: bytes = b"") -> Iterator[tuple[bytes, PageRecord]]:
        """(fingerprint, what is known) of all that is committed, in order from `start` on."""
        for fingerprint, data in self._environment.scan(Family.PAGES, start):
            yield fingerprint, decode_page(data)

    def put(self, fingerprint: bytes, record: PageRecord, batch: Batch) -> None:
        """Replace what is known, within `batch`."""
        batch.put(Family.PAGES, fingerprint, encode(record))


def page_record(
    lease: Lease,
    visit: Visit,
    disposition: Disposition,
    before: PageRecord | None,
    kept: Kept | None,
    reason: Reason | None,
) -> PageRecord:
    """What is known after a visit. Of earlier visits the last few stay, with what was archived of them."""
    level, number = split_ticket(lease.ticket)[0], arrival_of(lease.ticket)[0]
    candidate = lease.candidate
    known = (
        before
        if before is not None and before.state != PageState.REJECTED
        else PageRecord("", PageState.DONE)
    )
    seen, outcome = known.visits, visit.outcome
    again = disposition.again if isinstance(disposition, (Done, Dropped)) else None
    changed = again.changed if isinstance(again, Again) else None
    if not isinstance(outcome, Refused):
        seen = (*seen, _visit_record(visit, outcome, changed))[-VISITS_KEPT:]
    fields: dict[str, object] = {
        "url": candidate.url.text,
        "state": page_state(disposition),
        "reason": reason or (None if isinstance(disposition, Done) else disposition.reason),
        "kind": candidate.kind,
        "depth": candidate.depth,
        "hops": candidate.hops,
        "via": candidate.via,
        "element": candidate.element or known.element,
        "number": number,
        "weight": level,
        "visits_made": known.visits_made + (not isinstance(outcome, Refused)),
        "visits": seen,
    }
    if candidate.again:
        # It keeps its place in the order of admission.
        fields |= {"number": known.number, "weight": known.weight}
    if known.asked and isinstance(disposition, (Done, Dropped)):
        fields["asked"] = b""
    if isinstance(again, Again):
        fields["history"] = again.history
        if changed:
            fields["changed"] = int(seen[-1].at)
    if isinstance(outcome, Fetched):
        fields |= _response_fields(outcome.exchange, known, kept)
    if visit.page is not None:
        fields |= _page_fields(visit.page)
    record = msgspec.structs.replace(known, **fields)
    gone = _gone_since(record)
    return record if gone == record.gone else msgspec.structs.replace(record, gone=gone)


def _gone_since(record: PageRecord) -> int:
    """When the first of the visits was that missed it; 0 if it is not gone."""
    if record.presence is not Presence.GONE:
        return 0
    if record.gone:
        return record.gone
    first = 0.0
    for visit in reversed(record.visits):
        if visit.status in GONE_STATUSES:
            first = visit.at
        elif 200 <= visit.status < 400:
            break
    return int(first)


def _visit_record(visit: Visit, outcome: Fetched | Failed, changed: bool | None) -> VisitRecord:
    match outcome:
        case Fetched(exchange=exchange):
            return VisitRecord(
                at=exchange.latest.started,
                elapsed=visit.elapsed,
                status=exchange.status,
                notes=_notes(exchange, visit.page),
                size=exchange.body.size,
                address=exchange.latest.address,
                said="" if exchange.result is None else exchange.said,
                changed=changed,
            )
        case Failed(fault=fault, detail=detail):
            at = time.time() - visit.elapsed
            if isinstance(detail, Reason):
                return VisitRecord(at, visit.elapsed, fault=fault, notes=(detail,))
            return VisitRecord(at, visit.elapsed, fault=fault, detail=detail)


def _notes(exchange: Exchange, page: Page | None) -> tuple[Reason, ...]:
    """What status and size of a response do not say: it is not whole, cannot be read, leads nowhere.

    Where it leads is in its record in the archive.
    """
    said = [CUTS[exchange.truncated]] if exchange.truncated else []
    location = redirect_location(exchange.status, exchange.headers)
    if location is not None and Url.parse(location, exchange.url.text) is None:
        said.append(because(NoteCode.NOWHERE, location[:LONGEST_DETAIL]))
    if page is not None:
        said += (text(one[:LONGEST_DETAIL]) if isinstance(one, str) else one for one in page.problems)
    return tuple(said[:MOST_NOTES])


def _response_fields(exchange: Exchange, known: PageRecord, kept: Kept | None) -> dict[str, object]:
    """Of a 304 only its freshness is new: what is stored stays as it was.

    A server may say so unasked, when nothing is stored: then the archive has that answer and no other. It
    stands for no content, so it is no payload that a later one could be compared with.
    """
    fields: dict[str, object] = {"expires": fresh_until(exchange.headers, exchange.started)}
    if action_of(exchange) is StatusAction.UNCHANGED:
        if known.place is None and kept is not None:
            fields["place"] = PlaceRecord(kept.placed.file, kept.placed.offset, kept.placed.length)
        return fields
    if kept is None and known.captured:
        # It will be asked for again, and what is in the archive is the answer before.
        return fields
    as_it_was = exchange.body.sha256 == known.payload and known.place is not None
    fields["etag"] = _validator(exchange, "etag")
    fields["last_modified"] = _validator(exchange, "last-modified")
    fields["payload"] = exchange.body.sha256
    if kept is not None and not (as_it_was and kept.placed.is_revisit):
        placed = kept.placed
        fields["place"] = PlaceRecord(placed.file, placed.offset, placed.length)
        fields["captured"] = placed.date
        fields["twin"] = kept.twin
    return fields


def _validator(exchange: Exchange, name: str) -> str:
    """As it came, or nothing: a part of it would be another one, and of a body that broke off a 304 would never
    bring the rest."""
    if exchange.truncated in BROKEN_OFF:
        return ""
    value = exchange.headers.get(name)
    return value if len(value) <= LONGEST_VALIDATOR else ""


def canonical_of(page: Page) -> str:
    """The URL that a page says is its own (RFC 6596), if that is another; empty if it says nothing."""
    said = next((link.url.text for link in page.links if link.kind is LinkKind.CANONICAL), "")
    return "" if said == page.url.text else said


def _page_fields(page: Page) -> dict[str, object]:
    return {
        "content": page.content_digest,
        "media_type": page.media_type,
        "charset": page.charset,
        "title": page.title,
        "description": page.description,
        "author": page.author,
        "language": page.language,
        "text_length": page.text_length,
        "references": len(page.links),
        "canonical": canonical_of(page),
    }
