"""Shows what is known of a crawl: status, the story of a URL, the result of a check."""

import asyncio
import sys
import textwrap
from pathlib import Path
from typing import Any

import msgspec

from gossamer.cli.exits import EXIT_NOTHING
from gossamer.cli.looked_into import looked_into
from gossamer.cli.terminal.again import again_line
from gossamer.cli.terminal.behind_line import behind_lines
from gossamer.cli.terminal.ending import undelivered
from gossamer.cli.terminal.fresh_line import fresh_line
from gossamer.cli.terminal.printing import duration, plural, safe, show, show_json, size
from gossamer.cli.terminal.twin_lines import twin_lines
from gossamer.config.config import CrawlConfig
from gossamer.config.presets import PRESETS
from gossamer.config.setting_help import all_settings, find_settings
from gossamer.config.settings import commented_toml
from gossamer.control.socket.protocol import LiveError, NotRunning
from gossamer.fetch.proxies import ProxySeen
from gossamer.inspect.checks.cluster_check import check_whole
from gossamer.inspect.hosts import HostItem
from gossamer.inspect.queue.levels import LevelSizes
from gossamer.inspect.queue.sizes import DomainSizes
from gossamer.inspect.status import AgentLine, Status, status_of
from gossamer.inspect.why.whole import tell_whole
from gossamer.model.command_line import command_line
from gossamer.model.reasons.ends import FINISHED
from gossamer.words.amounts import moment

_SOON = 2.0
"""Seconds that a running crawl is given to tell of its proxies."""


def show_status(path: Path, *, json: bool) -> None:
    """Print sums, and what is left by host, domain and level."""
    with looked_into(path) as inspection:
        status, config = status_of(inspection, queues=True), inspection.config
    proxies = _proxies(path, status)
    if json:
        show_json({**msgspec.to_builtins(status), "proxies": proxies})
        return
    for line in [*_status_lines(status), *_proxy_lines(proxies), *undelivered(path, config)]:
        show(line)


def _proxies(path: Path, status: Status) -> list[ProxySeen]:
    """How those of a running crawl are, which it alone knows; none if it does not answer soon."""
    if status.state not in ("running", "paused") or status.agents:
        return []
    from gossamer.control.socket.client import connect

    async def ask() -> Any:
        async with connect(path, patience=_SOON) as crawl:
            return await crawl.ask("status")

    try:
        return msgspec.convert(asyncio.run(ask())["proxies"], list[ProxySeen])
    except (LiveError, NotRunning):
        return []


def _proxy_lines(proxies: list[ProxySeen]) -> list[str]:
    out = [f"{safe(one.proxy)} ({duration(one.left_out)})" for one in proxies if one.left_out]
    used = f"proxies   {len(proxies) - len(out):,} of {len(proxies):,} in use"
    return [used + (f"; left out for a while: {', '.join(out)}" if out else "")] * bool(proxies)


