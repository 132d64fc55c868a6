"""The resolver against a name server on loopback that behaves, and one that does not."""

import asyncio
import random
import time
from itertools import pairwise

import pytest
from loopback_names import (
    AAAA,
    NOTIMP,
    NXDOMAIN,
    REFUSED,
    SERVFAIL,
    A,
    Query,
    a,
    aaaa,
    cname,
    loopback_names,
    respond,
    zone,
)
from resolving import NoCache, config_for, resolver_for

from gossamer.dns.cache import PlainCache
from gossamer.dns.config import DnsConfig
from gossamer.dns.queries import channel as channel_module
from gossamer.dns.queries import servers as servers_module
from gossamer.dns.resolver import CaresResolver
from gossamer.model.events import NameAnswered
from gossamer.model.name import Answer
from gossamer.model.outcome import Fault


def test_both_families_are_interleaved_and_told(run):
    records = {
        "a.test": a("a.test", "192.0.2.1", "192.0.2.2", ttl=500) + aaaa("a.test", "2001:db8::1", ttl=400)
    }

    async def body() -> None:
        heard: list[NameAnswered] = []
        async with loopback_names(zone(records)) as server:
            resolver = resolver_for(server, heard=heard)
            before = time.time()
            answer = await resolver.resolve("A.test.")
            assert answer.name == "a.test"
            assert answer.addresses == ("192.0.2.1", "2001:db8::1", "192.0.2.2")
            assert (answer.ttl, answer.fault, answer.detail, answer.server) == (400, None, "", "127.0.0.1")
            assert answer.seconds > 0
            assert before <= answer.asked <= time.time()
            again = await resolver.resolve("a.test")
            assert again.addresses == answer.addresses
            assert again.seconds == 0
            assert len(server.queries) == 2
            await resolver.close()
        assert heard == [
            NameAnswered("a.test", answer.addresses, 400, "127.0.0.1", answer.seconds, answer.asked)
        ]

    run(body())


def test_ipv6_can_be_switched_off(run):
    async def body() -> None:
        async with loopback_names(zone({"a.test": a("a.test", "192.0.2.1")})) as server:
            resolver = resolver_for(server, ipv6=False)
            assert (await resolver.resolve("a.test")).addresses == ("192.0.2.1",)
            assert server.asked("a.test", AAAA) == 0
            await resolver.close()

    run(body())


def test_one_flight_per_name_outlives_a_cancelled_waiter(run):
    async def body() -> None:
        held: list[Query] = []

        def answers(query: Query) -> None:
            held.append(query)
            if len(held) == 2:
                asked.set()

        asked = asyncio.Event()
        async with loopback_names(answers) as server:
            resolver = resolver_for(server)
            first, *others = [asyncio.ensure_future(resolver.resolve("a.test")) for _ in range(10)]
            await asked.wait()
            first.cancel()
            server.answers = zone({"a.test": a("a.test", "192.0.2.1")})
            with pytest.raises(asyncio.CancelledError):
                await first
            other = resolver_for(server)
            assert (await other.resolve("a.test")).addresses == ("192.0.2.1",)
            # The first server-side questions are still open; the flight's next attempt is not due for 10 s.
            assert not any(task.done() for task in others)
            await other.close()
            await resolver.close()
            answers_given = await asyncio.gather(*others)
            assert {answer.detail for answer in answers_given} == {"closed"}
            assert len(held) == 2

    run(body())


def test_single_flight_answers_every_waiter(run):
    async def body() -> None:
        async with loopback_names(zone({"a.test": a("a.test", "192.0.2.1")})) as server:
            resolver = resolver_for(server)
            tasks = [asyncio.ensure_future(resolver.resolve("a.test")) for _ in range(50)]
            await asyncio.sleep(0)
            tasks[0].cancel()
            results = await asyncio.gather(*tasks, return_exceptions=True)
            assert isinstance(results[0], asyncio.CancelledError)
            assert {r.addresses for r in results[1:]} == {("192.0.2.1",)}
            assert len(server.queries) == 2
            await resolver.close()

    run(body())


