"""The configuration in force, which may be replaced while the crawl runs."""

from gossamer.config.config import CrawlConfig
from gossamer.fetch.request import Credentials
from gossamer.model.reasons.reason import Reason
from gossamer.model.url import Url
from gossamer.policy.visits.budget import Spent, crawl_limit_reached, host_limit_reached
from gossamer.policy.visits.host_overrides import HostOverrides, overrides_for
from gossamer.policy.visits.politeness import PolitenessConfig, for_host
from gossamer.state.records import Counters

REMEMBERED = 10_000
"""Hosts whose politeness is remembered; the memory is emptied when full."""


class Effective:
    """Answers the rooms' questions about settings that may change, by the configuration of now.

    What is remembered of hosts is forgotten with each change, so that a crawl in which nothing changes pays
    nothing for it.
    """

    def __init__(self, config: CrawlConfig) -> None:
        self._config = config
        self._politeness: dict[str, PolitenessConfig] = {}
        self.limits_speed = _limits_speed(config)
        """Some host has a limit of speed."""

    @property
    def config(self) -> CrawlConfig:
        """What is in force now, secrets in place."""
        return self._config

    def replace(self, config: CrawlConfig) -> None:
        """Go by another configuration from now on."""
        self._config = config
        self._politeness.clear()
        self.limits_speed = _limits_speed(config)

    def politeness(self, name: str) -> PolitenessConfig:
        """As it stands for one host."""
        known = self._politeness.get(name)
        if known is None:
            if len(self._politeness) >= REMEMBERED:
                self._politeness.clear()
            known = for_host(self._config.politeness, self._overrides(name))
            self._politeness[name] = known
        return known

    def visits_at_once(self, name: str) -> int:
        """Leases that a host may have out."""
        return self.politeness(name).visits_per_host

    def rest(self, name: str) -> float:
        """Seconds owed to a host whose last visit is unknown."""
        return self.politeness(name).min_delay

    def host_spent(self, name: str, pages: int, size: int) -> Reason | None:
        """Which budget of its own a host has reached, if any."""
        budget = self._config.budget
        return host_limit_reached(budget, Spent(pages, size), self._overrides(name))

    def crawl_spent(self, counters: Counters, lent: int, seconds: float) -> Reason | None:
        """Which budget the crawl has reached if all that is lent counts, if any."""
        spent = Spent(counters.pages + lent, counters.bytes, seconds)
        return crawl_limit_reached(self._config.budget, spent)

    def visit_speed(self, name: str) -> float:
        """Bytes a second that a visit to a host may take, the rest after it included; 0 for no limit."""
        if not self.limits_speed:
            return 0.0
        own = self._overrides(name).max_speed
        speed = self._config.fetch.max_host_speed if own is None else own
        return speed / self.visits_at_once(name)

    def credentials(self, origin: str) -> Credentials | None:
        """What to send to an origin, and to no other."""
        if not self._config.host:
            return None
        url = Url.from_serialised(origin + "/")
        section = self._overrides(url.host) if url else None
        if section is None or not section.credentials_are_for(origin):
            return None
        return Credentials(section.username or "", section.password or "", section.token or "")

    def _overrides(self, name: str) -> HostOverrides:
        return overrides_for(self._config.host, name)


def _limits_speed(config: CrawlConfig) -> bool:
    return config.fetch.max_host_speed > 0 or any(host.max_speed for host in config.host.values())
