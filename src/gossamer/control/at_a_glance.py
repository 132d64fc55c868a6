"""The status of a crawl that runs in this process."""

import asyncio
import contextlib
import os
from typing import Any

import msgspec

from gossamer.assembly.report import summary
from gossamer.assembly.twins import twin_sites
from gossamer.control.live_crawl import LiveCrawl
from gossamer.control.socket.protocol import LiveError, Nothing
from gossamer.control.speedometer import LONG, SHORT, memory_bytes, open_files
from gossamer.control.views.context import ViewContext
from gossamer.control.views.freshness_views import freshness
from gossamer.control.views.status import LiveStatus, Workers, followers
from gossamer.frontier.queues.host_schedule import NEVER
from gossamer.inspect.freshness import FreshnessSums
from gossamer.inspect.lag import Lag
from gossamer.model.errors import StorageError
from gossamer.model.reasons.codes import WaitCode
from gossamer.model.reasons.reason import Reason, because, sentence

_SOON = 0.1
"""Seconds that are taken for a census of hosts at most."""
_NOW = 0.5
"""Seconds: who falls due within need not be named as what is waited for."""


async def status_now(live: LiveCrawl) -> LiveStatus:
    """At a glance; the sums are those of now, not of the last commit."""
    parts = live.crawl.parts
    counters = parts.ledger.counters
    hosts, estimated = await _hosts_by_state(live)
    behind = await _followers(live)
    counters.seconds = parts.ledger.seconds
    visited, order = parts.frontier.seen.figures(), parts.frontier.order_figures()
    sums = summary(counters, parts.ledger.names, visited, order)
    held = held_by(live)
    return LiveStatus(
        folder=str(live.folder.path),
        state=live.state,
        reason=sentence(live.reason),
        why=live.reason,
        pid=os.getpid(),
        started=live.started,
        seconds=sums.seconds,
        workers=Workers(live.crawl.workers, live.crawl.busy),
        sums=sums,
        hosts_by_state=hosts,
        hosts_estimated=estimated,
        rates=live.speed.rates(counters, SHORT),
        rates_minute=live.speed.rates(counters, LONG),
        limits=limits_in_force(live),
        ceilings=msgspec.to_builtins(live.applier.ceilings),
        lent=parts.frontier.lent,
        held_by=sentence(held),
        held_why=held,
        memory_bytes=memory_bytes(),
        open_files=open_files(),
        freshness=await _freshness(live),
        twins=twin_sites(live.config.engine.twins, [live.built.environment]),
        followers=behind,
        proxies=live.built.http.proxies(),
    )


async def _hosts_by_state(live: LiveCrawl) -> tuple[dict[str, int], bool]:
    """The hosts by what they do, and whether that is an estimate; an older one if views are busy."""
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(_SOON):
            live.hosts_by_state = await live.look(_counted, None)
    return live.hosts_by_state


async def _followers(live: LiveCrawl) -> list[Lag]:
    """How far what is made of the archive is behind; as told before if views are busy."""
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(_SOON):
            live.followers = await live.look(followers, None)
    return live.followers


async def _freshness(live: LiveCrawl) -> FreshnessSums | None:
    """How fresh it is; an older estimate while the next is under way. Nothing of a crawl that visits nothing again."""
    pace = live.crawl.parts.pace
    if not pace.on and not pace.record.visits:
        return None
    if live.estimating is None or live.estimating.done():
        live.estimating = asyncio.create_task(_estimate(live))
    await asyncio.wait([live.estimating], timeout=_SOON)
    return live.freshness


async def _estimate(live: LiveCrawl) -> None:
    # What cannot be told now, because the crawl ends, is told by the next question, or not at all.
    with contextlib.suppress(LiveError, StorageError, RuntimeError):
        live.freshness = (await live.look(freshness, Nothing(), slow=True)).sums


def _counted(look: ViewContext, _: object) -> tuple[dict[str, int], bool]:
    count = look.census.look(_SOON)
    return count.scaled(look.counters().hosts), not count.complete


def limits_in_force(live: LiveCrawl) -> dict[str, Any]:
    """What bounds the crawl, by the paths of the settings; budgets only where there are."""
    config = live.config
    budget = config.budget
    limits: dict[str, Any] = {
        "engine.workers": live.crawl.workers,
        "politeness.min_delay": config.politeness.min_delay,
    }
    throttle = live.built.http.throttle
    if throttle.rate:
        limits["fetch.max_speed"] = int(throttle.rate)
    if config.fetch.max_host_speed:
        limits["fetch.max_host_speed"] = config.fetch.max_host_speed
    for name in ("max_pages", "max_bytes", "max_time", "pages_per_host", "bytes_per_host"):
        if value := getattr(budget, name):
            limits[f"budget.{name}"] = value
    return limits


def held_by(live: LiveCrawl) -> Reason | None:
    """What the crawl itself waits for; nothing if it has its hands full or nothing to wait for."""
    parts = live.crawl.parts
    if live.state != "running":
        return live.reason
    if waiting := live.built.http.throttle.waiting:
        return because(WaitCode.BANDWIDTH, waiting)
    if live.crawl.busy >= live.crawl.workers:
        return because(WaitCode.BUSY, live.crawl.workers)
    due = parts.frontier.next_due()
    wait = due / 1e6 - parts.frontier.now()
    census = parts.frontier.census()
    if due >= NEVER:
        if census.awaiting_names:
            return because(WaitCode.NAMES, census.awaiting_names)
        return because(WaitCode.ANSWERS, parts.frontier.lent) if parts.frontier.lent else None
    if wait > _NOW:
        return because(WaitCode.NEXT_DUE, round(wait, 1))
    return None
