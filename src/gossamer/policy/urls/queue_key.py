"""Names the queue in which a URL waits: what shares one politeness."""

from collections.abc import Callable
from typing import Literal

from gossamer.model.url import Url
from gossamer.policy.urls.registrable import registrable_domain

QueueKind = Literal["host", "site"]


def queue_key(kind: QueueKind) -> Callable[[Url], str]:
    """`host`: each host name has its queue; `site`: all hosts of a registrable domain share one."""
    if kind == "site":
        return lambda url: registrable_domain(url.host)
    return _host


def _host(url: Url) -> str:
    """The host without the final dot that makes no other host of it."""
    host = url.host
    return host.rstrip(".") if host[-1:] == "." else host
