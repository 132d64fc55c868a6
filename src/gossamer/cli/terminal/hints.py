"""Says what someone who crawls for the first time may want to know before it begins."""

import ipaddress
from collections.abc import Iterable, Iterator
from itertools import islice

from gossamer.config.config import CrawlConfig
from gossamer.model.url import Url
from gossamer.policy.places.place import Asked
from gossamer.policy.visits.politeness import PolitenessConfig

MOST_SEEDS = 1_000
_TOLD = frozenset({"http", "https", "ftp", "ftps"})
"""Schemes whose servers are sent the contact: in fields of the request, or as the password of anybody."""


def hints(config: CrawlConfig, seeds: Iterable[Url]) -> Iterator[str]:
    """What to say before a first crawl, one line each."""
    seeds = list(islice(seeds, MOST_SEEDS))
    on_hosts = [seed for seed in seeds if seed.host]
    own = bool(on_hosts) and all(_is_own(seed.host) for seed in on_hosts)
    # Of a crawl whose seeds are still to come nobody knows.
    heard = not seeds or any(seed.scheme in _TOLD and not _is_own(seed.host) for seed in on_hosts)
    for origin in _without_credentials(config, seeds):
        yield f'hint: {origin} is not sent the credentials of its place; name its scheme and port: [place."{origin}"]'
    if own and config.politeness == PolitenessConfig():
        rest = PolitenessConfig().min_delay
        yield f"hint: a host rests {rest:g} s after each visit; --min-delay 0 is for sites of your own"
    if heard and not config.fetch.contact and not config.fetch.user_agent:
        yield "hint: give --contact ADDRESS, so that the sites you visit can reach you"


def _without_credentials(config: CrawlConfig, seeds: Iterable[Url]) -> Iterator[str]:
    """Origins of seeds that are not sent what a place has for their host, because it is for another origin."""
    local = config.local
    for origin, seed in {seed.origin: seed for seed in seeds}.items():
        asked = Asked(seed.host, seed)
        if local.credentials.matching(asked) and local.credentials_at(asked) is None:
            yield origin


def _is_own(host: str) -> bool:
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return not ipaddress.ip_address(host.strip("[]")).is_global
    except ValueError:
        return False
