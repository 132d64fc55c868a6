"""Old answers when the name servers fail (RFC 8767)."""

import time

import pytest
from loopback_names import NXDOMAIN, REFUSED, SERVFAIL, a, loopback_names, respond, zone
from resolving import config_for

from gossamer.dns import resolver as resolver_module
from gossamer.dns.cache import PlainCache
from gossamer.dns.resolver import CaresResolver
from gossamer.model.events import NameAnswered
from gossamer.model.name import Answer
from gossamer.model.outcome import Fault

HASTY = {"first_wait": 0.05, "attempts": 2, "failure_attempts": 1, "ipv6": False}


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


def test_it_is_asked_again_after_half_a_minute(run, monkeypatch):
    monkeypatch.setattr(resolver_module, "STALE_TTL", 0.0)

    async def body() -> None:
        async with loopback_names(lambda query: respond(query, rcode=SERVFAIL)) as server:
            resolver = CaresResolver(config_for(server, **HASTY), cache_with_old(3600))
            for count in (1, 2):
                assert (await resolver.resolve("a.test")).detail == "stale"
                assert server.asked("a.test") == count
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
    monkeypatch.setattr(resolver_module, "STALE_TTL", 0.0)
    clock = [time.time()]
    monkeypatch.setattr("time.time", lambda: clock[0])

    async def body() -> None:
        async with loopback_names(lambda query: respond(query, rcode=SERVFAIL)) as server:
            resolver = CaresResolver(config_for(server, max_stale=100, **HASTY), cache_with_old(60))
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