def _status_lines(status: Status) -> list[str]:
    sums = status.sums
    lines = [
        f"{status.folder}",
        f"state     {_state(status)}",
        f"pages     {sums.pages:,} ({sums.duplicates:,} duplicates), {size(sums.bytes)} received, "
        f"{size(sums.archived_bytes)} archived",
        f"visits    {sums.visits:,} in {duration(sums.seconds)}, {sums.pages_per_second} pages/s",
        f"urls      {sums.known:,} known, {sums.queued:,} queued, {sums.waiting:,} waiting, "
        + (f"{sums.aside:,} set aside, " if sums.aside else "")
        + (f"{sums.again:,} due again, " if sums.again else "")
        + f"{sums.dropped:,} dropped, {sums.rejected:,} turned away",
        *([f"again     {again_line(msgspec.to_builtins(status.revisit))}"] if status.revisit else []),
        "hosts     "
        + ", ".join(f"{count:,} {state}" for state, count in sorted(status.hosts_by_state.items())),
    ]
    lines += _agent_lines(status.agents) + _visited_lines(sums.visited)
    if status.freshness is not None and (fresh := fresh_line(status.freshness)):
        lines.append(f"fresh     {fresh}")
    lines += [f"twins     {line}" for line in twin_lines(status.twins)]
    lines += behind_lines(status)
    if "harvest_rate" in sums.order:
        lines.append(
            f"focus     {sums.order['harvested']:,} of {sums.order['documents']:,} documents are relevant, "
            f"a harvest rate of {sums.order['harvest_rate']:.1%}"
        )
    for name, counts in (("status", sums.statuses), ("faults", sums.faults), ("types", sums.media_types)):
        if counts:
            most = sorted(counts.items(), key=lambda item: -item[1])[:8]
            lines.append(f"{name:<9} " + ", ".join(f"{safe(key)} {count:,}" for key, count in most))
    if status.levels is not None:
        lines += _level_lines(status.levels)
    if status.domains is not None:
        lines += _domain_lines(status.domains)
    return lines + _host_lines(status.hosts)


def _state(status: Status) -> str:
    when = f", {moment(status.last)} UTC" if status.last else ""
    if status.state == "ended":
        left = " for now" if status.why == FINISHED and status.sums.queued + status.sums.waiting else ""
        return f"ended{left}: {status.ended}{when}"
    if status.state == "broken off":
        again = ("cluster", "resume") if status.agents else ("resume",)
        return f"broken off{when}; '{command_line(*again, status.folder)}' goes on"
    return status.state


def _agent_lines(agents: list[AgentLine]) -> list[str]:
    """What each agent of a cluster has of the sums."""
    return [
        f"{agent.name:<9} {agent.state}: {agent.pages:,} pages, {agent.queued:,} queued, "
        f"{agent.waiting:,} waiting"
        for agent in agents
    ]


def _level_lines(sizes: LevelSizes) -> list[str]:
    """How many URLs are queued at each level."""
    if not sizes.urls:
        return []
    counted = sizes.keys_read == sizes.urls
    how = "counted" if counted else f"estimated from {sizes.keys_read:,} of them"
    lines = [f"levels    of {plural(sizes.urls, 'queued URL')} under the order {safe(sizes.order)}, {how}:"]
    about = "" if counted else "about "
    rows = [(line.name, line.urls) for line in sizes.levels]
    rows += [(f"of these {line.name}", line.urls) for line in sizes.grades]
    lines += [f"  {name}: {about}{urls:,} ({urls / sizes.urls:.1%})" for name, urls in rows]
    if sizes.unread:
        lines.append(f"  further back in long queues, not read: about {sizes.unread:,}")
    return lines


def _domain_lines(sizes: DomainSizes) -> list[str]:
    """The domains with the most left."""
    if not sizes.hosts:
        return []
    how = f"of {plural(sizes.hosts, 'host')}"
    if sizes.hosts_read < sizes.hosts:
        how += f", estimated from {sizes.hosts_read:,} of them"
    lines = [f"domains   with the most URLs left, {how}:"]
    for domain in sizes.domains:
        left = f"{domain.queued:,} queued, {domain.waiting:,} waiting"
        hosts = f" on {plural(domain.hosts, 'host')}" if domain.hosts is not None else ""
        error = f", give or take {domain.error:,}" if domain.error else ""
        lines.append(f"  {safe(domain.name)}: {left}{hosts}{error}")
    return lines


def _host_lines(hosts: list[HostItem]) -> list[str]:
    lines = []
    if hosts:
        lines.append("largest   by URLs left, then by pages:")
    for host in hosts:
        rest = f" for {duration(host.seconds)}" if host.seconds else ""
        why = f" ({safe(host.reason)})" if host.reason else ""
        lines.append(
            f"  {safe(host.name)}: {plural(host.pages, 'page')}, {host.queued:,} queued, {host.waiting:,} waiting, "
            f"{host.state}{rest}{why}"
        )
    return lines


