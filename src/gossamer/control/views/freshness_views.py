"""The view of how fresh a crawl is."""

from gossamer.control.socket.protocol import Nothing
from gossamer.control.views.context import ViewContext
from gossamer.inspect.freshness import CrawlFreshness


def freshness(look: ViewContext, _: Nothing) -> CrawlFreshness:
    """The estimated stale share by site and in all, how far to believe it, and what visits again have brought."""
    return look.kept("freshness", lambda: look.inspection().freshness())
