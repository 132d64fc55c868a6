"""Counts the hosts that rest, as the views of hosts tell them apart, in a bounded time."""

from gossamer.state.environment import Environment, Family
from gossamer.state.records import HostRecord, decode_host

LOOKED_AT = 1_000
"""Hosts that stand for all, because keys are keyed hashes: 1.5 ms, and off by 3% of all at worst in 19 of
20 cases. Always the same ones, so that a line over time does not jump."""


def rests(record: HostRecord, now: int) -> bool:
    """Whether a host has URLs in its queue and may not be visited yet; `now` in crawl-clock microseconds."""
    return not record.parked and record.queued > 0 and record.due > now


def resting_hosts(environment: Environment, now: int, hosts: int) -> int:
    """How many of all `hosts` rest, as of the last commit; estimated if there are more than `LOOKED_AT`."""
    found = 0
    for looked_at, (_, data) in enumerate(environment.scan(Family.HOSTS), 1):
        found += rests(decode_host(data), now)
        if looked_at == LOOKED_AT:
            return round(found * max(1.0, hosts / looked_at))
    return found
