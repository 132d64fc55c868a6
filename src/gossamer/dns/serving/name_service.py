"""Says what is true of a name to whoever asks: from the cache, or from the name servers."""

import asyncio
import time
from collections.abc import Callable

from gossamer.dns.cache import PlainCache
from gossamer.dns.config import DnsConfig
from gossamer.dns.hosts import is_question, literal_address
from gossamer.dns.queries.reply import NO_ADDRESS, NXDOMAIN
from gossamer.dns.resolver import STALE, CaresResolver
from gossamer.dns.serving.messages import AAAA, A, Asked, Code, read_message, write_reply
from gossamer.dns.statistics import NameStatistics
from gossamer.model.events import NameAnswered
from gossamer.model.name import Answer
from gossamer.ports import NameCache

MAX_OPEN = 1_000
"""Questions that wait for name servers at once; who comes later hears SERVFAIL, unless the name is known."""

_DENIED = {NXDOMAIN: Code.NXDOMAIN, NO_ADDRESS: Code.NOERROR}


class NameService:
    """Answers questions for addresses; those for anything else are not implemented, which it says.

    A crawl needs one address of a name, of either family. So what its cache holds of a name may lack a
    family that exists, because the crawl did not ask for it. That is no denial: the name is asked for again,
    unless this service has asked before.

    An answer says nothing about its zone (there is no SOA record), so that nobody keeps a denial (RFC 2308 5).
    """

    def __init__(self, config: DnsConfig, cache: NameCache) -> None:
        self.statistics = NameStatistics()
        self._whole = PlainCache(config.cache_entries)
        self._resolver = CaresResolver(config, cache, self._learnt, self.statistics)
        self._again = CaresResolver(config, self._whole, None, self.statistics)
        self._kinds = (A, AAAA) if config.ipv6 else (A,)
        self._open: set[asyncio.Task[None]] = set()

    async def close(self) -> None:
        """Give up what is open; who waits for it hears SERVFAIL. The cache is its owner's to close."""
        await self._resolver.close()
        await self._again.close()
        if self._open:
            await asyncio.wait(self._open)

    def take(
        self, message: bytes, send: Callable[[bytes], None], limit: int = 0
    ) -> asyncio.Task[None] | None:
        """Answer a message of somebody: by `send`, at once or when the task that comes back has ended.

        `limit`: bytes of the longest answer; 0: what the asker takes in a datagram. Not every message is answered.
        """
        asked = read_message(message)
        if asked is None:
            return None
        limit = limit or asked.room
        code = self._at_once(asked)
        if code is not None:
            send(write_reply(asked, code, limit))
            return None
        task = asyncio.create_task(self._answer(asked, send, limit))
        self._open.add(task)
        task.add_done_callback(self._open.discard)
        return task

    def _at_once(self, asked: Asked) -> Code | None:
        """What can be said without asking anybody, if that says it."""
        if asked.code is not Code.NOERROR:
            return asked.code
        if asked.kind not in self._kinds:
            return Code.NOTIMP
        if not asked.name:
            return Code.REFUSED  # the root, or bytes that our resolver has no spelling for
        if literal_address(asked.name) or not is_question(asked.name):
            return Code.NXDOMAIN  # no top-level domain is a number; RFC 7686 2 wants it of .onion
        if len(self._open) >= MAX_OPEN and not self._resolver.known(asked.name):
            return Code.SERVFAIL
        return None

    async def _answer(self, asked: Asked, send: Callable[[bytes], None], limit: int) -> None:
        answer = await self._resolver.resolve(asked.name)
        addresses = _of_kind(answer, asked.kind)
        if answer.addresses and not addresses:
            whole = self._whole.get(asked.name, time.time())
            answer = whole or await self._again.resolve(asked.name)
            addresses = _of_kind(answer, asked.kind)
        code = Code.NOERROR if answer.fault is None else _DENIED.get(answer.detail, Code.SERVFAIL)
        send(write_reply(asked, code, limit, addresses, _seconds_left(answer, time.time())))

    def _learnt(self, said: NameAnswered) -> None:
        """Both families have been asked for."""
        answer = Answer(said.name, said.addresses, said.ttl, asked=said.at)
        self._whole.put(answer, said.at)


def _of_kind(answer: Answer, kind: int) -> list[str]:
    return [address for address in answer.addresses if (":" in address) == (kind == AAAA)]


def _seconds_left(answer: Answer, now: float) -> float:
    """How long it may still be kept: an answer from a cache has its whole time to live since `asked`."""
    if answer.detail == STALE:
        return answer.ttl
    return min(max(answer.asked + answer.ttl - now, 0.0), answer.ttl)
