"""The protocol module for http and https."""

import asyncio
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import msgspec
import pycurl

from gossamer.fetch.body import BodyMemory, BodyWriter
from gossamer.fetch.config import FetchConfig, prove_ca_file
from gossamer.fetch.connections import ConnectionMemory
from gossamer.fetch.guard import AddressGuard
from gossamer.fetch.head import parse_fields
from gossamer.fetch.multi import Multi
from gossamer.fetch.options import configure, cookie_jar
from gossamer.fetch.pace import PaceWatch
from gossamer.fetch.request import Credentials, conditional_fields, constant_fields, request_head
from gossamer.fetch.route import Route, Router
from gossamer.fetch.throttle import Flow, Throttle, VisitSpeed
from gossamer.fetch.transfer import Order, Transfer
from gossamer.fetch.verdict import judge
from gossamer.model.exchange import Exchange, Timing, Truncation
from gossamer.model.lease import Lease
from gossamer.model.outcome import Failed, Fetched, Outcome
from gossamer.model.url import Url
from gossamer.ports import Resolver

_PROTOCOLS = {1: "http/1.0", 2: "http/1.1", 3: "h2", 30: "h3"}
_HTTP_1_0 = 1
_MOST_FIELDS = 1_024
"""Settings of places whose header fields are kept made."""
_HTTP_1 = frozenset({1, 2})


class LocalFetch(msgspec.Struct, frozen=True):
    """What may be otherwise from one URL to the next.

    Attributes:
        credentials: what to send to the origin of a URL, and nowhere else.
        settings: as they stand for (URL, address, media type); the last two are empty before they are known.
        differs: whether `settings` need be asked now.
    """

    credentials: Callable[[Url], Credentials | None] = lambda _: None
    settings: Callable[[Url, str, str], FetchConfig] | None = None
    differs: Callable[[], bool] = lambda: False


class Conclusion(msgspec.Struct, frozen=True, gc=False):
    """What is known of a visit beside its transfer."""

    started: float
    name_seconds: float
    truncated: Truncation | None


