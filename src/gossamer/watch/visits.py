"""When watched pages are visited again: by the intervals of their watches, until the crawl has an order of its own."""

from collections.abc import Callable

from gossamer.config.watch_config import WatchConfig
from gossamer.model.lease import Lease
from gossamer.model.outcome import Outcome
from gossamer.model.page import Page
from gossamer.watch.watches import Watch, watch_of

__all__ = ["WatchVisits"]


class WatchVisits:
    """Says when a page is due again (`ports.RevisitPolicy`): after the shortest interval of those that watch it."""

    def __init__(self, watches: tuple[WatchConfig, ...]) -> None:
        """`watches`: of the settings."""
        self._now: Callable[[], tuple[WatchConfig, ...]] = lambda: watches
        self._known: tuple[object, list[Watch]] = (None, [])

    def go_by(self, now: Callable[[], tuple[WatchConfig, ...]]) -> None:
        """From now on ask this for the watches: some may come and go while the crawl runs."""
        self._now = now

    def again(self, lease: Lease, outcome: Outcome, page: Page | None, visits: int) -> float | None:  # noqa: ARG002
        """Seconds until it is due again; `None` for what nobody watches."""
        watches = self._now()
        if self._known[0] is not watches:
            self._known = watches, [watch_of(one) for one in watches]
        url = lease.candidate.url
        intervals = [
            watch.config.every for watch in self._known[1] if watch.config.every and watch.is_of(url)
        ]
        return min(intervals, default=None)