def test_cancelling_every_waiter_still_fills_the_cache(run):
    async def body() -> None:
        async with loopback_names(zone({"a.test": a("a.test", "192.0.2.1")})) as server:
            kept = asyncio.Event()

            class Watched(PlainCache):
                def put(self, answer: Answer, now: float) -> None:
                    super().put(answer, now)
                    kept.set()

            resolver = CaresResolver(config_for(server), Watched(10))
            task = asyncio.ensure_future(resolver.resolve("a.test"))
            await asyncio.sleep(0)
            task.cancel()
            await kept.wait()
            assert (await resolver.resolve("a.test")).addresses == ("192.0.2.1",)
            assert len(server.queries) == 2
            await resolver.close()

    run(body())


@pytest.mark.parametrize(
    ("name", "address"),
    [
        ("192.0.2.7", "192.0.2.7"),
        ("[2001:DB8:0::1]", "2001:db8::1"),
        ("[::ffff:10.0.0.1]", "::ffff:10.0.0.1"),
    ],
)
def test_literals_are_answered_at_once(run, name, address):
    async def body() -> None:
        async with loopback_names(zone({})) as server:
            resolver = resolver_for(server)
            answer = await resolver.resolve(name)
            assert (answer.addresses, answer.fault, answer.server) == ((address,), None, "")
            assert server.queries == []
            await resolver.close()

    run(body())


def test_localhost_never_leaves_the_machine(run):
    async def body() -> None:
        async with loopback_names(zone({})) as server:
            resolver = resolver_for(server)
            for name in ("localhost", "LOCALHOST.", "app.localhost"):
                assert (await resolver.resolve(name)).addresses == ("127.0.0.1", "::1")
            assert server.queries == []
            await resolver.close()

    run(body())


@pytest.mark.parametrize(
    "name",
    [
        "",
        ".",
        "a..b",
        "x" * 64 + ".test",
        "a." * 127 + "test",
        "a b.test",
        "a\\.test",
        "x.onion",
        "1.2.3",
        "é/b.test",
        "é é.test",
        "a!b.test",
    ],
)
def test_what_cannot_be_asked_is_not_found(run, name):
    async def body() -> None:
        async with loopback_names(zone({})) as server:
            resolver = resolver_for(server)
            answer = await resolver.resolve(name)
            assert (answer.fault, answer.detail) == (Fault.NAME_NOT_FOUND, "not a host name")
            assert server.queries == []
            await resolver.close()

    run(body())


def test_odd_but_legal_names_are_asked(run):
    names = ["_dmarc.a_b.test", "xn--nxasmq6b.test", "-.test", "x" * 63 + ".test", "a.b.c.d.e.f.g.1st"]

    async def body() -> None:
        async with loopback_names(lambda query: respond(query, a(query.name, "192.0.2.1"))) as server:
            resolver = resolver_for(server, ipv6=False)
            for name in names:
                assert (await resolver.resolve(name)).addresses == ("192.0.2.1",), name
            await resolver.close()

    run(body())


@pytest.mark.parametrize(
    ("rcode", "fault", "detail", "ttl"),
    [
        (NXDOMAIN, Fault.NAME_NOT_FOUND, "NXDOMAIN", 300),
        (0, Fault.NAME_NOT_FOUND, "no address", 300),
        (SERVFAIL, Fault.NAME_FAILED, "SERVFAIL", 60),
        (REFUSED, Fault.NAME_FAILED, "refused", 60),
        (NOTIMP, Fault.NAME_FAILED, "not implemented", 60),
    ],
)
def test_failures_are_told_apart_and_kept(run, rcode, fault, detail, ttl):
    async def body() -> None:
        heard: list[NameAnswered] = []
        async with loopback_names(lambda query: respond(query, rcode=rcode)) as server:
            resolver = resolver_for(server, heard=heard, failure_attempts=1)
            answer = await resolver.resolve("a.test")
            assert (answer.fault, answer.detail, answer.ttl, answer.addresses) == (fault, detail, ttl, ())
            assert answer.server == "127.0.0.1"
            count = len(server.queries)
            assert await resolver.resolve("a.test") == _from_cache(answer)
            assert len(server.queries) == count
            await resolver.close()
        assert heard == []

    run(body())


def _from_cache(answer: Answer) -> Answer:
    return Answer(answer.name, (), answer.ttl, answer.fault, answer.detail, answer.server, 0.0, answer.asked)