class HttpModule:
    """Visits http and https URLs through libcurl (`gossamer.ports.ProtocolModule`).

    Args:
        spool_dir: existing folder for bodies that do not fit into memory.
        local: asked for each visit.

    Raises:
        ConfigError: `ca_file` does not exist.
    """

    schemes = frozenset({"http", "https"})

    def __init__(
        self,
        config: FetchConfig,
        resolver: Resolver,
        guard: AddressGuard,
        spool_dir: Path,
        local: LocalFetch = LocalFetch(),  # noqa: B008 - frozen
        visit_speed: VisitSpeed | None = None,
    ) -> None:
        prove_ca_file(config)
        self._config = config
        self._proxied = bool(config.proxy)
        self._forwards = config.proxy_scheme in ("http", "https")
        self._closed = False
        shared = BodyMemory(config.memory_bodies)
        self._new_body = partial(BodyWriter, spool_dir, config.memory_body, shared)
        self._local = local
        self._guard = guard
        self._router = Router(config, resolver, guard)
        self._multi = Multi(config.max_connections)
        self._pace = PaceWatch(config, lambda transfer, message: self._multi.stop(transfer.easy, message))
        self.throttle = Throttle(visit_speed)
        """Limits of speed, which may change while visits are under way."""
        self.throttle.set_rate(config.max_speed)
        self.room = asyncio.Semaphore(config.max_connections)
        """A place for each visit at once."""
        self._cookies = cookie_jar() if config.cookies else None
        self._fields = constant_fields(config)
        self._fields_elsewhere: dict[FetchConfig, list[bytes]] = {}
        self._idle: list[Transfer] = []
        self._memory = ConnectionMemory(4 * config.max_connections)

    async def fetch(self, lease: Lease) -> Outcome:
        """Visit the lease's URL once. Follows no redirect, retries nothing.

        Raises:
            StorageError: our disk cannot take the body.
        """
        flow = await self.throttle.begin(lease.queue_key) if self.throttle.active else None
        began = time.monotonic()
        try:
            route = await self._router.find(lease.candidate.url)
            if isinstance(route, Failed):
                return msgspec.structs.replace(route, elapsed=time.monotonic() - began)
            async with self.room:
                outcome = await self._visit(lease, route, flow)
        finally:
            if flow is not None:
                flow.end()
        if isinstance(outcome, Failed):
            return Failed(outcome.fault, outcome.detail, time.monotonic() - began)
        return Fetched(outcome)

    async def close(self) -> None:
        """Give up open connections; visits that still run are cancelled."""
        self._closed = True
        self.throttle.close()
        self._pace.close()
        self._multi.close()
        while self._idle:
            self._idle.pop().close()
        if self._cookies is not None:
            self._cookies.close()

    async def _visit(self, lease: Lease, route: Route, flow: Flow | None) -> Exchange | Failed:
        order = self._order(lease, route)
        transfer = self._idle.pop() if self._idle else self._new_transfer()
        resolve = self._router.take(route)
        started = time.time()
        try:
            transfer.begin(order, resolve, flow)
            self._pace.add(transfer)
            code, message = await self._multi.perform(transfer.easy)
            verdict = judge(transfer, code, message, proxied=self._proxied)
            if isinstance(verdict, Failed):
                return verdict
            return self._exchange(transfer, order, Conclusion(started, route.name_seconds, verdict))
        finally:
            self._pace.remove(transfer)
            transfer.end()
            self._router.release(route)
            if self._closed:
                transfer.close()
            else:
                self._idle.append(transfer)

    def _new_transfer(self) -> Transfer:
        # Behind a proxy every socket leads to the proxy; the guard has judged the resolver's answer.
        transfer = Transfer(self._new_body, None if self._proxied else self._guard.allows)
        configure(transfer.easy, self._config, self._cookies)
        return transfer

    def _order(self, lease: Lease, route: Route) -> Order:
        url, local = lease.candidate.url, self._local
        config, fields, answered = self._config, self._fields, None
        if local.settings is not None and local.differs():
            config = local.settings(url, route.address, "")
            fields = self._fields_of(config)
            answered = partial(local.settings, url, route.address)
        credentials = local.credentials(url)
        if credentials is not None:
            fields = [*fields, credentials.header]
        if lease.validators is not None:
            fields = [*fields, *conditional_fields(lease.validators)]
        forwarded = self._forwards and url.scheme == "http"
        return Order(
            url=url,
            target=(url.text if forwarded else url.target).encode(),
            fields=fields,
            config=config,
            answered=answered,
            tunnelled=self._forwards and not forwarded,
            # A forwarding proxy and the cookie engine add fields of their own.
            watched=forwarded or self._cookies is not None,
        )

    def _fields_of(self, config: FetchConfig) -> list[bytes]:
        """The constant fields by settings of a place; the same list each time, which libcurl is told once."""
        if config is self._config:
            return self._fields
        known = self._fields_elsewhere.get(config)
        if known is None:
            if len(self._fields_elsewhere) >= _MOST_FIELDS:
                self._fields_elsewhere.clear()
            known = self._fields_elsewhere[config] = constant_fields(config)
        return known

    def _exchange(self, transfer: Transfer, order: Order, conclusion: Conclusion) -> Exchange:
        getinfo = transfer.easy.getinfo
        version = getinfo(pycurl.INFO_HTTP_VERSION)
        raw = transfer.head.raw()
        secure = order.url.scheme == "https"
        return Exchange(
            url=order.url,
            started=conclusion.started,
            request_head=self._request_head(transfer, order, version),
            status=transfer.head.status,
            response_head=raw,
            headers=parse_fields(raw),
            body=transfer.writer.finish(),
            protocol=_PROTOCOLS.get(version, "http/1.1"),
            address="" if self._proxied else getinfo(pycurl.PRIMARY_IP),
            cipher=self._memory.cipher(getinfo(pycurl.CONN_ID), transfer.cipher) if secure else "",
            timing=_timing(transfer.easy, conclusion.name_seconds, secure=secure),
            truncated=conclusion.truncated,
        )

    def _request_head(self, transfer: Transfer, order: Order, version: int) -> bytes:
        if order.watched and transfer.sent_head:
            if version in _HTTP_1:
                return transfer.sent_head
            line, rest = transfer.sent_head.split(b"\r\n", 1)
            return line.rpartition(b" ")[0] + b" HTTP/1.1\r\n" + rest
        asked = b"1.1"
        if version == _HTTP_1_0:
            connection = transfer.easy.getinfo(pycurl.CONN_ID)
            if not transfer.easy.getinfo(pycurl.NUM_CONNECTS) and self._memory.spoke_1_0(connection):
                asked = b"1.0"
            self._memory.note_1_0(connection)
        return request_head(order.url, order.target, order.fields, asked)


def _timing(easy: pycurl.Curl, name_seconds: float, *, secure: bool) -> Timing:
    """Steps of a visit; libcurl counts all of them from the start."""
    first_byte = easy.getinfo(pycurl.STARTTRANSFER_TIME)
    total = easy.getinfo(pycurl.TOTAL_TIME)
    if not easy.getinfo(pycurl.NUM_CONNECTS):
        return Timing(name_seconds, 0.0, 0.0, first_byte, total)
    connect = easy.getinfo(pycurl.CONNECT_TIME)
    tls = max(0.0, easy.getinfo(pycurl.APPCONNECT_TIME) - connect) if secure else 0.0
    return Timing(name_seconds, connect, tls, first_byte, total)
