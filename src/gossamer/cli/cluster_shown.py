"""Shows how a cluster stands, or stood when it was last heard: without Ray, which need not run."""

import time
from pathlib import Path

import msgspec

from gossamer.cli.look import show_status
from gossamer.cli.terminal.printing import duration, safe, show, show_json, size
from gossamer.inspect.clusters.cluster_folder import Last, last_of, standing
from gossamer.inspect.clusters.cluster_view import LossOverview, Overview
from gossamer.model.command_line import command_line
from gossamer.model.reasons.ends import FINISHED
from gossamer.words.amounts import moment


def show_overview(title: str, overview: Overview, *, since: float = 0.0) -> None:
    """Print agents, moves and sums; `since`: seconds that have passed since they were so."""
    show(title)
    show(f"pages     {overview.pages:,}, {size(overview.bytes)} received, {overview.queued:,} queued")
    show(
        f"shards    {overview.owned:,} of {overview.shards:,} owned, {overview.moving:,} moving, "
        f"{overview.homeless:,} without owner; epoch {overview.epoch}"
    )
    if overview.problem:
        show(f"problem   {safe(overview.problem)}")
    for loss in overview.losses:
        show(f"lost      {told_of(loss)}")
    for agent in overview.agents:
        silent = "never heard" if agent.silent is None else f"heard {duration(agent.silent + since)} ago"
        age = "none" if agent.snapshot_age is None else f"{duration(agent.snapshot_age + since)} old"
        show(
            f"{safe(agent.name):<8}  {agent.state} on {safe(agent.node)}, {silent}: {agent.shards} shards, "
            f"{agent.pages:,} pages, {agent.queued:,} queued, outbox {agent.outbox:,} ({agent.owed:,} owed), "
            f"snapshot {age}"
        )
        if agent.problem:
            show(f"          {safe(agent.problem)}")
    for move in overview.moves:
        source = move.source or "new"
        show(f"move {move.number}    {move.shards} shards {source} -> {move.target}: {move.state}")


def show_ended(folder: Path, *, as_json: bool) -> None:
    """Print how a cluster ended that does not run; without its last words, what its agents' folders say.

    Raises:
        ConfigError: nothing of it is here.
    """
    last = last_of(folder)
    if last is None:
        show_status(folder, json=as_json)
    elif as_json:
        told = {"state": standing(last), "heard": last.at}
        show_json({**told, **msgspec.to_builtins(last.overview)})
    else:
        show_overview(_title(folder, last), last.overview, since=max(0.0, time.time() - last.at))


def _title(folder: Path, last: Last) -> str:
    when = f"{moment(last.at)} UTC"
    if standing(last) == "ended":
        more = (
            ""
            if last.overview.why == FINISHED
            else f"; '{command_line('cluster', 'resume', folder)}' goes on"
        )
        return f"{folder}: ended: {last.overview.stop}, {when}{more}"
    return (
        f"{folder}: broken off, last heard {when}; '{command_line('cluster', 'resume', folder)}' goes on,"
        f" '{command_line('status', folder)}' tells what its agents have"
    )


def told_of(loss: LossOverview) -> str:
    """What came of a snapshot that could not be used, and what to do."""
    told = [
        f"snapshot {loss.snapshot} of {safe(loss.agent)}, which is lost, cannot be used: {safe(loss.reason)}"
    ]
    if loss.used:
        told.append(
            f"Others go on from its snapshot {loss.used}: what it fetched since is fetched again, links that "
            "others had sent it since may be missing."
        )
    elif loss.shards:
        told.append(
            f"Nor can an older one: {loss.shards} shards begin anew, with their seeds and the links that "
            "others still keep. What else it knew of their hosts is lost until it is found again."
        )
    if loss.outbox and not loss.used:
        told.append("Links that it still owed to others are lost.")
    told.append(
        "See that the store's disk is whole, and that nothing deletes from it; to be sure of these hosts, "
        "crawl them once more."
    )
    return " ".join(text if text.endswith(".") else f"{text}." for text in told)