def test_no_answer_is_asked_five_times_with_doubling_waits(run):
    async def body() -> None:
        times: list[float] = []
        loop = asyncio.get_running_loop()

        def answers(query: Query) -> None:
            times.append(loop.time())

        async with loopback_names(answers) as server:
            resolver = resolver_for(server, first_wait=0.02, attempts=5, ipv6=False)
            answer = await resolver.resolve("a.test")
            assert (answer.fault, answer.detail) == (Fault.NAME_FAILED, "time-out")
            assert answer.seconds >= 0.02 * 31 - 0.005
            assert len(times) == 5
            # Only lower bounds: a busy machine may be late, never early (loop times count in ms).
            gaps = [later - earlier for earlier, later in pairwise(times)]
            assert sum(gaps) >= 0.02 * 15 - 0.005
            assert gaps[3] > gaps[0]
            await resolver.close()

    run(body())


def test_total_ends_the_waiting(run):
    async def body() -> None:
        async with loopback_names(lambda query: None) as server:
            resolver = resolver_for(server, first_wait=0.02, attempts=20, total=0.1)
            answer = await resolver.resolve("a.test")
            assert (answer.fault, answer.detail) == (Fault.NAME_FAILED, "time-out")
            assert 1 <= server.asked("a.test") <= 3  # after 0, 20 and 60 ms; the next would be due after 140
            await resolver.close()

    run(body())


def test_a_late_answer_to_an_earlier_attempt_counts(run):
    async def body() -> None:
        first: list[Query] = []

        def answers(query: Query) -> None:
            first.append(query)
            if len(first) == 2:
                server.send(first[0], respond(first[0], a("a.test", "192.0.2.9")))

        async with loopback_names(answers) as server:
            resolver = resolver_for(server, attempts=2, first_wait=0.05, ipv6=False)
            assert (await resolver.resolve("a.test")).addresses == ("192.0.2.9",)
            assert first[0].peer != first[1].peer  # another attempt, another source port
            await resolver.close()

    run(body())


def test_a_failing_answer_is_asked_again_as_often_as_set(run):
    async def body() -> None:
        async with loopback_names(lambda query: respond(query, rcode=SERVFAIL)) as server:
            resolver = resolver_for(server, first_wait=0.05, attempts=5, failure_attempts=2, ipv6=False)
            await resolver.resolve("a.test")
            assert server.asked("a.test") == 2
            server.answers = lambda query: respond(
                query, a("b.test", "192.0.2.1"), rcode=SERVFAIL if server.asked("b.test") < 2 else 0
            )
            assert (await resolver.resolve("b.test")).addresses == ("192.0.2.1",)
            await resolver.close()

    run(body())


def test_one_family_is_enough(run):
    """The other fails, is refused, or never answers."""

    async def body() -> None:
        def answers(query: Query) -> bytes | None:
            name = query.name
            if query.kind == (AAAA if name.startswith("only6") else A):
                return respond(
                    query, aaaa(name, "2001:db8::6") if query.kind == AAAA else a(name, "192.0.2.4")
                )
            if name.endswith(".mute.test"):
                return None
            return respond(query, rcode=SERVFAIL if name.endswith(".fail.test") else 0)

        async with loopback_names(answers) as server:
            resolver = resolver_for(server, first_wait=0.05, attempts=5, failure_attempts=1)
            for case in ("mute", "fail", "empty"):
                assert (await resolver.resolve(f"only4.{case}.test")).addresses == ("192.0.2.4",)
                assert (await resolver.resolve(f"only6.{case}.test")).addresses == ("2001:db8::6",)
            await resolver.close()

    run(body())


def test_nxdomain_for_ipv6_alone_is_not_believed(run):
    async def body() -> None:
        def answers(query: Query) -> bytes | None:
            if query.kind == AAAA:
                return respond(query, rcode=NXDOMAIN)
            return respond(query, a(query.name, "192.0.2.4")) if server.asked(query.name) == 2 else None

        async with loopback_names(answers) as server:
            resolver = resolver_for(server, first_wait=0.1, attempts=5)
            assert (await resolver.resolve("a.test")).addresses == ("192.0.2.4",)
            await resolver.close()

    run(body())


