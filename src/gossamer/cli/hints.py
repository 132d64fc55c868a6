"""Says what someone who crawls for the first time may want to know before it begins."""

import ipaddress
from collections.abc import Iterable, Iterator

from gossamer.app.config import CrawlConfig
from gossamer.model.url import Url
from gossamer.policy.politeness import PolitenessConfig


def hints(config: CrawlConfig, seeds: Iterable[Url]) -> Iterator[str]:
    """One line each."""
    own = all(_is_own(seed.host) for seed in seeds)
    if own and config.politeness == PolitenessConfig():
        rest = PolitenessConfig().min_delay
        yield f"hint: a host rests {rest:g} s after each visit; --min-delay 0 is for sites of your own"
    if not own and not config.fetch.contact and not config.fetch.user_agent:
        yield "hint: give --contact ADDRESS, so that the sites you visit can reach you"


def _is_own(host: str) -> bool:
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return not ipaddress.ip_address(host.strip("[]")).is_global
    except ValueError:
        return False
