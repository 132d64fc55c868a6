"""Keeps the cookies of each site beside the rest of a crawl's state."""

from gossamer.state.environment import Environment, Family

COOKIES = b"cookies:"
"""In `meta`, before the name of a site."""


class SiteCookies:
    """The cookies of each site, as whoever keeps them has written them.

    What is put is with the system at once, not with the next group that is settled: it survives `kill -9`, and
    a cookie whose page was not settled is one more that the site has set.
    """

    def __init__(self, environment: Environment) -> None:
        self._environment = environment

    def get(self, site: str) -> bytes | None:
        """What was put last for a site."""
        return self._environment.get(Family.META, COOKIES + site.encode())

    def put(self, site: str, data: bytes) -> None:
        """Keep `data` for a site."""
        batch = self._environment.batch()
        batch.put(Family.META, COOKIES + site.encode(), data)
        self._environment.commit(batch)
