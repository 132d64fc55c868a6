"""HTTP/3: where it is asked for, and where servers offer it at their own address (`Alt-Svc`, RFC 7838)."""

import time
from collections.abc import Callable, Iterable
from enum import Enum
from functools import cache

import msgspec
import pycurl

from gossamer.model.exchange import Truncation
from gossamer.model.outcome import Failed, Fault
from gossamer.model.url import Url

HTTP_3 = 30
"""How libcurl calls it, where asked for (with TCP beside it) and where told."""
_HTTP_3_ONLY = 31
_MISDIRECTED = 421

_OFFERED_FOR = 86_400.0
"""Seconds that an offer holds if it names none (RFC 7838 3.1)."""
_LONGEST = 7 * 86_400.0
_AVOIDED_FOR = 3_600.0
"""Seconds for which a server's offers are not believed after one did not hold."""
_MOST_ORIGINS = 4_096
"""Origins remembered, the longest known forgotten first: they offer again with their next answer."""
_MOST_ALTERNATIVES = 32


class Way(Enum):
    """By which protocols a visit may go out."""

    TCP = "tcp"
    LISTEN = "listen"  # TCP; an offer in the answer is heard
    TRY = "try"  # an offer that nobody has taken up: HTTP/3 and TCP at once, on a new connection
    OFFERED = "offered"  # HTTP/3, as the offer has held before
    ONLY = "only"  # HTTP/3, by choice


def take(easy: pycurl.Curl, way: Way) -> None:
    """Have a new handle go out so.

    To try it, QUIC is begun first and TCP a moment later (RFC 8305), so that a server that does not answer by
    UDP costs 0.1 s. libcurl would take a kept connection over TCP before that: hence a new one, and afterwards
    HTTP/3 alone.
    """
    if way is Way.TRY:
        easy.setopt(pycurl.HTTP_VERSION, HTTP_3)
        easy.setopt(pycurl.FRESH_CONNECT, 1)
    elif way in (Way.OFFERED, Way.ONLY):
        easy.setopt(pycurl.HTTP_VERSION, _HTTP_3_ONLY)


@cache
def speaks_http3() -> bool:
    """Whether the libcurl here was built with HTTP/3."""
    easy = pycurl.Curl()
    try:
        easy.setopt(pycurl.HTTP_VERSION, HTTP_3)
    except pycurl.error:
        return False
    finally:
        easy.close()
    return True


class _Offer(msgspec.Struct, gc=False):
    """What is known of an origin until a time of the clock; `LISTEN` if its offers are not believed."""

    until: float
    way: Way


class Offers:
    """Which origins offer HTTP/3, and whether that holds. In memory: servers offer with every answer.

    An offer is taken for the origin's own host and port alone. Any other place would be a server that neither
    the address guard nor the host's rest has been asked about.

    What did not come whole by an offer has failed, so that it comes again, and by TCP: an offer may save time
    and must never cost a page.
    """

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._offers: dict[str, _Offer] = {}

    def way(self, origin: str) -> Way:
        """How to go out to an origin."""
        offer = self._offers.get(origin)
        return offer.way if offer is not None and self._now() < offer.until else Way.LISTEN

    def heard(self, url: Url, fields: Iterable[str]) -> None:
        """Take the `Alt-Svc` fields of an answer, which replace all that were before (RFC 7838 3.1)."""
        way, known = self.way(url.origin), self._offers.get(url.origin)
        if way is Way.LISTEN and known is not None and self._now() < known.until:
            return
        seconds = max((offered(field, url) for field in fields), default=None)
        if seconds == 0.0:
            self._offers.pop(url.origin, None)
        elif seconds is not None:
            self._keep(url.origin, seconds, Way.TRY if way is Way.LISTEN else way)

    def judge(
        self, origin: str, way: Way, verdict: Truncation | Failed | None, version: int, status: int
    ) -> Truncation | Failed | None:
        """The verdict on a visit that went out by an offer, after learning from it."""
        by_quic = way is Way.OFFERED or version == HTTP_3
        if by_quic and verdict in (None, Truncation.LENGTH) and status != _MISDIRECTED:
            offer = self._offers.get(origin)
            if offer is not None and offer.way is Way.TRY:
                offer.way = Way.OFFERED
            return verdict
        self._keep(origin, _AVOIDED_FOR, Way.LISTEN)
        return Failed(Fault.RESET, "not whole by HTTP/3, asked for again by TCP") if by_quic else verdict

    def _keep(self, origin: str, seconds: float, way: Way) -> None:
        self._offers[origin] = _Offer(self._now() + seconds, way)
        if len(self._offers) > _MOST_ORIGINS:
            del self._offers[next(iter(self._offers))]


def offered(field: str, url: Url) -> float:
    """Seconds for which an `Alt-Svc` field offers HTTP/3 at the host and port of `url`; 0: it does not.

    `clear` offers nothing, and neither does what cannot be read.
    """
    for alternative in field.split(",", _MOST_ALTERNATIVES)[:_MOST_ALTERNATIVES]:
        service, *parameters = (part.strip() for part in alternative.split(";"))
        protocol, _, authority = service.partition("=")
        host, _, port = authority.strip('"').rpartition(":")
        if protocol == "h3" and host.lower() in ("", url.host) and port == str(url.port):
            return _age(parameters)
    return 0.0


def _age(parameters: Iterable[str]) -> float:
    for parameter in parameters:
        name, _, value = parameter.partition("=")
        if name.lower() == "ma":
            digits = value.strip('"')
            return min(float(digits), _LONGEST) if digits.isascii() and digits.isdigit() else 0.0
    return _OFFERED_FOR
