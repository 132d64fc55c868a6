"""The figures of a cluster with those of its agents' crawls, as somebody who looks on wants them."""

import time
from collections.abc import Callable, Mapping
from typing import Any, Protocol

from gossamer.cluster.coordination.record import CoordinationConfig
from gossamer.inspect.clusters.cluster_view import AgentCrawl, ClusterFigures, ClusterLimits, Overview

__all__ = ["Asked", "Figures", "figures_of"]

PATIENCE = 2.0
"""Seconds for agents to answer: the figures of one that hangs must not hold up those of all."""
FORECAST_EVERY = 20.0
"""Seconds between two forecasts, for which a crawl looks at many of its hosts."""

Answers = Mapping[str, Any]
"""What each live agent's crawl answered, by its name; `None` for those that did not."""


class Asked(Protocol):
    """Who is asked for figures: `launch.Control`."""

    def overview(self) -> Overview:
        """The cluster as of now."""

    def ask_agents(
        self, overview: Overview, method: str, params: dict[str, Any], patience: float
    ) -> dict[str, Any]:
        """What each live agent of an overview answers."""


class Figures:
    """Of one cluster, asked for again and again."""

    def __init__(
        self, control: Asked, config: CoordinationConfig, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._control = control
        self._limits = ClusterLimits(
            max_pages=config.max_pages, max_bytes=config.max_bytes, max_time=config.max_time
        )
        self._clock = clock
        self._forecasts: Answers = {}
        self._foretold: float | None = None

    def now(self) -> ClusterFigures:
        """As of now.

        Raises:
            ConnectionError: the coordinator does not answer.
        """
        overview = self._control.overview()
        statuses = self._control.ask_agents(overview, "status", {}, PATIENCE)
        now = self._clock()
        if self._foretold is None or now - self._foretold >= FORECAST_EVERY:
            self._forecasts = self._control.ask_agents(overview, "forecast", {}, PATIENCE)
            self._foretold = now
        return figures_of(overview, statuses, self._forecasts, self._limits)


def figures_of(
    overview: Overview, statuses: Answers, forecasts: Answers, limits: ClusterLimits
) -> ClusterFigures:
    """Put together what coordinator and agents have answered."""
    crawls = {
        name: _crawl(status, forecasts.get(name)) for name, status in statuses.items() if status is not None
    }
    seconds, bound_by = _time_left(overview, crawls, limits)
    return ClusterFigures(
        overview=overview, crawls=crawls, limits=limits, seconds_left=seconds, bound_by=bound_by
    )


def _crawl(status: Mapping[str, Any], forecast: Mapping[str, Any] | None) -> AgentCrawl:
    return AgentCrawl(
        pages_per_s=status["rates"]["pages_per_s"],
        bytes_per_s=status["rates"]["bytes_per_s"],
        hosts=status["sums"]["hosts"],
        memory=status["memory_bytes"],
        seconds_left=forecast["seconds_left"] if forecast is not None else None,
    )


def _time_left(
    overview: Overview, crawls: Mapping[str, AgentCrawl], limits: ClusterLimits
) -> tuple[float | None, str]:
    """(seconds, what binds). An agent's hosts are its own, so who needs longest decides."""
    known = [crawl.seconds_left for crawl in crawls.values() if crawl.seconds_left is not None]
    agents = max(known, default=None)
    budget = min(_until_limits(overview, crawls, limits), default=None)
    if budget is not None and (agents is None or budget < agents):
        return budget, "budget"
    return (agents, "agent") if agents is not None else (None, "")


def _until_limits(overview: Overview, crawls: Mapping[str, AgentCrawl], limits: ClusterLimits) -> list[float]:
    """Seconds until each limit is reached, at the speed of late."""
    found = []
    pages_per_s = sum(crawl.pages_per_s for crawl in crawls.values())
    bytes_per_s = sum(crawl.bytes_per_s for crawl in crawls.values())
    if limits.max_pages and pages_per_s > 0:
        found.append(max(0, limits.max_pages - overview.pages) / pages_per_s)
    if limits.max_bytes and bytes_per_s > 0:
        found.append(max(0, limits.max_bytes - overview.bytes) / bytes_per_s)
    if limits.max_time:
        found.append(max(0.0, limits.max_time - overview.elapsed))
    return found
