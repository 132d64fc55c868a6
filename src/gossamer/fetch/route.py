"""Finds where to connect for a URL, and tells libcurl so."""

import time
from collections.abc import Sequence

import msgspec

from gossamer.fetch.config import FetchConfig
from gossamer.fetch.guard import AddressGuard
from gossamer.fetch.proxies import Proxies
from gossamer.model.exchange import Exchange
from gossamer.model.outcome import Failed, Fault
from gossamer.model.url import Url
from gossamer.ports import Resolver

_NO_ENTRY = "-unused.invalid:1"
"""pycurl ignores an empty list, which would leave the handle's last entries in force."""

_MAX_ADDRESSES = 16
"""More than any honest name has; the others would only be tried after these have failed."""


class Route(msgspec.Struct, frozen=True):
    """Where a visit may connect, and by which way.

    Attributes:
        entries: by `host:port`, what CURLOPT_RESOLVE is told about it.
        name_seconds: how long the name took.
        address: tried first; empty where the proxy finds it.
        proxy: by which the way leads; empty for none.
        began: when the proxy was chosen, monotonic seconds.
    """

    entries: dict[str, str]
    name_seconds: float = 0.0
    address: str = ""
    proxy: str = ""
    began: float = 0.0


class Router:
    """Asks the resolver and the guard, and keeps libcurl's name cache as small as the visits under way.

    libcurl walks through its whole cache after every transfer, and keeps an entry until it is told
    otherwise or its time is over. So each visit enters its own addresses afresh (which replaces older
    ones), and the next visits take out what ended visits have left.
    """

    def __init__(
        self, config: FetchConfig, resolver: Resolver, guard: AddressGuard, proxies: Proxies
    ) -> None:
        self._resolver = resolver
        self._proxies = proxies
        self._guard = guard
        self._names_by_proxy = config.names_by_proxy
        self._in_use: dict[str, int] = {}
        self._stale: set[str] = set()

    async def find(self, url: Url, proxies: tuple[str, ...] = ()) -> Route | Failed:
        """Allowed addresses for `url`, by one of `proxies` if there are any; or why there are none."""
        began, proxy = time.monotonic(), self._proxies.choose(proxies, url.host)
        if isinstance(proxy, Failed):
            return proxy
        entries: dict[str, str] = {}
        seconds, address = 0.0, ""
        if not (self._names_by_proxy and proxy):
            answer = await self._resolver.resolve(url.host)
            if answer.fault is not None:
                wait = answer.ttl if answer.fault is Fault.NAME_DEFERRED else 0.0
                return Failed(answer.fault, answer.detail, wait=wait)
            allowed = self._guard.admit(url.host, answer.addresses)
            if not allowed:
                return Failed(Fault.ADDRESS_FORBIDDEN, ", ".join(answer.addresses)[:200])
            seconds, address = answer.seconds, allowed[0]
            _enter(entries, url, allowed)
        by = proxy_url(proxy)
        if by is not None:
            answer = await self._resolver.resolve(by.host)
            if answer.fault is not None:
                failed = Failed(Fault.PROXY_DOWN, f"its name: {answer.detail or answer.fault}")
                return self._proxies.failed(proxy, began, failed)
            _enter(entries, by, answer.addresses)
        return Route(entries, seconds, address, proxy, began)

    def judged(self, route: Route, outcome: Exchange | Failed) -> Exchange | Failed:
        """The outcome of a visit on `route`, once its proxy, if it has one, was judged by it."""
        if route.proxy:
            if isinstance(outcome, Failed) and outcome.fault is Fault.PROXY_DOWN:
                return self._proxies.failed(route.proxy, route.began, outcome)
            self._proxies.stood(route.proxy)
        return outcome

    def take(self, route: Route) -> list[str]:
        """What to tell libcurl right before it starts on `route`; each call needs one `release`."""
        told = list(route.entries.values())
        if self._stale:
            told += [f"-{name}" for name in self._stale if name not in route.entries]
            self._stale.clear()
        for name in route.entries:
            self._in_use[name] = self._in_use.get(name, 0) + 1
        return told or [_NO_ENTRY]

    def release(self, route: Route) -> None:
        """Let go of an address: the visit is over."""
        for name in route.entries:
            left = self._in_use[name] - 1
            if left:
                self._in_use[name] = left
            else:
                del self._in_use[name]
                self._stale.add(name)


def proxy_url(proxy: str) -> Url | None:
    """Host and port of a proxy, without its credentials, in the shape of an http URL."""
    return Url.parse(f"http{proxy[proxy.index('://') :]}") if proxy else None


def _enter(entries: dict[str, str], url: Url, addresses: Sequence[str]) -> None:
    if url.host[0] == "[" or (len(addresses) == 1 and addresses[0] == url.host):
        return  # libcurl needs no help with a numeric address
    listed = ",".join(f"[{address}]" if ":" in address else address for address in addresses[:_MAX_ADDRESSES])
    name = f"{url.host}:{url.port}"
    entries[name] = f"+{name}:{listed}"
