"""Answers of only a CNAME: what they name is asked for, and no question more than that takes."""

import struct
from itertools import pairwise

import pytest
from loopback_names import (
    NXDOMAIN,
    SERVFAIL,
    SOA,
    A,
    Query,
    Record,
    a,
    aaaa,
    cname,
    loopback_names,
    packed,
    respond,
)
from resolving import config_for, resolver_for

from gossamer.dns.cache import PlainCache
from gossamer.dns.compact.cache import CompactCache
from gossamer.dns.compact.config import CompactConfig
from gossamer.dns.queries.reply import MAX_CHAIN
from gossamer.dns.resolver import CaresResolver
from gossamer.dns.zones.cache import ZonedCache
from gossamer.dns.zones.config import ZonesConfig
from gossamer.model.outcome import Fault


def good(query: Query) -> bytes:
    records = a if query.kind == A else aaaa
    return respond(query, records(query.name, "192.0.2.1" if query.kind == A else "2001:db8::1"))


class Aliases:
    """Answers with the CNAME of the name asked for and nothing else (RFC 1034 3.6.2 lets a server)."""

    def __init__(self, aliases: dict[str, str], end: str = "end.test", ttl: int = 300) -> None:
        self.aliases = aliases
        self.end = end
        self.ttl = ttl

    def __call__(self, query: Query) -> bytes:
        if query.name in self.aliases:
            return respond(query, cname(query.name, self.aliases[query.name], self.ttl))
        return good(query) if query.name == self.end else respond(query, rcode=NXDOMAIN)


def chain(length: int) -> dict[str, str]:
    names = [*(f"a{n}.test" for n in range(length)), "end.test"]
    return dict(pairwise(names))


def asked(answers, name: str, run, **settings):
    """What `name` resolves to, and the questions that took."""
    got = []

    async def body() -> None:
        async with loopback_names(answers) as server:
            resolver = resolver_for(server, **settings)
            got.append((await resolver.resolve(name), server.queries))
            await resolver.close()

    run(body())
    return got[0]


@pytest.mark.parametrize("length", [1, 2, 12])
def test_an_answer_of_only_a_cname_is_followed(run, length):
    answer, queries = asked(Aliases(chain(length), ttl=90), "a0.test", run)
    assert (answer.name, answer.addresses) == ("a0.test", ("192.0.2.1", "2001:db8::1"))
    assert answer.ttl == 90, "the least on the way"
    assert len(queries) == 2 * (length + 1)


def test_letters_of_an_alias_may_be_large(run):
    answer, _ = asked(Aliases({"a.test": "END.Test"}), "a.test", run)
    assert answer.addresses == ("192.0.2.1", "2001:db8::1")


@pytest.mark.parametrize(
    ("aliases", "most"),
    [
        ({"a.test": "a.test"}, 2),
        ({"a.test": "b.test", "b.test": "a.test"}, 4),
        ({"a.test": "b.test", "b.test": "c.test", "c.test": "b.test"}, 6),
    ],
)
def test_aliases_that_lead_back_end(run, aliases, most):
    answer, queries = asked(Aliases(aliases), "a.test", run)
    assert (answer.fault, answer.detail) == (Fault.NAME_NOT_FOUND, "CNAME loop")
    assert len(queries) <= most


@pytest.mark.parametrize("ipv6", [True, False])
def test_a_chain_without_end_is_given_up(run, ipv6):
    answer, queries = asked(Aliases(chain(100)), "a0.test", run, ipv6=ipv6)
    assert answer.fault is Fault.NAME_NOT_FOUND
    assert len(queries) == MAX_CHAIN * (1 + ipv6)


def test_an_alias_of_a_name_that_does_not_exist(run):
    answer, queries = asked(Aliases({"a.test": "none.test"}), "a.test", run)
    assert (answer.fault, answer.detail) == (Fault.NAME_NOT_FOUND, "NXDOMAIN")
    assert len(queries) <= 4


def test_an_alias_that_nobody_may_ask_for(run):
    answer, queries = asked(Aliases({"a.test": "b.onion"}), "a.test", run)
    assert answer.fault is Fault.NAME_NOT_FOUND
    assert len(queries) == 2


