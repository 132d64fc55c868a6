"""Counts what the state tells of hosts and of their robots files."""

from collections.abc import Callable

import msgspec

from gossamer.inspect.inspection import Inspection
from gossamer.report.census.tallies import Largest, Spread
from gossamer.report.figures import Hosts, QueueLine
from gossamer.state.environment import Family
from gossamer.state.records import HostRecord, decode_host

LISTED = 20
PARKED = 15


class _RobotsState(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """The first field of a `RobotsRecord`; the rules behind it may be large."""

    state: str


_robots = msgspec.msgpack.Decoder(_RobotsState).decode


def host_census(inspection: Inspection, heard: Callable[[bytes, HostRecord], object]) -> Hosts:
    """The figures of all hosts, some 6 us for each; `heard` is told of every key and record."""
    by_state: dict[str, int] = {}
    pages = Spread(1.0)
    largest: Largest[HostRecord] = Largest(LISTED)
    parked: Largest[HostRecord] = Largest(PARKED)
    delays = 0
    for key, data in inspection.environment.scan(Family.HOSTS):
        record = decode_host(data)
        heard(key, record)
        state = inspection.host_line(record).state
        by_state[state] = by_state.get(state, 0) + 1
        pages.add(record.pages)
        delays += record.crawl_delay > 0
        if record.pages > largest.least:
            largest.offer(record.pages, record)
        left = record.queued + record.waiting
        if record.parked and left > parked.least:
            parked.offer(left, record)
    return Hosts(
        by_state=by_state,
        most_pages=[_line(inspection, record) for record in largest],
        parked=[_line(inspection, record) for record in parked],
        pages=pages.histogram(),
        crawl_delays=delays,
        robots=_robots_states(inspection),
    )


def _robots_states(inspection: Inspection) -> dict[str, int]:
    states: dict[str, int] = {}
    for _, data in inspection.environment.scan(Family.ROBOTS):
        state = _robots(data).state
        states[state] = states.get(state, 0) + 1
    return states


def _line(inspection: Inspection, record: HostRecord) -> QueueLine:
    line = inspection.host_line(record)
    return QueueLine(
        name=record.name,
        state=line.state,
        pages=record.pages,
        bytes=record.bytes,
        visits=record.visits,
        queued=record.queued,
        waiting=record.waiting,
        reason=line.reason,
    )
