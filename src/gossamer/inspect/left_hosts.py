"""Finds the hosts that have left: their name is no more, or no page of theirs is there. One line for each."""

import time
from collections.abc import Iterator
from typing import Literal

import msgspec

from gossamer.inspect.inspection import Inspection
from gossamer.inspect.url_list import is_gone
from gossamer.model.outcome import Fault
from gossamer.state.environment import Environment, Family
from gossamer.state.records import HostRecord, decode_host, decode_page


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
        if not record.history:
            continue  # what was never there, such as a robots file or a link that is broken
        if not is_gone(record):
            return None
        gone += 1
        since = max(since, record.gone)
    return LeftHost(name, "pages", gone, float(since)) if gone else None
