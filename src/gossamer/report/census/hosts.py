"""Counts what the state tells of hosts and of their robots files."""

from collections.abc import Callable

import msgspec

from gossamer.inspect.hosts import HostCount, HostItem, host_item
from gossamer.inspect.inspection import Inspection
from gossamer.report.census.tallies import Spread
from gossamer.report.figures import Hosts
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
    pages = Spread(1.0)
    delays = 0
    now = inspection.clock.micros()
    count = HostCount(lambda: now, ("pages", "queued"), LISTED)
    for key, data in inspection.environment.scan(Family.HOSTS):
        record = decode_host(data)
        heard(key, record)
        count.add(key, record)
        pages.add(record.pages)
        delays += record.crawl_delay > 0

    def listed(records: list[HostRecord]) -> list[HostItem]:
        return [host_item(record, now, inspection.config) for record in records]

    return Hosts(
        by_state=count.by_state,
        most_pages=listed(count.largest("pages")),
        parked=listed(count.largest("queued", "parked")[:PARKED]),
        pages=pages.histogram(),
        crawl_delays=delays,
        robots=_robots_states(inspection),
        twins=inspection.twins()[:LISTED],
    )


def _robots_states(inspection: Inspection) -> dict[str, int]:
    states: dict[str, int] = {}
    for _, data in inspection.environment.scan(Family.ROBOTS):
        state = _robots(data).state
        states[state] = states.get(state, 0) + 1
    return states
