"""Old answers when the name servers fail (RFC 8767)."""

import asyncio
import time

import pytest
from loopback_names import (
    NXDOMAIN,
    REFUSED,
    SERVFAIL,
    LoopbackNames,
    Query,
    a,
    loopback_names,
    respond,
    zone,
)
from resolving import config_for

from gossamer.dns import resolver as resolver_module
from gossamer.dns.cache import PlainCache
from gossamer.dns.resolver import CaresResolver
from gossamer.model.events import NameAnswered
from gossamer.model.name import Answer
from gossamer.model.outcome import Fault

HASTY = {"first_wait": 0.3, "attempts": 2, "failure_attempts": 1, "ipv6": False}


def cache_with_old(age: float, name: str = "a.test") -> PlainCache:
    """A cache with an answer that expired `age` seconds ago."""
    cache = PlainCache(10)
    asked = time.time() - 600 - age
    cache.put(Answer(name, ("192.0.2.1",), 600, server="192.0.2.53", asked=asked), asked)
    return cache


@pytest.mark.parametrize("rcode", [SERVFAIL, REFUSED, None], ids=["SERVFAIL", "refused", "time-out"])
def test_an_old_answer_stands_in_for_a_failure(run, rcode):
    async def body() -> None:
        heard: list[NameAnswered] = []
        failing = None if rcode is None else lambda query: respond(query, rcode=rcode)
        async with loopback_names(failing or (lambda query: None)) as server:
            resolver = CaresResolver(config_for(server, **HASTY), cache_with_old(3600), heard.append)
            answer = await resolver.resolve("a.test")
            assert (answer.addresses, answer.fault) == (("192.0.2.1",), None)
            assert (answer.detail, answer.ttl) == ("stale", 30)
            assert answer.asked < time.time() - 4000
            asked = server.asked("a.test")
            assert asked == (1 if rcode else 2)  # retried first
            assert (await resolver.resolve("a.test")).detail == "stale"
            assert resolver.known("a.test")
            assert server.asked("a.test") == asked
            await resolver.close()
        assert heard == []  # nothing new was learnt

    run(body())


def test_it_is_asked_again_after_a_failure_s_time(run, monkeypatch):
    clock = [time.time()]
    monkeypatch.setattr("time.time", lambda: clock[0])

    async def body() -> None:
        async with loopback_names(lambda query: respond(query, rcode=SERVFAIL)) as server:
            resolver = CaresResolver(config_for(server, **HASTY), cache_with_old(3600))
            for count in (1, 2):
                assert (await resolver.resolve("a.test")).detail == "stale"
                clock[0] += 59
                assert (await resolver.resolve("a.test")).detail == "stale"
                assert server.asked("a.test") == count
                clock[0] += 2
            server.answers = zone({"a.test": a("a.test", "192.0.2.2")})
            fresh = await resolver.resolve("a.test")
            assert (fresh.addresses, fresh.detail) == (("192.0.2.2",), "")
            await resolver.close()

    run(body())


@pytest.mark.parametrize(("age", "limit"), [(3700, 3600), (1, 0)])
def test_no_longer_than_it_may(run, age, limit):
    async def body() -> None:
        async with loopback_names(lambda query: respond(query, rcode=SERVFAIL)) as server:
            resolver = CaresResolver(config_for(server, max_stale=limit, **HASTY), cache_with_old(age))
            answer = await resolver.resolve("a.test")
            assert (answer.fault, answer.detail) == (Fault.NAME_FAILED, "SERVFAIL")
            await resolver.close()

    run(body())


def test_staleness_counts_from_the_first_time(run, monkeypatch):
    """An answer that was served stale is no younger for it."""
    clock = [time.time()]
    monkeypatch.setattr("time.time", lambda: clock[0])

    async def body() -> None:
        async with loopback_names(lambda query: respond(query, rcode=SERVFAIL)) as server:
            settings = {**HASTY, "max_stale": 100, "failure_ttl": 0}
            resolver = CaresResolver(config_for(server, **settings), cache_with_old(60))
            assert (await resolver.resolve("a.test")).detail == "stale"
            clock[0] += 30
            assert (await resolver.resolve("a.test")).detail == "stale"
            clock[0] += 30
            assert (await resolver.resolve("a.test")).detail == "SERVFAIL"
            await resolver.close()

    run(body())


def test_a_name_that_is_gone_has_no_old_answer(run):
    async def body() -> None:
        async with loopback_names(lambda query: respond(query, rcode=NXDOMAIN)) as server:
            resolver = CaresResolver(config_for(server, **HASTY), cache_with_old(10))
            assert (await resolver.resolve("a.test")).detail == "NXDOMAIN"
            server.answers = lambda query: respond(query, rcode=SERVFAIL)
            other = CaresResolver(config_for(server, **HASTY), cache_with_old(10, "b.test"))
            assert (await other.resolve("a.test")).detail == "SERVFAIL"
            await other.close()
            await resolver.close()

    run(body())


