"""What the farm's servers note of each request."""

from collections import defaultdict
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple


class Noted(NamedTuple):
    """A request that arrived.

    Attributes:
        at: seconds of the monotonic clock.
        until: when the answer was given; the same clock.
        case: that answered; empty: none.
        status: of the answer; 0 if it had none.
    """

    at: float
    until: float
    host: str
    method: str
    target: str
    case: str
    status: int


def shortest_gaps(noted: Sequence[Noted]) -> dict[str, float]:
    """Seconds between the beginnings of two requests to one host, the shortest by host, for those asked twice."""
    times: defaultdict[str, list[float]] = defaultdict(list)
    for one in sorted(noted):
        times[one.host].append(one.at)
    return {
        host: min(later - sooner for sooner, later in pairwise(found))
        for host, found in times.items()
        if len(found) > 1
    }


def answered(noted: Sequence[Noted]) -> list[Noted]:
    """Without hosts that left a request unanswered: libraries of HTTP repeat such a one at once (RFC 9112 9.3.1)."""
    silent = {one.host for one in noted if not one.status}
    return [one for one in noted if one.host not in silent]


def overlaps(noted: Sequence[Noted]) -> int:
    """Requests that arrived while another to the same host was being answered."""
    busy: dict[str, float] = {}
    found = 0
    for one in sorted(noted):
        found += one.at < busy.get(one.host, 0.0)
        busy[one.host] = max(one.until, busy.get(one.host, 0.0))
    return found
