"""Tells when a limit on pages, bytes or time is reached."""

from typing import Annotated

import msgspec
from msgspec import Meta

from gossamer.model.quantity import Bytes, Count, Seconds
from gossamer.model.reasons.codes import BudgetCode, EndCode
from gossamer.model.reasons.reason import Reason, because
from gossamer.policy.places.known import BY_HOST


class BudgetConfig(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How much to fetch at most; 0 means no limit. What is left over stays parked for `resume`."""

    max_pages: Annotated[
        Count, Meta(description="Pages of the whole crawl; then it stops, exit 0. 0: no limit.")
    ] = 0
    max_bytes: Annotated[
        Bytes, Meta(description="Bytes of the whole crawl; then it stops, exit 0. 0: no limit.")
    ] = 0
    max_time: Annotated[
        Seconds, Meta(description="Time of the whole crawl; then it stops, exit 0. 0: no limit.")
    ] = 0.0
    pages_per_host: Annotated[
        Count,
        Meta(description="Pages of each host; then the rest of the host is parked. 0: no limit."),
        BY_HOST,
    ] = 0
    bytes_per_host: Annotated[
        Bytes,
        Meta(description="Bytes of each host; then the rest of the host is parked. 0: no limit."),
        BY_HOST,
    ] = 0
    pages_per_domain: Annotated[
        Count,
        Meta(
            description="Pages of each registrable domain; then the rest of its hosts is parked. 0: no limit."
        ),
    ] = 0
    bytes_per_domain: Annotated[
        Bytes,
        Meta(
            description="Bytes of each registrable domain; then the rest of its hosts is parked. 0: no limit."
        ),
    ] = 0
    star: Annotated[
        bool,
        Meta(
            description="Domains go ahead at a rate that grows with the number of domains linking to them;"
            " what one has beyond its budget waits until the others have had theirs."
        ),
    ] = False
    star_slope: Annotated[
        float, Meta(description="URLs that each linking domain adds to a domain's budget of 10.", ge=0)
    ] = 10.0
    star_seed: Annotated[
        Count,
        Meta(description="Linking domains that a seed counts for; fewer hold back the seeds' own sites."),
    ] = 1_000

    @property
    def by_domain(self) -> bool:
        """Something is counted by registrable domain; otherwise nobody pays for it."""
        return self.star or self.pages_per_domain > 0 or self.bytes_per_domain > 0


class Spent(msgspec.Struct, frozen=True, gc=False):
    """What a crawl, a host or a domain has used so far.

    Attributes:
        pages: responses kept.
        bytes: of their bodies, as received.
        time: seconds the crawl has run, all its runs together; 0 for the others.
    """

    pages: int = 0
    bytes: int = 0
    time: float = 0.0


def crawl_limit_reached(config: BudgetConfig, spent: Spent) -> Reason | None:
    """Which limit ends the crawl, e.g. `max_pages 1000`, or `None`."""
    if config.max_pages and spent.pages >= config.max_pages:
        return because(EndCode.MAX_PAGES, config.max_pages)
    if config.max_bytes and spent.bytes >= config.max_bytes:
        return because(EndCode.MAX_BYTES, config.max_bytes)
    if config.max_time and spent.time >= config.max_time:
        return because(EndCode.MAX_TIME, config.max_time)
    return None


def host_limit_reached(config: BudgetConfig, spent: Spent) -> Reason | None:
    """Which limit parks a host, or `None`; `config` as it stands for that host."""
    if config.pages_per_host and spent.pages >= config.pages_per_host:
        return because(BudgetCode.PAGES_PER_HOST, config.pages_per_host)
    if config.bytes_per_host and spent.bytes >= config.bytes_per_host:
        return because(BudgetCode.BYTES_PER_HOST, config.bytes_per_host)
    return None


def domain_limit_reached(config: BudgetConfig, spent: Spent) -> Reason | None:
    """Which limit parks the hosts of a registrable domain, or `None`."""
    if config.pages_per_domain and spent.pages >= config.pages_per_domain:
        return because(BudgetCode.PAGES_PER_DOMAIN, config.pages_per_domain)
    if config.bytes_per_domain and spent.bytes >= config.bytes_per_domain:
        return because(BudgetCode.BYTES_PER_DOMAIN, config.bytes_per_domain)
    return None