def test_truncation_goes_over_tcp_and_many_addresses_are_cut(run):
    many = [f"10.{n >> 8}.{n & 255}.1" for n in range(4000)]

    async def body() -> None:
        def answers(query: Query) -> bytes:
            if query.transport == "udp":
                return respond(query, truncated=True)
            return respond(query, a(query.name, *many)) if query.kind == A else respond(query)

        async with loopback_names(answers) as server:
            resolver = resolver_for(server, max_addresses=7)
            answer = await resolver.resolve("a.test")
            assert answer.addresses == tuple(many[:7])
            assert [q.transport for q in server.queries if q.kind == A] == ["udp", "tcp"]
            await resolver.close()

    run(body())


def test_cname_chain_takes_the_least_ttl(run):
    records = {
        "a.test": cname("a.test", "b.test", ttl=900)
        + cname("b.test", "c.test", ttl=120)
        + a("c.test", "192.0.2.3", ttl=600)
        + a("stranger.test", "192.0.2.66", ttl=1)
    }

    async def body() -> None:
        async with loopback_names(zone(records)) as server:
            resolver = resolver_for(server)
            answer = await resolver.resolve("a.test")
            assert (answer.addresses, answer.ttl) == (("192.0.2.3",), 120)
            await resolver.close()

    run(body())


def test_cname_loops_and_chains_to_nowhere_have_no_address(run):
    records = {
        "loop.test": cname("loop.test", "pool.test") + cname("pool.test", "loop.test"),
        "self.test": cname("self.test", "self.test"),
        "dangling.test": cname("dangling.test", "gone.test"),
    }

    async def body() -> None:
        async with loopback_names(zone(records)) as server:
            resolver = resolver_for(server)
            details = []
            for name in records:
                answer = await resolver.resolve(name)
                assert answer.fault is Fault.NAME_NOT_FOUND
                details.append(answer.detail)
            assert details == ["CNAME loop", "CNAME loop", "NXDOMAIN"]
            await resolver.close()

    run(body())


@pytest.mark.parametrize(
    ("ttl", "kept"), [(0, 60), (61, 61), (10**6, 86_400), ((1 << 31) - 1, 86_400), (1 << 31, 60)]
)
def test_ttl_is_clamped(run, ttl, kept):
    async def body() -> None:
        async with loopback_names(zone({"a.test": a("a.test", "192.0.2.1", ttl=ttl)})) as server:
            resolver = resolver_for(server)
            assert (await resolver.resolve("a.test")).ttl == kept
            await resolver.close()

    run(body())


def test_a_wrong_id_or_question_is_not_an_answer(run):
    async def body() -> None:
        def answers(query: Query) -> list[bytes] | None:
            lie = a(query.name, "203.0.113.66")
            other = query._replace(question=query.question.replace(b"\x04test", b"\x04tesu"))
            return [respond(query, lie, number=query.id ^ 1), respond(other, lie)]

        async with loopback_names(answers) as server:
            hasty = resolver_for(server, first_wait=0.05)
            answer = await hasty.resolve("a.test")
            assert (answer.fault, answer.detail) == (Fault.NAME_FAILED, "time-out")
            server.answers = lambda query: [
                respond(query, a(query.name, "203.0.113.66"), number=query.id ^ 1),
                respond(query, a(query.name, "192.0.2.1")),
            ]
            resolver = resolver_for(server)
            assert (await resolver.resolve("b.test")).addresses == ("192.0.2.1",)
            await hasty.close()
            await resolver.close()

    run(body())


def test_garbage_harms_only_the_name_it_belongs_to(run):
    """One unreadable packet ends every question of its c-ares connection; the others go again at once."""

    async def body() -> None:
        held: list[Query] = []

        def answers(query: Query) -> bytes | list[bytes] | None:
            if query.name == "poison.test":
                return query.id.to_bytes(2, "big") + b"\xff" * 20
            held.append(query)
            # Held until the poison has been served, so that they are open when it strikes.
            return respond(query, a(query.name, "192.0.2.1")) if server.asked("poison.test") else None

        async with loopback_names(answers) as server:
            resolver = resolver_for(server, ipv6=False, failure_attempts=1)
            names = [f"good{n}.test" for n in range(20)]
            *good, poison = await asyncio.gather(*map(resolver.resolve, [*names, "poison.test"]))
            assert {answer.addresses for answer in good} == {("192.0.2.1",)}
            assert (poison.fault, poison.detail) == (Fault.NAME_FAILED, "bad response")
            assert len(held) == 40
            await resolver.close()

    run(body())


