"""The configuration in force, which may be replaced while the crawl runs."""

import time
from collections.abc import Callable

from gossamer.config.config import CrawlConfig
from gossamer.fetch.config import FetchConfig
from gossamer.fetch.request import Credentials
from gossamer.model.exchange import Exchange
from gossamer.model.reasons.reason import Reason
from gossamer.model.url import Url
from gossamer.policy.places.local import Local, S
from gossamer.policy.places.place import DAY, Asked, type_of
from gossamer.policy.speculation.forms_config import FormsConfig
from gossamer.policy.visits.budget import BudgetConfig, Spent, crawl_limit_reached, host_limit_reached
from gossamer.policy.visits.politeness import SERVER_SETTINGS, Evidence, PolitenessConfig
from gossamer.policy.visits.retry import RetryConfig
from gossamer.state.records import Counters

_NOBODY = PolitenessConfig(min_delay=0.0)
"""Files of this machine have no host that could be disturbed."""


def minute_of_day() -> int:
    """Minutes since midnight, UTC, by the clock of the wall: what people mean by hours."""
    return int(time.time() // 60) % DAY


class Effective:
    """Answers the rooms' questions about settings that may change, or differ by place, by the configuration of now.

    A section of which no place says anything is given as it is: a crawl without places pays nothing for them.

    Args:
        config: to begin with.
        minute: of the day.
    """

    def __init__(self, config: CrawlConfig, minute: Callable[[], int] = minute_of_day) -> None:
        self._minute = minute
        self.replace(config)

    @property
    def config(self) -> CrawlConfig:
        """What is in force now, secrets in place."""
        return self._config

    def replace(self, config: CrawlConfig) -> None:
        """Go by another configuration from now on."""
        self._config = config
        self._local = config.local
        self._limits_speed: bool | None = None

    @property
    def limits_speed(self) -> bool:
        """Some host has a limit of speed."""
        if self._limits_speed is None:
            self._limits_speed = any(speed > 0 for speed in self._local.fetch.values("max_host_speed"))
        return self._limits_speed

    def budget(self, name: str) -> BudgetConfig:
        """As it stands for the queue of a host."""
        return self._at_host(self._local.budget, name)

    def politeness(self, name: str) -> PolitenessConfig:
        """As it stands for the queue of a host as a whole."""
        return self._at_host(self._local.politeness, name) if name else _NOBODY

    def politeness_at(self, url: Url, address: str) -> PolitenessConfig:
        """As it stands for a visit to an address, before there is an answer; empty if the address is not known."""
        return self._at(self._local.politeness, url, address) if url.host else _NOBODY

    def politeness_after(self, url: Url, exchange: Exchange | None) -> PolitenessConfig:
        """As it stands for the rest after a visit."""
        if not url.host:
            return _NOBODY
        local = self._local.politeness
        if exchange is None or not local.differs:
            return self._at(local, url)
        return self._at(local, url, exchange.latest.address, type_of(exchange.headers))

    def retry(self, url: Url) -> RetryConfig:
        """How often and when to ask for a URL again."""
        return self._at(self._local.retry, url)

    def fetch(self, url: Url, address: str = "", media_type: str = "") -> FetchConfig:
        """How a URL is visited, as far as that is decided for each visit."""
        return self._at(self._local.fetch, url, address, media_type)

    def forms(self, url: Url) -> FormsConfig:
        """Which words a search form is asked that sends to a URL."""
        return self._at(self._local.forms, url)

    @property
    def asks_forms(self) -> bool:
        """Some search forms are asked words."""
        return any(self._local.forms.values("words"))

    @property
    def guesses(self) -> bool:
        """Some URLs are visited that nobody has linked to."""
        return self._config.speculation.follow or self.asks_forms

    @property
    def fetch_differs(self) -> bool:
        """Somewhere URLs are visited otherwise."""
        return self._local.fetch.differs

    @property
    def by_server(self) -> bool:
        """Some hosts rest for others on their server, too."""
        local = self._local.politeness
        return any(any(local.values(name)) for name in SERVER_SETTINGS)

    def finds_servers_by(self, evidence: Evidence) -> bool:
        """Some hosts rest for those that this shows to be on the same server."""
        return any(evidence in given for given in self._local.politeness.values("server_by"))

    def visits_at_once(self, name: str) -> int:
        """Leases that a host may have out."""
        return self.politeness(name).visits_per_host

    def rest(self, name: str) -> float:
        """Seconds owed to a host whose last visit is unknown."""
        return self.politeness(name).min_delay

    def host_spent(self, name: str, pages: int, size: int) -> Reason | None:
        """Which budget of its own a host has reached, if any."""
        return host_limit_reached(self.budget(name), Spent(pages, size))

    def crawl_spent(self, counters: Counters, lent: int, seconds: float) -> Reason | None:
        """Which budget the crawl has reached if all that is lent counts, if any."""
        spent = Spent(counters.pages + lent, counters.bytes, seconds)
        return crawl_limit_reached(self._config.budget, spent)

    def visit_speed(self, name: str) -> float:
        """Bytes a second that a visit to a host may take, the rest after it included; 0 for no limit."""
        if not self.limits_speed:
            return 0.0
        return self._at_host(self._local.fetch, name).max_host_speed / self.visits_at_once(name)

    def credentials(self, url: Url) -> Credentials | None:
        """What to send to the origin of a URL, and to no other."""
        if not self._local.credentials.differs:
            return None
        found = self._local.credentials_at(Asked(url.host, url, minute=self._minute()))
        if found is None:
            return None
        given = {name: value for name, value in found[1].items() if value is not None}
        user, headers = given.pop("username", ""), given.pop("headers", {})
        return Credentials(user, headers=tuple(headers.items()), **given)

    def _at_host(self, local: Local[S], name: str) -> S:
        return local.at(Asked(name, None, minute=self._minute())) if local.differs else local.base

    def _at(self, local: Local[S], url: Url, address: str = "", media_type: str = "") -> S:
        if not local.differs:
            return local.base
        return local.at(Asked(url.host, url, address, media_type, self._minute()))
