"""What may be done to single hosts and patterns of a running crawl."""

from typing import Annotated, Any

import msgspec
from msgspec import Meta

from gossamer.assembly.release import aside
from gossamer.control.changes.change_log import Change
from gossamer.control.changes.changeable import plan_changes
from gossamer.control.live_crawl import LiveCrawl
from gossamer.control.socket.protocol import LiveError
from gossamer.inspect.hosts import HostItem, host_item
from gossamer.model.reasons.codes import HoldCode, ProblemCode
from gossamer.model.reasons.earlier import told_before
from gossamer.model.reasons.reason import Reason, because, sentence
from gossamer.state.records import HostRecord

PARK, REVIVE, REST, RELEASE = "host.park", "host.revive", "host.rest", "traps.release"
"""Paths in the log of changes."""
A_YEAR = 366 * 86_400.0
HOSTS_NOTED = 1_000

Name = Annotated[str, Meta(min_length=1, max_length=300)]


class HostName(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A host, as the list of hosts names it."""

    name: Name


class Rest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A host, and for how long it shall lie still."""

    name: Name
    seconds: Annotated[float, Meta(ge=0, le=A_YEAR)]


class Release(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A branch as `traps` names it, or `all` that are set aside; of one host, or of all."""

    branch: Annotated[str, Meta(min_length=1, max_length=20_000)]
    host: str = ""


async def host_rest(live: LiveCrawl, params: Rest, who: str) -> HostItem:
    """Let a host lie still for some time."""
    async with live.changing:
        record = _known(live, params.name)
        old = {"due": record.due, "reason": sentence(record.reason), "why": record.reason}
        await live.note({"path": REST, "subject": params.name, "old": old, "new": params.seconds}, who=who)
        live.applier.steering.rest(params.name, params.seconds)
        return _item(live, params.name)


async def host_park(live: LiveCrawl, params: HostName, who: str) -> HostItem:
    """Leave a host alone until it is revived."""
    async with live.changing:
        record = _known(live, params.name)
        if record.parked is None or not record.parked.has(HoldCode.OPERATOR):
            old, new = sentence(record.parked) or None, str(Reason(HoldCode.OPERATOR))
            await live.note({"path": PARK, "subject": params.name, "old": old, "new": new}, who=who)
            live.applier.steering.park(params.name)
        return _item(live, params.name)


async def host_revive(live: LiveCrawl, params: HostName, who: str) -> HostItem:
    """Visit a host again that is parked, or rests for longer than its last visit has earned."""
    async with live.changing:
        record = _known(live, params.name)
        old = sentence(record.parked or record.reason) or None
        final = not record.parked
        await live.note({"path": REVIVE, "subject": params.name, "old": old, "final": final}, who=who)
        live.applier.steering.revive(params.name)
        live.crawl.parts.dispatch.pump()
        return _item(live, params.name)


async def host_block(live: LiveCrawl, params: HostName, who: str) -> HostItem:
    """Never visit a host again: the setting `scope.block`. What is queued is dropped when its turn comes."""
    return await _set_blocked(live, params.name, who, blocked=True)


async def host_unblock(live: LiveCrawl, params: HostName, who: str) -> HostItem:
    """Take a host out of `scope.block`; what was dropped for it comes back."""
    return await _set_blocked(live, params.name, who, blocked=False)


async def _set_blocked(live: LiveCrawl, name: str, who: str, *, blocked: bool) -> HostItem:
    async with live.changing:
        _known(live, name)
        names = [name]
        if live.config.engine.queue_key == "site":
            names.append(f"*.{name}")
        block = [host for host in live.config.scope.block if host not in names]
        if not blocked and len(block) == len(live.config.scope.block):
            raise LiveError("conflict", because(ProblemCode.NOT_BLOCKED, name))
        plan = plan_changes(live.config, {"scope.block": block + names if blocked else block})
        await live.apply(plan, who)
        return _item(live, name)


async def traps_release(live: LiveCrawl, params: Release, who: str) -> dict[str, Any]:
    """Let a branch that was set aside out for good. The names of the hosts."""
    async with live.changing:
        live.refuse_if_ending()
        found = await live.look(
            lambda look, _: list(aside(look.environment, params.branch, params.host)), None, slow=True
        )
        if not found:
            missing = because(ProblemCode.NO_BRANCH, params.branch)
            if params.host:
                missing = because(ProblemCode.NO_BRANCH_ON, params.branch, params.host)
            raise LiveError("not_found", missing)
        names = sorted({name for _, name, _ in found})
        change = {"path": RELEASE, "subject": params.branch, "new": names[:HOSTS_NOTED], "final": True}
        await live.note(change, who=who)
        for host, name, number in found:
            live.applier.steering.release_branch(host, name, number)
        live.crawl.parts.dispatch.pump()
        return {"hosts": names}


async def undo_host(live: LiveCrawl, change: Change, who: str) -> list[Change]:
    """Take back what was done to a host."""
    name = change.subject
    record = _known(live, name)
    note: dict[str, Any] = {"path": change.path, "subject": name, "undoes": change.id, "final": True}
    steering = live.applier.steering
    match change.path:
        case "host.park" if record.parked:
            entries = await live.note(note | {"old": sentence(record.parked)}, who=who)
            steering.revive(name)
        case "host.revive" if not record.parked:
            entries = await live.note(note | {"new": change.old}, who=who)
            steering.park(name)
        case "host.rest" if not record.failures and not record.parked:
            entries = await live.note(note | {"old": change.new}, who=who)
            steering.end_rest(name, change.old["due"], _reason_before(change.old))
        case _:
            raise LiveError("conflict", because(ProblemCode.CHANGED_SINCE, name, change.id))
    live.crawl.parts.dispatch.pump()
    return entries


def _reason_before(old: dict[str, Any]) -> Reason | None:
    """Why a host rested before; older versions noted the sentence alone."""
    if "why" in old:
        return msgspec.convert(old["why"], Reason | None)
    return told_before(old["reason"]) if old["reason"] else None


def _known(live: LiveCrawl, name: str) -> HostRecord:
    live.refuse_if_ending()
    record = live.applier.steering.host(name)
    if record is None:
        raise LiveError("not_found", because(ProblemCode.NO_HOST, name))
    return record


def _item(live: LiveCrawl, name: str) -> HostItem:
    record = live.applier.steering.host(name)
    assert record is not None
    return host_item(record, int(live.crawl.parts.frontier.now() * 1e6), live.config)