@pytest.mark.parametrize("seed", range(4))
def test_random_bytes_never_raise(run, seed):
    async def body() -> None:
        noise = random.Random(seed).randbytes

        def answers(query: Query) -> bytes:
            good = respond(query, a(query.name, "192.0.2.1") + cname(query.name, "x.test"))
            cut = int(query.name[1:-5])
            return good[: 2 + cut * 3] if seed % 2 else good[: 2 + cut] + noise(seed * 50)

        async with loopback_names(answers) as server:
            resolver = resolver_for(server, first_wait=0.1, attempts=1, failure_attempts=1)
            for answer in await asyncio.gather(*(resolver.resolve(f"n{n}.test") for n in range(12))):
                assert (answer.fault is None) == bool(answer.addresses)
            await resolver.close()

    run(body())


def test_the_next_server_is_asked_and_remembered(run):
    async def body() -> None:
        async with (
            loopback_names(lambda query: respond(query, rcode=REFUSED)) as refusing,
            loopback_names(lambda query: None) as mute,
            loopback_names(zone({f"{c}.test": a(f"{c}.test", "192.0.2.1") for c in "abc"})) as good,
        ):
            resolver = resolver_for(refusing, mute, good, first_wait=0.3, ipv6=False)
            for name in ("a.test", "b.test", "c.test"):
                assert (await resolver.resolve(name)).addresses == ("192.0.2.1",)
            assert [len(server.queries) for server in (refusing, mute, good)] == [1, 1, 3]
            await resolver.close()

    run(body())


def test_a_closed_port_is_a_failure(run):
    async def body() -> None:
        async with loopback_names(lambda query: None) as server:
            pass
        resolver = resolver_for(server, ipv6=False, failure_attempts=1)
        answer = await resolver.resolve("a.test")
        assert (answer.fault, answer.detail) == (Fault.NAME_FAILED, "no connection")
        await resolver.close()

    run(body())


def test_an_ipv6_server_is_asked(run):
    async def body() -> None:
        async with loopback_names(zone({"a.test": a("a.test", "192.0.2.1")}), "::1") as server:
            resolver = resolver_for(server)
            answer = await resolver.resolve("a.test")
            assert (answer.addresses, answer.server) == (("192.0.2.1",), "::1")
            await resolver.close()

    run(body())


def test_no_answer_comes_from_the_cache_of_c_ares(run):
    """Each resolution asks the server: found, not found, under other spellings, both families."""

    async def body() -> None:
        async with loopback_names(zone({"a.test": a("a.test", "192.0.2.1", ttl=3600)})) as server:
            resolver = CaresResolver(config_for(server), NoCache())
            for count in range(1, 8):
                assert (await resolver.resolve("a.test")).addresses == ("192.0.2.1",)
                assert (await resolver.resolve("no.test")).detail == "NXDOMAIN"
                assert server.asked("a.test", A) == server.asked("a.test", AAAA) == count
                assert server.asked("no.test", A) == count
            await resolver.close()

    run(body())


def test_the_cache_of_c_ares_is_bounded(run, monkeypatch):
    monkeypatch.setattr(channel_module, "MAX_QUESTIONS", 10)
    opened = []
    original = channel_module.pycares.Channel
    monkeypatch.setattr(channel_module.pycares, "Channel", lambda **k: opened.append(1) or original(**k))

    async def body() -> None:
        async with loopback_names(lambda query: respond(query, a(query.name, "192.0.2.1"))) as server:
            resolver = resolver_for(server, ipv6=False)
            answers = await asyncio.gather(*(resolver.resolve(f"n{n}.test") for n in range(100)))
            assert all(answer.addresses for answer in answers)
            assert len(opened) == 10
            assert len({query.peer for query in server.queries}) >= 2  # new channels draw new source ports
            await resolver.close()

    run(body())


