"""The figures of one job in a line: on the overview of all, and in the head of its own pages."""

import asyncio
from typing import Any

import msgspec

from gossamer.daemon.daemon import Daemon
from gossamer.daemon.errors import ServiceError
from gossamer.daemon.views import JobView

_ALIVE = ("running", "paused", "stopping")


class Glance(msgspec.Struct):
    """What is known of a job; `None` where nobody knows."""

    pages: int | None = None
    pages_s: float = 0.0
    bytes_s: float = 0.0
    queued: int | None = None
    hosts: int | None = None
    failed: int | None = None


def is_alive(job: JobView) -> bool:
    """Its crawl has a process that answers."""
    return job.state in _ALIVE


async def glance_at(daemon: Daemon, job: JobView, patience: float) -> Glance:
    """From the crawl if it runs, else from what it reported at its last end: that costs nothing.

    Args:
        patience: seconds after which nothing is known; a crawl that hangs must not hold up the page.
    """
    if not is_alive(job):
        return _from_sums(job.report) if job.report else Glance()
    try:
        async with asyncio.timeout(patience):
            status = await daemon.figures(job.name)
    except (ServiceError, TimeoutError):
        return Glance()
    glance = _from_sums(status["sums"])
    if job.state == "running":
        glance.pages_s = status["rates"]["pages_per_s"]
        glance.bytes_s = status["rates"]["bytes_per_s"]
    return glance


def _from_sums(sums: dict[str, Any]) -> Glance:
    return Glance(
        pages=sums.get("pages"),
        queued=sums.get("queued", 0) + sums.get("waiting", 0),
        hosts=sums.get("hosts"),
        failed=sums.get("failed_visits"),
    )