class Mute:
    """Answers nothing until it is told to."""

    def __init__(self) -> None:
        self.kept: list[Query] = []
        self.asked = asyncio.Event()

    def __call__(self, query: Query) -> None:
        self.kept.append(query)
        self.asked.set()

    async def speak(self, server: LoopbackNames) -> None:
        await self.asked.wait()
        for query in self.kept:
            server.send(query, respond(query, a(query.name, "192.0.2.2")))


async def refreshed(heard: asyncio.Queue[NameAnswered]) -> None:
    assert (await heard.get()).addresses == ("192.0.2.2",)


def test_an_old_answer_comes_soon_and_the_new_one_is_kept(run, monkeypatch):
    monkeypatch.setattr(resolver_module, "STALE_AFTER", 0.05, raising=False)

    async def body() -> None:
        mute = Mute()
        heard: asyncio.Queue[NameAnswered] = asyncio.Queue()
        async with loopback_names(mute) as server:
            config = config_for(server, first_wait=3.0, attempts=1, ipv6=False)
            resolver = CaresResolver(config, cache_with_old(3600), heard.put_nowait)
            answers = await asyncio.gather(*(resolver.resolve("a.test") for _ in range(3)))
            assert {(answer.addresses, answer.detail) for answer in answers} == {(("192.0.2.1",), "stale")}
            assert repr(resolver) == "<CaresResolver 1 in the air, 0 waiting>"
            assert (await resolver.resolve("a.test")).detail == "stale"  # at once: it is held
            assert resolver.statistics.stale == 4
            await mute.speak(server)
            await refreshed(heard)
            assert (await resolver.resolve("a.test")).addresses == ("192.0.2.2",)
            assert len(server.queries) == 1
            await resolver.close()

    run(body())


def test_an_old_answer_comes_soon_for_what_is_in_line(run, monkeypatch):
    monkeypatch.setattr(resolver_module, "STALE_AFTER", 0.05, raising=False)

    async def body() -> None:
        mute = Mute()
        heard: asyncio.Queue[NameAnswered] = asyncio.Queue()
        async with loopback_names(mute) as server:
            config = config_for(server, first_wait=3.0, attempts=1, ipv6=False, queries_per_server=2)
            resolver = CaresResolver(config, cache_with_old(3600), heard.put_nowait)
            others = [asyncio.ensure_future(resolver.resolve(f"n{n}.test")) for n in range(2)]
            await mute.asked.wait()
            assert (await resolver.resolve("a.test")).detail == "stale"
            assert repr(resolver) == "<CaresResolver 2 in the air, 1 waiting>"
            server.answers = lambda query: respond(query, a(query.name, "192.0.2.2"))
            await mute.speak(server)
            await asyncio.gather(*others)
            for _ in range(3):
                await refreshed(heard)
            assert (await resolver.resolve("a.test")).addresses == ("192.0.2.2",)
            await resolver.close()

    run(body())


def test_an_old_answer_comes_soon_for_what_is_asked_ahead(run, monkeypatch):
    monkeypatch.setattr(resolver_module, "STALE_AFTER", 0.05, raising=False)

    async def body() -> None:
        mute = Mute()
        heard: asyncio.Queue[NameAnswered] = asyncio.Queue()
        async with loopback_names(mute) as server:
            config = config_for(server, first_wait=3.0, attempts=1, ipv6=False)
            resolver = CaresResolver(config, cache_with_old(3600), heard.put_nowait)
            assert (await resolver.ahead("a.test")).detail == "stale"
            assert resolver.known("a.test")
            assert resolver.statistics.stale == 0  # nobody has used it yet
            await mute.speak(server)
            await refreshed(heard)
            assert (await resolver.resolve("a.test")).addresses == ("192.0.2.2",)
            await resolver.close()

    run(body())


def test_an_old_answer_that_was_given_stays_when_the_name_fails(run, monkeypatch):
    monkeypatch.setattr(resolver_module, "STALE_AFTER", 0.05, raising=False)

    async def body() -> None:
        async with loopback_names(lambda query: None) as server:
            config = config_for(server, first_wait=0.3, attempts=1, ipv6=False)
            resolver = CaresResolver(config, cache_with_old(3600))
            assert (await resolver.resolve("a.test")).detail == "stale"
            assert resolver.statistics.resolutions == 0
            while not resolver.statistics.resolutions:  # noqa: ASYNC110 - nobody is told
                await asyncio.sleep(0.02)
            assert (await resolver.resolve("a.test")).detail == "stale"
            assert len(server.queries) == 1
            await resolver.close()

    run(body())


def test_closing_while_an_old_answer_is_renewed(run, monkeypatch):
    monkeypatch.setattr(resolver_module, "STALE_AFTER", 0.05, raising=False)

    async def body() -> None:
        async with loopback_names(lambda query: None) as server:
            resolver = CaresResolver(config_for(server), cache_with_old(3600))
            assert (await resolver.resolve("a.test")).detail == "stale"
            early = asyncio.ensure_future(CaresResolver.resolve(resolver, "b.test"))
            await asyncio.sleep(0)
            await resolver.close()
            assert (await early).detail == "closed"

    run(body())
