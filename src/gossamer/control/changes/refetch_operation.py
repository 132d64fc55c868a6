"""Has pages of a running crawl visited again that were asked for."""

import time

from gossamer.control.changes.refetch_requests import RefetchRequest
from gossamer.control.changes.refetching import Refetch, Refetched, choose
from gossamer.control.live_crawl import LiveCrawl, kept

REFETCH = "refetch"
"""Path in the log of changes."""


async def refetch(live: LiveCrawl, params: Refetch, who: str) -> Refetched:
    """Visit pages again that were visited before, soon and without condition; how many there are."""
    chosen = await live.look(choose, params, slow=True)
    if params.dry_run or not chosen.pages:
        return chosen.told(running=True, dry_run=params.dry_run)
    async with live.changing:
        live.refuse_if_ending()
        request = RefetchRequest(time.time(), who, chosen.urls, chosen.wanted, patterns=True)
        one = chosen.urls[0] if chosen.pages == 1 and chosen.urls else f"{chosen.pages} pages"
        await live.note({"path": REFETCH, "new": one, "final": True}, who=who)
        await kept(live.refetching.begin, request)
        live.applier.background.call()
    return chosen.told(running=True)
