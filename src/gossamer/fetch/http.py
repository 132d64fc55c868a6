"""The protocol module for http and https."""

import asyncio
import ssl
import time
from collections.abc import Callable, Mapping
from functools import partial
from hashlib import sha256
from pathlib import Path
from types import MappingProxyType

import msgspec
import pycurl

from gossamer.fetch.access import Access, make_ready
from gossamer.fetch.alternatives import HTTP_3, Offers, Way
from gossamer.fetch.body import BodyMemory, BodyWriter
from gossamer.fetch.config import FetchConfig, prove_ca_file
from gossamer.fetch.connections import ConnectionMemory, Handshake
from gossamer.fetch.cookies import CookieJar, cookies_of
from gossamer.fetch.guard import AddressGuard
from gossamer.fetch.head import parse_fields
from gossamer.fetch.multi import Multi
from gossamer.fetch.pace import PaceWatch
from gossamer.fetch.proxies import Proxies, ProxySeen
from gossamer.fetch.request import (
    Credentials,
    conditional_fields,
    constant_fields,
    redacted,
    request_head,
)
from gossamer.fetch.route import Route, Router
from gossamer.fetch.throttle import Flow, Throttle, VisitSpeed
from gossamer.fetch.transfer import Order, Transfer
from gossamer.fetch.unfinished import Unfinished
from gossamer.fetch.verdict import judge
from gossamer.model.exchange import Exchange, Timing, Truncation
from gossamer.model.lease import Lease
from gossamer.model.outcome import Failed, Fetched, Outcome
from gossamer.model.posted import Posted
from gossamer.model.url import Url
from gossamer.ports import Resolver

_PROTOCOLS = {1: "http/1.0", 2: "http/1.1", 3: "h2", HTTP_3: "h3"}
_HTTP_1_0 = 1
_PEER_FAILED_VERIFICATION = 60
_UNSPECIFIED = 1
HOSTNAME_MISMATCH = 62
"""`X509_V_ERR_HOSTNAME_MISMATCH` of OpenSSL."""
_MOST_FIELDS = 1_024
"""Settings of places whose header fields are kept made."""
_MOST_ACCESSES = 64
"""Ways of going out, beside the usual one, for which idle handles are kept."""
_HTTP_1 = frozenset({1, 2})
_BY_OFFER = frozenset({Way.TRY, Way.OFFERED})
_HEARS_OFFERS = _BY_OFFER | {Way.LISTEN}


SettingsAt = Callable[[Url, str, str], FetchConfig]


class LocalFetch(msgspec.Struct, frozen=True):
    """What may be otherwise from one URL to the next.

    Attributes:
        credentials: what to send to the origin of a URL, and nowhere else.
        settings: as they stand for (URL, address, media type); the last two are empty before they are known.
        differs: whether `settings` need be asked now.
        posted: what is asked in place of URLs that stand for more than themselves, by their texts.
        cookies: where they are kept; without it there are none, whatever settings say.
        certificates: each exchange tells when its peer's ends.
        proxies: how those are that settings name.
    """

    credentials: Callable[[Url], Credentials | None] = lambda _: None
    settings: SettingsAt | None = None
    differs: Callable[[], bool] = lambda: False
    cookies: CookieJar | None = None
    posted: Mapping[str, Posted] = MappingProxyType({})
    certificates: bool = False
    proxies: Proxies = msgspec.field(default_factory=Proxies)

    @property
    def settings_now(self) -> SettingsAt | None:
        """Settings by place, if any place differs now."""
        return self.settings if self.settings is not None and self.differs() else None


class Conclusion(msgspec.Struct, frozen=True, gc=False):
    """What is known of a visit beside its transfer."""

    started: float
    name_seconds: float
    truncated: Truncation | None


class _Manner(msgspec.Struct, frozen=True):
    """What is asked for otherwise than by a usual visit.

    Attributes:
        head: the head of the answer alone.
        posted: a body to be sent.
        cookies: whatever settings say.
    """

    head: bool = False
    posted: Posted | None = None
    cookies: bool = False


