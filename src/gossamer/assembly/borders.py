"""Where code that was handed in is called: whatever it raises is data, counted and warned of."""

import time
from asyncio import Semaphore
from collections.abc import Awaitable, Callable, Sequence

import msgspec

from gossamer.assembly.extensions import Extensions
from gossamer.fetch.http import HttpModule
from gossamer.fetch.throttle import Throttle
from gossamer.model.errors import ConfigError, GossamerError
from gossamer.model.events import Visited
from gossamer.model.lease import Lease
from gossamer.model.name import Answer, CacheCensus
from gossamer.model.outcome import Failed, Fault, Fetched, Outcome, Refused
from gossamer.model.page import Page
from gossamer.model.raised import Raised, name_of
from gossamer.model.url import DEFAULT_PORTS
from gossamer.ports import AddressRule, BulkSink, NameCache, ProtocolModule, Resolver, RevisitPolicy, Sink

Hear = Callable[[Raised], None]
LONGEST_WAIT = 100 * 366 * 86_400.0
"""Seconds; what is due after that is due never, and a time that is no number at once."""


def bordered(extensions: Extensions, hear: Hear) -> Extensions:
    """The same with borders around what waits, or is asked between two awaits; rules of scope have theirs."""
    resolver, cache, revisits = extensions.resolver, extensions.name_cache, extensions.revisits
    return msgspec.structs.replace(
        extensions,
        sinks=[BorderedSink(sink, hear) for sink in extensions.sinks],
        address_rules=[bordered_rule(rule, hear) for rule in extensions.address_rules],
        resolver=None if resolver is None else BorderedResolver(resolver, hear),
        name_cache=None if cache is None else BorderedCache(cache, hear),
        revisits=None if revisits is None else BorderedRevisits(revisits, hear),
    )


def all_modules(http: HttpModule, others: Sequence[ProtocolModule], hear: Hear) -> dict[str, ProtocolModule]:
    """The protocol module of each scheme; of several the last.

    Raises:
        ConfigError: one serves a scheme that URLs cannot have here.
    """
    modules: dict[str, ProtocolModule] = dict.fromkeys(http.schemes, http)
    for module in others:
        if unknown := sorted(set(module.schemes) - set(DEFAULT_PORTS)):
            raise ConfigError(
                f"protocol_modules: {name_of(module)} serves {', '.join(unknown)}; "
                f"the schemes that URLs may have are {', '.join(DEFAULT_PORTS)}"
            )
        beside = BorderedModule(module, http.throttle, http.room, hear)
        modules |= dict.fromkeys(beside.schemes, beside)
    return modules


class BorderedModule:
    """A protocol module that was handed in (ports.ProtocolModule), within the limits that all modules share.

    Args:
        throttle: of all visits; what a visit received is paid for when it has ended.
        room: a place for each connection.
    """

    def __init__(self, module: ProtocolModule, throttle: Throttle, room: Semaphore, hear: Hear) -> None:
        self.schemes = frozenset(module.schemes)
        self._module = module
        self._throttle = throttle
        self._room = room
        self._hear = hear
        self._who = f"protocol module {name_of(module)}"

    async def fetch(self, lease: Lease) -> Outcome:
        """Visit the lease's URL once."""
        flow = await self._throttle.begin(lease.queue_key) if self._throttle.active else None
        try:
            async with self._room:
                outcome = await self._visit(lease)
            if flow is not None and isinstance(outcome, Fetched):
                flow.received_whole(outcome.exchange.latest.size)
            return outcome
        finally:
            if flow is not None:
                flow.end()

    async def close(self) -> None:
        """Give up what the plug-in keeps open."""
        try:
            await self._module.close()
        except Exception as error:  # noqa: BLE001 - plug-in border
            self._hear(Raised.by(self._who, error))

    async def _visit(self, lease: Lease) -> Outcome:
        began = time.monotonic()
        try:
            outcome = await self._module.fetch(lease)
            if not isinstance(outcome, (Fetched, Failed, Refused)):
                raise TypeError(f"returned {type(outcome).__name__}, not an Outcome")
        except GossamerError:
            raise
        except Exception as error:  # noqa: BLE001 - plug-in border
            raised = Raised.by(self._who, error)
            self._hear(raised)
            return Failed(Fault.PROTOCOL, raised.what, time.monotonic() - began)
        return outcome


