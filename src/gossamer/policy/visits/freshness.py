"""Tells how long a response may be taken for unchanged (RFC 9111, 4.2)."""

import re

from gossamer.model.exchange import Headers
from gossamer.policy.visits.http_date import parse_http_date

LONGEST_HEURISTIC = 86_400.0
_MAX_AGE = re.compile(r"(?:^|[\s,])max-age\s*=\s*\"?(\d{1,10})", re.IGNORECASE)
_NO_STORE = re.compile(r"(?:^|[\s,])no-(?:store|cache)(?:$|[\s,=])", re.IGNORECASE)


def fresh_until(headers: Headers, received: float) -> float:
    """Wall time until which the response is fresh; 0 if it says nothing, or forbids keeping it.

    `max-age` before `Expires` before a tenth of its age by `Last-Modified` (at most a day).
    """
    if headers.get("cache-control"):
        control = ", ".join(headers.get_all("cache-control"))
        if _NO_STORE.search(control):
            return 0.0
        if match := _MAX_AGE.search(control):
            return received + int(match[1])
    if expires := headers.get("expires"):
        moment = parse_http_date(expires, received)
        date = parse_http_date(headers.get("date"), received) or received
        return received + max(0.0, moment - date) if moment is not None else 0.0
    if modified := headers.get("last-modified"):
        # Against our own clock, not `Date`: a tenth is no more exact than that, and parsing costs.
        moment = parse_http_date(modified, received)
        if moment is not None and moment < received:
            return received + min((received - moment) / 10, LONGEST_HEURISTIC)
    return 0.0
