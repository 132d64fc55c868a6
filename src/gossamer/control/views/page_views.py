"""The view of what was visited."""

from collections.abc import Iterator
from typing import Literal

import msgspec

from gossamer.control.views.context import ViewContext
from gossamer.control.views.paging import Cursor as CursorText
from gossamer.control.views.paging import Limit, Page, Patience, behind, cursor_of, key_of, offset_of, take
from gossamer.inspect.crawl_log import backwards, visit_of
from gossamer.inspect.url_places import UrlPlaces
from gossamer.model.disposition import PageState
from gossamer.model.quantity import Count
from gossamer.model.reasons.reason import Reason, sentence
from gossamer.model.url import Url
from gossamer.state.environment import Family
from gossamer.state.records import PageRecord, PlaceRecord, decode_page


class Pages(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Which URLs; `mime` is how the media type begins, `state` what became of them.

    Without `state` only what was visited is listed; `rejected` has what was turned away at the door.
    By `stored` they come host by host, in no order within one; by `newest` those visited last come first, and
    what was never visited does not come.
    """

    host: str = ""
    status: Count | None = None
    fault: str = ""
    mime: str = ""
    state: Literal["done", "retry", "dropped", "parked", "rejected"] | None = None
    text: str = ""
    sort: Literal["stored", "newest"] = "stored"
    cursor: CursorText | None = None
    limit: Limit = 100


_ROUNDED = 0.001
"""Seconds by which the log may tell the end of a visit too early."""


class PageItem(msgspec.Struct, frozen=True):
    """One URL with what its last visit brought.

    Attributes:
        status: of the last response; 0 if there was none.
        fault: why there was none, or which rule of ours forbade the visit.
        time: wall time of the last visit, or of the refusal.
        why: `reason` as a value.
    """

    url: str
    state: str
    reason: str
    status: int
    fault: str
    mime: str
    bytes: int
    time: float | None
    title: str
    language: str
    depth: int
    visits_made: int
    via: str
    archive: PlaceRecord | None
    result: str = ""
    why: Reason | None = None


def pages(look: ViewContext, params: Pages) -> Page:
    """A page of URLs in the order that was asked for."""
    return _newest(look, params) if params.sort == "newest" else _stored(look, params)


def _newest(look: ViewContext, params: Pages) -> Page:
    """Backwards along the log, which has the visits in their order; a URL comes with its last one."""
    path = look.folder.log
    size = path.stat().st_size if path.exists() else 0
    end = min(offset_of(params.cursor, "b"), size) if params.cursor else size
    places, patience = look.places(), Patience()
    host = look.fingerprints().host(params.host) if params.host else b""
    found: list[PageItem] = []
    for place, line in backwards(path, end):
        record = _last_seen(places, line, host)
        if record is not None and _is_wanted(record, params):
            found.append(_item(record))
        if len(found) == params.limit or patience.over:
            return Page(found, f"b:{place}")
    return Page(found)


def _last_seen(places: UrlPlaces, line: bytes, host: bytes) -> PageRecord | None:
    """What is known of the URL that a line of the log tells of, if that was its last visit."""
    told = visit_of(line)
    url = Url.from_serialised(told.url) if told is not None else None
    if told is None or url is None:
        return None
    key = places.fingerprint(url)
    record = places.record(key) if key.startswith(host) else None
    last = record.visits[-1] if record is not None and record.visits else None
    return record if last is not None and told.at + _ROUNDED >= last.at else None


def _stored(look: ViewContext, params: Pages) -> Page:
    _, last = key_of(params.cursor, ("k",))
    prefix = look.fingerprints().host(params.host) if params.host else b""

    def entries() -> Iterator[tuple[bytes, PageItem | None]]:
        for key, data in look.environment.scan(Family.PAGES, behind(last), prefix):
            record = decode_page(data)
            yield key, _item(record) if _is_wanted(record, params) else None

    found, last_key = take(entries(), params.limit)
    return Page(found, cursor_of("k", last_key) if last_key is not None else None)


def _is_wanted(record: PageRecord, params: Pages) -> bool:
    if params.state is None:
        if record.state == PageState.REJECTED:
            return False
    elif record.state != params.state:
        return False
    last = record.visits[-1] if record.visits else None
    if params.status is not None and (last is None or last.status != params.status):
        return False
    if params.fault and (last is None or last.fault != params.fault):
        return False
    return record.media_type.startswith(params.mime) and params.text in record.url


def _item(record: PageRecord) -> PageItem:
    last = record.visits[-1] if record.visits else None
    return PageItem(
        url=record.url,
        state=record.state,
        reason=sentence(record.reason),
        why=record.reason,
        status=last.status if last else 0,
        fault=last.fault if last else "",
        mime=record.media_type,
        bytes=last.size if last else 0,
        time=round(last.at, 3) if last else None,
        title=record.title,
        language=record.language,
        depth=record.depth,
        visits_made=record.visits_made,
        via=record.via,
        archive=record.place,
        result=last.said if last else "",
    )
