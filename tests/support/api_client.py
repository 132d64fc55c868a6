"""A client of an application in this process, and small parts that the tests of the service share."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
from service_world import open_daemon

from gossamer.daemon.daemon import Daemon
from gossamer.web.api.app import make_app

CHEAP: dict[str, Any] = {"hash_memory": 1 << 20, "hash_rounds": 1}
"""A log-in in a millisecond."""
PASSWORD = "correct horse battery"
HERE = "http://127.0.0.1:8470"


@asynccontextmanager
async def client_of(app: Any, base: str = HERE, **more: Any) -> AsyncIterator[httpx.AsyncClient]:
    """Requests go straight into the application."""
    transport = httpx.ASGITransport(app=app, client=more.pop("client", ("127.0.0.1", 40_000)))
    async with httpx.AsyncClient(transport=transport, base_url=base, **more) as client:
        yield client


@asynccontextmanager
async def served(folder: Path, **sections: Any) -> AsyncIterator[tuple[Daemon, httpx.AsyncClient]]:
    """A daemon and a client of its application; both end with the test."""
    async with open_daemon(folder, **sections) as daemon:
        app = make_app(daemon, daemon.config)
        async with client_of(app) as client:
            client.app = app  # type: ignore[attr-defined]
            yield daemon, client
