"""One name on its way: IPv4 and IPv6 asked side by side, one answer."""

import asyncio
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain, islice

import msgspec

from gossamer.dns.config import DnsConfig
from gossamer.dns.hosts import is_question
from gossamer.dns.queries.question import AAAA, A, Question
from gossamer.dns.queries.reply import LOOP, MAX_CHAIN, TIME_OUT, Reply, Verdict
from gossamer.dns.queries.servers import NameServers
from gossamer.model.name import Answer
from gossamer.model.outcome import Fault

_GRACE = {A: 1.5, AAAA: 2.5}
"""First waits that a family with addresses waits for the other.

The attempts go out after 0, 1 and 3 of them. Whole numbers would send an attempt and land before its answer.
"""


class NameLookup:
    """Asks for both families of one name and says once what came of it.

    One family that has addresses is enough. It waits for the other, but only so long that a family
    whose questions get lost does not hold up a name that works: `_GRACE` first waits, in which it is
    put twice. The second attempt has more time for IPv4, which nearly every host has.

    If neither has addresses, but an answer is only a CNAME (of a server that does not follow it: RFC 1034
    3.6.2 leaves that to us), the name it leads to is asked for, `MAX_CHAIN` times at most. Where one
    family has addresses the other is not followed: the server does follow, so there is nothing to find.
    """

    def __init__(
        self,
        name: str,
        config: DnsConfig,
        servers: NameServers,
        landed: Callable[[Answer], None],
        deadline: float,
    ) -> None:
        """`deadline` in time of the event loop is when it has failed at the latest."""
        self._name = name
        self._config = config
        self._landed = landed
        self._loop = asyncio.get_running_loop()
        self._started = time.monotonic()  # the loop's own time stands still within a turn
        self._timer: asyncio.TimerHandle | None = None
        self._servers = servers
        self._deadline = deadline
        self._questions: list[Question] = []
        self._kept_for: dict[int, int] = {}  # the least TTL of the CNAMEs that led on, by family
        self._led_to: set[tuple[int, str]] = set()
        self._aliases: list[str] = []  # that led on
        self._replies: dict[int, Reply] = {}
        self._kinds = (A, AAAA) if config.ipv6 else (A,)
        self._ask(dict.fromkeys(self._kinds, name))

    def close(self) -> None:
        """Land without having heard everything."""
        self._replies.setdefault(A, Reply(Verdict.FAILED, detail="closed"))
        self._land()

    def _ask(self, names: Mapping[int, str]) -> None:
        """Ask for a name in each of these families."""
        self._led_to.update(names.items())
        self._questions = [
            Question(name, kind, self._config, self._servers, self._replied, self._deadline)
            for kind, name in names.items()
        ]
        for question in self._questions:
            question.ask()

    def _replied(self, kind: int, reply: Reply) -> None:
        if kind in self._kept_for:
            reply = msgspec.structs.replace(reply, ttl=min(reply.ttl, self._kept_for[kind]))
        too_long = len(self._led_to) >= len(self._kinds) * MAX_CHAIN
        if reply.alias and (too_long or (kind, reply.alias) in self._led_to):
            reply = msgspec.structs.replace(reply, alias="", detail=LOOP)
        self._replies[kind] = reply
        # NXDOMAIN holds for both families (RFC 8020); some servers say it of IPv6 and mean "no address".
        denied = kind == A and reply.verdict is Verdict.NO_NAME
        if denied or len(self._replies) == len(self._kinds):
            self._heard_enough()
        elif reply.verdict is Verdict.FOUND or reply.alias:
            self._timer = self._loop.call_later(self._config.first_wait * _GRACE[kind], self._heard_enough)

    def _heard_enough(self) -> None:
        """Follow where the replies lead, or land."""
        aliases = {kind: reply for kind, reply in self._replies.items() if reply.alias}
        verdicts = {kind: reply.verdict for kind, reply in self._replies.items()}
        if not aliases or Verdict.FOUND in verdicts.values() or verdicts.get(A) is Verdict.NO_NAME:
            self._land()
            return
        self._stop()
        for kind in self._kinds:
            self._replies.setdefault(kind, Reply(Verdict.FAILED, detail=TIME_OUT))
        for kind, reply in aliases.items():
            del self._replies[kind]
            self._kept_for[kind] = reply.ttl
            self._aliases += reply.aliases
        self._ask({kind: reply.alias for kind, reply in aliases.items()})

    def _stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        for question in self._questions:
            question.drop()

    def _land(self) -> None:
        self._stop()
        self._questions.clear()  # they refer to us: whoever has landed leaves no cycle for the collector
        replies = [self._replies[kind] for kind in (A, AAAA) if kind in self._replies]
        seconds = time.monotonic() - self._started
        self._landed(combine(self._name, replies, self._config, seconds, self._aliases))


def combine(
    name: str, replies: Sequence[Reply], config: DnsConfig, seconds: float, led: Iterable[str] = ()
) -> Answer:
    """The answer that follows from one or two replies, IPv4 first; `led` are the aliases before them."""
    found = [reply for reply in replies if reply.verdict is Verdict.FOUND]
    if found:
        addresses = interleave([reply.addresses for reply in found])[: config.max_addresses]
        ttl = min(max(min(reply.ttl for reply in found), config.min_ttl), config.max_ttl)
        server, aliases = found[0].server, _names(chain(led, *(reply.aliases for reply in found)))
        return Answer(
            name, addresses, ttl, server=server, seconds=seconds, asked=time.time(), aliases=aliases
        )
    # IPv4 decides; but where it says "no address", IPv6 must have been heard before the name has no address.
    telling = replies[0]
    if telling.verdict is Verdict.NO_ADDRESS and replies[-1].verdict is Verdict.FAILED:
        telling = replies[-1]
    fault, ttl = Fault.NAME_NOT_FOUND, config.not_found_ttl
    if telling.verdict is Verdict.FAILED:
        fault, ttl = Fault.NAME_FAILED, config.failure_ttl
    return Answer(name, (), ttl, fault, telling.detail, telling.server, seconds, time.time())


def _names(aliases: Iterable[str]) -> tuple[str, ...]:
    """Each once, `MAX_CHAIN` at most, and only what a host may be called: others may hold any byte."""
    return tuple(islice(filter(is_question, dict.fromkeys(aliases)), MAX_CHAIN))


def interleave(families: Sequence[tuple[str, ...]]) -> tuple[str, ...]:
    """First of each, second of each, and so on; a longer one's rest at the end.

    IPv4 comes first because many machines that crawl have no IPv6, or one that loses packets, and every
    wrong first address costs a connection's time-out. After it the families alternate, so that when one
    is broken the very next address already belongs to the other (RFC 8305 4). Within a family the
    server's order stays, by which it spreads load.
    """
    longest = max(map(len, families))
    return tuple(family[i] for i in range(longest) for family in families if i < len(family))