def test_a_denial_at_the_end_of_a_chain_is_not_asked_again(run):
    """With the SOA record of a denial the answer is whole (RFC 2308 2.2)."""

    def answers(query: Query) -> bytes:
        data = packed("ns.test") + packed("root.test") + struct.pack("!5I", 1, 300, 300, 300, 300)
        soa = Record("test", SOA, 300, data)
        whole = respond(query, [*cname(query.name, "b.test"), soa])
        return whole[:6] + struct.pack("!HH", 1, 1) + whole[10:]  # the second record is of the authority

    answer, queries = asked(answers, "a.test", run)
    assert (answer.fault, answer.detail) == (Fault.NAME_NOT_FOUND, "no address")
    assert len(queries) == 2


def test_a_family_that_has_none_costs_nothing_where_the_other_was_followed(run):
    """Forwarders leave the SOA record out: every alias of a host with IPv4 only looks like that."""

    def answers(query: Query) -> bytes:
        return respond(
            query, cname(query.name, "b.test") + (a("b.test", "192.0.2.1") if query.kind == A else [])
        )

    answer, queries = asked(answers, "a.test", run)
    assert answer.addresses == ("192.0.2.1",)
    assert len(queries) == 2


def test_one_family_leads_on_and_the_other_fails(run):
    """A failure stays one where the alias has no address: IPv4 was not heard."""

    def answers(query: Query) -> bytes:
        if query.kind == A:
            return respond(query, rcode=SERVFAIL)
        return respond(query, cname("a.test", "b.test") if query.name == "a.test" else [])

    answer, queries = asked(answers, "a.test", run)
    assert (answer.fault, answer.detail) == (Fault.NAME_FAILED, "SERVFAIL")
    assert len(queries) == 3


def test_one_family_leads_on_and_the_other_is_lost(run):
    def answers(query: Query) -> bytes | None:
        if query.name == "a.test":
            return respond(query, cname("a.test", "b.test")) if query.kind == A else None
        return good(query)

    answer, queries = asked(answers, "a.test", run, first_wait=0.2)
    assert answer.addresses == ("192.0.2.1",)
    assert len(queries) == 4  # IPv6 twice, IPv4 and where it leads


def answered(answers, name: str, run, cache, *, keeps_aliases: bool):
    """What `name` resolves to, the first time and the second, and the questions that took."""
    got = []

    async def body() -> None:
        async with loopback_names(answers) as server:
            resolver = CaresResolver(config_for(server), cache, keeps_aliases=keeps_aliases)
            got.extend([await resolver.resolve(name), await resolver.resolve(name), len(server.queries)])
            assert resolver.at_hand(name) == got[1]
            await resolver.close()
            cache.close()

    run(body())
    return got


def caches(folder):
    return [PlainCache(9), ZonedCache(ZonesConfig()), CompactCache(folder, CompactConfig(max_bytes=1 << 20))]


@pytest.mark.parametrize("number", range(3))
def test_where_aliases_led_is_kept_where_it_is_asked_for(run, tmp_path, number):
    first, second, queries = answered(
        Aliases(chain(3)), "a0.test", run, caches(tmp_path)[number], keeps_aliases=True
    )
    assert first.aliases == second.aliases == ("a1.test", "a2.test", "end.test")
    assert queries == 8
    first, second, _ = answered(good, "end.test", run, caches(tmp_path)[number], keeps_aliases=True)
    assert first.aliases == second.aliases == ()


@pytest.mark.parametrize("number", range(3))
def test_where_nobody_asks_for_it_nothing_is_kept(run, tmp_path, number):
    first, second, _ = answered(
        Aliases(chain(3)), "a0.test", run, caches(tmp_path)[number], keeps_aliases=False
    )
    assert first.aliases is None and second.aliases is None
    if number == 2:  # kept from one run to the next: what it does not say is asked for, once
        told = [
            answered(Aliases(chain(3)), "a0.test", run, caches(tmp_path)[2], keeps_aliases=keeps)
            for keeps in (False, True, True, False)
        ]
        assert [queries for _, _, queries in told] == [0, 8, 0, 0]
        assert told[3][1].aliases == told[2][1].aliases == ("a1.test", "a2.test", "end.test")


def test_both_families_tell_and_what_no_host_is_called_is_left_out(run):
    def answers(query: Query) -> bytes:
        own = "v4.test" if query.kind == A else "v6.test"
        records = a if query.kind == A else aaaa
        end = records(own, "192.0.2.1" if query.kind == A else "2001:db8::1")
        return respond(query, cname(query.name, "a b.test") + cname("a b.test", own) + end)

    first, _, _ = answered(answers, "a.test", run, PlainCache(9), keeps_aliases=True)
    assert first.addresses == ("192.0.2.1", "2001:db8::1")
    assert first.aliases == ("v4.test", "v6.test")
