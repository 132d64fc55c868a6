"""Asks for pages once more."""

import asyncio
import sys
from pathlib import Path
from typing import Any

import msgspec

from gossamer.cli.exits import EXIT_NOTHING
from gossamer.cli.live import reasons_of, who
from gossamer.cli.terminal.exact_pattern import exact_hint
from gossamer.cli.terminal.printing import plural, safe, say, show, show_json
from gossamer.control.changes.refetch_operation import REFETCH
from gossamer.control.changes.refetching import Refetch, ask_offline
from gossamer.control.socket.client import ask
from gossamer.control.socket.protocol import LiveError, NotRunning
from gossamer.control.views.context import view_context
from gossamer.model.command_line import command_line
from gossamer.model.errors import ConfigError

LISTED = 10


def show_refetch(path: Path, asked: Refetch, *, json: bool) -> None:
    """Ask for pages, and say how many there are and what happens next; exit 1 if none of the URLs is known.

    Raises:
        ConfigError: no crawl lives in `path`, or what is asked for cannot be.
    """
    told = _asked(path, asked)
    if json:
        show_json(told)
    else:
        _say(path, told)
        if not told["pages"] and (hint := exact_hint(asked.match)):
            say(hint)
    if told["unknown"] and not told["pages"]:
        sys.exit(EXIT_NOTHING)


def _say(path: Path, told: dict[str, Any]) -> None:
    pages = plural(told["pages"], "page")
    if told["dry_run"]:
        show(f"{pages} would be visited again")
    elif not told["pages"]:
        show("no page is visited again")
    elif told["running"]:
        show(f"{pages} will be visited again now, without condition, one after the other on each host")
    else:
        show(
            f"{pages} will be visited again, without condition, when it goes on: {command_line('resume', path)}"
        )
    for host in told["parked"][:LISTED]:
        show(
            f"{safe(host)} was parked by hand: its pages wait until it is revived (console: its page under Hosts)"
        )
    for url in told["unknown"][:LISTED]:
        show(f"no page that was visited, so not again: {safe(url)}")
    if len(told["unknown"]) > LISTED:
        show(f"and {len(told['unknown']) - LISTED:,} more that were not visited")


def _asked(path: Path, asked: Refetch) -> dict[str, Any]:
    given: dict[str, Any] = msgspec.to_builtins(asked)
    try:
        try:
            told: dict[str, Any] = asyncio.run(ask(path, REFETCH, given, who=who()))
        except NotRunning:
            with view_context(path) as look:
                told = msgspec.to_builtins(ask_offline(look, asked, who()))
    except LiveError as error:
        raise ConfigError(*reasons_of(path, error)) from None
    return told
