"""Resolvers that ask the name servers of a test."""

from collections.abc import Awaitable, Callable

from loopback_names import LoopbackNames

from gossamer.dns.cache import PlainCache
from gossamer.dns.config import DnsConfig
from gossamer.dns.resolver import CaresResolver
from gossamer.model.name import Answer, CacheCensus

Run = Callable[[Awaitable[None]], None]


def config_for(*servers: LoopbackNames, **settings) -> DnsConfig:
    """Waits that a busy machine does not exceed; tests of time-outs set shorter ones."""
    settings = {"first_wait": 5.0, "attempts": 3, "hosts_file": False} | settings
    return DnsConfig(nameservers=tuple(server.address for server in servers), **settings)


def resolver_for(*servers: LoopbackNames, heard: list | None = None, **settings) -> CaresResolver:
    """One with a plain cache."""
    on_answer = heard.append if heard is not None else None
    return CaresResolver(config_for(*servers, **settings), PlainCache(100), on_answer)


class NoCache:
    """A cache that keeps nothing."""

    def get(self, name: str, now: float) -> Answer | None:
        return None

    def stale(self, name: str, now: float) -> Answer | None:
        return None

    def put(self, answer: Answer, now: float) -> None:
        pass

    def census(self) -> CacheCensus:
        return CacheCensus()

    def close(self) -> None:
        pass
