"""Finds what is gone: hosts that have left, one line for each, and some pages of the others."""

import time
from collections.abc import Collection, Iterator
from itertools import islice
from typing import Literal

import msgspec

from gossamer.inspect.archive.reference_counts import references
from gossamer.inspect.inspection import Inspection
from gossamer.model.link import ends_at_robots
from gossamer.model.outcome import Fault
from gossamer.model.url import Url
from gossamer.policy.revisit.gone import Presence
from gossamer.policy.urls.queue_key import queue_key
from gossamer.state.environment import Environment, Family
from gossamer.state.records import HostRecord, decode_host, decode_page

LOOKED_AT = 200_000
"""Records that a report goes through for the pages it names."""


class LeftHost(msgspec.Struct, frozen=True):
    """One host that was there.

    Attributes:
        host: name of its queue.
        lacks: `name`: it does not resolve any more; `pages`: all its pages are gone.
        pages: that were there.
        since: wall time of the first failure, or since when the last of its pages is gone; 0 if not known.
    """

    host: str
    lacks: Literal["name", "pages"]
    pages: int
    since: float


class GonePage(msgspec.Struct, frozen=True):
    """One page that is not there any more.

    Attributes:
        since: wall time of the first of the visits that missed it.
        via: the page it was found on first; empty for a seed.
        referrers: how many pages mention it now; `None` before `gossamer export links`.
    """

    url: str
    since: float
    via: str
    referrers: int | None


def some_gone(inspection: Inspection, most: int, without: Collection[str] = ()) -> list[GonePage]:
    """The first pages that are gone, by host, among the first `LOOKED_AT` records.

    Args:
        inspection: of the crawl.
        most: pages.
        without: names of queues whose pages are not told of one by one, because they have left.
    """
    canonical = inspection.config.document_name
    key_of = queue_key(inspection.config.engine.queue_key)
    found: list[GonePage] = []
    for _, data in islice(inspection.environment.scan(Family.PAGES), LOOKED_AT):
        record = decode_page(data)
        url = Url.from_serialised(record.url) if record.presence is Presence.GONE else None
        if url is None or key_of(url) in without:
            continue
        counted = references(inspection.links, canonical(url))
        pages = counted.pages if counted is not None else None
        found.append(GonePage(record.url, float(record.gone), record.via, pages))
        if len(found) == most:
            break
    return found


def left_hosts(inspection: Inspection) -> Iterator[tuple[bytes, LeftHost]]:
    """(key, host) of each that has left; of the others at most a page or two are looked at."""
    for part in inspection.each.values():
        for key, data in part.environment.scan(Family.HOSTS):
            record = decode_host(data)
            if record.pages and (found := _left(part, key, record)) is not None:
                yield key, found


def _left(part: Inspection, key: bytes, record: HostRecord) -> LeftHost | None:
    trouble = record.parked or record.reason
    if trouble is not None and trouble.has(Fault.NAME_NOT_FOUND):
        ago = part.clock.micros() / 1e6 - record.failing_since
        since = time.time() - ago if record.failing_since else 0.0
        return LeftHost(record.name, "name", record.pages, since)
    return _without_pages(part.environment, key, record.name)


def _without_pages(environment: Environment, key: bytes, name: str) -> LeftHost | None:
    """A host all of whose pages are gone; `None` at the first that is not."""
    gone, since = 0, 0
    for _, data in environment.scan(Family.PAGES, key, key):
        record = decode_page(data)
        presence = record.presence
        if presence is Presence.NEVER or ends_at_robots(record.hops):
            continue
        if presence is not Presence.GONE:
            return None
        gone += 1
        since = max(since, record.gone)
    return LeftHost(name, "pages", gone, float(since)) if gone else None