class BorderedResolver:
    """A resolver that was handed in (ports.Resolver)."""

    def __init__(self, resolver: Resolver, hear: Hear) -> None:
        self._resolver = resolver
        self._hear = hear
        self._who = f"resolver {name_of(resolver)}"

    async def resolve(self, name: str) -> Answer:
        """Addresses of `name`, or why there are none."""
        try:
            answer = await self._resolver.resolve(name)
            if not isinstance(answer, Answer):
                raise TypeError(f"returned {type(answer).__name__}, not an Answer")
        except Exception as error:  # noqa: BLE001 - plug-in border
            raised = Raised.by(self._who, error)
            self._hear(raised)
            return Answer(name, fault=Fault.NAME_FAILED, detail=raised.what)
        return answer

    async def close(self) -> None:
        """Give up what the plug-in keeps open."""
        try:
            await self._resolver.close()
        except Exception as error:  # noqa: BLE001 - plug-in border
            self._hear(Raised.by(self._who, error))


class BorderedCache:
    """A name cache that was handed in (ports.NameCache). One that raises knows nothing."""

    def __init__(self, cache: NameCache, hear: Hear) -> None:
        self._cache = cache
        self._hear = hear
        self._who = f"name cache {name_of(cache)}"

    def get(self, name: str, now: float) -> Answer | None:
        """The answer, if one is kept that has not expired."""
        try:
            return self._cache.get(name, now)
        except Exception as error:  # noqa: BLE001 - plug-in border
            return self._hear(Raised.by(self._who, error))

    def stale(self, name: str, now: float) -> Answer | None:
        """An answer that has expired but is still kept."""
        try:
            return self._cache.stale(name, now)
        except Exception as error:  # noqa: BLE001 - plug-in border
            return self._hear(Raised.by(self._who, error))

    def put(self, answer: Answer, now: float) -> None:
        """Keep the answer, unless the cache raises."""
        try:
            self._cache.put(answer, now)
        except Exception as error:  # noqa: BLE001 - plug-in border
            self._hear(Raised.by(self._who, error))

    def census(self) -> CacheCensus:
        """What the cache holds now, by its own account."""
        try:
            return self._cache.census()
        except Exception as error:  # noqa: BLE001 - plug-in border
            self._hear(Raised.by(self._who, error))
            return CacheCensus()

    def close(self) -> None:
        """Give up what the plug-in keeps open."""
        try:
            self._cache.close()
        except Exception as error:  # noqa: BLE001 - plug-in border
            self._hear(Raised.by(self._who, error))


class BorderedRevisits:
    """A revisit policy that was handed in (ports.RevisitPolicy). One that raises says never."""

    def __init__(self, policy: RevisitPolicy, hear: Hear) -> None:
        self._policy = policy
        self._hear = hear
        self._who = f"revisit policy {name_of(policy)}"

    def again(self, lease: Lease, outcome: Outcome, page: Page | None, visits: int) -> float | None:
        """Seconds until the URL is due again, at least 0; `None` for never."""
        try:
            wait = self._policy.again(lease, outcome, page, visits)
            return None if wait is None else min(max(0.0, float(wait)), LONGEST_WAIT)
        except Exception as error:  # noqa: BLE001 - plug-in border
            return self._hear(Raised.by(self._who, error))


class BorderedSink:
    """A sink that was handed in (ports.Sink, ports.BulkSink): one that raises misses the visit."""

    def __init__(self, sink: Sink, hear: Hear) -> None:
        self._sink = sink
        self._hear = hear

    async def __call__(self, visit: Visited) -> None:
        """Give it a visit."""
        await self._called(lambda: self._sink(visit))

    async def flush(self) -> None:
        """Tell it that the visits of one commit have been given, if it wants to know."""
        if isinstance(self._sink, BulkSink):
            await self._called(self._sink.flush)

    async def close(self) -> None:
        """Tell it that nothing is given any more, if it wants to know."""
        if isinstance(self._sink, BulkSink):
            await self._called(self._sink.close)

    async def _called(self, call: Callable[[], Awaitable[None]]) -> None:
        try:
            await call()
        except GossamerError:
            raise
        except Exception as error:  # noqa: BLE001 - plug-in border
            self._hear(Raised.by(f"sink {name_of(self._sink)}", error))


def bordered_rule(rule: AddressRule, hear: Hear) -> AddressRule:
    """An address rule that was handed in: one that raises says no."""

    def allows(host: str, address: str) -> bool:
        try:
            return bool(rule(host, address))
        except Exception as error:  # noqa: BLE001 - plug-in border
            hear(Raised.by(f"address rule {name_of(rule)}", error))
            return False

    return allows
