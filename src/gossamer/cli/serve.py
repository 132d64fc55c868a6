"""Runs the daemon in the foreground, with its interface, until it is told to stop."""

import asyncio
import contextlib
import signal
import socket
import sys
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import uvloop

from gossamer.cli.terminal.printing import say
from gossamer.model.command_line import command_line, quoted
from gossamer.model.errors import ConfigError
from gossamer.state.machine import only_on_linux

if TYPE_CHECKING:
    from gossamer.daemon.config import ServiceConfig
    from gossamer.daemon.daemon import Daemon
    from gossamer.daemon.views import JobView

NEEDED = ("argon2", "cronsim", "fastapi", "jinja2", "numpy", "uvicorn")
NAMED = 5
"""Crawls that the closing words name."""
_BACKLOG = 128
_TICK_SECONDS = 5.0
"""So old may the field `Date` of an answer be: nothing else is done at a tick."""
_TICKS = 10
"""Ticks of uvicorn's that we count each of ours as: by the tenth it sets its clock."""
_TICKS_OF_A_DAY = 864_000


def run_serve(
    folder: Path,
    host: str | None,
    port: int | None,
    clusters: tuple[Path, ...],
    token_file: str,
) -> None:
    """Serve until SIGINT or SIGTERM; the crawls go on.

    Args:
        folder: the daemon's.
        host, port: where to listen, if not as its settings say.
        clusters: folders of clusters to show beside those that its settings name.
        token_file: where the token lies that is demanded without accounts: a path, `auto` or `none`.

    Raises:
        ConfigError: this is not Linux, the extra is not installed, settings make no sense, or there is no
            such address.
        StorageError: the daemon's database is damaged.
    """
    only_on_linux("gossamer serve")
    missing = [name for name in NEEDED if find_spec(name) is None]
    if missing:
        raise ConfigError(
            f"gossamer serve needs packages that are not installed ({', '.join(missing)}):"
            " pip install 'gossamer[console]'"
        )
    from gossamer.assembly.private import keep_private
    from gossamer.daemon.config import ServiceFolder

    keep_private()
    home = ServiceFolder(folder.resolve())
    home.create()
    config = home.read()
    shown = (*config.clusters, *(str(path.resolve()) for path in clusters))
    config = msgspec.structs.replace(config, clusters=shown)
    uvloop.run(_serve(home.path, config, (host, port), token_file))


async def _serve(
    path: Path, config: "ServiceConfig", where: tuple[str | None, int | None], choice: str
) -> None:
    from gossamer.daemon.daemon import Daemon
    from gossamer.web.api.app import check_listen, daemon_is_open
    from gossamer.web.security.local_token import read_token, token_file

    host, port = where
    address = host or config.listen.host
    daemon = Daemon.prepare(path, config)
    try:
        check_listen(daemon, config, address)
        file = token_file(choice, daemon.path)
        token = read_token(file) if file is not None else ""
        with _listening(address, config.listen.port if port is None else port) as listening:
            await daemon.begin()
            url = _url(listening, secure=bool(config.security.certificate))
            say(f"gossamer serves {url} - jobs in {daemon.path}")
            if daemon_is_open(daemon, config):
                _say_who_comes(url, token, file)
            await _answer(daemon, config, address, listening, token)
        left = daemon.jobs()
    finally:
        await daemon.close()
    for line in closing_words(left, daemon.path):
        say(line)


def closing_words(jobs: "Sequence[JobView]", folder: Path) -> list[str]:
    """What becomes of the crawls that outlive the daemon, and how they are stopped."""
    left = [job for job in jobs if job.pid is not None]
    if not left:
        return ["the daemon has ended; no crawl was running"]
    names = ", ".join(f"{job.name} (paused)" if job.state == "paused" else job.name for job in left[:NAMED])
    more = f" and {len(left) - NAMED:,} more" if len(left) > NAMED else ""
    crawls, them, killed = ("crawls go", "them", "those that were") if left[1:] else ("crawl goes", "it", "")
    dead = f"with {killed} killed" if killed else "with it if it was killed"
    return [
        f"the daemon has ended; {len(left):,} {crawls} on without it: {names}{more}",
        f"to stop {them} as well: kill {' '.join(str(job.pid) for job in left)}",
        f"{command_line('serve', '--dir', folder)} finds {them} again, and goes on {dead}",
    ]


def _say_who_comes(url: str, token: str, file: Path | None) -> None:
    if file is None:
        say("no accounts, so nobody need log in: every user of this machine is its operator")
        say("to ask who comes: gossamer serve-user add NAME --role operator, or --token-file auto|FILE")
        return
    # What is no terminal may be a file that others read.
    shown = token if sys.stderr.isatty() else f"$(cat {quoted(file)})"
    say(f"no accounts, so whoever comes must bring the token in {file}: open {url}?token={shown}")
    say("programs send it as 'Authorization: Bearer ...'; with --token-file none nobody need bring it")


async def _answer(
    daemon: "Daemon", config: "ServiceConfig", host: str, listening: socket.socket, token: str
) -> None:
    import uvicorn

    from gossamer.web.api.app import make_app, server_options

    class Server(uvicorn.Server):
        """Leaves signals to us: uvicorn sends them again when it has ended, before the daemon is closed.

        Nor does it look ten times a second whether it is to end: it is told.
        """

        async def main_loop(self) -> None:
            ticks = 0
            while not await self.on_tick(ticks):
                ticks = (ticks + _TICKS) % _TICKS_OF_A_DAY
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(_TICK_SECONDS):
                        await ending.wait()

        @contextlib.contextmanager
        def capture_signals(self) -> Iterator[None]:
            yield

    ending = asyncio.Event()
    options = {"access_log": False, "log_level": "warning", **server_options(config)}
    app = make_app(daemon, config, host, token)
    server = Server(uvicorn.Config(app, **options))
    loop = asyncio.get_running_loop()

    def end() -> None:
        ending.set()
        server.force_exit = server.should_exit
        server.should_exit = True
        app.state.streams.close()  # they have no end of their own, and would be waited for

    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, end)
    try:
        await server.serve(sockets=[listening])
    finally:
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.remove_signal_handler(number)


def _listening(host: str, port: int) -> socket.socket:
    """A socket that listens.

    Raises:
        ConfigError: the address is not ours, or somebody listens there.
    """
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0][0]
        return socket.create_server((host, port), family=family, backlog=_BACKLOG)
    except (OSError, OverflowError) as error:
        reason = getattr(error, "strerror", None) or error
        raise ConfigError(f"listen: {host} port {port} cannot be had ({reason}). Choose another.") from None


def _url(listening: socket.socket, *, secure: bool) -> str:
    host, port = listening.getsockname()[:2]
    scheme = "https" if secure else "http"
    return f"{scheme}://[{host}]:{port}/" if ":" in host else f"{scheme}://{host}:{port}/"
