"""How often a name server is asked: no more than an answer needs (RFC 1034 3.6.2, RFC 2308, RFC 9520)."""

import asyncio

import pytest
from loopback_names import (
    AAAA,
    NXDOMAIN,
    REFUSED,
    SERVFAIL,
    A,
    Answers,
    LoopbackNames,
    Query,
    a,
    aaaa,
    cname,
    loopback_names,
    respond,
    zone,
)

from gossamer.dns.cache import PlainCache
from gossamer.dns.config import DnsConfig
from gossamer.dns.resolver import CaresResolver
from gossamer.model.name import Answer


def asked(answers: Answers, *names: str, again: int = 0) -> tuple[list[Answer], LoopbackNames]:
    """What the names resolve to with the settings that everybody gets, and the server that was asked."""

    async def run() -> tuple[list[Answer], LoopbackNames]:
        async with loopback_names(answers) as server:
            config = DnsConfig(nameservers=(server.address,), hosts_file=False)
            resolver = CaresResolver(config, PlainCache(1_000))
            found = await asyncio.gather(*map(resolver.resolve, names))
            for _ in range(again):
                await asyncio.gather(*map(resolver.resolve, names))
            await resolver.close()
            return found, server

    return asyncio.run(run())


def late(delays: dict[str, float]) -> Answers:
    """An honest server that takes its time with some names."""
    servers: list[LoopbackNames] = []

    def answer(query: Query) -> bytes | None:
        said = respond(query, a(query.name, "192.0.2.1") if query.kind == A else [])
        if not (delay := delays.get(query.name, 0.0)):
            return said
        asyncio.get_running_loop().call_later(delay, servers[0].send, query, said)
        return None

    answer.servers = servers  # type: ignore[attr-defined]
    return answer


def test_slow_names_are_asked_for_once_in_each_family():
    delays = {f"s{place}.test": 0.5 + 0.1 * place for place in range(16)}  # up to 2 s, side by side
    answers = late(delays)

    async def run() -> None:
        async with loopback_names(answers) as server:
            answers.servers.append(server)  # type: ignore[attr-defined]
            config = DnsConfig(nameservers=(server.address,), hosts_file=False)
            resolver = CaresResolver(config, PlainCache(1_000))
            names = [*delays, *(f"f{place}.test" for place in range(20))]
            found = await asyncio.gather(*map(resolver.resolve, names))
            await resolver.close()
            assert all(answer.addresses == ("192.0.2.1",) for answer in found)
            assert len(server.queries) == 2 * len(names)

    asyncio.run(run())


@pytest.mark.parametrize("rcode", [SERVFAIL, REFUSED])
def test_a_failure_is_asked_for_once_and_kept(rcode):
    found, server = asked(lambda query: respond(query, rcode=rcode), *["broken.test"] * 5, again=3)
    assert found[0].fault is not None
    assert (server.asked("broken.test", A), server.asked("broken.test", AAAA)) == (1, 1)


def bare(records: dict[str, list]) -> Answers:
    """A server that follows no CNAME, as those do that are not recursive."""
    follow = zone(records)

    def answer(query: Query) -> bytes:
        here = [r for r in records.get(query.name, []) if r.owner == query.name]
        return respond(query, here) if any(r.kind == 5 for r in here) else follow(query)  # type: ignore[return-value]

    return answer


CHAIN = {
    "www.test": cname("www.test", "a.test", ttl=40),
    "a.test": cname("a.test", "b.test", ttl=900),
    "b.test": a("b.test", "192.0.2.7") + aaaa("b.test", "2001:db8::7"),
}


def test_an_answer_of_only_a_cname_is_followed():
    [found], server = asked(bare(CHAIN), "www.test")
    assert found.addresses[0] in ("192.0.2.7", "2001:db8::7")
    assert set(found.addresses) == {"192.0.2.7", "2001:db8::7"}
    assert len(server.queries) == 6  # three names, two families: the least


def test_a_chain_in_one_answer_that_stops_short_is_followed_from_its_end():
    whole = [*CHAIN["www.test"], *CHAIN["a.test"]]
    [found], server = asked(
        lambda query: respond(query, whole) if query.name == "www.test" else zone(CHAIN)(query), "www.test"
    )
    assert "192.0.2.7" in found.addresses
    assert server.asked("a.test") == 0


@pytest.mark.parametrize(
    "records",
    [
        {"l.test": cname("l.test", "l.test")},
        {"l.test": cname("l.test", "m.test"), "m.test": cname("m.test", "l.test")},
    ],
)
def test_a_loop_over_several_answers_ends(records):
    [found], server = asked(bare(records), "l.test")
    assert not found.addresses
    assert len(server.queries) <= 2 * len(records)


def test_a_chain_without_end_ends():
    def onwards(query: Query) -> bytes:
        number = int(query.name.partition(".")[0][1:])
        return respond(query, cname(query.name, f"n{number + 1}.test"))

    [found], server = asked(onwards, "n0.test")
    assert not found.addresses
    assert len(server.queries) <= 2 * 17


def test_a_chain_to_a_name_that_does_not_exist_is_a_denial():
    def answer(query: Query) -> bytes:
        if query.name == "www.test":
            return respond(query, cname("www.test", "gone.test"))
        return respond(query, rcode=NXDOMAIN)

    [found], server = asked(answer, "www.test", again=2)
    assert "NXDOMAIN" in found.detail
    assert server.asked("gone.test") == 1
