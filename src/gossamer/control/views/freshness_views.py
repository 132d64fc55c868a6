"""Views of how fresh a crawl is, and of hosts that have left."""

import msgspec

from gossamer.control.socket.protocol import Nothing
from gossamer.control.views.context import ViewContext
from gossamer.inspect.freshness import CrawlFreshness
from gossamer.inspect.gone import LeftHost, left_hosts

LEFT_LISTED = 1_000


class LeftHosts(msgspec.Struct, frozen=True):
    """Hosts that have left: the first of them, and how many there are."""

    items: list[LeftHost]
    total: int


def freshness(look: ViewContext, _: Nothing) -> CrawlFreshness:
    """The estimated stale share by site and in all, how far to believe it, and what visits again have brought."""
    return look.kept("freshness", lambda: look.inspection().freshness())


def left(look: ViewContext, _: Nothing) -> LeftHosts:
    """Hosts whose name is no more, or all of whose pages are gone."""
    return look.kept("left", lambda: _left(look))


def _left(look: ViewContext) -> LeftHosts:
    found = [host for _, host in left_hosts(look.inspection())]
    return LeftHosts(found[:LEFT_LISTED], len(found))