_USUAL = _Manner()


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
        keeps = config.keeps_cookies and local.cookies is not None
        self._access = Access(next(iter(config.proxies), ""), cookies=keeps, certificates=local.certificates)
        """How all go out of whom nothing else is said."""
        self._closed = False
        shared = BodyMemory(config.memory_bodies)
        self._new_body = partial(BodyWriter, spool_dir, config.memory_body, shared)
        self._local = local
        self._guard = guard
        self._router = Router(config, resolver, guard, local.proxies)
        self._multi = Multi(config.max_connections)
        self._pace = PaceWatch(config, lambda transfer, message: self._multi.stop(transfer.easy, message))
        self.throttle = Throttle(visit_speed)
        """Limits of speed, which may change while visits are under way."""
        self.throttle.set_rate(config.max_speed)
        self.room = asyncio.Semaphore(config.max_connections)
        """A place for each visit at once."""
        self._fields = constant_fields(config)
        self._fields_elsewhere: dict[FetchConfig, list[bytes]] = {}
        self._usual: list[Transfer] = []
        self._idle: dict[Access, list[Transfer]] = {self._access: self._usual}
        self._memory = ConnectionMemory(4 * config.max_connections)
        self._offers = Offers()
        self.unfinished = Unfinished(config.unfinished_bodies)
        """Beginnings of long bodies, for all protocol modules."""

    async def converse(self, lease: Lease, posted: Posted | None) -> Outcome:
        """As `fetch`, with cookies whatever settings say, and a body to be sent if one is given."""
        return await self.fetch(lease, _Manner(posted=posted, cookies=True))

    async def head(self, lease: Lease) -> Outcome:
        """As `fetch`, but ask for the head of the answer alone (RFC 9110 9.3.2)."""
        return await self.fetch(lease, _Manner(head=True))

    async def fetch(self, lease: Lease, manner: _Manner = _USUAL) -> Outcome:
        """Visit the lease's URL once. Follows no redirect, retries nothing.

        Raises:
            StorageError: our disk cannot take the body.
        """
        flow = await self.throttle.begin(lease.queue_key) if self.throttle.active else None
        began = time.monotonic()
        try:
            url = lease.candidate.url
            settings = self._local.settings_now
            config = self._config if settings is None else settings(url, "", "")
            route = await self._router.find(url, config.proxies)
            if isinstance(route, Failed):
                return msgspec.structs.replace(route, elapsed=time.monotonic() - began)
            async with self.room:
                outcome = await self._visit(self._order(lease, route, settings, manner), route, flow)
            outcome = self._router.judged(route, outcome)
        finally:
            if flow is not None:
                flow.end()
        if isinstance(outcome, Failed):
            return msgspec.structs.replace(outcome, elapsed=time.monotonic() - began)
        return Fetched(outcome)

    def proxies(self) -> list[ProxySeen]:
        """The state of each proxy in use."""
        return self._local.proxies.seen()

    async def close(self) -> None:
        """Give up open connections; visits that still run are cancelled."""
        self._closed = True
        self.throttle.close()
        self._pace.close()
        self._multi.close()
        self.unfinished.close()
        for idle in self._idle.values():
            while idle:
                idle.pop().close()

    async def _visit(self, order: Order, route: Route, flow: Flow | None) -> Exchange | Failed:
        idle = self._usual if order.access is self._access else self._idle_by(order.access)
        transfer = idle.pop() if idle else self._new_transfer(order.access)
        resolve = self._router.take(route)
        started = time.time()
        try:
            transfer.begin(order, resolve, flow)
            self._pace.add(transfer)
            code, message = await self._multi.perform(transfer.easy)
            if order.cookies is not None:
                self._keep_cookies(transfer, order, order.cookies)
            verdict = judge(transfer, code, message, proxied=bool(route.proxy))
            if order.beginning is not None:
                verdict = self.unfinished.judge(order.beginning, transfer, verdict)
            way = order.access.way
            if way in _BY_OFFER:
                version = transfer.easy.getinfo(pycurl.INFO_HTTP_VERSION)
                verdict = self._offers.judge(order.url.origin, way, verdict, version, transfer.head.status)
            if isinstance(verdict, Failed):
                return _with_numbers(verdict, transfer.easy, code)
            exchange = self._exchange(transfer, order, Conclusion(started, route.name_seconds, verdict))
            if way in _HEARS_OFFERS:
                self._offers.heard(order.url, exchange.headers.get_all("alt-svc"))
            if order.beginning is not None and transfer.joined:
                exchange = order.beginning.joined(exchange)
            if order.resumable:
                self.unfinished.keep(exchange)
            return exchange
        finally:
            self._pace.remove(transfer)
            if order.beginning is not None and not transfer.joined:
                self.unfinished.let_go(order.beginning)
            transfer.end()
            self._router.release(route)
            if self._closed or self._idle.get(order.access) is not idle:
                transfer.close()
            else:
                idle.append(transfer)

    def _idle_by(self, access: Access) -> list[Transfer]:
        """Handles that go out so and have nothing to do; those that were needed longest ago are given up."""
        idle = self._idle.get(access)
        if idle is None:
            idle = self._idle[access] = []
            if len(self._idle) > 1 + _MOST_ACCESSES:
                for transfer in self._idle.pop(next(other for other in self._idle if other != self._access)):
                    transfer.close()
        return idle

    def _new_transfer(self, access: Access) -> Transfer:
        # Behind a proxy every socket leads to the proxy; the guard has judged the resolver's answer.
        transfer = Transfer(self._new_body, None if access.proxy else self._guard.allows)
        make_ready(transfer.easy, self._config, access)
        return transfer

    def _order(self, lease: Lease, route: Route, settings: SettingsAt | None, manner: _Manner) -> Order:
        url, local, access = lease.candidate.url, self._local, self._access
        posted = manner.posted or (local.posted.get(url.text) if local.posted else None)
        config, fields, answered = self._config, self._fields, None
        if settings is not None:
            config = settings(url, route.address, "")
            fields = self._fields_of(config)
            answered = partial(settings, url, route.address)
        credentials = local.credentials(url)
        secret: tuple[str, ...] = ()
        if credentials is not None:
            fields = [*fields, *credentials.fields]
            secret = tuple(name for name, _ in credentials.headers)
        if posted is not None:
            url = posted.url
            fields = [*fields, b"Content-Type: " + posted.media_type.encode()]
        elif lease.validators is not None:
            fields = [*fields, *conditional_fields(lease.validators)]
        resumable = manner is _USUAL and posted is None
        beginning = self.unfinished.take(url, lease.candidate.attempts) if resumable else None
        if beginning is not None:
            fields = [*fields, *beginning.fields]
        spoken = credentials if credentials is not None and credentials.is_spoken else None
        way = Way.TCP if config.http3 == "off" else self._way(config, url, route)
        if (
            manner is not _USUAL
            or spoken is not None
            or posted is not None
            or config is not self._config
            or way is not Way.TCP
            or route.proxy != access.proxy
        ):
            keeps = (config.keeps_cookies or manner.cookies) and local.cookies is not None
            origin = url.origin if spoken is not None else ""
            access = Access(
                route.proxy, origin, spoken, keeps, posted is not None, manner.head, local.certificates, way
            )
        forwarded = access.forwards and url.scheme == "http"
        return Order(
            known_as=lease.candidate.url,
            url=url,
            target=(url.text if forwarded else url.target).encode(),
            fields=fields,
            config=config,
            access=access,
            answered=answered,
            tunnelled=access.forwards and not forwarded,
            secret=secret,
            body=b"" if posted is None else posted.body,
            resumable=resumable,
            beginning=beginning,
            cookies=local.cookies.of(url.host) if access.cookies and local.cookies is not None else None,
        )

    def _way(self, config: FetchConfig, url: Url, route: Route) -> Way:
        """TCP or HTTP/3, where settings ask for that."""
        if url.scheme != "https" or route.proxy:
            return Way.TCP
        return Way.ONLY if config.http3 == "only" else self._offers.way(url.origin)

    def _keep_cookies(self, transfer: Transfer, order: Order, before: tuple[bytes, ...]) -> None:
        assert self._local.cookies is not None
        offered = (
            len(parse_fields(transfer.head.raw()).get_all("set-cookie")) if transfer.head.complete else 0
        )
        self._local.cookies.learn(order.url.host, before, list(cookies_of(transfer.easy)), offered)

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
        head = self._request_head(transfer, order, version)
        shown = _certificate(transfer.easy) if secure and order.access.certificates else (0.0, b"")
        handshake = self._memory.handshake(getinfo(pycurl.CONN_ID), Handshake(transfer.cipher, *shown))
        return Exchange(
            url=order.known_as,
            started=conclusion.started,
            request_head=redacted(head, order.secret) if order.secret else head,
            status=transfer.head.status,
            response_head=raw,
            headers=parse_fields(raw),
            body=transfer.writer.finish(),
            protocol=_PROTOCOLS.get(version, "http/1.1"),
            address="" if order.access.proxy else getinfo(pycurl.PRIMARY_IP),
            cipher=handshake.cipher if secure else "",
            timing=_timing(transfer.easy, conclusion.name_seconds, secure=secure),
            truncated=conclusion.truncated,
            request_body=order.body,
            certificate_ends=handshake.certificate_ends if secure else 0.0,
            certificate=handshake.certificate if secure else b"",
        )

    def _request_head(self, transfer: Transfer, order: Order, version: int) -> bytes:
        if order.access.is_watched and transfer.sent_head:
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
        method = b"HEAD" if order.access.heads else b"GET"
        return request_head(order.url, order.target, order.fields, asked, method)


