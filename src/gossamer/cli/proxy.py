"""Runs a proxy for other programs: with the crawl that it asks, or beside it."""

import asyncio
import contextlib
import signal
from collections.abc import Sequence
from pathlib import Path
from socket import socket

import msgspec
import uvloop

from gossamer.assembly.folder import CrawlFolder
from gossamer.assembly.private import keep_private
from gossamer.cli.certifying import certifying
from gossamer.cli.crawl import conduct, run_new, taken_up
from gossamer.cli.request import Request
from gossamer.cli.terminal.printing import say, show
from gossamer.config.units import parse_duration
from gossamer.engine.crawl import Crawl
from gossamer.model.command_line import command_line, quoted
from gossamer.model.errors import ConfigError
from gossamer.replay.conversations import Certify
from gossamer.replay.listening import LOOPBACK, listening
from gossamer.replay.on_demand import proxy
from gossamer.state.scratch import Scratch
from gossamer.web.security.own_name import is_loopback

_NEW = ("demand.stay=true", "scope.demands=any")
"""Settings of a folder that is made for the proxy: it has no seeds, and fetches what it is asked for."""


class Proxied(msgspec.Struct, frozen=True, kw_only=True):
    """What the user asks for: options of the command."""

    listen: str
    fresh: str = ""
    settings: Sequence[str] = ()
    quiet: bool = False


class _Serving(msgspec.Struct, frozen=True):
    """What the proxy is given."""

    path: Path
    sockets: Sequence[socket]
    fresh: str
    certify: Certify | None
    trusted: Path | None

    async def run(self) -> None:
        """Serve until cancelled."""
        async with proxy(self.path, self.sockets, self.fresh, self.certify) as home:
            show(home)
            options = f"-x {home}" + (f" --cacert {quoted(self.trusted)}" if self.trusted else "")
            say(f"  a proxy: curl {options} URL; Ctrl-C ends it")
            await asyncio.Event().wait()


def run_proxy(path: Path, asked: Proxied) -> None:
    """Serve until SIGINT or SIGTERM, or until the crawl ends. A crawl that runs in `path` is asked; else it is begun,
    or gone on with.

    Raises:
        ConfigError: an option or a setting makes no sense, or the address cannot be had.
        StorageError: the crawl's state cannot be used.
    """
    keep_private()
    host, port = _address(asked.listen)
    with contextlib.suppress(ValueError):
        parse_duration(asked.fresh or "0s")
        return _run(path, asked, host, port)
    raise ConfigError(f"--fresh {asked.fresh}: write a time span, such as 1h or 0s.")


def _run(path: Path, asked: Proxied, host: str, port: int) -> None:
    sockets = listening(host, port)
    if not is_loopback(host):
        say(f"  whoever can reach {host} can read this archive and have pages fetched: there is no log-in")
    with Scratch() as scratch:
        serving = _Serving(path, sockets, asked.fresh, *certifying(Path(scratch)))
        tasks: list[asyncio.Task[None]] = []

        def begin(crawl: Crawl) -> None:
            crawl.parts.dispatch.expect("proxy")
            tasks.append(asyncio.create_task(serving.run()))

        folder = CrawlFolder(path)
        if folder.used and folder.in_use():
            if asked.settings:
                raise ConfigError(
                    f"{path}: is being crawled. '{command_line('set', path, 'NAME=VALUE')}' changes it."
                )
            uvloop.run(_beside(serving))
        elif folder.used:
            folder, config = taken_up(path, asked.settings, {}, from_checkpoint=False)
            conduct(folder, config, resumed=True, quiet=asked.quiet, json=False, begin=begin)
        else:
            request = Request((), folder=path, settings=(*_NEW, *asked.settings))
            run_new(request, quiet=asked.quiet, json=False, begin=begin)


async def _beside(serving: _Serving) -> None:
    task = asyncio.create_task(serving.run())
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, task.cancel)
    with contextlib.suppress(asyncio.CancelledError):
        await task


def _address(listen: str) -> tuple[str, int]:
    """(host, port) of `[ADDRESS:]PORT`.

    Raises:
        ConfigError: it is none.
    """
    host, _, port = listen.rpartition(":")
    if not (port.isascii() and port.isdecimal() and len(port) <= len("65535") and int(port) <= 65_535):
        raise ConfigError(f"--listen {listen}: write ADDRESS:PORT, such as {LOOPBACK}:8781.")
    return host.strip("[]") or LOOPBACK, int(port)
