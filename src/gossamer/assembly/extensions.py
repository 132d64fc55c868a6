"""What goes into a crawl beside its configuration."""

import inspect
from collections.abc import Callable, Sequence
from typing import Any

import msgspec

from gossamer.engine.admission.other_agents import Peers
from gossamer.frontier.frontier import Frontier
from gossamer.model.errors import ConfigError
from gossamer.model.url import DEFAULT_PORTS
from gossamer.ports import (
    AddressRule,
    Extractor,
    NameCache,
    Observer,
    OrderingPolicy,
    ProtocolModule,
    Resolver,
    RevisitPolicy,
    ScopeRule,
    Sink,
)
from gossamer.state.clock import CrawlClock
from gossamer.state.environment import Environment
from gossamer.state.records import Counters


class Extensions(msgspec.Struct, frozen=True):
    """What a user hands in beside the configuration, for each extension point (`gossamer.ports`).

    Attributes:
        protocol_modules: for schemes of `model.url.DEFAULT_PORTS`, instead of ours; URLs of others are not parsed.
        address_rules: may forbid what the address guard allows, not the other way round.
        resolver: instead of the name servers; names are then not resolved ahead.
        name_cache: instead of that of `dns.cache`.
        ordering: instead of `engine.order`.
        revisits: says what is visited again, and when.
    """

    scope_rules: Sequence[ScopeRule] = ()
    extractors: Sequence[Extractor] = ()
    observers: Sequence[Observer] = ()
    sinks: Sequence[Sink] = ()
    protocol_modules: Sequence[ProtocolModule] = ()
    address_rules: Sequence[AddressRule] = ()
    resolver: Resolver | None = None
    name_cache: NameCache | None = None
    ordering: OrderingPolicy | None = None
    revisits: RevisitPolicy | None = None
    membership: "Membership | None" = None


class Membership(msgspec.Struct, frozen=True):
    """What makes a crawl an agent of a cluster.

    Attributes:
        secret: key of the fingerprints, one for all agents; 16 bytes.
        owns: whether a host, by its hash, is this agent's to visit now.
        join: makes what the engine asks of the other agents, upon the crawl's state, frontier,
            ordering, clock and sums.
        built: told of the crawl (`build.Built`) before anything is admitted.
    """

    secret: bytes
    owns: Callable[[bytes], bool]
    join: Callable[[Environment, Frontier, OrderingPolicy, CrawlClock, Counters], Peers]
    built: Callable[[Any], None]


_SEVERAL = ("scope_rules", "extractors", "observers", "sinks", "protocol_modules", "address_rules")
_ONE = ("resolver", "name_cache", "ordering", "revisits")
_CALLS = {
    "scope_rules": ("__call__",),
    "observers": ("__call__",),
    "address_rules": ("__call__",),
    "sinks": ("__call__",),
    "extractors": ("extract",),
    "protocol_modules": ("fetch", "close"),
    "resolver": ("resolve", "close"),
    "name_cache": ("get", "stale", "put", "census", "close"),
    "ordering": ("level",),
    "revisits": ("again",),
}
_HAS = {"extractors": ("name", "media_types"), "protocol_modules": ("schemes",), "ordering": ("name",)}
_AWAITED = {"sinks", "protocol_modules", "resolver"}


def handed_in(options: dict[str, Any], **given: Any) -> Extensions:
    """What a caller hands in: what is `given`, and what stands among the `options`, which lose it.

    Raises:
        ConfigError: something is not what its extension point calls.
    """
    given |= {name: options.pop(name) for name in (*_SEVERAL, *_ONE) if name in options}
    problems: list[str] = []
    for port, value in given.items():
        several = port in _SEVERAL
        if several and (isinstance(value, str) or not isinstance(value, Sequence)):
            problems.append(f"{port}: give a list")
            continue
        for number, plugin in enumerate(value if several else [value]):
            if plugin is None and not several:
                continue
            where = f"{port}[{number}]" if several else port
            problems += [f"{where}: {problem}" for problem in _problems(port, plugin)]
    if problems:
        raise ConfigError(*problems)
    return Extensions(**given)


def schemes_of(given: Extensions) -> dict[str, Any]:
    """The settings by which the crawl may go where the protocol modules lead."""
    more = {scheme for module in given.protocol_modules for scheme in module.schemes} & set(DEFAULT_PORTS)
    return {"scope": {"schemes": ["http", "https", *sorted(more - {"http", "https"})]}} if more else {}


def _problems(port: str, plugin: object) -> list[str]:
    """What keeps `plugin` from being called, or being called as it expects."""
    calls = _CALLS[port]
    if isinstance(plugin, type) and calls != ("__call__",):
        return ["is a class; give an object of it"]
    lacks = [name for name in _HAS.get(port, ()) if not hasattr(plugin, name)]
    lacks += [name for name in calls if not callable(getattr(plugin, name, None))]
    if lacks:
        return [f"{type(plugin).__name__} has no {name} (see gossamer.ports)" for name in lacks]
    if port in _AWAITED:
        return []
    # What is called between two awaits must be no coroutine, which would count as true.
    return ["is asynchronous; give a plain function" for name in calls if _is_async(plugin, name)]


def _is_async(plugin: object, name: str) -> bool:
    function = plugin if name == "__call__" else getattr(plugin, name)
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(
        getattr(function, "__call__", None)  # noqa: B004
    )
