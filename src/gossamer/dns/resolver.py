"""The resolver: answers names from literals, the hosts file, the cache, or the name servers."""

import asyncio
import time
from collections import deque
from collections.abc import Callable
from typing import NamedTuple

import msgspec

from gossamer.dns.cache import PlainCache
from gossamer.dns.config import DnsConfig
from gossamer.dns.hosts import ascii_name, is_question, literal_address, local_addresses, read_hosts
from gossamer.dns.queries.channel import Traffic
from gossamer.dns.queries.forwarder import Carrier
from gossamer.dns.queries.name_lookup import NameLookup
from gossamer.dns.queries.reply import NO_CONNECTION, TIME_OUT
from gossamer.dns.queries.servers import NameServers
from gossamer.dns.statistics import NameStatistics
from gossamer.model.events import NameAnswered
from gossamer.model.name import Answer
from gossamer.model.outcome import Fault
from gossamer.ports import NameCache

STALE = "stale"
"""Detail of an answer whose time was over, given because the name servers failed or are slow."""
STALE_AFTER = 1.8
"""Seconds until an answer whose time is over is given, while the name is still asked for (RFC 8767 5)."""
STALE_TTL = 30.0
"""Time to live that a stale answer is given with (RFC 8767 5)."""
HELD_SECONDS = 10.0
"""How long an answer that nobody waited for is at hand, also where the cache does not keep it."""
HELD = 4_096
"""Answers held beside the cache: those, failures and stale ones."""
_TOO_LATE = 0.02
"""A name in line with fewer seconds left is not asked for any more."""


class _Awaited(NamedTuple):
    """A name in line that somebody waits for, since `asked`; times of the event loop."""

    name: str
    asked: float
    deadline: float