def _visited_lines(sums: dict[str, Any]) -> list[str]:
    """The visited table, if it is one that loses URLs."""
    if "stated_rate" not in sums:
        return []
    return [
        f"visited   {sums['table']}, {sums['urls']:,} of {sums['capacity']:,} URLs in "
        f"{size(sums['memory'])}; false positives: stated {sums['stated_rate']:.3g}, "
        f"expected now {sums['expected_rate']:.3g}, "
        f"measured {sums['false_positives']:,} of {sums['probes']:,} probes"
    ]


def show_why(path: Path, url: str, *, json: bool) -> None:
    """Print the story of a URL."""
    with looked_into(path) as inspection:
        told = tell_whole(inspection, url)
        if told.agent and told.story.state == "unknown":
            from gossamer.cluster.agent.awaited import awaited

            told = msgspec.structs.replace(told, others=awaited(inspection.each, told.story.url))
    story, near = told.story, told.nearest
    if json:
        facts = [{"about": fact.about, "text": fact.text} for fact in story.facts]
        shown = {"url": story.url, "state": story.state, "facts": facts, "priority": story.priority}
        of_cluster = {"agent": told.agent, "others": told.others} if told.agent else {}
        show_json({**shown, "nearest": near, **of_cluster})
        return
    show(f"{safe(story.url)}: {story.state}")
    for known in near:
        show(f"  did you mean    {safe(known)}")
    if told.agent:
        show(f"  {'agent':<15} {told.agent} tells this")
    for agent, words in told.others.items():
        show(f"  {agent:<15} {safe(words)}")
    for fact in story.facts:
        show(f"  {fact.about:<15} {safe(fact.text)}")


def show_config(names: list[str], word: str, *, json: bool) -> None:
    """Print the whole commented configuration, or what single settings mean; exit 1 if there are none."""
    if not names and not word and not json:
        show(commented_toml(CrawlConfig).rstrip("\n"))
        return
    found = find_settings(CrawlConfig, names, word) if names or word else list(all_settings(CrawlConfig))
    if json:
        show_json(found)
    elif not found:
        show(f"no setting has {word!r} in its name or meaning")
    for number, one in enumerate(() if json else found):
        show("\n" * (number > 0) + one.path)
        show(textwrap.fill(one.meaning, 96, initial_indent="  ", subsequent_indent="  "))
        show(textwrap.indent(one.written, "  "))
    if not found:
        sys.exit(EXIT_NOTHING)


def show_preset(word: str, *, json: bool) -> None:
    """Print what a crawl for this purpose sets, a line of TOML each, and what that means."""
    found = find_settings(CrawlConfig, list(PRESETS[word]), "")
    if json:
        show_json({one.path: PRESETS[word][one.path] for one in found})
        return
    for one in found:
        show(f"{one.path} = {_toml(PRESETS[word][one.path])}")
        show(textwrap.fill(one.meaning, 96, initial_indent="  # ", subsequent_indent="  # "))


def _toml(value: bool | str) -> str:
    return msgspec.json.encode(value).decode()  # of these both write the same


def show_check(path: Path, *, json: bool) -> None:
    """Print what is wrong; exit 1 if anything is."""
    with looked_into(path) as inspection:
        result = check_whole(inspection)
    if json:
        show_json(result)
    else:
        for problem in result.problems:
            show(safe(problem))
        for left in result.unfinished:
            show(f"{safe(left)} (a crawl is running, or 'gossamer resume' removes it)")
        verdict = plural(len(result.problems), "problem") if result.problems else "all is well"
        archived = f"{plural(result.files, 'file')}, {plural(result.records, 'record')}"
        show(
            f"{archived}, {plural(result.captures, 'capture')}, {plural(result.pages, 'page record')}: {verdict}"
        )
    if result.problems:
        sys.exit(EXIT_NOTHING)
