"""Sets how long a host rests after a visit (docs/explanation/politeness.md)."""

import re
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from gossamer.model.exchange import Headers
from gossamer.model.quantity import Seconds
from gossamer.policy.places.known import BY_ADDRESS, BY_ANSWER, BY_HOST
from gossamer.policy.visits.http_date import parse_http_date

Evidence = Literal["address", "cname", "certificate"]
"""What shows that hosts are on one server: an address, a name on the chain of CNAMEs, the certificate."""


SERVER_SETTINGS = ("address_delay", "visits_per_address", "server", "server_by")
"""Any of these, given anywhere, lets hosts rest for others on their server."""


class PolitenessConfig(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How gently hosts are treated."""

    min_delay: Annotated[
        Seconds,
        Meta(
            description="Shortest rest of a host after each visit. 0 switches the factor off too: for sites"
            " of your own. Retry-After and Crawl-delay are honoured in any case."
        ),
        BY_ANSWER,
    ] = 1.0
    factor: Annotated[
        float,
        Meta(
            description="A host rests this many times as long as its answer took, so slow hosts are asked"
            " less often.",
            ge=0,
        ),
        BY_ANSWER,
    ] = 5.0
    max_delay: Annotated[Seconds, Meta(description="Longest rest that the factor can cause."), BY_ANSWER] = (
        30.0
    )
    visits_per_host: Annotated[
        int,
        Meta(description="Visits to one host at once; more than 1 only where its owner agrees.", ge=1),
        BY_HOST,
    ] = 1
    address_delay: Annotated[
        Seconds,
        Meta(
            description="Shortest rest of a server after each visit, by whatever name it was visited; 0: each"
            " name rests by itself, however many are on one server. server_by says what a server is."
        ),
        BY_ADDRESS,
    ] = 0.0
    visits_per_address: Annotated[
        int,
        Meta(
            description="Visits to one server at once, by whatever names; 0: 1 if address_delay, server or"
            " server_by is given, else any number.",
            ge=0,
        ),
        BY_ADDRESS,
    ] = 0
    server: Annotated[
        str,
        Meta(
            description="A name of your own for the server, or the servers, that these hosts are on: they rest"
            " together as if by one address, whatever their addresses are; empty: server_by counts.",
            max_length=253,
        ),
        BY_ADDRESS,
    ] = ""
    server_by: Annotated[
        tuple[Evidence, ...],
        Meta(
            description="What shows that hosts are on one server, where it has no name of your own: `address`;"
            " `cname`, their names lead to or over one name by CNAME; `certificate`, they show the same one"
            " (known after the first visit). Several may be given: hosts rest together if one of them agrees."
            " Empty: by address, if address_delay or visits_per_address is given."
        ),
        BY_ADDRESS,
    ] = ()
    max_retry_after: Annotated[
        Seconds,
        Meta(description="Cap on a Retry-After that comes with another status than 429 and 503."),
    ] = 86_400.0
    shared: Annotated[
        str,
        Meta(
            description="Folder that crawls of this machine share so that together they visit a host no more"
            " often than one of them may; empty: each is polite by itself."
        ),
    ] = ""

    def __post_init__(self) -> None:
        if self.shared and not self.shared.startswith(("/", "~")):
            # Resumed from elsewhere, it would share with nobody, in silence.
            raise ValueError("shared: the folder must be given in full, from / or ~")

    @property
    def by_server(self) -> bool:
        """Whether hosts rest for others on their server, too."""
        return any(getattr(self, name) for name in SERVER_SETTINGS)

    @property
    def evidence(self) -> tuple[Evidence, ...]:
        """What shows that hosts are on one server, where `by_server`."""
        return self.server_by or ("address",)


def rest_after(config: PolitenessConfig, elapsed: float, crawl_delay: float | None) -> float:
    """Seconds a host must lie still, counted from the end of the response.

    Args:
        config: as it stands where the visit went.
        elapsed: seconds the visit took.
        crawl_delay: what the host's robots file asks for, already capped, or `None`.
    """
    asked = crawl_delay or 0.0
    if config.min_delay == 0:
        return asked
    return max(config.min_delay, asked, min(config.factor * max(elapsed, 0.0), config.max_delay))


def retry_after(headers: Headers, now: float, longest: float = 86_400.0) -> float | None:
    """Seconds that a response asks us to wait, or `None` if it does not.

    A date counts from the response's own `Date` (RFC 9110, 6.6.1), so that neither our clock nor the
    server's need be right; without one, from `now`.
    """
    value = headers.get("retry-after")
    if not value:
        return None
    sent = parse_http_date(headers.get("date"), now)
    return parse_retry_after(value, now if sent is None else sent, longest)


_DELTA = re.compile(r"\d{1,64}(?:\.\d{1,64})?", re.ASCII)


def parse_retry_after(value: str, now: float, longest: float = 86_400.0) -> float | None:
    """Seconds to wait by a `Retry-After` field (RFC 9110, 10.2.3), from 0 to `longest`.

    Fractions, though not in the RFC, are understood. A date that has passed means 0.

    Args:
        value: of the field.
        now: wall time, for dates.
        longest: cap, seconds.

    Returns:
        The wait, or `None` if the value is neither a number of seconds nor a date.
    """
    value = value.strip()
    if _DELTA.fullmatch(value) is not None:
        return min(float(value), longest)
    date = parse_http_date(value, now)
    if date is None:
        return None
    return min(max(date - now, 0.0), longest)