class CaresResolver:
    """Resolves names over c-ares on the event loop (ports.Resolver, K12).

    A name is asked for by one flight at a time, whoever waits for it. A flight belongs to the resolver:
    those who wait may be cancelled, and its answer still reaches the others and the cache. What nobody
    waits for yet (`ahead`) flies after what somebody waits for, and leaves a quarter of the name servers'
    room to it (Z2).

    Whoever waits, waits for `total` at most: a name still in line by then has failed unasked, and a flight
    ends by then. In the line of what nobody waits for, no clock runs. If an answer is at hand whose time is
    over, it is given after `STALE_AFTER`, and the name is asked for all the same, for whoever asks next.

    Invariant: a name is in the air, or in one of the two lines, if and only if it has a future. Deadlines in
    the line of the awaited ascend.
    """

    def __init__(
        self,
        config: DnsConfig,
        cache: NameCache,
        on_answer: Callable[[NameAnswered], None] | None = None,
        statistics: NameStatistics | None = None,
        carrier: Carrier | None = None,
        *,
        keeps_aliases: bool = False,
    ) -> None:
        """`on_answer` hears every name that the network resolved, from the event loop.

        `carrier` asks name servers over HTTPS, where there are such, and is closed with the resolver.
        `keeps_aliases`: answers tell where CNAMEs led; what a cache has without that is asked for again.
        """
        self.statistics = NameStatistics() if statistics is None else statistics
        self._config = config
        self._cache = cache
        self._on_answer = on_answer
        self._carrier = carrier
        self._keeps_aliases = keeps_aliases
        self._hosts = read_hosts() if config.hosts_file else {}
        self._servers: NameServers | None = None  # opened by the first question, which knows the loop
        self._held = PlainCache(HELD)
        self._awaited: deque[_Awaited] = deque()
        self._expiry: asyncio.TimerHandle | None = None
        self._stand_ins: dict[str, asyncio.TimerHandle] = {}
        self._ahead: dict[str, None] = {}
        self._to_hold: set[str] = set()
        self._futures: dict[str, asyncio.Future[Answer]] = {}
        self._flights: dict[str, NameLookup] = {}
        self._closed = False

    def __repr__(self) -> str:
        waiting = len(self._awaited) + len(self._ahead)
        return f"<CaresResolver {len(self._flights)} in the air, {waiting} waiting>"

    async def resolve(self, name: str) -> Answer:
        """Addresses of `name`: a host name, or an IPv4 or bracketed IPv6 literal. Raises nothing."""
        name = ascii_name(name)
        now = time.time()
        answer = self._local(name, now)
        if answer is not None:
            return answer
        answer = self._kept(name, now)
        if answer is None and not is_question(name):
            return self._unaskable(name, now)
        self.statistics.asked(answer)
        if answer is None:
            answer = await asyncio.shield(self._await(name))
        if answer.detail == STALE:
            self.statistics.served_stale()
        return answer

    def known(self, name: str) -> bool:
        """Whether `resolve` would answer without asking anybody."""
        return self._is_known(ascii_name(name))

    def at_hand(self, name: str) -> Answer | None:
        """What `resolve` would give without asking anybody; `None` if it would have to ask."""
        name, now = ascii_name(name), time.time()
        answer = self._local(name, now) or self._kept(name, now)
        return answer if answer is not None or is_question(name) else self._unaskable(name, now)

    def ahead(self, name: str) -> asyncio.Future[Answer] | None:
        """The answer to come, if `name` is not known: asked for as soon as nobody else waits for another.

        The future ends with an answer, good or bad, also when the resolver is closed. Do not cancel it.
        """
        name = ascii_name(name)
        if self._is_known(name):
            return None
        self._to_hold.add(name)
        future = self._futures.get(name)
        if future is None:
            future = self._begin(name)
            self._ahead[name] = None
            self._take_off()
        return future

    async def close(self) -> None:
        """Give up open queries: who waits for one gets a failure. The cache is its owner's to close."""
        self._closed = True
        if self._expiry is not None:
            self._expiry.cancel()
        if self._servers is not None:
            self._servers.close()
        for name in [*(each.name for each in self._awaited), *self._ahead]:
            self._settle(Answer(name, (), 0.0, Fault.NAME_FAILED, "closed", asked=time.time()))
        self._awaited.clear()
        self._ahead.clear()
        for flight in list(self._flights.values()):
            flight.close()

    # Without asking …

    def _is_known(self, name: str) -> bool:
        now = time.time()
        return (self._local(name, now) or self._kept(name, now)) is not None or not is_question(name)

    def _local(self, name: str, now: float) -> Answer | None:
        """What needs no memory."""
        if ":" in name or name[-1:].isdigit() or name in self._hosts or name.endswith("localhost"):
            literal = literal_address(name)
            addresses = (literal,) if literal is not None else local_addresses(name, self._hosts)
            if addresses:
                return Answer(name, addresses[: self._config.max_addresses], self._config.max_ttl, asked=now)
        if self._closed:
            return Answer(name, (), 0.0, Fault.NAME_FAILED, "closed", asked=now)
        return None

    def _kept(self, name: str, now: float) -> Answer | None:
        held = self._held.get(name, now)
        if held is not None:
            return held
        answer = self._cache.get(name, now)
        if self._keeps_aliases and answer is not None and answer.addresses and answer.aliases is None:
            return None
        return answer

    def _unaskable(self, name: str, now: float) -> Answer:
        ttl = self._config.not_found_ttl
        return Answer(name, (), ttl, Fault.NAME_NOT_FOUND, "not a host name", asked=now)

    # Asking …

    def _await(self, name: str) -> asyncio.Future[Answer]:
        """The answer to come, for somebody who waits."""
        future = self._futures.get(name)
        if future is None or name in self._ahead:
            self._ahead.pop(name, None)
            future = future or self._begin(name)
            now = asyncio.get_running_loop().time()
            self._awaited.append(_Awaited(name, now, now + self._config.total))
            self._take_off()
        self._expect(name)
        return future

    def _begin(self, name: str) -> asyncio.Future[Answer]:
        future: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()
        self._futures[name] = future
        return future

    def _take_off(self) -> None:
        """Ask for what there is room for at the name servers."""
        if self._closed:
            return
        if self._servers is None:
            traffic = Traffic(self.statistics.sent, self._take_off)
            self._servers = NameServers(self._config, traffic, asyncio.get_running_loop(), self._carrier)
        self._expire()
        queries = 2 if self._config.ipv6 else 1
        while self._awaited and self._servers.room >= queries:
            name, _, deadline = self._awaited.popleft()
            self._fly(name, self._servers, deadline)
        kept_free = self._config.queries_per_server // 4
        while self._ahead and not self._awaited and self._servers.room >= queries + kept_free:
            name = next(iter(self._ahead))
            del self._ahead[name]
            self._fly(name, self._servers, asyncio.get_running_loop().time() + self._config.total)
            self._expect(name)

    def _fly(self, name: str, servers: NameServers, deadline: float) -> None:
        self._flights[name] = NameLookup(name, self._config, servers, self._landed, deadline)

    def _landed(self, answer: Answer) -> None:
        del self._flights[answer.name]
        self._end(answer)
        self._take_off()

    def _expire(self) -> None:
        """Give up the names in line whose `total` is over, and come again for the next."""
        loop = asyncio.get_running_loop()
        now = loop.time()
        while self._awaited and self._awaited[0].deadline <= now + _TOO_LATE:
            name, asked, _ = self._awaited.popleft()
            ttl, took = self._config.failure_ttl, now - asked
            self._end(Answer(name, (), ttl, Fault.NAME_FAILED, TIME_OUT, seconds=took, asked=time.time()))
        if self._awaited and self._expiry is None:
            self._expiry = loop.call_at(self._awaited[0].deadline, self._expire_next)

    def _expire_next(self) -> None:
        self._expiry = None
        self._take_off()

    def _end(self, answer: Answer) -> None:
        """Hand out what came of asking for a name."""
        if answer.aliases is not None and not self._keeps_aliases:
            answer = msgspec.structs.replace(answer, aliases=None)
        if not self._closed:
            self.statistics.resolved(answer)
            if answer.detail in (TIME_OUT, NO_CONNECTION) and self._servers is not None:
                self._servers.reread()
            answer = self._keep(answer)
        self._settle(answer)

    # Answers whose time is over …

    def _expect(self, name: str) -> None:
        """Give what the cache still has, if it has anything, should the answer take its time."""
        if name in self._futures and name not in self._stand_ins and self._stale(name, time.time()):
            loop = asyncio.get_running_loop()
            self._stand_ins[name] = loop.call_later(STALE_AFTER, self._stand_in, name)

    def _stand_in(self, name: str) -> None:
        """Those who wait get the old answer; the name goes on without them."""
        del self._stand_ins[name]
        now = time.time()
        old = self._stale(name, now)
        if old is None:
            return
        given = self._hold_stale(old, now, self._config.total)
        waiting = self._futures[name]
        self._begin(name)
        if not waiting.done():
            waiting.set_result(given)

    def _stale(self, name: str, now: float) -> Answer | None:
        """Expired addresses that may still serve."""
        old = self._cache.stale(name, now) if self._config.max_stale else None
        if old is None or not old.asked <= now < self._ends(old):
            return None
        return old

    def _ends(self, old: Answer) -> float:
        """Wall time until which an answer may serve."""
        return old.asked + old.ttl + self._config.max_stale

    def _keep(self, answer: Answer) -> Answer:
        """Put the answer where whoever asks next will find it; what those who wait now are to get."""
        now = answer.asked
        hold = HELD_SECONDS if answer.name in self._to_hold else 0.0
        if answer.fault is Fault.NAME_FAILED:
            hold = answer.ttl or hold  # a failure may be asked for again before others are
            old = self._stale(answer.name, now)
            if old is not None:
                # Not into the cache, where it would become as good as new.
                return self._hold_stale(msgspec.structs.replace(old, seconds=answer.seconds), now, hold)
        self._cache.put(answer, now)
        self._held.keep(answer, now, hold)
        return answer

    def _hold_stale(self, old: Answer, now: float, seconds: float) -> Answer:
        """Give it to everybody who asks within `seconds`, as long as it may serve; as it is given."""
        given = msgspec.structs.replace(old, ttl=STALE_TTL, detail=STALE)
        self._held.keep(given, now, min(seconds, self._ends(old) - now))
        return given

    def _settle(self, answer: Answer) -> None:
        self._to_hold.discard(answer.name)
        if answer.name in self._stand_ins:
            self._stand_ins.pop(answer.name).cancel()
        future = self._futures.pop(answer.name)
        if not future.done():
            future.set_result(answer)
        if answer.fault is None and answer.detail != STALE and self._on_answer is not None:
            event = NameAnswered(
                answer.name, answer.addresses, int(answer.ttl), answer.server, answer.seconds, answer.asked
            )
            # In a turn of its own: what an observer raises must not keep a flight from ending.
            future.get_loop().call_soon(self._on_answer, event)
