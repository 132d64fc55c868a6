"""A daemon with its web application behind a real server on loopback, in a thread of the test's process."""

import asyncio
import contextlib
import socket
import threading
from collections.abc import Coroutine, Iterator
from pathlib import Path
from typing import Any, TypeVar

import uvicorn
from patience import PATIENCE
from service_world import no_survivors, open_daemon

from gossamer.daemon.daemon import Daemon
from gossamer.web.api.app import make_app, server_options

T = TypeVar("T")


class LiveService:
    """Its daemon, its address, and its event loop, which runs in another thread."""

    def __init__(self, daemon: Daemon, app: Any, port: int, loop: asyncio.AbstractEventLoop) -> None:
        self.daemon = daemon
        self.app = app
        self.port = port
        self.url = f"http://127.0.0.1:{port}"
        self._loop = loop

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Do something on the daemon's loop."""
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(PATIENCE)


@contextlib.contextmanager
def live_service(folder: Path, **sections: Any) -> Iterator[LiveService]:
    """A service that answers until the test leaves it."""
    ready = threading.Event()
    found: list[Any] = []

    async def serve() -> None:
        async with open_daemon(folder, **sections) as daemon:
            listening = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
            app = make_app(daemon, daemon.config)
            server = uvicorn.Server(
                uvicorn.Config(app, access_log=False, log_level="warning", **server_options(daemon.config))
            )
            found.extend(
                (LiveService(daemon, app, listening.getsockname()[1], asyncio.get_running_loop()), server)
            )
            ready.set()
            await server.serve(sockets=[listening])

    def live() -> None:
        try:
            asyncio.run(serve())
        except BaseException as error:
            found.append(error)
            raise
        finally:
            ready.set()

    with contextlib.ExitStack() as stack:
        stack.enter_context(no_survivors(folder))
        thread = threading.Thread(target=live)
        thread.start()
        try:
            assert ready.wait(PATIENCE)
            assert isinstance(found[0], LiveService), found
            yield found[0]
        finally:
            if len(found) > 1 and isinstance(found[1], uvicorn.Server):
                found[0].app.state.streams.close()
                found[1].should_exit = True
            thread.join(PATIENCE)
            assert not thread.is_alive()
