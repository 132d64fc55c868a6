"""What may be asked of a running crawl that changes it."""

from collections.abc import Awaitable, Callable
from typing import Any

import msgspec

from gossamer.assembly.hold import Ceilings
from gossamer.control.changes.change_log import Change, read_changes
from gossamer.control.changes.changeable import Settings, plan_changes
from gossamer.control.changes.demand import FETCH, Demand
from gossamer.control.changes.demand_operation import fetch
from gossamer.control.changes.host_operations import (
    HostName,
    Release,
    Rest,
    host_block,
    host_park,
    host_rest,
    host_revive,
    host_unblock,
    traps_release,
    undo_host,
)
from gossamer.control.changes.preview import preview_scope
from gossamer.control.changes.refetch_operation import refetch
from gossamer.control.changes.refetching import Refetch
from gossamer.control.changes.seed_operations import NewSeeds, add_seeds, undo_seeds
from gossamer.control.changes.signal_operations import Changed, changed
from gossamer.control.live_crawl import LiveCrawl
from gossamer.control.socket.protocol import LiveError, Nothing
from gossamer.model.errors import StorageError
from gossamer.model.reasons.codes import ProblemCode
from gossamer.model.reasons.reason import because


class Stop(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`now`: drop what is lent; it is visited again by `resume`."""

    now: bool = False


class Undo(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`id`: of an entry in the log of changes."""

    id: int


async def set_settings(live: LiveCrawl, params: Settings, who: str) -> list[Change]:
    """Change settings, all or none; the entries in the log, none for what stays the same."""
    async with live.changing:
        live.refuse_if_ending()
        return await live.apply(plan_changes(live.config, params.changes), who)


async def pause(live: LiveCrawl, _: Nothing, who: str) -> dict[str, Any]:
    """Lend nothing more for now."""
    async with live.changing:
        live.refuse_if_ending()
        if not live.crawl.parts.dispatch.paused:
            await live.note({"path": "pause", "old": "running", "new": "paused"}, who=who)
            await live.pause(who)
        return {"state": live.state}


async def unpause(live: LiveCrawl, _: Nothing, who: str) -> dict[str, Any]:
    """Go on lending URLs after a pause."""
    async with live.changing:
        live.refuse_if_ending()
        if live.crawl.parts.dispatch.paused:
            await live.note({"path": "pause", "old": "paused", "new": "running"}, who=who)
            await live.unpause()
        return {"state": live.state}


async def stop(live: LiveCrawl, params: Stop, who: str) -> dict[str, Any]:
    """End the crawl well, as an interrupt does, or at once, as a second one does."""
    async with live.changing:
        new = "stopped now" if params.now else "stopped"
        await live.note({"path": "stop", "old": live.state, "new": new, "final": True}, who=who)
        if params.now:
            live.crawl.stop_soon()
        else:
            live.crawl.stop()
        return {"state": live.state}


async def checkpoint(live: LiveCrawl, _: Nothing, who: str) -> dict[str, Any]:
    """Take a checkpoint and write the index; its name."""
    live.refuse_if_ending()
    await live.note({"path": "checkpoint", "final": True}, who=who)
    try:
        return {"checkpoint": await live.crawl.checkpoint()}
    except StorageError as error:
        raise LiveError("internal", str(error)) from None


async def undo(live: LiveCrawl, params: Undo, who: str) -> list[Change]:
    """Take back what an entry in the log of changes tells of; the entry that tells of that."""
    async with live.changing:
        live.refuse_if_ending()
        changes = {change.id: change for change in read_changes(live.folder.path)}
        change = changes.get(params.id)
        if change is None:
            raise LiveError("not_found", because(ProblemCode.NO_CHANGE, params.id))
        if change.undone:
            raise LiveError("conflict", because(ProblemCode.UNDONE, change.id, change.undone))
        if change.final:
            raise LiveError("conflict", because(ProblemCode.FINAL, change.id, change.path))
        return await _undo(live, change, who)


async def _undo(live: LiveCrawl, change: Change, who: str) -> list[Change]:
    match change.path:
        case "pause":
            return await _undo_pause(live, change, who)
        case "seeds":
            return await undo_seeds(live, change, who)
        case path if change.subject and path.startswith("host."):
            return await undo_host(live, change, who)
    return await _undo_setting(live, change, who)


async def _undo_pause(live: LiveCrawl, change: Change, who: str) -> list[Change]:
    paused = live.crawl.parts.dispatch.paused
    if (change.new == "paused") is not paused:
        raise LiveError("conflict", f"the crawl is not {change.new} any more")
    entry = {"path": "pause", "old": change.new, "new": change.old, "undoes": change.id, "final": True}
    entries = await live.note(entry, who=who)
    if paused:
        await live.unpause()
    else:
        await live.pause(who)
    return entries


async def limits(live: LiveCrawl, params: Ceilings, who: str) -> dict[str, Any]:
    """What the crawl may take at most until it ends, above which `set` may not go.

    It cannot be taken back: only whoever tells it knows what is granted.
    """
    async with live.changing:
        live.refuse_if_ending()
        if params != live.applier.ceilings:
            old, new = msgspec.to_builtins(live.applier.ceilings), msgspec.to_builtins(params)
            await live.note({"path": "limits", "old": old, "new": new, "final": True}, who=who)
            await live.hold_to(params)
            live.crawl.parts.dispatch.pump()
        speed = live.built.http.throttle.rate
        return {"ceilings": params, "workers": live.crawl.workers, "max_speed": int(speed)}


async def _undo_setting(live: LiveCrawl, change: Change, who: str) -> list[Change]:
    plan = plan_changes(live.config, {change.path: change.old})
    if plan.items and plan.items[0].old != change.new:
        raise LiveError("conflict", because(ProblemCode.CHANGED_AGAIN, change.path, change.id))
    return await live.apply(plan, who, undoes=change.id)


Operation = Callable[[LiveCrawl, Any, str], Awaitable[Any]]

OPERATIONS: dict[str, tuple[type[msgspec.Struct], Operation]] = {
    "set": (Settings, set_settings),
    "preview_scope": (Settings, preview_scope),
    "pause": (Nothing, pause),
    "unpause": (Nothing, unpause),
    "stop": (Stop, stop),
    "checkpoint": (Nothing, checkpoint),
    "undo": (Undo, undo),
    "host_rest": (Rest, host_rest),
    "host_park": (HostName, host_park),
    "host_revive": (HostName, host_revive),
    "host_block": (HostName, host_block),
    "host_unblock": (HostName, host_unblock),
    "traps_release": (Release, traps_release),
    "seeds": (NewSeeds, add_seeds),
    "refetch": (Refetch, refetch),
    FETCH: (Demand, fetch),
    "changed": (Changed, changed),
    "limits": (Ceilings, limits),
}
"""Parameters and function of each, by name."""