def test_outstanding_names_are_bounded(run):
    async def body() -> None:
        held: list[Query] = []
        five = asyncio.Event()

        def answers(query: Query) -> bytes | None:
            if query.name == "fence.test":
                return respond(query)
            held.append(query)
            if len(held) == 5:
                five.set()
            return None

        async with loopback_names(answers) as server:
            resolver = resolver_for(server, ipv6=False, queries_per_server=5)
            tasks = [asyncio.ensure_future(resolver.resolve(f"n{n}.test")) for n in range(23)]
            await five.wait()
            fence = resolver_for(server)
            await fence.resolve("fence.test")  # a sixth question would have come before this one
            await fence.close()
            assert len(held) == 5
            assert repr(resolver) == "<CaresResolver 5 in the air, 18 waiting>"
            server.answers = lambda query: respond(query, a(query.name, "192.0.2.1"))
            for query in held:
                server.send(query, respond(query, a(query.name, "192.0.2.1")))
            assert all(answer.addresses for answer in await asyncio.gather(*tasks))
            assert len(server.queries) == 25  # 23, and two for the fence
            await resolver.close()

    run(body())


def test_close_answers_everyone_and_refuses_later(run):
    async def body() -> None:
        asked = asyncio.Event()

        def answers(query: Query) -> None:
            asked.set()

        async with loopback_names(answers) as server:
            resolver = resolver_for(server, queries_per_server=3)
            tasks = [asyncio.ensure_future(resolver.resolve(f"n{n}.test")) for n in range(9)]
            await asked.wait()
            await resolver.close()
            for answer in await asyncio.gather(*tasks):
                assert (answer.fault, answer.detail) == (Fault.NAME_FAILED, "closed")
            assert (await resolver.resolve("z.test")).detail == "closed"
            await resolver.close()

    run(body())


def test_close_without_a_question(run):
    async def body() -> None:
        await CaresResolver(DnsConfig(), PlainCache(1)).close()

    run(body())


def test_an_observer_that_raises_stops_nothing():
    async def body() -> None:
        problems: list[dict] = []
        asyncio.get_running_loop().set_exception_handler(lambda _, context: problems.append(context))

        def on_answer(event: NameAnswered) -> None:
            raise RuntimeError("observer")

        async with loopback_names(lambda query: respond(query, a(query.name, "192.0.2.1"))) as server:
            resolver = CaresResolver(config_for(server), PlainCache(5), on_answer)
            assert (await resolver.resolve("a.test")).addresses == ("192.0.2.1",)
            assert (await resolver.resolve("b.test")).addresses == ("192.0.2.1",)
            await resolver.close()
        assert [str(problem["exception"]) for problem in problems] == ["observer"] * 2

    asyncio.run(body())


def test_the_hosts_file_goes_first(run, tmp_path, monkeypatch):
    path = tmp_path / "hosts"
    path.write_text(
        "192.0.2.50 staged.test alias.test # comment\n2001:db8::5\tSTAGED.test\nnot-an-address x.test\n"
    )
    monkeypatch.setattr("gossamer.dns.hosts.HOSTS_FILE", path)

    async def body() -> None:
        async with loopback_names(zone({"staged.test": a("staged.test", "203.0.113.1")})) as server:
            resolver = resolver_for(server, hosts_file=True)
            assert (await resolver.resolve("Staged.test")).addresses == ("192.0.2.50", "2001:db8::5")
            assert (await resolver.resolve("alias.test")).addresses == ("192.0.2.50",)
            assert (await resolver.resolve("x.test")).fault is Fault.NAME_NOT_FOUND
            plain = resolver_for(server)
            assert (await plain.resolve("staged.test")).addresses == ("203.0.113.1",)
            await plain.close()
            await resolver.close()

    run(body())


def test_a_changed_system_configuration_is_taken_over(run, monkeypatch):
    """The machine moved to another network: its old name servers are mute."""
    monkeypatch.setattr(servers_module, "REREAD_AFTER", 0.0)

    async def body() -> None:
        async with (
            loopback_names(lambda query: None) as old,
            loopback_names(lambda query: respond(query, a(query.name, "192.0.2.1"))) as new,
        ):
            system = [old.address]
            monkeypatch.setattr(servers_module, "system_targets", lambda: system[:])
            resolver = resolver_for(first_wait=0.1)
            assert (await resolver.resolve("a.test")).detail == "time-out"
            system[:] = [new.address]
            assert (await resolver.resolve("b.test")).detail == "time-out"
            assert (await resolver.resolve("c.test")).addresses == ("192.0.2.1",)
            await resolver.close()

    run(body())


def test_the_system_has_name_servers():
    targets = servers_module.system_targets()
    assert targets
    assert all(":" in target for target in targets)
