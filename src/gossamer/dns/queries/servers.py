"""The name servers in the order to ask them."""

import asyncio
from weakref import WeakSet

import pycares

from gossamer.dns.config import DnsConfig, split_server
from gossamer.dns.queries.channel import NameServer, Traffic

REREAD_AFTER = 30.0
"""Seconds between looks at the system's configuration while its servers do not answer."""


class NameServers:
    """The configured or the system's name servers; the one that helped out last comes first.

    Invariant: there is at least one.
    """

    def __init__(self, config: DnsConfig, traffic: Traffic, loop: asyncio.AbstractEventLoop) -> None:
        self._limit = config.queries_per_server
        self._traffic = traffic
        self._loop = loop
        self._fixed = bool(config.nameservers)
        self._targets = targets(config)
        self._servers = list(map(self._open, self._targets))
        self._former: WeakSet[NameServer] = WeakSet()  # those that a question may still be put to
        self._read = loop.time()

    @property
    def room(self) -> int:
        """How many queries one of the servers would take at once."""
        return max(server.room for server in self._servers)

    def order(self, queries: int) -> list[NameServer]:
        """Every server, the preferred one first, or the first that takes so many queries at once."""
        for at, server in enumerate(self._servers):
            if server.room >= queries:
                return self._servers[at:] + self._servers[:at]
        return list(self._servers)

    def prefer(self, server: NameServer) -> None:
        """Ask `server` first from now on: it answered where the one before it did not."""
        if server in self._servers:
            self._servers.remove(server)
            self._servers.insert(0, server)

    def reread(self) -> None:
        """Take over a changed configuration of the system, at most every `REREAD_AFTER` seconds."""
        if self._fixed or self._loop.time() - self._read < REREAD_AFTER:
            return
        self._read = self._loop.time()
        found = system_targets()
        if found != self._targets:
            for server in self._servers:
                server.retire()
                self._former.add(server)
            self._targets = found
            self._servers = list(map(self._open, found))

    def _open(self, target: str) -> NameServer:
        return NameServer(target, self._limit, self._traffic, self._loop)

    def close(self) -> None:
        """Close every channel. Open questions are not answered any more."""
        for server in (*self._servers, *self._former):
            server.close()


def targets(config: DnsConfig) -> list[str]:
    """The configured name servers, or the system's, each as `target` writes it."""
    if not config.nameservers:
        return system_targets()
    return list(dict.fromkeys(target(*split_server(server)) for server in config.nameservers))


def target(address: str, port: int) -> str:
    """A server as c-ares reads and writes it."""
    return f"[{address}]:{port}" if ":" in address else f"{address}:{port}"


def system_targets() -> list[str]:
    """The system's name servers, as c-ares reads and writes them; without any it falls back on 127.0.0.1."""
    channel = pycares.Channel(sock_state_cb=lambda *_: None)
    try:
        return list(dict.fromkeys(channel.servers))
    finally:
        channel.close()
