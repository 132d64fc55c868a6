"""Tells a running crawl that pages have changed."""

import asyncio
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from gossamer.control.live_crawl import LiveCrawl
from gossamer.control.socket.protocol import LiveError
from gossamer.engine.signals.announcements import AT_ONCE, Heard
from gossamer.model.reasons.codes import ProblemCode
from gossamer.model.reasons.reason import Reason


class Changed(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Pages that have changed, as somebody says; they are visited when their host may be, and it is worth it.

    `new`: those that the crawl does not know are admitted, if they are in its scope. `by`: who says so, for each is
    trusted by itself; `indexnow` needs `key` and `key_location`, a file on the host that holds it.
    """

    urls: Annotated[list[Annotated[str, Meta(max_length=8_192)]], Meta(min_length=1, max_length=10_000)]
    new: bool = False
    by: Literal["ping", "websub", "indexnow"] = "ping"
    key: Annotated[str, Meta(max_length=128)] = ""
    key_location: Annotated[str, Meta(max_length=8_192)] = ""


async def changed(live: LiveCrawl, params: Changed, _who: str) -> Heard:
    """Say that pages have changed; what became of them, in numbers."""
    live.refuse_if_ending()
    signals = live.crawl.parts.signals
    if not signals.on():
        raise LiveError("conflict", Reason(ProblemCode.NO_REVISIT))
    now, announcements = signals.now(), signals.announcements
    heard = Heard()
    for start in range(0, len(params.urls), AT_ONCE):
        some = params.urls[start : start + AT_ONCE]
        if params.by == "indexnow":
            heard += announcements.submit(some, params.key, params.key_location, now, new=params.new)
        else:
            heard += announcements.announce(some, params.by, now, new=params.new)
        live.crawl.parts.dispatch.pump()
        await asyncio.sleep(0)
    return heard
