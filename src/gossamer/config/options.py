"""The short names of common settings, for the command line and for `gossamer.crawl`."""

from collections.abc import Mapping

OPTIONS = {
    "preset": "for",
    "scope": "scope.mode",
    "exclude": "scope.exclude",
    "max_depth": "scope.max_depth",
    "requisites": "scope.requisites",
    "max_pages": "budget.max_pages",
    "max_bytes": "budget.max_bytes",
    "max_time": "budget.max_time",
    "min_delay": "politeness.min_delay",
    "visits_per_host": "politeness.visits_per_host",
    "workers": "engine.workers",
    "order": "engine.order",
    "nice": "engine.nice",
    "user_agent": "fetch.user_agent",
    "contact": "fetch.contact",
    "nameserver": "dns.nameservers",
    "obey_robots": "robots.obey",
    "fields": "fields.page",
    "documents": "documents.follow",
    "search": "search.follow",
    "revisit": "revisit.enabled",
    "revisit_every": "revisit.every",
    "watch": "watch",
    "notify": "notify",
}


def overrides(given: Mapping[str, object]) -> dict[str, object]:
    """Options by their short names as settings by their paths; what is `None` was not given."""
    return {OPTIONS[name]: value for name, value in given.items() if value is not None}
