"""Puts the daemon's web application together: interface, console, metrics, and the gate around them."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.metadata import version
from typing import Any

from fastapi import APIRouter, FastAPI
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from gossamer.daemon.config import ServiceConfig
from gossamer.daemon.daemon import Daemon
from gossamer.web.api.clusters import ClusterRoutes
from gossamer.web.api.crawl import CrawlRoutes
from gossamer.web.api.events import EventRoutes
from gossamer.web.api.jobs import JobRoutes
from gossamer.web.api.metrics import metrics
from gossamer.web.api.openapi import describe, page_routes
from gossamer.web.api.pings import PingRoutes, strangers
from gossamer.web.api.problem import refuse_well
from gossamer.web.api.reading import ReadingRoutes
from gossamer.web.api.resources import ResourceRoutes
from gossamer.web.api.search import SearchRoutes
from gossamer.web.api.session import SessionRoutes
from gossamer.web.api.shapes import Shapes
from gossamer.web.api.streams import Streams
from gossamer.web.api.studies import StudyRoutes
from gossamer.web.api.watches import WatchRoutes
from gossamer.web.console import console_router
from gossamer.web.security.connections import patient_protocol
from gossamer.web.security.door import Door
from gossamer.web.security.gate import Gate
from gossamer.web.security.listening import check_listening
from gossamer.web.security.own_name import OwnName

PREFIX = "/api/v1"
_HEAD_BYTES = 64 << 10
_CONNECTIONS = 512
_SPARE = 64
"""Connections that are left to those who ask for something."""
_LAST_WORDS = 5
"""Seconds that answers on their way may take when the daemon ends."""


def make_app(daemon: Daemon, config: ServiceConfig, host: str = "", token: str = "") -> FastAPI:
    """The application for a server of ASGI; every request passes `security.gate`.

    Args:
        daemon: open, of the same event loop.
        config: its settings.
        host: where it listens, if not as `config.listen` says.
        token: that everybody must bring while there are no accounts; empty: nobody need.
    """
    listen = host or config.listen.host
    door = Door(daemon.store.database, config.security, listen, note=daemon.note, token=token)
    streams = Streams(config.security.event_streams)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        yield
        streams.close()

    app = FastAPI(
        title="Gossamer",
        version=version("gossamer"),
        openapi_url=None,
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        lifespan=lifespan,
    )
    app.state.daemon, app.state.door, app.state.config, app.state.streams = daemon, door, config, streams
    app.add_middleware(
        Gate,
        door=door,
        own=OwnName(config.security, listen, config.pings.public_host),
        config=config.security,
        strangers=strangers(config.pings),
    )
    refuse_well(app)
    shapes = Shapes()
    for router in (
        SessionRoutes(door, shapes).router(),
        ResourceRoutes(daemon, shapes).router(),
        JobRoutes(daemon, shapes).router(),
        CrawlRoutes(daemon, shapes).router(),
        ReadingRoutes(daemon, shapes).router(),
        StudyRoutes(daemon, shapes).router(),
        SearchRoutes(daemon, shapes).router(),
        WatchRoutes(daemon, shapes).router(),
        ClusterRoutes(daemon, shapes).router(),
        EventRoutes(daemon, door, streams, shapes).router(),
    ):
        app.include_router(router, prefix=PREFIX)
    describe(app, shapes)
    app.include_router(page_routes(app, PREFIX))
    app.include_router(_for_machines(daemon, streams))
    app.include_router(PingRoutes(daemon).router())
    app.include_router(console_router(daemon))
    return app


def check_listen(daemon: Daemon, config: ServiceConfig, host: str) -> None:
    """Refuse to listen where strangers reach a daemon that has no accounts.

    Raises:
        ConfigError: says how to make one.
    """
    door = Door(daemon.store.database, config.security, host)
    check_listening(door.accounts, config.security, host)


def daemon_is_open(daemon: Daemon, config: ServiceConfig) -> bool:
    """Whether nobody need log in."""
    return not Door(daemon.store.database, config.security, "").accounts.any()


def server_options(config: ServiceConfig) -> dict[str, Any]:
    """What the server (uvicorn) must be told for all this to hold."""
    security = config.security
    options: dict[str, Any] = {
        "server_header": False,
        "http": patient_protocol(_CONNECTIONS - _SPARE, tuple(security.trusted_proxies)),
        "ws": "none",
        "h11_max_incomplete_event_size": _HEAD_BYTES,
        "limit_concurrency": _CONNECTIONS,
        "timeout_graceful_shutdown": _LAST_WORDS,
        "proxy_headers": bool(security.trusted_proxies),
        "forwarded_allow_ips": list(security.trusted_proxies),
    }
    if security.certificate:
        options |= {"ssl_certfile": security.certificate, "ssl_keyfile": security.private_key}
    return options


def _for_machines(daemon: Daemon, streams: Streams) -> APIRouter:
    router = APIRouter(include_in_schema=False)

    async def figures(_: Request) -> Response:
        return await metrics(daemon, streams)

    async def health() -> Response:
        return PlainTextResponse("ok\n")

    router.add_api_route("/metrics", figures, methods=["GET"])
    router.add_api_route("/healthz", health, methods=["GET"])
    return router
