"""The resolver: answers names from literals, the hosts file, the cache, or the name servers."""

import asyncio
import time
from collections import deque
from collections.abc import Callable

import msgspec

from gossamer.dns.config import DnsConfig
from gossamer.dns.flight import Flight
from gossamer.dns.hosts import is_question, literal_address, local_addresses, read_hosts
from gossamer.dns.reply import NO_CONNECTION, TIME_OUT
from gossamer.dns.servers import NameServers
from gossamer.model.events import NameAnswered
from gossamer.model.name import Answer
from gossamer.model.outcome import Fault
from gossamer.ports import NameCache


class CaresResolver:
    """Resolves names over c-ares on the event loop (ports.Resolver, K12).

    A name is asked for by one flight at a time, whoever waits for it. A flight belongs to the resolver:
    those who wait may be cancelled, and its answer still reaches the others and the cache.

    Invariant: at most `max_outstanding` flights are in the air; the others wait in order of arrival.
    """

    def __init__(
        self,
        config: DnsConfig,
        cache: NameCache,
        on_answer: Callable[[NameAnswered], None] | None = None,
    ) -> None:
        """`on_answer` hears every name that the network resolved, from the event loop."""
        self._config = config
        self._cache = cache
        self._on_answer = on_answer
        self._hosts = read_hosts() if config.hosts_file else {}
        self._servers: NameServers | None = None  # opened by the first question, which knows the loop
        self._waiting: deque[str] = deque()
        self._futures: dict[str, asyncio.Future[Answer]] = {}
        self._flights: dict[str, Flight] = {}
        self._closed = False

    def __repr__(self) -> str:
        return f"<CaresResolver {len(self._flights)} in the air, {len(self._waiting)} waiting>"

    async def resolve(self, name: str) -> Answer:
        """Addresses of `name`: a host name in ASCII, or an IPv4 or bracketed IPv6 literal. Raises nothing."""
        name = name.lower().removesuffix(".")
        now = time.time()
        answer = self._at_once(name, now) or self._cache.get(name, now)
        if answer is not None:
            return answer
        future = self._futures.get(name)
        if future is None:
            future = self._futures[name] = asyncio.get_running_loop().create_future()
            self._waiting.append(name)
            self._take_off()
        return await asyncio.shield(future)

    async def close(self) -> None:
        """Give up open queries: who waits for one gets a failure."""
        self._closed = True
        for name in list(self._waiting):
            self._settle(Answer(name, (), 0.0, Fault.NAME_FAILED, "closed", asked=time.time()))
        self._waiting.clear()
        for flight in list(self._flights.values()):
            flight.close()
        if self._servers is not None:
            self._servers.close()

    def _at_once(self, name: str, now: float) -> Answer | None:
        """What no name server need be asked for."""
        literal = literal_address(name)
        addresses = (literal,) if literal is not None else local_addresses(name, self._hosts)
        if addresses:
            return Answer(name, addresses[: self._config.max_addresses], self._config.max_ttl, asked=now)
        fault, detail = Fault.NAME_NOT_FOUND, "not a host name"
        if is_question(name):
            if not self._closed:
                return None
            fault, detail = Fault.NAME_FAILED, "closed"
        return Answer(name, (), self._config.not_found_ttl, fault, detail, asked=now)

    def _take_off(self) -> None:
        if self._servers is None:
            self._servers = NameServers(self._config, asyncio.get_running_loop())
        while self._waiting and len(self._flights) < self._config.max_outstanding:
            name = self._waiting.popleft()
            self._flights[name] = Flight(name, self._config, self._servers, self._landed)

    def _landed(self, answer: Answer) -> None:
        del self._flights[answer.name]
        if not self._closed:
            self._cache.put(msgspec.structs.replace(answer, seconds=0.0), answer.asked)
            if answer.detail in (TIME_OUT, NO_CONNECTION) and self._servers is not None:
                self._servers.reread()
        self._settle(answer)
        if not self._closed:
            self._take_off()

    def _settle(self, answer: Answer) -> None:
        future = self._futures.pop(answer.name)
        if not future.done():
            future.set_result(answer)
        if answer.fault is None and self._on_answer is not None:
            event = NameAnswered(
                answer.name, answer.addresses, int(answer.ttl), answer.server, answer.seconds, answer.asked
            )
            # In a turn of its own: what an observer raises must not keep a flight from ending.
            future.get_loop().call_soon(self._on_answer, event)
