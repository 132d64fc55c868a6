"""Views of URLs: a list with every filter and column, one URL, and what was captured of it."""

from typing import Annotated, Any

import msgspec
from msgspec import Meta

from gossamer.control.socket.protocol import invalid
from gossamer.control.views.context import ViewContext
from gossamer.control.views.paging import Cursor as CursorText
from gossamer.control.views.paging import Limit, Page, behind, cursor_of, key_of, page_of_list, take
from gossamer.inspect.archive.calendar import Calendar, calendar_of
from gossamer.inspect.archive.lookup import captures_of, instant
from gossamer.inspect.archive.reference_counts import references
from gossamer.inspect.due_times import DueTimes
from gossamer.inspect.url_list import COLUMNS, Listed, Wanted, line_of, walked
from gossamer.inspect.url_places import UrlPlaces, fingerprints_of
from gossamer.inspect.why.story import Storyteller, url_of
from gossamer.model.reasons.reason import of, text
from gossamer.model.url import Url
from gossamer.state.records import PageRecord

_USUAL = ("url", "state", "status", "type", "bytes", "time", "title")
_Address = Annotated[str, Meta(min_length=1, max_length=20_000)]
_Text = Annotated[str, Meta(max_length=2_000)]


class UrlList(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Which URLs, and what of them; what is empty asks for nothing.

    `state` is what became of it, `status` a number, a class of them (`4xx`) or another protocol's result,
    `under` how the URL begins, `broken` only what somebody links to and was given up, `gone` only what was there
    and is not any more (`soft`: though the server says 200), `orphans` only what is there though no page mentions
    it now, `type` how the media type begins, `host` a name (with a leading dot those below it too), `match` a
    pattern of path and query, or of the whole address if it has a scheme (`*` is anything, `re:` begins a regular
    expression that occurs in the address), `since` a time (2026-01-31, 2026-01-31T12:00:00Z), `columns`
    names with commas between.
    """

    state: Annotated[str, Meta(max_length=20)] = ""
    status: Annotated[str, Meta(max_length=40)] = ""
    under: Annotated[str, Meta(max_length=20_000)] = ""
    broken: bool = False
    gone: bool = False
    orphans: bool = False
    type: Annotated[str, Meta(max_length=200)] = ""
    host: Annotated[str, Meta(max_length=254)] = ""
    match: _Text = ""
    since: Annotated[str, Meta(max_length=40)] = ""
    columns: _Text = ""
    cursor: CursorText | None = None
    limit: Limit = 100


MOST_CAPTURES = 10_000
"""Of one URL that are looked through, those made last; a day (`during`) leads to the others."""


class Captures(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Of which URL; with or without `www.`, and over http or https, if only such was captured. `during` is a year,
    month or day (2026, 2026-01, 2026-01-31); of more than 10,000 the last are listed."""

    url: _Address
    during: Annotated[str, Meta(pattern=r"^([0-9]{4}(-[0-9]{2}){0,2})?$")] = ""
    cursor: CursorText | None = None
    limit: Limit = 100


class Year(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Of which URL, and of which year; the last with captures if that has none."""

    url: _Address
    year: Annotated[str, Meta(pattern=r"^([0-9]{4})?$")] = ""


class OneUrl(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Parameters of the view of one URL: its address, as `why` takes it."""

    url: _Address


class Known(msgspec.Struct, frozen=True):
    """What is known of one URL.

    Attributes:
        url: in full.
        state: what became of it: `done`, `retry`, `dropped`, `parked`, `rejected`, `queued`, `waiting` or
            `unknown`.
        listed: as the list has it; nothing before it was visited or turned away.
        description, author: as the page says.
        captures: how often it was captured; 10,000 may be more.
        referrers_as_of: when the pages that refer to it were counted (wall time); nothing before
            `gossamer export links`.
    """

    url: str
    state: str
    listed: Listed | None
    description: str = ""
    author: str = ""
    captures: int = 0
    referrers_as_of: float | None = None


def url_list(look: ViewContext, params: UrlList) -> Page:
    """URLs that were visited or turned away, by host, with the columns that are asked for."""
    names = [name.strip() for name in params.columns.split(",")] if params.columns else list(_USUAL)
    if unknown := [name for name in names if name not in COLUMNS]:
        words = f"there is no {unknown[0]!r}; there are {', '.join(COLUMNS)}"
        raise invalid((of("columns", text(words)),))
    wanted = Wanted(
        params.state,
        params.status,
        params.under,
        params.broken,
        params.type,
        params.host,
        params.match,
        instant(params.since) if params.since else 0.0,
        gone=params.gone,
        orphans=params.orphans,
    )
    _, last = key_of(params.cursor, ("k",))
    entries = walked(look.inspection(), wanted, behind(last), referrers="referrers" in names)
    found, last_key = take(entries, params.limit)
    items: list[dict[str, Any]] = [{name: getattr(one, name) for name in names} for one in found]
    return Page(items, cursor_of("k", last_key) if last_key is not None else None)


def _due(look: ViewContext, url: Url, record: PageRecord) -> float | None:
    prints = fingerprints_of(look.environment)
    if prints is None:
        return None
    fingerprint = UrlPlaces(look.environment, prints, look.config).fingerprint(url)
    return DueTimes(look.environment, look.config)(fingerprint, record)


def captures(look: ViewContext, params: Captures) -> Page:
    """The captures of a URL as the index tells them, the latest first."""
    inspection = look.inspection()
    during = params.during.replace("-", "")
    found = captures_of(inspection, url_of(inspection, params.url), during, MOST_CAPTURES)[::-1]
    return page_of_list(found, params.cursor, params.limit)


def calendar(look: ViewContext, params: Year) -> Calendar:
    """On which days of a year a URL was captured, and how often."""
    inspection = look.inspection()
    return calendar_of(inspection, url_of(inspection, params.url), params.year)


def page(look: ViewContext, params: OneUrl) -> Known:
    """What is known of one URL, in short; `why` tells how it came about."""
    inspection = look.inspection()
    story = Storyteller(inspection).tell(params.url)
    url = url_of(inspection, params.url)
    count = references(inspection.links, inspection.config.document_name(url))
    record = story.record
    return Known(
        story.url,
        story.state,
        line_of(record, count.pages if count is not None else None, _due(look, url, record))
        if record is not None
        else None,
        record.description if record is not None else "",
        record.author if record is not None else "",
        len(captures_of(inspection, url, latest=MOST_CAPTURES)),
        count.at if count is not None else None,
    )
