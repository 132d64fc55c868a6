"""Shows an archive in the browser until it is told to stop."""

import asyncio
import os
import signal
import webbrowser
from pathlib import Path

import msgspec
import uvloop

from gossamer.assembly.private import keep_private
from gossamer.cli.certifying import certifying
from gossamer.cli.terminal.printing import plural, safe, say, show
from gossamer.inspect.clusters.whole import inspect_whole
from gossamer.inspect.inspection import Inspection
from gossamer.model.command_line import quoted
from gossamer.model.errors import ConfigError
from gossamer.replay.answers import Looks
from gossamer.replay.catalogue import with_requisites
from gossamer.replay.listening import LOOPBACK
from gossamer.replay.server import How, View, view
from gossamer.state.scratch import Scratch
from gossamer.web.security.own_name import is_loopback

PORT = 8780
"""Where the list is if nobody says otherwise and it is free, so that its address can be kept."""


class Viewing(msgspec.Struct, frozen=True, kw_only=True):
    """What the user asks for: options of the command."""

    host: str = LOOPBACK
    port: int | None = None
    at: str = ""
    proxy: bool = False
    open_browser: bool = True
    banner: bool = True
    scripts: bool = True


def run_view(path: Path, asked: Viewing) -> None:
    """Serve until SIGINT or SIGTERM; the crawl may run meanwhile.

    Raises:
        ConfigError: no crawl lives there, the time is none, or the address cannot be had.
        StorageError: its state is damaged.
    """
    keep_private()
    with inspect_whole(path) as inspection:
        _say_what(inspection)
    looks = Looks(asked.banner, asked.scripts)
    with Scratch() as scratch:
        certify, trusted = certifying(Path(scratch)) if asked.proxy else (None, None)
        how = How(host=asked.host, at=asked.at, looks=looks, proxy=asked.proxy, certify=certify)
        uvloop.run(_serve(path, how, asked, trusted))


def _say_what(inspection: Inspection) -> None:
    folder = inspection.folder.path
    say(f"{safe(str(folder))}: {plural(inspection.counters.pages, 'page')}")
    if inspection.config.scope.requisites == "off":
        say("  pictures, styles and scripts of pages were not fetched, so pages look bare. To add them:")
        say(f"  {safe(with_requisites(folder))}")


async def _serve(path: Path, how: How, asked: Viewing, trusted: Path | None) -> None:
    ending = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, ending.set)
    try:
        manager = view(path, msgspec.structs.replace(how, port=PORT if asked.port is None else asked.port))
        shown = await manager.__aenter__()
    except ConfigError:
        if asked.port is not None:
            raise
        manager = view(path, how)
        shown = await manager.__aenter__()
    try:
        await _say_where(shown, how, asked, trusted)
        await ending.wait()
    finally:
        await manager.__aexit__(None, None, None)


async def _say_where(shown: View, how: How, asked: Viewing, trusted: Path | None) -> None:
    show(f"{shown.home}/")
    if not is_loopback(how.host):
        say(f"  whoever can reach {how.host} can read this archive: there is no log-in")
    if how.host != LOOPBACK:
        say("  browsers look for the pages at 127.0.0.1, by names below 'localhost'")
    if how.proxy:
        options = f"-x {shown.home}" + (f" --cacert {quoted(trusted)}" if trusted else "")
        say(f"  as a proxy: curl {options} URL")
    say("  nothing leaves this machine; Ctrl-C ends it")
    if asked.open_browser and any(map(os.environ.get, ("DISPLAY", "WAYLAND_DISPLAY"))):
        await asyncio.get_running_loop().run_in_executor(None, webbrowser.open, f"{shown.home}/")
