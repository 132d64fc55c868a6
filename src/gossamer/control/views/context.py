"""The place from which views look at a crawl, whether it runs or has stopped."""

import contextlib
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar, cast

from gossamer.assembly.folder import CrawlFolder
from gossamer.config.config import CrawlConfig
from gossamer.control.socket.protocol import LiveError, invalid
from gossamer.control.views.sweep import FRESH_FOR, Sweep
from gossamer.inspect.hosts import HostCount
from gossamer.inspect.inspection import Inspection, inspect
from gossamer.inspect.queue.count import QueueCount
from gossamer.inspect.url_places import UrlPlaces, fingerprints_of
from gossamer.model.errors import ConfigError, StorageError
from gossamer.model.reasons.codes import ProblemCode
from gossamer.model.reasons.reason import Reason
from gossamer.state.clock import CrawlClock
from gossamer.state.environment import Environment, Family
from gossamer.state.keys import Fingerprints
from gossamer.state.records import COUNTERS, Counters, decode

T = TypeVar("T")

MOST_KEPT = 100
"""Results remembered."""


class ViewContext:
    """A crawl's folder and state, with what views remember between two looks.

    Not for two threads at once.

    Args:
        folder: of the crawl.
        environment: its state; the running crawl's own, or one opened for reading.
        config: the configuration of now, with references in place of secrets.
        pulse: (visits a second of late, whether all workers are busy); nothing of a stopped crawl.
    """

    def __init__(
        self,
        folder: CrawlFolder,
        environment: Environment,
        config: Callable[[], CrawlConfig],
        pulse: Callable[[], tuple[float, bool]] = lambda: (0.0, False),
    ) -> None:
        self.folder = folder
        self.environment = environment
        self.census = Sweep(environment, lambda: HostCount(self.clock.micros))
        self.queue_census = Sweep(environment, lambda: QueueCount(environment, self.config, self.counters()))
        self._config = config
        self.pulse = pulse
        self._kept: dict[str, tuple[float, Any]] = {}
        self.clock: CrawlClock = self.inspection().clock
        """The crawl clock."""

    @property
    def config(self) -> CrawlConfig:
        """The configuration of now, with references in place of secrets."""
        return self._config()

    def counters(self) -> Counters:
        """Sums of the crawl as last committed."""
        sums = self.environment.get(Family.META, COUNTERS)
        return decode(sums, Counters) if sums else Counters()

    def fingerprints(self) -> Fingerprints:
        """The crawl's hashes.

        Raises:
            LiveError: nothing has been crawled yet.
        """
        prints = fingerprints_of(self.environment)
        if prints is None:
            raise LiveError("conflict", Reason(ProblemCode.NOT_BEGUN))
        return prints

    def places(self) -> UrlPlaces:
        """The keys of URLs.

        Raises:
            LiveError: nothing has been crawled yet.
        """
        return UrlPlaces(self.environment, self.fingerprints(), self.config)

    def kept(self, name: str, reckon: Callable[[], T]) -> T:
        """What `reckon` gives; kept for `FRESH_FOR` times as long as that took."""
        until, value = self._kept.get(name, (0.0, None))
        began = time.monotonic()
        if began >= until:
            if len(self._kept) >= MOST_KEPT:
                self._kept.clear()
            value = reckon()
            ended = time.monotonic()
            self._kept[name] = ended + FRESH_FOR * (ended - began), value
        return cast("T", value)

    def inspection(self) -> Inspection:
        """The sums as last committed, and whatever asks the state."""
        return Inspection(self.folder, self.config, self.environment)


@contextlib.contextmanager
def view_context(path: Path) -> Iterator[ViewContext]:
    """The state of the crawl in `path` as of now, for reading; opening it takes some 50 ms.

    Raises:
        ConfigError: no crawl lives there, or it has not begun.
        StorageError: its state is damaged.
    """
    with inspect(path) as inspection:
        yield ViewContext(inspection.folder, inspection.environment, lambda: inspection.config)


def seen(view: Callable[[ViewContext, Any], T], look: ViewContext, params: Any) -> T:
    """What a view sees.

    Raises:
        LiveError: also for what the state or the parameters make impossible.
    """
    try:
        return view(look, params)
    except ConfigError as error:
        raise invalid(error.reasons) from None
    except StorageError as error:
        raise LiveError("internal", str(error)) from None