def _with_numbers(failed: Failed, easy: pycurl.Curl, code: int) -> Failed:
    """A failure with what system and TLS library called it, where they did."""
    certificate = 0
    if code == _PEER_FAILED_VERIFICATION:
        # libcurl compares names before it tells what OpenSSL found, which is "unspecified" till then.
        found = easy.getinfo(pycurl.SSL_VERIFYRESULT)
        certificate = found if found > _UNSPECIFIED else HOSTNAME_MISMATCH
    return msgspec.structs.replace(failed, errno=easy.getinfo(pycurl.OS_ERRNO), certificate=certificate)


def _certificate(easy: pycurl.Curl) -> tuple[float, bytes]:
    """Wall time at which the peer's certificate ends, and SHA-256 of it; 0 and nothing if it is not known, as on a
    connection that was kept."""
    for certificate in easy.getinfo(pycurl.INFO_CERTINFO)[:1]:
        fields = dict(field for field in certificate if len(field) == 2)
        try:
            ends = float(ssl.cert_time_to_seconds(fields.get("Expire date", "")))
            return ends, sha256(ssl.PEM_cert_to_DER_cert(fields.get("Cert", ""))).digest()
        except ValueError:
            return 0.0, b""
    return 0.0, b""


def _timing(easy: pycurl.Curl, name_seconds: float, *, secure: bool) -> Timing:
    """Steps of a visit; libcurl counts all of them from the start."""
    first_byte = easy.getinfo(pycurl.STARTTRANSFER_TIME)
    total = easy.getinfo(pycurl.TOTAL_TIME)
    if not easy.getinfo(pycurl.NUM_CONNECTS):
        return Timing(name_seconds, 0.0, 0.0, first_byte, total)
    connect = easy.getinfo(pycurl.CONNECT_TIME)
    tls = max(0.0, easy.getinfo(pycurl.APPCONNECT_TIME) - connect) if secure else 0.0
    return Timing(name_seconds, connect, tls, first_byte, total)
